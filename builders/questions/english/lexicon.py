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
    Antigua_and_Barbuda Aruba Bahamas Central_African_Republic Cook_Islands Côte_d'Ivoire Curaçao
    Democratic_Republic_of_the_Congo Jordan Marshall_Islands Palestine Republic_of_Ireland
    Republic_of_the_Congo Saint_Lucia São_Tomé_and_Príncipe Timor-Leste Türkiye
    Federated_States_of_Micronesia Micronesia Holy_See Abkhazia Artsakh
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
    Wuhan Wyoming Yorkshire Zagreb Zurich Europe Africa Asia Puerto_Rico Kashmir Washington,_D.C.
    Victoria Canterbury Ontario Alberta Saskatchewan Manitoba Nova_Scotia Abidjan Abu_Dhabi Accra
    Addis_Ababa Aden Adelaide Ahmedabad Alexandria Almaty Amman Anchorage Antwerp Austin Baku
    Baltimore Bamako Bangalore Bangui Banjul Basra Benghazi Bethlehem Bilbao Bogota Bishkek Bissau
    Bordeaux Brasilia Brazzaville Bridgetown Brooklyn Buffalo Bujumbura Busan Calgary Cardiff
    Casablanca Charlotte Chennai Cincinnati Cleveland Colombo Columbus Conakry Cork Darwin
    Djibouti Dortmund Dresden Durban Düsseldorf Edmonton Falluja Fallujah Freetown Gaborone
    Guatemala_City Halifax Herat Ho_Chi_Minh_City Hobart Homs Idlib Indianapolis Incheon Jaffna
    Jeddah Jacksonville Juba Kaduna Kampala Kandahar Kansas_City Kharkiv Kherson Kigali Kingston
    Kobani Kolkata Kuala_Lumpur Kunduz Lahore La_Paz Leeds Leipzig Libreville Luhansk Lusaka Macau
    Maiduguri Malmö Managua Manama Maputo Marrakesh Marseille Mecca Medina Memphis Milwaukee
    Monrovia Montevideo Mosul Muscat Naples Nashville Newark N'Djamena Niamey Nice Nicosia
    Nouakchott Odesa Odessa Oakland Oklahoma_City Orlando Osaka Ouagadougou Palermo Panama_City
    Peshawar Phnom_Penh Pittsburgh Podgorica Port_Louis Port_Moresby Quetta Quito Rabat Raleigh
    Ramallah Ramadi Rangoon Rawalpindi Richmond Rostov-on-Don Sacramento Salt_Lake_City
    San_Antonio San_Jose San_José San_Salvador Sanaa Sana'a Santo_Domingo Sevastopol Seville
    Shenzhen Skopje Spokane Srinagar St._Louis St._Petersburg Saint_Petersburg Suva Tampa Tashkent
    Tbilisi Tegucigalpa Tianjin Tikrit Timbuktu Tirana Tobruk Toulouse Ulaanbaatar Valletta
    Valparaíso Vientiane Volgograd Windhoek Yangon Yaoundé Yerevan Yokohama Xinjiang Chechnya
    Dagestan Donetsk Donbass Abkhazia South_Ossetia Nagorno-Karabakh Bosnia Congo Gaza_Strip
    West_Bank Golan_Heights Guam Bermuda Scotland New_South_Wales South_Australia
    Western_Australia Northern_Territory British_Columbia New_Brunswick Newfoundland
    Newfoundland_and_Labrador Prince_Edward_Island District_of_Columbia U.S._Virgin_Islands
""")

TITLES = words("""
    President Vice_President Prime_Minister Deputy_Prime_Minister Chancellor King Queen Prince
    Princess Pope Emperor Sultan Emir Sheikh Minister Foreign_Minister Finance_Minister
    Defence_Minister Health_Minister Interior_Minister Secretary Secretary-General
    Secretary_of_State Director-General Attorney_General Attorney_General's Governor Mayor Senator
    Congressman Congresswoman Representative Judge Justice Chief_Justice General Colonel Captain
    Major Lieutenant Sergeant Admiral Bishop Archbishop Cardinal Father Sister Dr Dr. Doctor
    Professor Mr Mr. Mrs Mrs. Ms Ms. Miss Sir Dame Lord Lady Speaker Chairman Chairwoman Premier
    Taoiseach Commissioner Ambassador Treasurer Director Chief Commander Governor-General
    Vice-Chancellor Treasury_Secretary Lt. Gen. Col. Sen. Rep. Gov. Rev. Opposition_Leader
    U.S._Attorney Hon Hon. Senators Solicitor_General Inspector_General Surgeon_General
    Assistant_Attorney_General Deputy_Attorney_General Acting_Attorney_General
    Associate_Attorney_General United_States_Attorney US_Attorney Acting_Assistant_Attorney_General
    Special_Agent Special_Agent_in_Charge Assistant_Director Assistant_Secretary Deputy_Secretary
    Under_Secretary District_Judge Magistrate_Judge U.S._Magistrate_Judge U.S._District_Judge
    U.S._Circuit_Judge CEO CFO COO PM MP MEP MLA Congressmember Councillor Maj. Capt. Sgt. Cmdr.
    Brig. Adm. Rear_Admiral Vice_Admiral Brigadier_General Major_General Major-General
    Lieutenant_General Lieutenant-General Air_Chief_Marshal Air_Marshal Field_Marshal Ayatollah Imam
    Rabbi Mullah Sheik Crown_Prince Grand_Duke Duke Duchess Baroness Baron Count Archduke Reverend
    Monsignor Saint Defense_Minister Defense_Secretary Home_Secretary Foreign_Secretary
    Trade_Minister Environment_Minister Education_Minister Justice_Minister Transport_Minister
    Energy_Minister Immigration_Minister Agriculture_Minister Secretary_General Press_Secretary
    Chief_Minister First_Minister First_Lady First_Secretary Opposition_leader Shadow_Treasurer
    Assistant_Minister Parliamentary_Secretary Postmaster_General Comptroller Police_Commissioner
    Police_Chief Chief_Executive Executive_Director Managing_Director Coach Head_Coach Spokesman
    Spokeswoman Spokesperson Majority_Leader Minority_Leader Leader Co-Chair Vice-President
    Vice_Chairman Deputy_Premier Mister Lt._Gov. Lt._Col. Lt._Gen. Maj._Gen. Brig._Gen.
    Deputy_Director Deputy Magistrate President-elect Inspector Superintendent Detective Prosecutor
    Vice_Premier Attorney Cr Honourable Honorable Rt_Hon Right_Honourable Tsar HE H.E.
    His_Excellency Her_Excellency Brigadier Commodore Corporal Private Congressmen Warrant_Officer
    Wing_Commander Chief_Superintendent Pastor Canon
""")

ORG_HEADS = words("""
    Government Party Council Ministry Department Bank Court University College School Institute
    Agency Commission Committee Congress Senate Parliament Assembly House Union Association
    Federation Organization Organisation Authority Administration Bureau Office Service Services
    Corporation Company Group Holdings Inc Inc. Ltd Ltd. Corp Corp. plc LLC Industries Airlines
    Airways Motors Foundation Trust Fund League Alliance Front Movement Coalition Army Navy Force
    Forces Police Society Club FC F.C. United City Rovers Wanderers Athletic Duma Guard Board Center
    Centre Hospital Museum Studios Records Pictures Entertainment Times Post Herald Tribune Guardian
    Kuomintang Bundestag Knesset Taliban Academy Tribunal Church Conference Sox Giants Broncos
    Patriots Yankees Warriors Heat Lakers Spurs Cavaliers Raptors Cubs Dodgers Nationals Astros
    Eagles Steelers Saints Seahawks Packers Chiefs Phillies Cardinals Blues Blackhawks Bruins Kings
    Penguins Capitals Madrid Forum Greens Republicans Democrats Conservatives Exchange Brotherhood
    Network Treasury Boks Springboks Blacks Wallabies Partnership Parliamentary Senators Televizion
    Television TV Magazine Journal Newspaper Watch International Limited Pty Bancorp Financial
    Bankers Insurance Brothers Sachs Partners Petroleum Pharmaceuticals Laboratories Systems
    Technologies Technology Software Electronics Electric Telecom Networks Communications
    Broadcasting Co. Co Resources Mining Steel Aerospace Aviation Aircraft Automotive Securities
    Investments Ventures Enterprises Solutions Stores Foods Brands Products Pact Command Corps
    Battalion Brigade Regiment Squadron Division Fleet Militia Secretariat Directorate Cabinet
    Embassy Legislature Legislative Regents Faculty Workers Teamsters Lobby Taskforce Panel Inquiry
    Laboratory Observatory Orchestra Philharmonic Choir Theatre Opera Ballet Library Archives
    Gallery Zoo Bourse Dow Nasdaq Caucus Conservancy Association's Guild Syndicate Cartel Mafia Gang
    Clan Tribe Nation Nations Intelligence Revenue Immigration Fisheries Liberties Amnesty
    Greenpeace Oxfam Qaeda Shabaab Haram Hezbollah Hamas Fatah Jihad Houthis
""")

OTHER_HEADS = {
    "EVENT": words("""
        Cup Games Olympics Championship Championships Open Prize Award Awards Festival Masters
        Prix War Summit Tour Bowl Series Race Grammy Oscar Oscars Emmy Hurricane Cyclone Typhoon
        Storm Treaty Agreement Accord Act Bill Referendum Convention Derby Revolution Day Eve
        Christmas Easter Ramadan Marathon Contest Protocol Deal Trophy Brexit Shield Ashes
        Allowance Payment Package Program Programme Campaign Initiative Project Plan Strategy
        Index Law Rule Order Amendment Pact Week Month Report Review Fair Expo Scheme Fund
    """),
    "LOC": words("""
        Sea Ocean River Lake Mount Mountains Island Islands Strait Gulf Bay Canal Desert Peninsula
        Valley Province Region County District Street Square Avenue Road Bridge Park Airport
        Stadium Arena Palace Cathedral Tower Abbey Wall Station Coast Hill Beach Memorial Monument
        Cemetery Barracks Base Camp Prison Jail Port Harbour Harbor Heights Plaza Center Hall
        Building Mall Highway Tunnel Dam Reef Falls Glacier Volcano Crater Plateau Forest Reserve
        Range Rd St Ave Mosque Temple Synagogue Shrine Basilica Fort Castle House Village Town
        City State Zone Territory Border Hotel Territories Basin Pass Cape Point Head Ridge Gorge
        Creek Springs Cave Caves Grounds Oval Field
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
    Northern Norwegian Olympic Orthodox Pakistani Palestinian Peruvian Polish Portuguese
    Republican Roman Romanian Russian Saudi Scottish Senegalese Serbian Slovak Slovenian Socialist
    Somali South_African South_Korean Soviet Spanish Sri_Lankan Sudanese Swedish Swiss Syrian
    Taiwanese Thai Tibetan Tunisian Turkish Ugandan Ukrainian Venezuelan Vietnamese Welsh Western
    Yemeni Zimbabwean USA Eastern Southern US U.S. UK Algerian Angolan Azerbaijani Bahraini
    Bangladeshi Basque Beninese Bhutanese Botswanan Burkinabé Burundian Cameroonian
    Central_American Chadian Congolese Croat Dominican Ecuadorian Emirati Eritrean Fijian Filipino
    Gabonese Gambian Ghanaian Greenlandic Guatemalan Guinean Guyanese Honduran Ivorian Kazakh
    Kyrgyz Kosovar Laotian Liberian Macedonian Malagasy Malawian Malian Mauritanian Mauritian
    Mongolian Montenegrin Mozambican Namibian Nicaraguan Nigerien North_Macedonian Omani
    Panamanian Papuan Paraguayan Philippine Puerto_Rican Qatari Rwandan Salvadoran Samoan Scots
    Sicilian Sierra_Leonean Singaporean Slovene Sunni Shia Shiite Surinamese Swazi Tajik Tamil
    Tanzanian Timorese Togolese Tongan Trinidadian Turkmen Uruguayan Uyghur Uzbek Vatican Zambian
    New_Zealand Hindu Buddhist Sikh Anglican Protestant Marxist Maoist Californian Texan Victorian
    Labor Coalition GOP Green Tory Latin Bolivarian Hispanic
""")

WEEKDAYS = frozenset(dates.WEEKDAYS)
MONTHS = dates.MONTHS

COMMON = words("""
    A About According Additionally Afterwards Again Although An And Another Any As At Authorities
    Because Before Both But By Candidates Citizens Civilians Critics Deputies During Each Earlier
    Early Eight Eighteen Eleven Even Every Everyone Few Fifteen Fifty Fighting Finally
    Firefighters Five For Former Forty Four From Further Government Governments He Her Here His
    How However Hundreds I If In Initially Instead Investigators It Its Judges Last Late Later
    Lawyers Leaders Legislation Legislators Many Members Men Meanwhile Military Millions More Most
    Much My Nearly Negotiators New Next Nine No Nobody None Not Now Of Officials On One Only
    Opponents Opposition Or Other Others Our Over Parliament People Police Prosecutors Protesters
    Rescuers Residents Results Rioters Scientists Seven Several She Similar Since Six So Soldiers
    Some Sometimes Soon Supporters Ten That The Their Then There These They This Those Though
    Thousands Three Thus To Today Together Tomorrow Troops Turnout Twelve Twenty Two Under Until
    Voters Voting We Well What When Where Whether Which While Who Why With Within Without Women
    Workers Yesterday Yet You Your Rebels Researchers Doctors Experts Players Fans Organisers
    Companies Banks Students Also Among Between Across Against Around Despite Following After Once
    Including Like Per Via Upon Cardinals Shares Lawmakers Engineers Astronauts Heads Ministers
    Representatives Delegates Governors Jurors Surgeons Customers Employees Visitors Pilots
    Drivers Farmers Teachers Nurses Children Families Friends Relatives Witnesses Crowds
    Demonstrators Militants Gunmen Insurgents Born Elections Foreign Prime Deputy National Federal
    Local State Vice Chief Senior Analysts Mr Mrs Ms Dr Hon Furthermore Moreover Nevertheless
    Nonetheless Therefore Hence Indeed Still Just Simply Overall Currently Recently Previously
    Subsequently Eventually Ultimately Shortly Ahead Amid Amidst Citing Speaking Addressing
    Responding Based Given Due Along Away Below Above Beyond Outside Inside Near Off Out Up Down
    Through Throughout Toward Towards Unlike Whereas Whilst Whatever Whoever Either Neither Plus
    Than Yes Please Thank Thanks Let Can Could Would Should Shall Must Might Do Does Did Is Are
    Was Were Be Been Has Have Had Subject Photo Image File Copyright Source Sources Read See Click
    View Contact Media Press Release Note Notes Date Background Summary Introduction Conclusion
    Section Part Chapter Page Table Figure Transcript E&OE Senators Forces Rescue Suspected Armed
    Unidentified Unknown Dozens Scores Fourteen Thirteen Sixteen Seventeen Nineteen Thirty
    Twenty-one Sixty Seventy Eighty Ninety Hundred Thousand Million Billion Half Double First
    Third Fourth Fifth Heavy Strong Severe Flooding Floods Violence Clashes Talks Protests Dear
    Honourable Honorable Ladies Gentlemen Good Great Welcome Congratulations
""")
"""Words that open sentences with a capital and are no names on their own."""

OPENS_NAMES = words("""
    National Federal Foreign Local State First People Armed Military Police New Central Media
    Press Rescue Women Children Workers Students Farmers Teachers Nurses Royal Home Security
""")
"""Those of them that begin a name where another capital follows."""

NAME_PARTS = words("bin ibn al de da do dos del della der den di du la le van von el ter zu y")
