"""The templates of the English Wikipedia whose text belongs into a sentence, in one table."""

import re
from collections.abc import Callable

from builders.wikipedia.template_dates import DATES

Arguments = dict[str, str]
"""What a template is given, by name or place (`1`, `2`, …)."""
Render = Callable[[Arguments], str]
_MARK = re.compile(r"^[*#:;\s]+", re.M)
_CODE = re.compile(r"[A-Z]{2,4}")
_BETWEEN = {
    "-": "–",
    "–": "–",
    "to": " to ",
    "and": " and ",
    "or": " or ",
    "x": " × ",
    "by": " by ",
}


def _first(given: Arguments) -> str:
    return given.get("1", "")


def _second(given: Arguments) -> str:
    return given.get("2", "")


def _last(given: Arguments) -> str:
    return next((given[k] for k in ("3", "2", "1") if given.get(k)), "")


def _either(given: Arguments) -> str:
    return given.get("2") or given.get("1", "")


def _quote(given: Arguments) -> str:
    return f"\n\n{next((given[k] for k in ('text', 'quote', '1') if given.get(k)), '')}\n\n"


def _constant(text: str) -> Render:
    return lambda given: text


def _before(text: str) -> Render:
    return lambda given: text + given.get("1", "")


def _first_or(text: str) -> Render:
    return lambda given: given.get("1") or text


def _places(given: Arguments) -> list[str]:
    return [v for k, v in given.items() if k.isdigit() and v]


def _joined(given: Arguments) -> str:
    lines = [line for v in _places(given) for line in _MARK.sub("", v).split("\n")]
    return ", ".join(s for s in (line.strip() for line in lines) if s)


def _whole(given: Arguments) -> str:
    content = given.get("content") or given.get("1", "")
    return f"\n{content}\n"


def _post_nominals(given: Arguments) -> str:
    return " ".join(_places(given))


def _convert(given: Arguments) -> str:
    """`5 km`, `5 to 10 km`, `6 ft 2 in`: the measure as given, without the other unit."""
    words = _places(given)
    if len(words) < 2:
        return " ".join(words)
    if len(words) > 3 and words[1] in _BETWEEN:
        return f"{words[0]}{_BETWEEN[words[1]]}{words[2]} {words[3]}"
    feet = len(words) > 3 and words[1] in ("ft", "lb", "st", "mi") and words[2][:1].isdigit()
    return " ".join(words[:4] if feet else words[:2])


def _height(given: Arguments) -> str:
    units = [f"{given[u]} {u}" for u in ("m", "cm", "ft", "in") if given.get(u)]
    return " ".join(units)


def _flag(given: Arguments) -> str:
    name = given.get("name") or given.get("1", "")
    return name if _CODE.fullmatch(name) or "[[" in name else _link(name)


def _link(target: str, label: str = "") -> str:
    if not target:
        return label
    return f"[[{target}|{label}]]" if label and label != target else f"[[{target}]]"


def _sortname(given: Arguments) -> str:
    name = f"{given.get('1', '')} {given.get('2', '')}".strip()
    if given.get("nolink"):
        return name
    target = given.get("3") or (f"{name} ({given['dab']})" if given.get("dab") else name)
    return _link(target, name)


def _other_language(given: Arguments) -> str:
    return _link(given.get("1", ""), given.get("lt", ""))


def _nihongo(given: Arguments) -> str:
    inside = ", ".join(given[k] for k in ("2", "3") if given.get(k))
    name = given.get("1", "")
    return f"{name} ({inside})" if name and inside else name or inside


def _marriage(given: Arguments) -> str:
    """`Jane Roe (m. 1990; div. 2001)`."""
    begun, ended = given.get("2", ""), given.get("3", "")
    how = given.get("end") or given.get("reason") or ""
    how = {"divorced": "div.", "divorce": "div.", "div": "div.", "died": "d."}.get(how, how)
    times = [f"m. {begun}"] * bool(begun) + [f"{how or 'ended'} {ended}"] * bool(ended)
    return f"{given.get('1', '')} ({'; '.join(times)})" if times else given.get("1", "")


def _fraction(given: Arguments) -> str:
    words = _places(given)
    return " ".join([*words[:-2], "/".join(words[-2:])] if len(words) > 1 else ["1", *words])


def _value(given: Arguments) -> str:
    return f"{given.get('1', '')} {given.get('u') or given.get('ul') or ''}".strip()


def _zh(given: Arguments) -> str:
    return next((given[k] for k in ("c", "t", "s", "1", "p") if given.get(k)), "")


def _table(names: str, render: Render) -> dict[str, Render]:
    return dict.fromkeys((n.strip() for n in names.split("|")), render)


INLINE: dict[str, Render] = {
    **DATES,
    **_table(
        "nowrap|nobr|nobreak|nowr|small|smaller|big|larger|resize|nobold|noitalic|sc|smallcaps|em|"
        "strong|abbr|abbrlink|tooltip|sup|sub|center|nts|ntsh|number table sorting|not a typo|typo|"
        "proper name|visible anchor|vanchor|linktext|flagu|keypress|code|mono|var|noflag|nwr|"
        "normal|bold|italic|no wrap|italics correction|flagcountry-u|hover title|decrease2|"
        "increase2|ordinal|char|unichar|angle bracket|bracket|crossref|"
        "plain text|nay|yea|no bold|no italic|text|strike|underline|u|s|i|b|fb-rt|plainrow",
        _first,
    ),
    **_table(
        "lang|langx|native name|native phrase|color|colour|font color|align|rtl-lang|wikt-lang|"
        "native name list|fontcolor|background color|lang-rtl|bg|colors",
        _second,
    ),
    **_table("transl|transliteration|lang-zh-hani", _last),
    **_table("sort|hidden sort|sort text", _either),
    **_table("quote|blockquote|cquote|quotation|bquote|quote box|verse translation", _quote),
    **_table(
        "ubl|unbulleted list|ublist|hlist|plainlist|plain list|flatlist|flat list|bulleted list|"
        "unordered list|ordered list|collapsible list|bulletedlist|comma separated entries|"
        "cslist|csv|indented plainlist|hlist-comma|ubli|tree list|pagelist",
        _joined,
    ),
    **_table("columns-list|div col|col-list|columns list|colbegin|multi-column list", _whole),
    **_table("convert|cvt|conv", _convert),
    **_table("height", _height),
    **_table("flag|flagcountry|flagg|flag+link|flag link|fb|fbw|nft|nfa|fbu|ru|cr|ih", _flag),
    **_table("sortname|sort name", _sortname),
    **_table("ill|interlanguage link|link-interwiki|illm", _other_language),
    **_table("nihongo|nihongo3|korean", _nihongo),
    **_table("marriage|married", _marriage),
    **_table("frac|fraction|sfrac", _fraction),
    **_table("val|quantity", _value),
    **_table("zh|lang-zh", _zh),
    **_table("post-nominals|postnominals|post nominals", _post_nominals),
    **_table("nbsp|space|spaces|br|break|-|clear|crlf|thinsp|hairspace|pad|indent", _constant(" ")),
    **_table("ndash|en dash|endash|nsndns", _constant("–")),
    **_table("snd|spnd|spaced ndash|spaced en dash|spndash|dash", _constant(" – ")),
    **_table("mdash|em dash|emdash", _constant("—")),
    **_table("'|apostrophe|'s-", _constant("'")),
    **_table("'s", _constant("'s")),
    **_table("·|middot|dot|•|bullet|bold middot", _constant(" · ")),
    **_table("née|nee", _before("née ")),
    **_table("us$|usd|usdollar", _before("$")),
    **_table("gbp|pound sterling|£", _before("£")),
    **_table("euro|eur|€", _before("€")),
    **_table("inr|₹", _before("₹")),
    **_table("won", _first_or("Won")),
    **_table("nom|nominated", _first_or("Nominated")),
    **_table("yes|ya|aye", _first_or("Yes")),
    **_table("no|na-no", _first_or("No")),
    **_table("sic", _first_or("")),
}
"""What each template shows, by its name in small letters; one that is not here shows nothing."""
