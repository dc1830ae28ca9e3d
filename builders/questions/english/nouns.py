"""Nouns beside names: roles of people, kinds of things, and names whose kind all readers know."""

import re

from builders.questions.english.lexicon import words

ROLE_HEADS = words("""
    president premier chancellor minister governor mayor king queen emperor sultan emir pope leader
    chairman chairwoman chairperson chair chief coach captain manager director secretary
    secretary-general speaker ambassador commander commissioner treasurer head founder co-founder
    owner editor executive CEO CFO COO prosecutor attorney ombudsman superintendent dean rector
    chancellor vice-chancellor archbishop bishop patriarch prince princess publisher controller
    comptroller administrator president-elect spokesman spokeswoman spokesperson inspector general
    member author creator inventor designer winner host architect successor predecessor widow wife
    husband father mother counsel nominee
    whip envoy taoiseach governor-general deputy organiser organizer chairmanship
""") - {"chairmanship"}
"""A phrase that ends in one of these says which one person holds an office."""

ROLES = ROLE_HEADS | words("""
    senator congressman congresswoman lawmaker politician lawyer doctor singer actor actress writer
    author poet player footballer striker goalkeeper member candidate nominee champion winner
    journalist reporter engineer economist physicist chemist scientist daughter son widow wife
    husband brother sister mother father astronaut cosmonaut judge professor activist dissident
    blogger cleric priest monk general colonel sergeant soldier officer detective musician rapper
    comedian director filmmaker producer artist painter architect billionaire businessman
    businesswoman entrepreneur banker investor philanthropist cyclist swimmer boxer golfer sprinter
    athlete gymnast skier driver jockey wrestler runner cricketer quarterback pitcher tennis
    guitarist drummer bassist songwriter composer conductor dancer model presenter host novelist
    playwright historian philosopher mathematician biologist analyst strategist adviser advisor aide
    negotiator diplomat representative MP MEP lawmaker parliamentarian councillor delegate
    spokesman spokeswoman teacher student nurse pilot rebel warlord terrorist militant fugitive
    murderer killer gunman suspect leader whistleblower hacker resident native hostage convict
    imam rabbi ayatollah sheikh opponent critic rival successor predecessor star celebrity veteran
    explorer mountaineer climber chef legend hero publisher fighter official contractor employee
    incumbent challenger frontrunner front-runner president dictator ruler contender figure nun
""")
"""Nouns for people: what bears a name after one is a person."""

THINGS = words("""
    lender maker builder operator developer provider carrier distributor
    company airline bank newspaper magazine broadcaster manufacturer automaker carmaker retailer
    firm agency university college school hospital court party club team band island city town
    village province state river volcano ship vessel submarine satellite spacecraft rocket aircraft
    hurricane typhoon cyclone party ministry department council commission committee association
    organization organisation charity union federation group militia newspaper website network
    bookmaker supermarket chain publisher studio brewery bank insurer utility refinery airport
    stadium museum cathedral mosque prison bridge film album song book novel telescope asteroid
    comet drug vaccine district county municipality region territory festival parliament tribunal
    church army navy corporation conglomerate giant startup think-tank regulator watchdog airliner
    ferry tanker warship frigate destroyer
""")
_PLAIN = {"giant": "company", "firm": "company", "startup": "company", "chain": "company"}
_PLAIN |= {"organisation": "organization", "watchdog": "agency", "conglomerate": "company"}
_PLAIN |= {"maker": "company", "builder": "company", "operator": "company", "developer": "company"}
_PLAIN |= {"provider": "company", "carrier": "airline", "distributor": "company"}
_PLAIN |= {"corporation": "company", "utility": "company", "group": "group"}


def thing(noun: str) -> str | None:
    """The noun that a question asks with for a kind word: `giant` -> `company`; None: no kind."""
    return _PLAIN.get(noun, noun) if noun in THINGS else None


def _table(text: str) -> dict[str, str]:
    """Nouns by name, of lines `noun: names`; a line without a colon goes on with the one before."""
    out, noun = {}, ""
    for line in text.strip().splitlines():
        head, colon, names = line.strip().rpartition(":")
        noun = head if colon else noun
        out.update(dict.fromkeys(words(names), noun))
    return out


LAST_WORDS = _table("""
    party: Party
    university: University
    college: College
    airline: Airlines Airways
    company: Inc Inc. Ltd Ltd. Limited Corp Corp. Corporation Motors Company Holdings Industries plc
        LLC Pharmaceuticals Petroleum Technologies Electronics Systems Laboratories Aerospace
        Enterprises Stores Foods Brands Studios Pictures Co. Aviation Telecom
    bank: Bank Bancorp
    court: Court
    ministry: Ministry
    department: Department
    agency: Agency Bureau
    board: Board
    police force: Police
    organization: Organization Organisation
    commission: Commission
    committee: Committee
    council: Council
    authority: Authority
    association: Association
    federation: Federation
    foundation: Foundation
    institute: Institute
    museum: Museum
    hospital: Hospital
    church: Church
    army: Army
    navy: Navy
    union: Union
    group: Front Movement Brotherhood Liberation Group
    alliance: Alliance
    newspaper: Times Post Herald Tribune
    hurricane: Hurricane
    team: Lakers Warriors Raptors Heat Spurs Cavaliers Celtics Bulls Knicks Mavericks Bucks Giants
        Patriots Broncos Chiefs Eagles Steelers Saints Seahawks Packers Colts 49ers Yankees Dodgers
        Cubs Astros Phillies Cardinals Nationals Royals Sox Blackhawks Bruins Kings Penguins
        Capitals Blues Lightning Avalanche Wallabies Springboks
    academy: Academy
    government: Government
    administration: Administration
    inquiry: Inquiry
    tribunal: Tribunal
    taskforce: Taskforce
    trust: Trust
    fund: Fund
    service: Service
    club: Rovers Wanderers FC F.C. Athletic
    parliament: Parliament
    forum: Forum
""")
FIRST_WORDS = _table("""
    hurricane: Hurricane
    typhoon: Typhoon
    cyclone: Cyclone
    university: University
    ministry: Ministry
    bank: Bank
    department: Department
    volcano: Volcano
    party: Party
""")
KNOWN = _table("""
    team: Arsenal Chelsea Juventus Barcelona Real_Madrid Atlético_Madrid Bayern_Munich
        Borussia_Dortmund Manchester_United Manchester_City Liverpool_F.C. Tottenham_Hotspur
        Leicester_City Everton Inter_Milan AC_Milan Paris_Saint-Germain Ajax Celtic Rangers_F.C.
        Valencia Sevilla Villarreal Napoli Lazio Porto Benfica Boca_Juniors Kansas_City_Chiefs
        New_England_Patriots Denver_Broncos
    party: Alternative_for_Germany Syriza Likud Kadima Fidesz Podemos
    company: Microsoft Google Apple Facebook Amazon Twitter Yahoo Yahoo! Samsung Sony Toyota Honda
        Nissan Ford Boeing Airbus Intel IBM Nokia Dell Nintendo Volkswagen BMW Daimler Chrysler Fiat
        Renault Peugeot Tesla SpaceX Uber Netflix Disney Walmart Wal-Mart Tesco McDonald's Starbucks
        Pfizer Moderna AstraZeneca Novartis Roche Bayer Monsanto BP Shell ExxonMobil Chevron Gazprom
        Rosneft Total Siemens Philips Panasonic Toshiba Hitachi Sharp Huawei Alibaba Tencent Lenovo
        Xiaomi Telstra Optus Vodafone Verizon AT&T Comcast Boeing Bombardier Embraer Navantia
        Halliburton Blackwater Enron Citigroup JPMorgan Goldman_Sachs Morgan_Stanley Lehman_Brothers
        Merrill_Lynch Bear_Stearns AIG Berkshire_Hathaway General_Motors General_Electric
        Rolls-Royce Siemens Oracle Cisco Adobe Qualcomm Broadcom AMD Nvidia Motorola BlackBerry
        Research_in_Motion Electronic_Arts TikTok ByteDance Theranos Eastman_Kodak Purdue_Pharma
        BioNTech Sinovac Johnson_&_Johnson Nestlé Unilever Coca-Cola Pepsi PepsiCo Nike Adidas LG
        HTC Hyundai Kia Mazda Mitsubishi Subaru Suzuki Volvo Saab Porsche Ferrari Tata_Motors
        Infosys Foxconn eBay PayPal Kodak Xerox Wirecard Evergrande Petrobras Repsol Eni Equinor
        Statoil Glencore Rio_Tinto BHP BHP_Billiton Fortescue ArcelorMittal Lockheed_Martin
        Northrop_Grumman Raytheon BAE_Systems Virgin_Galactic Blue_Origin
    bank: Barclays HSBC Citibank UBS Credit_Suisse Deutsche_Bank BNP_Paribas Santander Westpac
        Wachovia Société_Générale Bank_of_America Northern_Rock Wells_Fargo JPMorgan_Chase
    airline: Qantas Lufthansa Ryanair Emirates Aeroflot EasyJet Alitalia KLM Aer_Lingus Jetstar
        Air_France JetBlue
    organization: OECD UNHCR WTO IAEA OSCE NATO UNESCO UNICEF OPEC ASEAN Interpol FIFA UEFA
        Greenpeace Amnesty_International WikiLeaks Human_Rights_Watch WHO IMF
        World_Health_Organization European_Union United_Nations World_Bank
        International_Monetary_Fund African_Union Arab_League European_Parliament
        World_Trade_Organization International_Olympic_Committee Red_Cross Oxfam OPCW ECOWAS Europol
    agency: IRS FTC FDA EPA SEC CDC FAA FCC DEA ATF NASA FBI CIA NSA ESA FEMA Roscosmos JAXA Reuters
        Xinhua Associated_Press
    group: Hamas Hezbollah Taliban al-Qaeda Al-Qaeda Boko_Haram al-Shabaab Al-Shabaab ETA FARC Fatah
        ISIS ISIL Islamic_State Hizbullah Abu_Sayyaf
    newspaper: New_York_Times Washington_Post Guardian Financial_Times Wall_Street_Journal Times
    broadcaster: BBC CNN ABC NBC CBS Fox_News Al_Jazeera
""")
"""Names that tell their kind to every reader of news."""

STATES = words("""
    Alabama Alaska Arizona Arkansas California Colorado Connecticut Delaware Florida Hawaii Idaho
    Illinois Indiana Iowa Kansas Kentucky Louisiana Maine Maryland Massachusetts Michigan Minnesota
    Mississippi Missouri Montana Nebraska Nevada New_Hampshire New_Jersey New_Mexico North_Carolina
    North_Dakota Ohio Oklahoma Oregon Pennsylvania Rhode_Island South_Carolina South_Dakota
    Tennessee Texas Utah Vermont Virginia West_Virginia Wisconsin Wyoming Queensland Victoria
    Tasmania New_South_Wales South_Australia Western_Australia
""")
SPORTS = re.compile(r"\b\d{1,3}[-–]\d{1,3}\b")
