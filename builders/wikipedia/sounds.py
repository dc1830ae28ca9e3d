"""What templates of sounds show: `the vowel {{IPA|/a/}} is open`.

They are shown where they are a part of the sentence; how a name is spoken, which stands behind it
in brackets, is an aside that no reader of plain text misses.
"""

import re

# `ipa`, `ipalink`, `ipaslink`, `ipa-el`, `ipac-en`, `respell`; not `ipa symbol`, which is a box.
_SPOKEN = re.compile(r"ipa(?:link|[sb]link|c?-[a-z-]{2,8})?|respell")
# Arguments of `{{IPAc-en}}` and the like that say whose speech it is.
_SPEAKERS = frozenset("lang local pron uk us au ca nz ie in za ph also or ipa audio".split())
_STRESS = {"'": "ˈ", ",": "ˌ", "_": " ", "-": ".", ";": "; "}
"""What stands for the keys of stress and of gaps in `{{IPAc-en}}`."""
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[a-z]+)?")


def is_spoken(template_name: str) -> bool:
    """Whether a template shows sounds."""
    return _SPOKEN.fullmatch(template_name) is not None


def spoken_text(template_name: str, arguments: dict[str, str]) -> str:
    """`/æski/` of `{{IPAc-en|æ|s|k|i}}`, `ASS-kee` of `{{respell|ASS|kee}}`."""
    unnamed_values = [value for name, value in arguments.items() if name.isdigit() and value]
    if template_name == "respell":
        return "-".join(unnamed_values).replace("-_-", " ")
    if template_name.startswith("ipac-"):
        sound_texts = [value for value in unnamed_values if value.lower() not in _SPEAKERS]
        spoken_name = "".join(_STRESS.get(sound, sound) for sound in sound_texts)
        return f"/{spoken_name}/" if spoken_name else ""
    return _bracketed_sound(template_name, unnamed_values)


def _bracketed_sound(template_name: str, unnamed_values: list[str]) -> str:
    """`[alɛ̃]` of `{{IPA|fr|alɛ̃}}`, which names the language first; without one as it stands."""
    has_language = template_name == "ipa" and _LANGUAGE.fullmatch("".join(unnamed_values[:1]))
    first_place = 1 if has_language and len(unnamed_values) > 1 else 0
    sound_texts = unnamed_values[first_place : first_place + 1]
    bracket_pair = "//" if template_name == "ipaslink" else "[]"
    if not sound_texts or (template_name in ("ipa", "ipalink") and not has_language):
        return "".join(sound_texts)
    return f"{bracket_pair[0]}{sound_texts[0]}{bracket_pair[1]}"
