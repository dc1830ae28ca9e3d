"""Verb forms: irregular verbs by table, regular ones by spelling rules."""

from builders.questions.lexicon import words

_IRREGULAR = """
    be was been; have had had; do did done; become became become; begin began begun; bear bore
    borne; beat beat beaten; bid bid bid; bite bit bitten; break broke broken; bring brought
    brought; broadcast broadcast broadcast; build built built; burn burned burned; buy bought
    bought; catch caught caught; choose chose chosen; come came come; cost cost cost; cut cut cut;
    deal dealt dealt; draw drew drawn; drive drove driven; eat ate eaten; fall fell fallen; fight
    fought fought; find found found; flee fled fled; fly flew flown; freeze froze frozen; get got
    got; give gave given; go went gone; grow grew grown; hang hung hung; hear heard heard; hit hit
    hit; hold held held; hurt hurt hurt; keep kept kept; know knew known; lay laid laid; lead led
    led; leave left left; lend lent lent; let let let; lose lost lost; make made made; meet met
    met; oversee oversaw overseen; overtake overtook overtaken; overthrow overthrew overthrown;
    pay paid paid; put put put; quit quit quit; read read read; reelect reelected reelected; ride
    rode ridden; ring rang rung; rise rose risen; run ran run; see saw seen; seek sought sought;
    sell sold sold; send sent sent; set set set; shake shook shaken; shoot shot shot; show showed
    shown; shrink shrank shrunk; shut shut shut; sing sang sung; sink sank sunk; sit sat sat; speak
    spoke spoken; spend spent spent; split split split; spread spread spread; stand stood stood;
    steal stole stolen; strike struck struck; swear swore sworn; swim swam swum; take took taken;
    teach taught taught; throw threw thrown; undergo underwent undergone; uphold upheld upheld;
    win won won; withdraw withdrew withdrawn; write wrote written; forgive forgave forgiven;
    overturn overturned overturned; wear wore worn; bet bet bet; dig dug dug; feed fed fed
"""
_REGULAR = """
    abandon abolish abstain accept accuse achieve acquire activate add address admit adopt advance
    agree allow announce annex appeal appear apply appoint approach approve arrest arrive attack
    attempt attend attract award back ban bar battle block boycott bomb call cancel capture carry
    cause celebrate chair challenge change charge claim clear climb close coach collapse collect
    command complete compete condemn conduct confirm connect conquer consist contain continue
    control convict cooperate create criticize cross crown damage deceive decide declare defeat
    defend demand denounce deny deploy depose describe design destroy detain detect develop die
    direct disappear discover dismiss dissolve donate drop earn edit elect eliminate employ enact
    end endorse enter equal erupt escape establish evacuate execute expand expel explode explore
    export extend extradite face fail file film finish fine fire float flood follow force form
    found gain govern graduate grant halt hand happen head help honour host identify impeach
    import impose imprison improve include increase inaugurate inflict inform injure insist inspect
    install intervene introduce invade invent invest investigate invite issue join judge kick kidnap
    kill land last launch lift limit link list live manage march mark marry mediate merge miss
    monitor move murder name narrow need negotiate nominate offer open operate oppose order organize
    oust outline own park participate pass patent perform pilot place plan play please pledge poison
    post postpone praise present preside prevent produce promise promote propose prosecute protect
    protest prove publish purchase qualify question race raise ratify reach receive recognize
    recommend record recover reduce refuse regain reign reject release remain remember remove
    rename replace report represent rescue resign restore restrict resume retain retire
    return reveal review ride rule sack sail sanction schedule score seal secure seize separate
    serve share sign sponsor start stay step stop storm succeed sue suffer suggest support suspend
    supply surpass surrender target tax test threaten top total touch tour trade train transfer
    travel treat trigger try turn unify unite unveil urge use value vandalise veto view visit vote
    vow walk want warn welcome withhold witness work worship direct debut star hire dedicate
    describe reopen relaunch rejoin redesign retake premiere captain orbit dock cover contest
    recall refund reinstate occupy liberate house hail exceed dominate crash circle cite
    authorize assassinate assist assume ask argue apologize answer benefit belong borrow campaign
    compose conclude consider convene copy cast delay deliver demolish depart derail devastate
    displace display dispute divide double elevate emerge employ encourage examine expect explain
    express finance flatten fund gather generate guide hijack hope inherit inspire insure knock
    lobby lower maintain measure mention narrate nationalize notify object observe obtain outlaw
    overrule pardon patrol permit photograph pick possess practise predict prepare print privatize
    propel provide pull push quash rank reappoint rebuild recapture reelect reform register relax
    repeal require resolve respond result reverse rent rob salute scrap select settle shell simplify
    slow smash solve stage strengthen stress succeed summon surround survive swap sweep tackle
    televise terminate tie topple trail translate vaccinate
"""
_DOUBLED = words("""
    admit ban bar commit drop expel kidnap occur patrol permit plan propel refer rob scrap star
    step stop submit swap top transfer compel
""")


def _past(base: str) -> str:
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2] not in "aeiou":
        return base[:-1] + "ied"
    if base in _DOUBLED:
        return base + base[-1] + "ed"
    return base + "ed"


def third(base: str) -> str:
    """The third person singular of the present: `win` -> `wins`."""
    if base in ("be", "have", "do", "go"):
        return {"be": "is", "have": "has", "do": "does", "go": "goes"}[base]
    if base.endswith(("s", "x", "z", "ch", "sh", "o")):
        return base + "es"
    return base[:-1] + "ies" if base.endswith("y") and base[-2] not in "aeiou" else base + "s"


PAST: dict[str, str] = {}
"""Past form -> base form."""
PARTICIPLE: dict[str, str] = {}
"""Past participle -> base form."""
PRESENT: dict[str, str] = {}
"""Third person singular of the present -> base form."""
PAST_OF: dict[str, str] = {}
"""Base form -> past form."""

for _entry in _IRREGULAR.split(";"):
    _base, _p, _pp = _entry.split()
    PAST[_p], PARTICIPLE[_pp], PAST_OF[_base] = _base, _base, _p
for _base in _REGULAR.split():
    if _base not in PAST_OF:
        PAST[_past(_base)] = PARTICIPLE[_past(_base)] = _base
        PAST_OF[_base] = _past(_base)
for _base in PAST_OF:
    PRESENT[third(_base)] = _base

SPEECH = words("""
    say tell think believe hope expect ask argue insist suggest claim deny decide promise agree
    vow pledge want refuse plan try fail need attempt announce report explain describe
""")
"""Verbs that mostly take a clause or an infinitive."""

AUXILIARIES = words("""
    is are was were be been being has have had do does did will would can could may might shall
    should must
""")


def lemma(word: str) -> str:
    """The base form of a verb form, else the word itself."""
    low = word.lower()
    return PAST.get(low) or PARTICIPLE.get(low) or PRESENT.get(low) or low
