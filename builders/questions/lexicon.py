"""Word tables behind the name rules: countries, places, given names, titles, heads of names."""

from builders import dates


def words(text: str) -> frozenset[str]:
    """The words of a block of text; `_` stands for a blank inside one entry."""
    return frozenset(w.replace("_", " ") for w in text.split())


COUNTRIES = words("""
    Afghanistan Albania Algeria Andorra Angola Argentina Armenia Australia Austria Azerbaijan
    Bahrain Bangladesh Barbados Belarus Belgium Belize Benin Bhutan Bolivia Bosnia_and_Herzegovina
    Botswana Brazil Britain Brunei Bulgaria Burkina_Faso Burma Burundi Cambodia Cameroon Canada
    Cape_Verde Chad Chile China Colombia Comoros Costa_Rica Croatia Cuba Cyprus Czechia
    Czech_Republic Denmark Djibouti Dominica Dominican_Republic East_Timor Ecuador Egypt
    El_Salvador England Equatorial_Guinea Eritrea Estonia Eswatini Ethiopia Fiji Finland France
    Gabon Gambia Germany Ghana Greece Greenland Grenada Guatemala Guinea Guinea-Bissau Guyana
    Haiti Honduras Hungary Iceland India Indonesia Iran Iraq Ireland Israel Italy Ivory_Coast
    Jamaica Japan Kazakhstan Kenya Kiribati Kosovo Kuwait Kyrgyzstan Laos Latvia Lebanon Lesotho
    Liberia Libya Liechtenstein Lithuania Luxembourg Macedonia Madagascar Malawi Malaysia Maldives
    Mali Malta Mauritania Mauritius Mexico Moldova Monaco Mongolia Montenegro Morocco Mozambique
    Myanmar Namibia Nauru Nepal Netherlands New_Zealand Nicaragua Niger Nigeria North_Korea
    North_Macedonia Northern_Ireland Norway Oman Pakistan Palau Panama Papua_New_Guinea Paraguay
    Peru Philippines Poland Portugal Qatar Romania Russia Rwanda Samoa San_Marino Saudi_Arabia
    Scotland Senegal Serbia Seychelles Sierra_Leone Singapore Slovakia Slovenia Solomon_Islands
    Somalia South_Africa South_Korea South_Sudan Spain Sri_Lanka Sudan Suriname Swaziland Sweden
    Switzerland Syria Taiwan Tajikistan Tanzania Thailand Togo Tonga Trinidad_and_Tobago Tunisia
    Turkey Turkmenistan Tuvalu Uganda Ukraine United_Arab_Emirates United_Kingdom United_States
    Uruguay Uzbekistan Vanuatu Vatican_City Venezuela Vietnam Wales Yemen Zambia Zimbabwe
""")

PLACES = words("""
    Abuja Afrin Alabama Alaska Aleppo Algiers Amsterdam Ankara Antarctica Arctic Arizona Arkansas
    Athens Atlanta Auckland Baghdad Bali Bangkok Barcelona Basel Beijing Beirut Belgrade Berlin
    Bern Birmingham Bogotá Boston Brasília Bratislava Brisbane Bristol Brussels Bucharest Budapest
    Buenos_Aires Cairo California Canberra Cape_Town Caracas Catalonia Chicago Christchurch
    Colorado Connecticut Copenhagen Crimea Dakar Dallas Damascus Darfur Davos Delaware Delhi
    Denver Detroit Dhaka Doha Dubai Dublin Edinburgh Florida Frankfurt Gaza Geneva Georgia Glasgow
    Guangzhou Hamburg Hanoi Harare Havana Hawaii Helsinki Hiroshima Hong_Kong Honolulu Houston
    Hubei Idaho Illinois Indiana Iowa Islamabad Istanbul Jakarta Jerusalem Johannesburg Kabul
    Kansas Karachi Kathmandu Kentucky Khartoum Kiev Kinshasa Kyiv Kyoto Lagos Las_Vegas Lima
    Lisbon Liverpool Ljubljana London Los_Angeles Louisiana Luanda Lyon Madrid Maine Manchester
    Manila Maryland Massachusetts Melbourne Mexico_City Miami Michigan Milan Minneapolis Minnesota
    Minsk Mississippi Missouri Mogadishu Montana Montreal Moscow Mumbai Munich Nairobi Nebraska
    Nevada New_Delhi New_Hampshire New_Jersey New_Mexico New_Orleans New_York New_York_City
    North_Carolina North_Dakota Ohio Oklahoma Oregon Oslo Ottawa Paris Pennsylvania Perth
    Philadelphia Phoenix Port-au-Prince Portland Prague Pretoria Pyongyang Quebec Queensland
    Reykjavik Rhode_Island Riga Rio_de_Janeiro Riyadh Rome Rotterdam San_Diego San_Francisco
    San_Juan Santiago São_Paulo Sarajevo Seattle Seoul Shanghai Sochi Sofia South_Carolina
    South_Dakota Stockholm Strasbourg Stuttgart Sydney Taipei Tallinn Tasmania Tehran Tel_Aviv
    Tennessee Texas The_Hague Tibet Tokyo Toronto Tripoli Tunis Turin Utah Vancouver Venice
    Vermont Vienna Vilnius Virginia Warsaw Washington Wellington West_Virginia Wimbledon Wisconsin
    Wuhan Wyoming Yorkshire Zagreb Zurich Europe Africa Asia Antarctica Puerto_Rico Kashmir
    Washington,_D.C. Victoria Canterbury Ontario Alberta Saskatchewan Manitoba Nova_Scotia
""")

GIVEN = words("""
    Aaron Abdul Abdullah Abiy Adam Adele Ahmed Al Alan Albert Alberto Alejandro Aleksandar Alex
    Alexander Alexandra Alexis Ali Alice Alicia Amanda Amy Ana Anders Andreas Andrei Andrej Andrew
    Andrzej Andy Angela Anna Anne Annie Anthony Antonio António Ariel Arnold Arthur Asif Barack
    Barbara Barry Bashar Ben Benazir Benjamin Bernard Bernie Beyoncé Bill Billie Bob Boris Brad
    Brett Brian Bruce Bruno Bryan Carl Carlos Carly Carolina Caroline Carrie Catherine Charles
    Charlie Chris Christian Christine Christopher Cindy Claudia Clint Colin Cristiano
    Cristina Cyril Dan Daniel Danny Dave David Dean Deborah Dennis Diana Diane Dick Diego Dilma
    Dmitry Dominic Dominique Donald Doug Douglas Ed Eddie Edward Elena Elizabeth Ella Ellen Elon
    Emma Emmanuel Eric Erik Ernesto Evo Felipe Fernando Fidel Fiona François Frank Fred Gabriel
    Gareth Gary Gavin Geoff George Gerald Gerhard Gianni Giorgio Giuseppe Glenn Gordon Graham Greg
    Greta Guy Harriet Harry Hassan Heather Heinz Helen Henrique Henry Herman Hillary Hosni Howard
    Hugo Ian Ibrahim Ilham Imran Isabel Ivan Ivanka Jack Jackie Jacob Jacinda Jair James Jamie Jan
    Jane Janet Jason Javier Jay Jean Jean-Claude Jeff Jeffrey Jennifer Jeremy Jerome Jerry Jesse
    Jessica Jill Jim Jimmy Jo Joachim Joan Joe Johann John Johnny Jon Jonathan Jordan Jorge José
    Joseph Josep Josh Joshua Juan Judith Julia Julian Julie Julius Jürgen Justin Kamala Karen Karl
    Kate Katherine Katie Keith Kelly Ken Kenneth Kevin Kim Kofi Kristina Kylie Kyle Lance Larry
    Lars Laura Laurent Lawrence Lee Leo Leon Leonardo Leonel Lewis Liam Linda Lindsay Lindsey
    Lionel Lisa Liz Lloyd Louis Louise Lucas Luis Luís Luiz Lula Lynn Malala Malcolm Manmohan
    Manuel Marc Marco Margaret Maria María Mariano Marie Mario Marine Mark Markus Martin Mary
    Matt Matteo Matthew Mauricio Max Maxime Megan Meghan Michael Michel Michelle Miguel Mikhail
    Mike Mikheil Mitch Mitt Mo Mohamed Mohammad Mohammed Mona Muammar Muhammad Nancy Naomi
    Narendra Neil Nelson Nicholas Nick Nicola Nicolas Nicolás Nigel Norman Olaf Oleg Oliver Olivia
    Oscar Pablo Pamela Patricia Patrick Paul Paula Pedro Peter Petr Phil Philip Philippe Pierre
    Pope Quique Rachel Rafael Rahul Ralph Raúl Ray Rebecca Recep Renzo Rex Richard Rick Robert
    Roberto Robin Rod Roger Roman Ron Ronald Rory Ross Roy Rudy Rupert Russell Ruth Ryan Sally Sam
    Samuel Sandra Sara Sarah Scott Sean Sebastian Serena Serge Sergei Sergey Sergio Shane Sharon
    Shinzo Silvio Simon Simone Stan Stefan Stella Stephen Steve Steven Stuart Sue Susan Susilo
    Taylor Ted Teresa Terry Theresa Thomas Tiger Tim Timothy Todd Tom Tommy Tony Usain Valerie
    Venus Vicente Victor Vidkun Viktor Vince Vincent Vladimir Volodymyr Wayne Wendy Will William
    Xavi Xi Yukio Yulia Zara Zoran
""")

TITLES = words("""
    President Vice_President Prime_Minister Deputy_Prime_Minister Chancellor King Queen Prince
    Princess Pope Emperor Sultan Emir Sheikh Minister Foreign_Minister Finance_Minister
    Defence_Minister Health_Minister Interior_Minister Secretary Secretary-General
    Secretary_of_State Director-General Attorney_General Attorney_General's Governor Mayor Senator
    Congressman Congresswoman Representative Judge Justice Chief_Justice General Colonel Captain
    Major Lieutenant Sergeant Admiral Bishop Archbishop Cardinal Father Sister Dr Dr. Doctor
    Professor Mr Mr. Mrs Mrs. Ms Ms. Miss Sir Dame Lord Lady Speaker Chairman Chairwoman
    Premier Taoiseach Commissioner Ambassador Treasurer Director Chief Commander
    Governor-General Vice-Chancellor Treasury_Secretary Representative
    Lt. Gen. Col. Sen. Rep. Gov. Rev. Opposition_Leader U.S._Attorney
""")

ORG_HEADS = words("""
    Party Council Ministry Department Bank Court University College School Institute Agency
    Commission Committee Congress Senate Parliament Assembly House Union Association Federation
    Organization Organisation Authority Administration Bureau Office Service Services Corporation
    Company Group Holdings Inc Inc. Ltd Ltd. Corp Corp. plc LLC Industries Airlines Airways Motors
    Foundation Trust Fund League Alliance Front Movement Coalition Army Navy Force Forces Police
    Society Club FC F.C. United City Rovers Wanderers Athletic Duma Guard Board Center Centre
    Hospital Museum Studios Records Pictures Entertainment Times Post Herald Tribune Guardian
    Kuomintang Bundestag Knesset Taliban Academy Tribunal Church Conference Sox Giants Broncos
    Patriots Yankees Warriors Heat Lakers Spurs Cavaliers Raptors Cubs Dodgers Nationals Astros
    Eagles Steelers Saints Seahawks Packers Chiefs Phillies Cardinals Blues Blackhawks Bruins
    Kings Penguins Capitals Madrid Forum Greens Republicans Democrats Conservatives Exchange
    Left Right Brotherhood State Network Treasury Boks Springboks Blacks Wallabies Partnership
""")

OTHER_HEADS = {
    "EVENT": words("""
        Cup Games Olympics Championship Championships Open Prize Award Awards Festival Masters Prix
        War Summit Tour Bowl Series Race Grammy Oscar Oscars Emmy Hurricane Cyclone Typhoon Storm
        Treaty Agreement Accord Act Bill Referendum Convention Derby Revolution Day Eve Christmas
        Easter Ramadan Marathon Contest Protocol Deal Trophy Brexit Shield Ashes
    """),
    "LOC": words("""
        Sea Ocean River Lake Mount Mountains Island Islands Strait Gulf Bay Canal Desert Peninsula
        Valley Province Region County District Street Square Avenue Road Bridge Park Airport
        Stadium Arena Palace Cathedral Tower Abbey Square Wall Station Coast Hill Valley Beach
    """),
}

DEMONYMS = words("""
    Afghan African Albanian American Arab Argentine Armenian Asian Australian Austrian Bavarian
    Belarusian Belgian Bolivian Bosnian Brazilian British Bulgarian Burmese Cambodian Canadian
    Catalan Catholic Chechen Chilean Chinese Christian Colombian Communist Conservative Croatian
    Cuban Cypriot Czech Danish Democrat Democratic Dutch Egyptian English Estonian Ethiopian
    European Finnish Flemish French Georgian German Greek Haitian Hungarian Icelandic Indian
    Indonesian Iranian Iraqi Irish Islamic Islamist Israeli Italian Jamaican Japanese Jewish
    Jordanian Kenyan Korean Kosovan Kurdish Kuwaiti Labour Latvian Lebanese Liberal Libyan
    Lithuanian Malaysian Maltese Mexican Moldovan Moroccan Muslim Nepalese Nigerian North_Korean
    Northern Norwegian Olympic Orthodox Pakistani Palestinian Peruvian Polish Portuguese Republican
    Roman Romanian Russian Saudi Scottish Senegalese Serbian Slovak Slovenian Socialist Somali
    South_African South_Korean Soviet Spanish Sri_Lankan Sudanese Swedish Swiss Syrian Taiwanese
    Thai Tibetan Tunisian Turkish Ugandan Ukrainian Venezuelan Vietnamese Welsh Western Yemeni
    Zimbabwean Eastern Southern
""")

WEEKDAYS = frozenset(dates.WEEKDAYS)
MONTHS = dates.MONTHS

COMMON = words("""
    A About According Additionally Afterwards Again Although An And Another Any As At Authorities
    Because Before Both But By Candidates Citizens Civilians Critics Deputies During Each Earlier
    Early Eight Eighteen Eleven Even Every Everyone Few Fifteen Fifty Fighting Finally Firefighters
    Five For Former Forty Four From Further Government Governments He Her Here His How However
    Hundreds I If In Initially Instead Investigators It Its Judges Last Late Later Lawyers Leaders
    Legislation Legislators Many Members Men Meanwhile Military Millions More Most Much My Nearly
    Negotiators New Next Nine No Nobody None Not Now Of Officials On One Only Opponents Opposition
    Or Other Others Our Over Parliament People Police Prosecutors Protesters Rescuers Residents
    Results Rioters Scientists Seven Several She Similar Since Six So Soldiers Some Sometimes Soon
    Supporters Ten That The Their Then There These They This Those Though Thousands Three Thus To
    Today Together Tomorrow Troops Turnout Twelve Twenty Two Under Until Voters Voting We Well What
    When Where Whether Which While Who Why With Within Without Women Workers Yesterday Yet You
    Your Rebels Researchers Doctors Experts Players Fans Organisers Companies Banks Students Also
    Among Between Across Against Around Despite Following After Once Including Like Per Via Upon
    Cardinals Shares Lawmakers Engineers Astronauts Heads Ministers Representatives Delegates
    Governors Jurors Surgeons Customers Employees Visitors Pilots Drivers Farmers Teachers Nurses
    Children Families Friends Relatives Witnesses Crowds Demonstrators Militants Gunmen Insurgents
    Born Elections Foreign Prime Deputy National Federal Local State Vice Chief Senior Analysts
""")
"""Words that open sentences with a capital and are no names on their own."""

NAME_PARTS = words("bin ibn al de da do dos del della der den di du la le van von el ter zu y")
