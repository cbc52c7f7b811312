"""Stems and other variants of words, so that a search for one form finds the others.

Inflected forms share a stem (plan, plans, planning; Planung, Planungen). A stem has a tag with its
language, so that it is never mistaken for a word or for a stem of another language. Words joined
without a space (camelCase, hyphens, dots, addresses) are found by their parts and as a whole.

The words of a map are stemmed only in the map's own language: if they were stemmed in every
language, ``data`` would match ``date``. A query has no language, so it is stemmed in each language
that the maps are in.
"""

import re
import threading
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from typing import Final

import Stemmer

from mapshelf.text.normalize import (
    LONGEST_WORD,
    SEPARATOR,
    normalize,
    normalize_keeping_accents,
)

STEM: Final = "~"
"""The delimiter around the tag of a stem: ``~en~plan``; ``~~plan`` if the language is unknown;
``~план`` in scripts other than Latin, where the script determines the stemmer."""

SHORTEST_STEMMED: Final = 3  # letters; stemming shorter words does more harm than good

LONGEST_ENDING: Final = 3
"""Maximum letters that a stemmer may remove for the stem to count as a word of the same meaning.
Longer endings are seldom inflections (``mind`` of ``mindfulness``)."""

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
"""Stemmers of languages in Latin letters, by ISO 639-1 code."""

UNKNOWN: Final = ""  # the language code if the language is not known

STEMMERS_OF: Final = {
    **{code: (name,) for code, name in LANGUAGES.items()},
    UNKNOWN: ("english", "german"),
}
"""Stemmers for words in Latin letters, by language. If the language is unknown, these two confuse
the fewest words."""

CACHED_WORDS: Final = 1 << 13
"""Words whose stems are cached for searches. With eight times as many, a garbage collection stops
a worker for a tenth of a second."""

PREFIX_STRIPPING: Final = frozenset({"id", "nl"})
"""Languages whose stemmers remove prefixes, too. All others keep a first letter from a to z."""

_LATIN: Final = re.compile("[a-z\u00df-\u024f]")

SCRIPTS: Final = (
    (re.compile("[\u0370-\u03ff]"), ("greek",)),
    (re.compile("[\u0400-\u04ff]"), ("russian",)),
    (re.compile("[\u0531-\u058f]"), ("armenian",)),
    (re.compile("[\u0600-\u06ff]"), ("arabic",)),
    (re.compile("[\u0900-\u097f]"), ("hindi",)),
    (re.compile("[\u0b80-\u0bff]"), ("tamil",)),
)
"""Stemmers for words with a letter of another script."""

_TOKEN: Final = re.compile(r"[^\W_]+")
# Changes of case and digits divide words like "MindMap" and "XMLFile2", but not "Mind" or "MAP".
_SMALL: Final = "a-z\u00df-\u00f6\u00f8-\u00ff\u0430-\u045f"
_CAPITAL: Final = "A-Z\u00c0-\u00d6\u00d8-\u00de\u0410-\u042f\u0400-\u040f"
_SUBWORD: Final = re.compile(
    rf"[{_CAPITAL}]+(?=[{_CAPITAL}][{_SMALL}])|[{_CAPITAL}]?[{_SMALL}]+|[{_CAPITAL}]+|\d+"
)
_PART: Final = re.compile(rf"[{_CAPITAL}\d]")
"""All parts of a word but the first begin with such a character, or follow one."""

_JOINED: Final = re.compile(r"\b\w++(?:[-._@'\u2019+&]\w++)+")
_JOINER: Final = re.compile(r"[-.@'\u2019+&]")
_JOINT: Final = re.compile(r"[\W_]+")


def word_variants(text: str, normalized: str, words: Iterable[str]) -> set[str]:
    """Return the distinct words of a text, their subwords, and the compounds that they form.

    Args:
        text: the text as written.
        normalized: the result of ``normalize_keeping_accents`` for it.
        words: the words of ``normalized``, without pairs of characters, which have no variants.
    """
    variants = set(words)
    variants.discard(SEPARATOR)
    if _PART.search(text):
        tokens = set(_TOKEN.findall(text))
        # Most words have no subwords; this test is faster than calling ``subwords`` for each.
        variants.update(
            *[subwords(one) for one in tokens if one[1:] != one[1:].lower() or not one.isalpha()]
        )
    if _JOINER.search(normalized):  # avoids a much slower pattern for most texts
        variants.update([word for _, _, word in joined_words(normalized)])
    return variants


def query_stems(word: str, languages: Iterable[str]) -> list[str]:
    """Return the tagged stems of ``word`` in each of ``languages``, and without a language."""
    return sorted(stems(normalize_keeping_accents(word), with_unknown(languages)))


def stem_words(word: str, tagged_stems: Iterable[str]) -> set[str]:
    """Return those stems of a word, untagged, that may be words themselves.

    A word of one language often occurs in a map in another language, where it has another stem. A
    search for ``projects`` must still find ``project`` there.
    """
    untagged = {stem.removeprefix(STEM).partition(STEM)[2] for stem in tagged_stems}
    return {stem for stem in untagged - {"", word} if len(word) - len(stem) <= LONGEST_ENDING}


def with_unknown(languages: Iterable[str]) -> tuple[str, ...]:
    """Return those of ``languages`` that have a stemmer, and ``UNKNOWN``."""
    return tuple(sorted({UNKNOWN, *LANGUAGES.keys() & set(languages)}))


def subwords(word: str) -> tuple[str, ...]:
    """Return the parts of a word in camelCase, in lower case; none if it has only one."""
    if word.isalpha() and (word[1:].islower() or word.isupper()):
        return ()
    # Longer strings are not words, and would fill the cache.
    return _subwords(word) if len(word) <= LONGEST_WORD else ()


@lru_cache(CACHED_WORDS)
def _subwords(word: str) -> tuple[str, ...]:
    parts = tuple(part.lower() for part in _SUBWORD.findall(word))
    return parts if len(parts) > 1 and sum(map(len, parts)) == len(word) else ()


def joined_words(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the start and end of words joined by hyphens, dots and so on, and the words as one."""
    for match in _JOINED.finditer(text):
        yield *match.span(), _JOINT.sub("", match[0])[:LONGEST_WORD]


def joined_word(text: str) -> str:
    """Return ``text`` as one word, empty unless hyphens, dots and so on join all of its words."""
    normalized = normalize_keeping_accents(text)
    found = _JOINED.search(normalized)
    if found is None or _JOINT.sub("", found[0]) != _JOINT.sub("", normalized):
        return ""
    return normalize(_JOINT.sub("", found[0])[:LONGEST_WORD])


def stems_of(word: str, languages: tuple[str, ...]) -> frozenset[str]:
    """Return the tagged stems of a word from ``split_words``.

    A word with accents also gets the stems of its spelling without them, as people often omit them.

    Args:
        word: the word.
        languages: the languages to stem it in if it is in Latin letters.
    """
    return frozenset(tagged_stems(word, normalize(word), languages))


def tagged_stems(word: str, plain: str, languages: tuple[str, ...]) -> Collection[str]:
    """Return the same as ``stems_of``.

    Args:
        word: the word.
        plain: the result of ``normalize`` for it.
        languages: the languages to stem it in if it is in Latin letters.
    """
    found = _stems_of_spelling(word, languages)
    if plain != word:
        found += _stems_of_spelling(plain, languages)
    return found if len(found) == 1 else frozenset(found)


def _stems_of_spelling(word: str, languages: tuple[str, ...]) -> list[str]:
    """Return the tagged stems of a word as it is spelled; without any, the word is its own stem."""
    tagged: list[str] = []
    if len(word) >= SHORTEST_STEMMED:
        if _LATIN.search(word):
            tagged = _latin_stems(word, languages)
        elif not word.isascii():  # in other scripts, stems have no language
            names = next((names for pattern, names in SCRIPTS if pattern.search(word)), ())
            tagged = [STEM + normalize(_stem(name, word)) for name in names]
    return tagged or [STEM + normalize(word)]


stems = lru_cache(CACHED_WORDS)(stems_of)
"""``stems_of`` with a cache, for callers that process the same words repeatedly."""


def _latin_stems(word: str, languages: tuple[str, ...]) -> list[str]:
    """Return the stems of a word in Latin letters, tagged with their languages."""
    return [
        f"{STEM}{code}{STEM}{stem if (stem := _stem(name, word)).isascii() else normalize(stem)}"
        for code in languages
        for name in STEMMERS_OF[code]
    ]


class _Stemmers(threading.local):
    """One set of stemmers for each thread: a stemmer is not thread-safe."""

    def __init__(self) -> None:
        self.by_name: dict[str, Stemmer.Stemmer] = {}


_STEMMERS: Final = _Stemmers()


def _stem(name: str, word: str) -> str:
    stemmer = _STEMMERS.by_name.get(name)
    if stemmer is None:
        # Without a cache (0), because ``stems`` has one.
        stemmer = _STEMMERS.by_name[name] = Stemmer.Stemmer(name, 0)
    stem: str = stemmer.stemWord(word)
    return stem
