"""What a name looks like, to compare it with the names of others.

Names with equal skeletons look alike, as Unicode Technical Standard 39 defines it: letters and
signs are replaced by those that they look like. We also ignore case, as for names in general, and
other forms of a letter or sign, and replace some Latin letters that the standard leaves alone.

The stored skeletons of users depend on this module and on the data of the package
``confusable_homoglyphs``: where they change, a migration must compute them again.
"""

import json
import re
import unicodedata
from functools import cache
from importlib.resources import files
from typing import Final

from mapshelf.model import name_key

Table = dict[int, str]
"""What ``str.translate`` replaces, by code point."""

INVISIBLE: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\ufffc"
    "\U00016fe4\U0001d159\U000e0100-\U000e01ef]"
)
"""Letters, marks and signs that show nothing, although Unicode counts them as printable."""

_LIKE_ASCII: Final = str.maketrans(
    "\u0131\u0237\u0251\u0261\u0269\u0185\u01c0"  # without dots, or of phonetic alphabets
    "\u1d00\u0299\u1d04\u1d05\u1d07\ua730\u0262\u029c\u026a\u1d0a\u1d0b\u029f\u1d0d\u0274"
    "\u1d0f\u1d18\u0280\ua731\u1d1b\u1d1c\u1d20\u1d21\u028f\u1d22",  # small capitals
    "ijagiblabcdefghijklmnoprstuvwyz",
)
"""Latin letters that look like those of ASCII. The standard replaces only some of them."""

_SECOND_DOT: Final = re.compile("(?<=[ij])\u0307")
"""A dot above a letter that has one shows nothing."""

_DIRECTION: Final = "\u200e"
"""The mark around letters that are written from right to left, in the data of the package."""


def skeleton(name: str) -> str:
    """Return what a name looks like: names with equal skeletons look alike."""
    seen = _replaced(INVISIBLE.sub("", name))
    # Once more, for capital letters: M looks like nothing else, but m looks like r and n.
    return _SECOND_DOT.sub("", _replaced(name_key(seen).translate(_LIKE_ASCII)))


def name_in_ascii(name: str) -> str:
    """Return the key of a name (``name_key``) with ASCII instead of what looks like it.

    It equals the key of the name itself if that has no such letters. Unlike a skeleton, it tells
    apart what looks alike in ASCII, and knows that a capital I is another letter than an l.
    """
    _, to_ascii = _tables()
    plain = unicodedata.normalize("NFKC", name.translate(to_ascii))
    return _SECOND_DOT.sub("", name_key(plain).translate(_LIKE_ASCII).translate(to_ascii))


def _replaced(text: str) -> str:
    prototypes, _ = _tables()
    replaced = unicodedata.normalize("NFD", text).translate(prototypes)
    # Other forms only now: that of the lunate sigma, which looks like a c, does not.
    plain = unicodedata.normalize("NFKD", replaced).translate(prototypes)
    return unicodedata.normalize("NFD", plain)


@cache
def _tables() -> tuple[Table, Table]:
    """Return what looks like something else, with that; and the same for what looks like ASCII."""
    data = json.loads((files("confusable_homoglyphs") / "confusables.json").read_bytes())
    alike: dict[str, set[str]] = {}
    for key, others in data.items():
        found = alike.setdefault(key.strip(_DIRECTION), set())
        found.update(other["c"].strip(_DIRECTION) for other in others)
    single = {ord(one): _prototype(one, alike) for one in alike if len(one) == 1}
    prototypes = {
        code: text.translate(single) for code, text in single.items() if text != chr(code)
    }
    to_ascii = {
        code: _in_ascii(chr(code), text)
        for code, text in prototypes.items()
        if code > 0x7F and text.isascii()
    }
    return prototypes, to_ascii


def _prototype(letter: str, alike: dict[str, set[str]]) -> str:
    """Return what the standard replaces a letter by.

    The data only has pairs, of a letter and what it is replaced by, in both directions. What
    several letters are replaced by has several partners. Of a single pair, each may be it; but a
    letter with marks is taken apart before it could be replaced.
    """
    partners = alike[letter]
    if len(partners) > 1:
        return letter
    (partner,) = partners
    if len(alike[partner]) > 1 or len(partner) > 1:
        return partner
    if unicodedata.normalize("NFD", letter) != letter:
        return letter
    apart = unicodedata.normalize("NFD", partner)
    return apart if apart != partner else min(letter, partner)


def _in_ascii(letter: str, prototype: str) -> str:
    if prototype == "l" and unicodedata.category(letter) == "Lu":
        return "I"
    return "m" if prototype == "rn" else prototype
