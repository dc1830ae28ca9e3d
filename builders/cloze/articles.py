"""Which names take "the", and which words "a" or "an": tables of patterns and exceptions.

A rule of thumb for English labels, not a grammar: it decides how an example sentence reads,
never which answer is right (a query's blank covers the article).
"""

import re
import unicodedata

# Named outright, against the patterns below or beyond their reach.
_THE = re.compile(
    "Bahamas|BBC|Bronx|Bundesrat|Bundestag|CIA|Comoros|[Ee]urozone|FBI|Federal Reserve|Gambia"
    "|Holy See|IMF|Independent Greeks|Johan Cruyff Arena|Knesset|Kremlin|Liberal Democrats|Maldives"
    "|NHS|New York Rangers|Philippines|Republicans|Riksdag|Storting|Sweden Democrats|Texas Rangers"
    "|UK|US|USA|USSR|Vatican|White House|World Bank|European Central Bank|Royal Air Force"
    # Regions, sights, works of art and papers
    "|Americas|Andes|Balkans|Caribbean|Carpathians|Caucasus|Dolomites|Himalayas|Low Countries"
    "|Middle East|Milky Way|Pyrenees|Solar System|Alhambra|Brandenburg Gate|Nefertiti Bust"
    "|Sagrada Família|Great Sphinx of Giza|Bible|Quran|Torah|(?:\\d+(?:st|nd|rd|th) )?Dalai Lama"
    "|Brooklyn Bridge|Golden Gate Bridge|Elgin Marbles|Financial Times|Los Angeles Times"
    "|Colosseum|Eiffel Tower|Hermitage|Louvre|Mona Lisa|Parthenon|Prado|Rosetta Stone|Uffizi"
    # Things and events that name themselves
    "|Armory Show|Forth Bridge|Great Fire of London|International Space Station"
    "|Koh-i-Noor|Linux kernel|Mauritshuis|Pentagon|Rijksmuseum|Royal Albert Hall|Space Shuttle"
    "|Taj Mahal|World Trade Center|Giro d'Italia|Tour de France|Vuelta a España"
    "|(?:Australian|French|US) Open|Crown Jewels|Exposition Universelle(?: \\(\\d{4}\\))?"
    "|London Underground|(?:United States )?Navy SEALs|Oxford English Dictionary|Sorbonne"
    "|Twin Towers|Wagner Group|Cunard Line|White Star Line|(?:French )?Foreign Legion"
    "|Luftwaffe|Wehrmacht|euro|pound sterling|renminbi|Deutsche Mark|Encyclopædia Britannica"
    # Bodies whose kind seldom takes it
    "|British Broadcasting Corporation|(?:Deutsche )?Bundesbank|Federal Deposit Insurance"
    " Corporation|Fédération Internationale .*"
    # Churches as bodies; a parish church of the same kind has a town or a saint in its name
    "|(?:Roman )?Catholic Church|(?:(?:Eastern|Greek|Russian|Serbian) )?Orthodox Church"
    # Leagues and awards
    "|Bundesliga|Eredivisie|NBA|NFL|NHL|Ballon d'Or|Victoria Cross|Iron Cross|Military Cross"
    "|George Cross|(?:First|Second|Third|Fourth|Football League .*) Division|.* Hall of Fame"
)
_NO_THE = re.compile(
    "Alliance 90/The Greens|Bank of America|Congress|Emirates|Hampton Court|House of Fraser"
    "|Microsoft Office|Parliament|Real Union|Republic Records|Western Union|World Athletics"
)

# Institutions, offices and states: "the Labour Party", "the University of Oxford".
_HEADS = (
    "Accord|Act|Administration|Agency|Agreement|Alliance|Alps|Area|Army|Assembly|Association|Authority|Board|Bureau|Cabinet"
    "|Chamber|Coalition|Commission|Committee|Commonwealth|Confederation|Congress|Constitution"
    "|Convention|Council|Court|Department|Directive|Emirates|Empire|Federation|Forum|Foundation|Front|Fund"
    "|Government|Institute|Islands|Kingdom|League|Legislature|Library|Ministry|Mint|Mountains"
    "|Movement|Museum|Navy|Netherlands|Ocean|Office|Orchestra|Organi[sz]ation|Parliament|Party"
    "|Rally|Regulation|Reich|Republic|River|Sea|Senate|Service|Society|States|Survey|Treasury|Treaty|Tribunal"
    "|Union|War|dollar|pound|team"
    "|Award|Awards|Building|Caliphate|Canal|Championship|Conference|Cup|Desert|Fellowship|Isles"
    "|Khanate|Medal|Peninsula|Prize|Raj|Strait|Sultanate|Trophy|dynasty"
    "|Partnership|Plan|Protocol|Statute|Testament|Warrant"
    # Forces, events, works of engineering and groups in parliament
    "|Air Force|Armed Forces|Defen[cs]e Forces?|Ground Forces|Coast Guard|National Guard|Corps"
    "|Marines|Pact|Biennale|Collection|Crisis|Festival|Exhibition|Exposition|Finals?|Grand Prix"
    "|Rebellion|Revolution|Uprising|World Series"
    "|Power Plant|Power Station|Telescope|Party Group|parliamentary group"
    "|attacks|bombings?|crisis|disaster|earthquake|eruption|highway|massacre|motorway"
    "|pandemic|protests|revolution|riots|shogunate|siege|uprising"
    # Currencies
    "|dinar|dirham|drachma|escudo|forint|franc|guilder|koruna|krona|krone|lira|mark|markka|peseta"
    "|peso|rand|real|rial|ringgit|riyal|rouble|ruble|rupee|shilling|yen|yuan|zloty|złoty"
)
# These only with a complement: "the University of Oxford", but "Harvard University".
_HEADS_OF = (
    "Academy|Archbishop|Bank|Battle|Bay|Bishop|Chancellor|Church|City|College|Conservatoire"
    "|Consortium|Corporation|Duchy|Embassy|Emirate|Faculty|Gallery|Governor|Gulf|House|Isle|Leader|Mayor|Minister"
    "|Order|Palace|Panel|President|Principality|Province|School|Secretary|Speaker|State|Statue|University"
    "|Borough|Canton|Code|Community|County|Crown|District|Legion|Municipality|Region"
    "|Annals|Bulletin|Group|Journal|Proceedings|Tower|Transactions"
)
# Teams that are called by a plural: "the Chicago Bulls", "the New York Red Bulls".
_TEAMS = (
    "76ers|Angels|Astros|Athletics|Bears|Bengals|Bills|Blackhawks|Blazers|Blue Jays|Braves|Brewers"
    "|Broncos|Browns|Bruins|Buccaneers|Bucks|Bulls|Canadiens|Canucks|Capitals|Cardinals|Cavaliers"
    "|Celtics|Chargers|Chiefs|Clippers|Colts|Commanders|Cowboys|Cubs|Diamondbacks|Dodgers|Dolphins"
    "|Devils|Ducks|Eagles|Falcons|Flames|Flyers|Giants|Grizzlies|Guardians|Hawks|Hornets|Hurricanes"
    "|Indians|Islanders|Jaguars|Jets|Kings|Knicks|Lakers|Lions|Mariners|Marlins|Mavericks|Mets"
    "|Nationals|Nets|Nuggets|Oilers|Orioles|Pacers|Packers|Padres|Panthers|Patriots|Pelicans"
    "|Penguins|Phillies|Pirates|Pistons|Predators|Raiders|Rams|Raptors|Ravens|Rays|Rapids|Redskins"
    "|Reds|Rockets|Rockies|Royals|Sabres|Saints|Seahawks|Senators|Sharks|Sounders|Spurs|Steelers"
    "|Suns|Texans|Tigers|Timberwolves|Timbers|Titans|Twins|Vikings|Warriors|Whitecaps|Wizards"
    "|Yankees|49ers|Red Sox|White Sox|Golden Knights|Maple Leafs"
)
_PATTERNS = re.compile(
    r"(?!.* v\.? )(?:"  # a law case is named without it
    r"United (?:States|Nations|Kingdom)\b"
    r"|\d{4} .*\b(?:Games|Olympics|Paralympics|election|referendum)$"
    r"|[^,]*\b(?:Award|Medal|Prize)\b[^,]*? in \S"
    rf"|[^,]*\b(?:{_HEADS}|{_HEADS_OF})\b[^,]*? (?:of|for|on) \S"
    rf"|.*\b(?:{_HEADS})$"
    rf"|\S.* (?:{_TEAMS})$"
    r"|Eurovision Song Contest\b"
    r"|(?:Airbus|Antonov|Boeing|Ilyushin|McDonnell Douglas|Tupolev) \S*\d"
    ")"
)

_AN_H = re.compile(r"h(?:onest|onou?r|our|eir)", re.I)
_A_VOWEL = re.compile(
    r"eu|ewe|one(?!i)|once\b|u(?:ni(?!n|m|d)|nanim|nesco|efa|kr|[bcfghjkqrst][aeiou])", re.I
)
_SPELLED = re.compile(r"(?:[A-Z]{1,3}|[B-DF-HJ-NP-TV-Z]+)(?:s|'s)?(?![A-Za-z])")
_LETTER_AN = frozenset("AEFHILMNORSX")
_NUMBER_AN = re.compile(r"(?:8|1[18](?!\d))")


def takes_the(name: str) -> bool:
    """Whether running text says "the" before this name: the Labour Party, but Italy, The Hague."""
    if _THE.fullmatch(name):
        return True
    if _NO_THE.fullmatch(name) or name.lower().startswith("the "):
        return False
    # A label in lower case is a common noun or a brand; neither is a name with "the".
    return not name[:1].islower() and _PATTERNS.match(name) is not None


def a_or_an(word: str) -> str:
    """The indefinite article by sound: an actor, a university teacher, an MP, an 8-bit computer."""
    plain = unicodedata.normalize("NFKD", word).lstrip(" \"'“‘«(")
    if _SPELLED.match(plain):
        return "an" if plain[0] in _LETTER_AN else "a"
    if _NUMBER_AN.match(plain) or _AN_H.match(plain):
        return "an"
    if _A_VOWEL.match(plain):
        return "a"
    return "an" if plain[:1].lower() in tuple("aeiou") else "a"
