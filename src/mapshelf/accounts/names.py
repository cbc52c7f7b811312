"""Rejects names of users and programs that look like other ones, to prevent impersonation.

New users may not have names either that stand for something else: parts of addresses, or what is
shown instead of the names of deleted users. Existing users with such names keep them.

Characters that show nothing are the easiest way to make a name look like another one. Others are
letters of another alphabet that look Latin, such as the Cyrillic U+0430 instead of an a, and other
forms of Latin letters, such as the wide U+FF41.

Somebody may really have a name in another alphabet, or with a sign or a Latin letter that looks
like another one, such as the Turkish U+0131 instead of an i. So the store refuses such a name only
if it looks like that of a user (``store/lookalikes.py``).
"""

import re
import unicodedata
from typing import Final

from mapshelf.text.skeleton import INVISIBLE

_OF_DELETED: Final = re.compile(r"deleted user \d+")
"""What is shown instead of the name of a deleted user (``store/account_deletion.py``)."""

_WORD: Final = re.compile(r"[^\W_]+")
_LATIN: Final = "LATIN"
_LIKE_LATIN: Final = frozenset({"ARMENIAN", "CHEROKEE", "COPTIC", "CYRILLIC", "GREEK", "LISU"})
"""The first words of the Unicode names of letters: alphabets with letters that look Latin."""


def has_invisible(name: str) -> bool:
    """Return whether a name has an invisible character."""
    return INVISIBLE.search(name) is not None


def without_invisible(name: str) -> str:
    """Return a name without its invisible characters."""
    return INVISIBLE.sub("", name)


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
