"""What a search text asks for, as data: there is no way to write one wrongly.

What it may contain is small on purpose: words, phrases in quotes, ``-`` before what must not
occur. All must hold for a map, in any order; the last word may be the beginning of one.
"""

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from mapshelf.text.normalize import is_unspaced, query_words
from mapshelf.text.stemming import pieces_of, written_together

RECENT: Final = 256
"""Texts whose parts are kept at hand: one request asks for them more than once."""

_PARTS: Final = re.compile(r'(?P<minus>-?)(?:"(?P<phrase>[^"]*)"?|(?P<chunk>[^\s"]+))')


_TYPED: Final = {
    **dict.fromkeys(map(ord, "\u201c\u201d\u201e\u201f\u00ab\u00bb\u300c\u300d\uff02"), '"'),
    **dict.fromkeys(map(ord, "\u2212\u2013"), "-"),
}
"""What keyboards and word processors make of quotes and the minus."""


@dataclass(frozen=True, slots=True)
class Part:
    """Words that must follow each other, or must not.

    Attributes:
        words: the words, folded; several where a hyphen or the script joins them, or in quotes.
        excluded: whether a map with them does not match.
        exact: whether only these words will do, and no other form of them.
        prefix: whether the last word may be the beginning of one.
        together: the words written as one, empty where that is not the same (``e-mail``).
        pieces: what the only word is made of (``MindMap``), if anything.
        written: what was typed for it, without quotes and minus.
    """

    words: tuple[str, ...]
    excluded: bool = False
    exact: bool = False
    prefix: bool = False
    together: str = ""
    pieces: tuple[str, ...] = ()
    written: str = field(default="", compare=False)

    @property
    def is_character(self) -> bool:
        """Whether it is a single character of a script without spaces, a word or a part of one."""
        return len(self.words) == 1 == len(self.words[0]) and is_unspaced(self.words[0])

    @property
    def has_forms(self) -> bool:
        """Whether other forms of the word will do."""
        return len(self.words) == 1 and not self.exact

    def __str__(self) -> str:
        return ("-" if self.excluded else "") + (
            f'"{self.written}"' if self.exact else self.written
        )


@lru_cache(RECENT)
def parse_text(text: str) -> tuple[Part, ...]:
    """Return the parts of a search text, none if it holds no word at all."""
    parts: list[Part] = []
    text = text if text.isascii() else text.translate(_TYPED)
    for match in _PARTS.finditer(text):
        chunk = match["chunk"]
        written = match["phrase"] if chunk is None else chunk
        words = tuple(query_words(written))
        if not words:
            continue
        if chunk is None or match["minus"]:
            parts.append(Part(words, excluded=bool(match["minus"]), exact=True, written=written))
        else:
            parts.append(_loose(chunk, words, last=match.end() == len(text)))
    # Said twice means no more than said once, and costs the same again.
    return tuple(dict.fromkeys(parts))


def _loose(chunk: str, words: tuple[str, ...], *, last: bool) -> Part:
    pieces = tuple(word for piece in pieces_of(chunk) for word in query_words(piece))
    together = written_together(chunk) if len(words) > 1 else ""
    prefix = _may_go_on(words, last=last)
    return Part(words, prefix=prefix, together=together, pieces=pieces, written=chunk)


def _may_go_on(words: tuple[str, ...], *, last: bool) -> bool:
    """Tell whether the last of these words may be the beginning of one in the map."""
    if is_unspaced(words[-1]):
        # Pairs are complete. A lone character begins some pair wherever it occurs.
        return len(words[-1]) == 1
    return last
