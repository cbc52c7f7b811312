"""Parse a query text into terms. Every text is valid: there are no syntax errors.

The syntax is small on purpose: words, phrases in quotes, ``-`` before a term that must not occur,
and ``title:`` before a term that must be in the title. A map must match all terms, in any order.
The last word also matches as a prefix. (``folder:`` and ``tag:`` are filters, see
``query.filter_words``.)
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final

from mapshelf.query.filter_words import TYPED
from mapshelf.text.normalize import is_unspaced, query_words
from mapshelf.text.stemming import joined_word, subwords

CACHED_QUERIES: Final = 256  # one request parses the same text more than once

MOST_PHRASE_WORDS: Final = 32
"""Maximum number of words of a query text that are matched as parts of phrases. Phrases take much
longer than single words."""

_TERMS: Final = re.compile(
    r'(?P<minus>-?)(?P<title>(?i:title:))?(?:"(?P<phrase>[^"]*)"?|(?P<chunk>[^\s"]+))'
)


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """One or more words that a map must contain in a row, or must not contain.

    Attributes:
        words: the normalized words; several for a phrase, or where a hyphen or the script joins
            them.
        excluded: whether maps that contain the words are left out.
        exact: whether only the words as written match: for phrases and excluded terms.
        prefix: whether the last word also matches as a prefix.
        joined: the words of a compound like ``e-mail`` as one word, empty if they form none.
        subwords: the parts of a word like ``MindMap``, empty if it has none.
        in_title: whether the words must (or, if excluded, must not) be in the title.
        loose: whether the prefix at the end of several words may also be anywhere else in the map.
        written: what the user typed, without quotes and minus.
    """

    words: tuple[str, ...]
    excluded: bool = False
    exact: bool = False
    prefix: bool = False
    joined: str = ""
    subwords: tuple[str, ...] = ()
    in_title: bool = False
    loose: bool = False
    written: str = field(default="", compare=False)

    @property
    def is_character(self) -> bool:
        """Whether it is a single character of a script without spaces: a word, or part of one."""
        return len(self.words) == 1 == len(self.words[0]) and is_unspaced(self.words[0])

    @property
    def is_single_word(self) -> bool:
        """Whether maps must contain one word (or a form of it), and no phrase can stand for it."""
        return len(self.words) == 1 and not self.subwords and not self.excluded

    @property
    def has_forms(self) -> bool:
        """Whether other forms of the word match, too."""
        return len(self.words) == 1 and not self.exact

    def __str__(self) -> str:
        before = ("-" if self.excluded else "") + ("title:" if self.in_title else "")
        return before + (f'"{self.written}"' if self.exact else self.written)


@lru_cache(CACHED_QUERIES)
def parse_query_text(text: str, title_only: bool = False) -> tuple[QueryTerm, ...]:
    """Return the terms of a query text; none if it contains no word.

    Args:
        text: the text.
        title_only: whether to treat every term as if prefixed with ``title:``.
    """
    terms: list[QueryTerm] = []
    text = text if text.isascii() else text.translate(TYPED)
    for match in _TERMS.finditer(text):
        chunk = match["chunk"]
        written = match["phrase"] if chunk is None else chunk
        words = tuple(query_words(written))
        if not words:
            continue
        if chunk is None or match["minus"]:
            term = QueryTerm(words, excluded=bool(match["minus"]), exact=True, written=written)
        else:
            term = _unquoted(chunk, words, last=match.end() == len(text))
        terms.append(replace(term, in_title=True) if match["title"] or title_only else term)
    # A repeated term does not change the result and would cost the same again.
    return tuple(dict.fromkeys(_with_few_phrases(dict.fromkeys(terms))))


def _with_few_phrases(terms: Iterable[QueryTerm]) -> Iterator[QueryTerm]:
    """Return the terms with at most ``MOST_PHRASE_WORDS`` words in phrases.

    The other words of phrases may be anywhere in a map. Excluded phrases that are over the limit
    are ignored, because their words alone would exclude too many maps.
    """
    left = MOST_PHRASE_WORDS
    for term in terms:
        count = sum(len(words) for words in (term.words, term.subwords) if len(words) > 1)
        if count <= left:
            left -= count
            yield term
        elif not term.excluded:
            yield from _shortened(term, left)
            left = 0


def _shortened(term: QueryTerm, most: int) -> Iterator[QueryTerm]:
    """Return a term as a phrase of its first words, and its other words as terms of their own."""
    whole = most if most > 1 else 0
    if whole:
        yield replace(term, words=term.words[:whole], prefix=False, joined="", subwords=())
    for word in term.words[whole:-1]:
        yield QueryTerm((word,), exact=True, in_title=term.in_title, written=word)
    last = term.words[-1]
    yield QueryTerm(
        (last,), exact=term.exact, prefix=term.prefix, in_title=term.in_title, written=last
    )


def _unquoted(chunk: str, words: tuple[str, ...], *, last: bool) -> QueryTerm:
    parts = tuple(word for subword in subwords(chunk) for word in query_words(subword))
    joined = joined_word(chunk) if len(words) > 1 else ""
    prefix = _is_prefix(words, last=last)
    return QueryTerm(words, prefix=prefix, joined=joined, subwords=parts, written=chunk)


def _is_prefix(words: tuple[str, ...], *, last: bool) -> bool:
    """Return whether the last of these words also matches as a prefix."""
    if is_unspaced(words[-1]):
        # A pair of characters is complete. A single character matches pairs that start with it.
        return len(words[-1]) == 1
    return last
