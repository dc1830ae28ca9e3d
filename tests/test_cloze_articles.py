"""Articles by name and by sound."""

import pytest

from factdrift.builders.text.en.articles import a_or_an, opening_article, takes_the

THE = """
United Kingdom|United States|United States of America|United Nations|United Arab Emirates
Netherlands|Kingdom of the Netherlands|Southern Netherlands|Czech Republic|Dominican Republic
Republic of Ireland|Democratic Republic of the Congo|Philippines|Bahamas|Gambia|Maldives
Marshall Islands|Soviet Union|European Union|African Union|Ottoman Empire|German Empire
German Reich|Holy See|Isle of Man|Labour Party|Conservative Party|Democratic Party
Christian Democratic Union of Germany|Social Democratic Party of Germany|Sweden Democrats
Liberal Democrats|Green Party of England and Wales|African National Congress|Five Star Movement
Independent Greeks|University of Oxford|University of California, Berkeley
National and Kapodistrian University of Athens|Massachusetts Institute of Technology
London School of Economics|College of William & Mary|Bank of England|World Bank|Federal Reserve
International Monetary Fund|European Commission|European Parliament|House of Commons|Bundestag
Prime Minister of Greece|President of France|United States dollar|2017 German federal election
Los Angeles Lakers|New York Red Bulls|Philadelphia 76ers|Boston Red Sox|Chicago Bulls
Portugal national football team|United States women's national soccer team|British Museum
Royal Society|Office for National Statistics|Church of England|City of Brussels|BBC
United States Geological Survey|African Alliance for Progress|Baltic Sea|Statue of Liberty
Sarbanes–Oxley Act|General Data Protection Regulation|National Gallery of Art
Nobel Prize in Literature|Academy Award for Best Picture|Order of Canada|Legion of Honour
Grammy Awards|Presidential Medal of Freedom|FA Cup|1930 FIFA World Cup|Guggenheim Fellowship
Rock and Roll Hall of Fame|Premier League|Bundesliga|EFL Championship|Western Conference
First Division|Football League First Division|London Borough of Lambeth|Canton of Zürich
District of Columbia|Metropolitan City of Milan|Bering Strait|Suez Canal|Empire State Building
Brooklyn Bridge|Elgin Marbles|Los Angeles Times
British Raj|Qing dynasty|British Isles|Americas|Solar System|Louvre|Eiffel Tower|Mona Lisa
Catholic Church|Russian Orthodox Church|1992 Summer Olympics|Sultanate of Oman
United States Air Force|Israel Defense Forces|United States Coast Guard|Royal Marines|Luftwaffe
Warsaw Pact|Tower of London|Hubble Space Telescope|International Space Station|Space Shuttle
Chernobyl Nuclear Power Plant|Chernobyl disaster|September 11 attacks|Suez Crisis|euro
French Revolution|Great Exhibition|Venice Biennale|Rijksmuseum|Taj Mahal|Tour de France
Deutsche Mark|French franc|Danish krone|Mini|Boeing 747|Airbus A380|M25 motorway|Linux kernel
Group of the European People's Party|European People's Party Group|Journal of Neuroscience
Eurovision Song Contest 1974|French Foreign Legion|White Star Line|pound sterling
1996 NBA Finals|Monaco Grand Prix|Royal Collection|Cannes Film Festival|Ashikaga shogunate
Rome Statute|Kyoto Protocol|European Arrest Warrant|Joint Comprehensive Plan of Action|eurozone
Regional Comprehensive Economic Partnership|Eurozone|Federal Deposit Insurance Corporation
Deutsche Bundesbank|Fédération Internationale de l'Automobile|Old Testament|New Testament|Himalayas
14th Dalai Lama|Dalai Lama|Brandenburg Gate|Alhambra|Sagrada Família|Great Sphinx of Giza
Nefertiti Bust|Code of Hammurabi|Oakland Athletics|Roaming Regulation|Bible|Marshall Plan
US Open|Twin Towers|Exposition Universelle (1889)|FIFA World Cup
Divine Comedy|Iliad|Thai baht|Israeli new shekel|Polish marka|German Papiermark|canton of Cluny
German colonial empire|12th Riigikogu|108th Training Command|Warsaw Stock Exchange|Olympic Stadium
Ted Cruz presidential campaign, 2016|Mathematical Institute, University of Oxford|Bakerloo line
German battleship Bismarck|Russell Group|World Wide Web|Trans-Siberian Railway
contiguous United States
"""
NO_THE = """
Italy|Germany|France|Greece|Hong Kong|Vatican City|Massachusetts|London|New York City|The Hague
The New York Times|The Queen's College|the Gambia|FIFA|UEFA|NASA|Fidesz|SYRIZA|Sinn Féin
New Democracy|Law and Justice|Alliance 90/The Greens|Forza Italia|independent politician
Manchester United F.C.|Juventus F.C.|FC Barcelona|Real Madrid CF|A.C. Milan|Al-Nassr|Leeds United
Harvard University|Princeton University|Johns Hopkins University|Harvard Law School|Boston College
Imperial College London|University College London|Royal Holloway, University of London
Trinity College|Bank of America|Deutsche Bank|Western Union|Google|Alphabet Inc.|Apple|Microsoft
Oxford University Press|Los Angeles International Airport|Bitcoin|October|iPhone|eBay|politician
member of the European Parliament|actor|Boris Johnson|Jesse Ramsden|Lloyds Banking Group
United States v. Windsor|Odo of Cluny|Los Angeles County|Bavaria|Anfield|Highbury|Staples Center
La Liga|Serie A|Ligue 1|Major League Soccer|Football League One|Knight Bachelor|Joy Division
St. Mary's Catholic Church|Charing Cross|Big Machine Records|Parlophone|Africa|South America
Brussels-Capital Region|Canton|Community|Crown
Emirates|Boeing|Airbus|Group|Apollo 11|HMS Beagle|RMS Titanic|Eiffel|Alcatraz|Robben Island
Grand Tower|Lloyds Banking Group|Tower Bridge|Europe of Freedom and Direct Democracy|Documenta
World Athletics|Microsoft Corporation|Lions Gate|Gate|20th Century Fox|Codex Leicester|Code
Testament Records|Kyoto University|flower|eye|Deutsche Bahn|Bust
5th Avenue|RMS Titanic|USS United States|Wembley Stadium|republic|province|Cluny Abbey
Grandmaster|general|field marshal|Duke of Wellington|World Heritage Site|Real Sociedad|Concorde
"""


@pytest.mark.parametrize("name", THE.strip().replace("\n", "|").split("|"))
def test_names_with_the(name: str) -> None:
    assert takes_the(name)


@pytest.mark.parametrize("name", NO_THE.strip().replace("\n", "|").split("|"))
def test_names_without_the(name: str) -> None:
    assert not takes_the(name)


@pytest.mark.parametrize(
    ("text", "name", "wanted"),
    [
        ("The London Fire Brigade (LFB) is the fire service.", "London Fire Brigade", True),
        ("The SECR N class was a type of locomotive.", "SECR N class", True),
        ("The governor of Texas is the head of the state.", "Governor of Texas", True),
        ("The Leeds, later York, was a ship.", "Leeds", True),
        ("ThinkPad is a line of computers.", "ThinkPad", False),
        ("Labour Party, founded in 1920, is a party.", "Labour Party", False),
        ("iPhone is a telephone.", "iPhone", False),
        ("The Leeds bypass is a road.", "Leeds", None),
        ("The Leeds Castle is a house.", "Leeds", None),
        ("Leedsville is a town.", "Leeds", None),
        ("The Hague is a city.", "The Hague", None),
        ("A ThinkPad is a computer.", "ThinkPad", None),
        ("", "ThinkPad", None),
        ("The is a word.", "", None),
    ],
)
def test_what_the_opening_of_a_page_says_of_the(text: str, name: str, wanted: bool | None) -> None:
    assert opening_article(text, name) is wanted


@pytest.mark.parametrize(
    ("article", "words"),
    [
        ("an", "actor|architect|engineer|economist|Icelander|opera singer|umpire|undertaker|usher"),
        ("an", "hour|heir|honest broker|honorary consul|uninvited guest|unidentified man|École"),
        ("an", "MP|MEP|FBI agent|NBA player|LGBT activist|RAF pilot|X-ray|A-level|EU official"),
        (
            "an",
            "8-bit computer|11th man|18th-century poet|'iron' man|oneiromancer|Uzbek|Élysée aide",
        ),
        ("a", "politician|lawyer|historian|hotelier|house painter|yacht designer|Honduran|herald"),
        ("a", "university teacher|union leader|unicorn|European|eunuch|user|urologist|ukulelist"),
        ("a", "one-man band|once-feared critic|Ugandan|Ukrainian|UEFA referee|UNESCO site|U-boat"),
        (
            "a",
            "NATO general|NASA engineer|UN envoy|USB stick|DJ|TV host|CEO|BBC host|1800-metre run",
        ),
        ("a", "10-year-old|unanimous vote|"),
    ],
)
def test_a_or_an(article: str, words: str) -> None:
    assert {w: a_or_an(w) for w in words.split("|")} == dict.fromkeys(words.split("|"), article)
