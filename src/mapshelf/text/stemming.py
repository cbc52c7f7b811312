"""Other ways to write a word, so that a search finds what it means and not only what it says.

Inflected forms meet in their stem (plan, plans, planning; Planung, Planungen). A stem is written
with a mark and its language before it, so that it never passes for a word, nor for a stem of
another language. What stands together without a space (camelCase, hyphens, dots, addresses) is
found by its pieces and as a whole.

A map's words get the stems of its own language: with those of every language ``data`` would find
``date``. A query has no language, so it is looked up with the stems that it has in each of those
that the maps are in.
"""

import re
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Final

import Stemmer

from mapshelf.text.normalize import (
    LONGEST_WORD,
    SEPARATOR,
    composed,
    fold,
    has_unspaced,
    is_unspaced,
)

STEM: Final = "~"
"""Stands before a stem, and between its language and it: ``~en~plan``, ``~~plan`` where the
language is not known, ``~план`` in other scripts than Latin, which tell it."""

SHORTEST_STEMMED: Final = 3
"""Shorter words have no inflected forms worth the mistakes."""

LONGEST_ENDING: Final = 3
"""Letters that a word has more than its stem if that may be a word of the same meaning: longer
endings seldom are inflections (``mind`` of ``mindfulness``)."""

LANGUAGES: Final = {
    "ca": "catalan",
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "en": "english",
    "es": "spanish",
    "et": "estonian",
    "eu": "basque",
    "fi": "finnish",
    "fr": "french",
    "hu": "hungarian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "nl": "dutch",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "sv": "swedish",
    "tr": "turkish",
}
"""Stemmers of languages in Latin letters, by the code of ISO 639-1."""

UNKNOWN: Final = ""
"""Stands for the code of a language that is not known."""

STEMMERS_OF: Final = {
    **{code: (name,) for code, name in LANGUAGES.items()},
    UNKNOWN: ("english", "german"),
}
"""Stemmers for words in Latin letters by language. Where it is not known, those two confuse the
fewest words."""

CACHED_WORDS: Final = 1 << 13
"""Words whose forms are kept at hand for searches. With eight times as many, going through them for
garbage stops a worker for a tenth of a second."""

KEPT_WORDS: Final = 1 << 18
"""Words whose forms are kept at hand while an index is built, 50 MB. A large map may add more."""

CUT_AT_THE_FRONT: Final = frozenset({"id", "nl"})
"""Languages whose stems lack beginnings too; in all others they keep the first letter in a-z."""

_LATIN: Final = re.compile("[a-z\u00df-\u024f]")

SCRIPTS: Final = (
    (re.compile("[\u0370-\u03ff]"), ("greek",)),
    (re.compile("[\u0400-\u04ff]"), ("russian",)),
    (re.compile("[\u0531-\u058f]"), ("armenian",)),
    (re.compile("[\u0600-\u06ff]"), ("arabic",)),
    (re.compile("[\u0900-\u097f]"), ("hindi",)),
    (re.compile("[\u0b80-\u0bff]"), ("tamil",)),
)
"""Stemmers for words that hold a letter of another script."""

_TOKEN: Final = re.compile(r"[^\W_]+")
# Case and digits count inside a word only: "MindMap" and "XMLFile2", but not "Mind" and "MAP".
_SMALL: Final = "a-z\u00df-\u00f6\u00f8-\u00ff\u0430-\u045f"
_CAPITAL: Final = "A-Z\u00c0-\u00d6\u00d8-\u00de\u0410-\u042f\u0400-\u040f"
_PIECE: Final = re.compile(
    rf"[{_CAPITAL}]+(?=[{_CAPITAL}][{_SMALL}])|[{_CAPITAL}]?[{_SMALL}]+|[{_CAPITAL}]+|\d+"
)
_JOINED: Final = re.compile(r"\b\w++(?:[-._@'\u2019+&]\w++)+")
_JOINT: Final = re.compile(r"[\W_]+")


def made_of(text: str, composed_text: str, spelt: Iterable[str]) -> set[str]:
    """Return the words of a text with what they are made of and make, in small letters.

    Pairs of characters of an unspaced script are left out: they have no other forms.

    Args:
        text: what a map says.
        composed_text: the same as ``composed`` gives it.
        spelt: the same as ``spelt_words`` gives it.
    """
    words = set(spelt)
    if has_unspaced(composed_text):
        words = {word for word in words if not is_unspaced(word)}
    words.discard(SEPARATOR)
    tokens = set(_TOKEN.findall(text))
    # That most are in one piece is seen here, which takes less than a call for each.
    words.update(
        *[pieces_of(one) for one in tokens if one[1:] != one[1:].lower() or not one.isalpha()]
    )
    words.update([word for _, _, word in joined_words(composed_text)])
    return words


class IndexForms:
    """Finds the forms of words for the index, and keeps those of many words at hand.

    Most of any text is made of the same few thousand words; whoever builds an index has one of
    these for as long as that takes.
    """

    def __init__(self) -> None:
        self._folded = _Folded(fold)
        self._stems: dict[str, _Kept] = {}

    def folded(self, words: Iterable[str]) -> list[str]:
        """Return words in small letters without their accents."""
        return list(map(self._folded.__getitem__, words))

    def stems(self, words: Iterable[str], language: str) -> set[str]:
        """Return the stems of words that are in small letters, accents and all.

        Args:
            words: the words.
            language: that of the map, as in ``LANGUAGES``; anything else counts as unknown.
        """
        code = language if language in LANGUAGES else UNKNOWN
        kept = self._stems.get(code)
        if kept is None:
            kept = self._stems[code] = _Kept(lambda word: " ".join(stems_of(word, (code,))))
        found = set(" ".join(map(kept.__getitem__, words)).split())
        self._let_go()
        return found

    def _let_go(self) -> None:
        """Forget all words once they are too many; those that are frequent are soon back."""
        if len(self._folded) + sum(map(len, self._stems.values())) > KEPT_WORDS:
            self._folded.clear()
            self._stems.clear()


class _Kept(dict[str, str]):
    """What a function gives for words, worked out when it is first asked for."""

    def __init__(self, function: Callable[[str], str]) -> None:
        super().__init__()
        self._function = function

    def __missing__(self, word: str) -> str:
        found = self[word] = self._function(word)
        return found


class _Folded(_Kept):
    """Words without their accents. Pairs of characters have none, and are too many to be kept."""

    def __missing__(self, word: str) -> str:
        return word if is_unspaced(word) else super().__missing__(word)


def query_stems(word: str, languages: Iterable[str]) -> list[str]:
    """Return the stems that stand for ``word`` in any of these languages, or an unknown one."""
    return sorted(stems(composed(word), with_unknown(languages)))


def roots_of(word: str, marked_stems: Iterable[str]) -> set[str]:
    """Return the stems of a word that may be words themselves, without their marks.

    A word of one language is often found in a map of another, where it has another stem:
    ``projects`` is to find ``project`` there, too.
    """
    roots = {stem.removeprefix(STEM).partition(STEM)[2] for stem in marked_stems}
    return {root for root in roots - {"", word} if len(word) - len(root) <= LONGEST_ENDING}


def with_unknown(languages: Iterable[str]) -> tuple[str, ...]:
    """Return those of ``languages`` that have stems, and the unknown one."""
    return tuple(sorted({UNKNOWN, *LANGUAGES.keys() & set(languages)}))


def pieces_of(word: str) -> tuple[str, ...]:
    """Return the pieces of a word in camelCase, in small letters; none if it is in one piece."""
    if word.isalpha() and (word[1:].islower() or word.isupper()):
        return ()
    # Longer ones are no words, and would fill the memory of those that are.
    return _pieces(word) if len(word) <= LONGEST_WORD else ()


@lru_cache(CACHED_WORDS)
def _pieces(word: str) -> tuple[str, ...]:
    pieces = tuple(piece.lower() for piece in _PIECE.findall(word))
    return pieces if len(pieces) > 1 and sum(map(len, pieces)) == len(word) else ()


def joined_words(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield what hyphens, dots and so on join in ``text`` as one word, with its start and end."""
    for match in _JOINED.finditer(text):
        yield *match.span(), _JOINT.sub("", match[0])[:LONGEST_WORD]


def written_together(text: str) -> str:
    """Return what hyphens and dots join in ``text`` as one word, empty if that is not all of it."""
    found = _JOINED.search(composed(text))
    if found is None or _JOINT.sub("", found[0]) != _JOINT.sub("", composed(text)):
        return ""
    return fold(_JOINT.sub("", found[0])[:LONGEST_WORD])


def stems_of(word: str, languages: tuple[str, ...]) -> frozenset[str]:
    """Return the marked stems of a word in small letters, accents and all.

    A word with accents has the stems it would have without them too, since people leave them out.

    Args:
        word: the word.
        languages: the languages whose stems it is to have if it is in Latin letters.
    """
    found: set[str] = set()
    for spelling in {word, fold(word)}:
        long_enough = len(spelling) >= SHORTEST_STEMMED
        marked = _marked_stems(spelling, languages) if long_enough else ()
        # A spelling without stems has itself, whatever stems the other one has.
        found |= set(marked) or {STEM + fold(spelling)}
    return frozenset(found)


stems = lru_cache(CACHED_WORDS)(stems_of)
"""The same, kept at hand for those who read the same words again and again."""


def _marked_stems(word: str, languages: Iterable[str]) -> Iterator[str]:
    """Yield the stems of a word; those of other scripts than Latin belong to no language."""
    if _LATIN.search(word):
        for code in languages:
            for name in STEMMERS_OF[code]:
                yield f"{STEM}{code}{STEM}{fold(_stem(name, word))}"
        return
    for name in next((names for pattern, names in SCRIPTS if pattern.search(word)), ()):
        yield STEM + fold(_stem(name, word))


class _Stemmers(threading.local):
    """The stemmers of this thread: they keep a state of their own while at work."""

    def __init__(self) -> None:
        self.by_name: dict[str, Stemmer.Stemmer] = {}


_STEMMERS: Final = _Stemmers()


def _stem(name: str, word: str) -> str:
    stemmer = _STEMMERS.by_name.get(name)
    if stemmer is None:
        # It keeps nothing at hand: ``stems`` does.
        stemmer = _STEMMERS.by_name[name] = Stemmer.Stemmer(name, 0)
    stem: str = stemmer.stemWord(word)
    return stem
