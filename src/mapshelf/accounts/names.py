"""Rejects names of users and programs that look like other ones, to prevent impersonation.

New users may not have names either that stand for something else: parts of addresses, or what is
shown instead of the names of deleted users. Existing users with such names keep them.

Characters that show nothing are the easiest way to make a name look like another one. Others are
letters of another alphabet that look Latin, such as the Cyrillic U+0430 instead of an a, and other
forms of Latin letters, such as the wide U+FF41. Names that are wholly in another alphabet are not
compared.

A few Latin letters look like those of ASCII, such as the Turkish U+0131 instead of an i. Somebody
may really have such a name, so it is refused only if there is a user with the name in ASCII.
"""

import re
import unicodedata
from typing import Final

from mapshelf.model import name_key

_INVISIBLE: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Letters and marks that show nothing, although Unicode counts them as printable."""

_OF_DELETED: Final = re.compile(r"deleted user \d+")
"""What is shown instead of the name of a deleted user (``store/account_deletion.py``)."""

_WORD: Final = re.compile(r"[^\W\d_]+")
_LATIN: Final = "LATIN"
_LIKE_LATIN: Final = frozenset({"ARMENIAN", "CHEROKEE", "COPTIC", "CYRILLIC", "GREEK", "LISU"})
"""The first words of the Unicode names of letters: alphabets with letters that look Latin."""

_LIKE_ASCII: Final = str.maketrans(
    "\u0131\u0237\u0251\u0261\u0269\u0185\u01c0"  # without dots, or of phonetic alphabets
    "\u1d00\u0299\u1d04\u1d05\u1d07\ua730\u0262\u029c\u026a\u1d0a\u1d0b\u029f\u1d0d\u0274"
    "\u1d0f\u1d18\u0280\ua731\u1d1b\u1d1c\u1d20\u1d21\u028f\u1d22",  # small capitals
    "ijagiblabcdefghijklmnoprstuvwyz",
)
"""Latin letters that look like those of ASCII, but are not forms of these for Unicode."""

_SECOND_DOT: Final = re.compile("(?<=[ij])\u0307")
"""A dot above a letter that has one shows nothing."""


def has_invisible(name: str) -> bool:
    """Return whether a name has an invisible character."""
    return _INVISIBLE.search(name) is not None


def without_invisible(name: str) -> str:
    """Return a name without its invisible characters."""
    return _INVISIBLE.sub("", name)


def is_lookalike(name: str) -> bool:
    """Return whether a name has other forms of ASCII letters, or a word in two alphabets.

    No language mixes Latin letters and those of a similar alphabet in a word.
    """
    if any(_is_form_of_ascii(letter) for letter in name if not letter.isascii()):
        return True
    unmarked = "".join(
        letter for letter in name if not unicodedata.category(letter).startswith("M")
    )
    words = map(_alphabets, _WORD.findall(unmarked))
    return any(_LATIN in alphabets and alphabets & _LIKE_LATIN for alphabets in words)


def name_in_ascii(name: str) -> str:
    """Return the key of a name (``name_key``) with ASCII instead of letters that look like it.

    It equals the key of the name itself if the name has no such letters.
    """
    return _SECOND_DOT.sub("", name_key(name).translate(_LIKE_ASCII))


def is_unusable(name: str) -> bool:
    """Return whether no new user may have a name, although it is a valid one.

    These are names that stand for something else: ``/``, ``.`` and ``..`` in addresses, and
    ``deleted user 5``. Two spaces in a row look like one in most places.
    """
    plain = unicodedata.normalize("NFKC", without_invisible(name))
    spaced = plain != " ".join(plain.split())
    return not plain.strip("./") or spaced or _OF_DELETED.fullmatch(plain.casefold()) is not None


def _is_form_of_ascii(letter: str) -> bool:
    plain = unicodedata.normalize("NFKC", letter)
    return plain != letter and plain.isascii() and plain.isalnum()


def _alphabets(word: str) -> set[str]:
    return {unicodedata.name(letter, "").partition(" ")[0] for letter in word}
