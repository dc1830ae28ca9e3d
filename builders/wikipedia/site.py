"""What a wiki calls its namespaces, and which link prefixes lead to other wikis."""

import re
from dataclasses import dataclass
from html import unescape

_NAMESPACES = (
    "media|special|talk|user|user talk|wikipedia|wikipedia talk|project|project talk|wp|wt|file|"
    "file talk|image|image talk|mediawiki|mediawiki talk|template|template talk|help|help talk|"
    "category|category talk|portal|portal talk|draft|draft talk|mos|mos talk|timedtext|"
    "timedtext talk|module|module talk|gadget|gadget definition|book|book talk|"
    "education program|topic|event|event talk"
)
_LANGUAGES = """
aa ab ace ady af ak als alt am ami an ang ann anp ar arc ary arz as ast atj av avk awa ay az azb
ba ban bar bat-smg bbc bcl bdr be be-tarask be-x-old bew bg bh bi bjn blk bm bn bo bpy br bs btm
bug bxr ca cbk-zam cdo ce ceb ch cho chr chy ckb co cr crh cs csb cu cv cy da dag de dga din diq
dsb dtp dty dv dz ee el eml en eo es et eu ext fa fat ff fi fiu-vro fj fo fon fr frp frr fur fy
ga gag gan gcr gd gl glk gn gom gor got gpe gsw gu guc gur guw gv ha hak haw he hi hif ho hr hsb
ht hu hy hyw hz ia iba id ie ig igl ii ik ilo inh io is it iu ja jam jbo jv ka kaa kab kbd kbp kcg
kg kge ki kj kk kl km kn knc ko koi kr krc ks ksh ku kus kv kw ky la lad lb lbe lez lfn lg li lij
lld lmo ln lo lrc lt ltg lv lzh mad mai map-bms mdf mg mh mhr mi min mk ml mn mni mnw mo mos mr mrj
ms mt mus mwl my myv mzn na nah nan nap nds nds-nl ne new ng nia nl nn no nov nqo nr nrm nso nv ny
oc olo om or os pa pag pam pap pcd pcm pdc pfl pi pih pl pms pnb pnt ps pt pwn qu rm rmy rn ro
roa-rup roa-tara rsk ru rue rup rw sa sah sat sc scn sco sd se sg sgs sh shi shn si simple sk skr
sl sm smn sn so sq sr srn ss st stq su sv sw syl szl szy ta tay tcy tdd te tet tg th ti tig tk tl
tly tn to tpi tr trv ts tt tum tw ty tyv udm ug uk ur uz ve vec vep vi vls vo vro wa war wo wuu xal
xh xmf yi yo yue za zea zgh zh zh-classical zh-min-nan zh-yue zu
"""
_PROJECTS = """
w wikt wiktionary n wikinews b wikibooks q wikiquote s wikisource v wikiversity voy wikivoyage c
commons meta m d wikidata species wikispecies mw mediawikiwiki phab phabricator foundation wmf f
wikifunctions incubator outreach toollabs toolforge wikitech doi arxiv pmid hdl rfc iarchive
imdbname imdbtitle google wikia mail bugzilla gerrit translatewiki wikimedia
"""
_SPACE = re.compile(rb'<namespace\s+key="(-?\d+)"[^>]*?(?:/>|>([^<]*)</namespace>)')


@dataclass(frozen=True)
class Site:
    """Names that stand before the colon of a link, lower-case."""

    file: frozenset[str]
    category: frozenset[str]
    other: frozenset[str]
    """Every namespace but that of articles."""


def _spaces(extra: dict[int, str]) -> Site:
    names = {n for part in _NAMESPACES.split("|") for n in [part.strip()]}
    files = {"file", "image", "media"} | {extra[k] for k in (-2, 6) if k in extra}
    categories = {"category"} | {extra[14] for _ in range(14 in extra)}
    return Site(frozenset(files), frozenset(categories), frozenset(names | set(extra.values())))


ENGLISH = _spaces({})
LANGUAGES = frozenset(_LANGUAGES.split())
"""Link prefixes of the Wikipedias in other languages; such a link is not shown in the text."""
PROJECTS = frozenset(_PROJECTS.split())
"""Link prefixes of other wikis; such a link is shown in the text."""


def site_of(head: bytes) -> Site:
    """The namespaces that the head of an XML dump declares, besides the English names."""
    found = {
        int(key): unescape(name.decode("utf-8", "replace")).replace("_", " ").lower()
        for key, name in _SPACE.findall(head)
        if name
    }
    return _spaces(found)
