"""Finds the words of a map by which a search finds it: as written, and in their other forms.

The search index is made of them, and maps that are in no index are searched by them.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from mapshelf.formats.outline_codec import Passages
from mapshelf.model import Map
from mapshelf.text.normalize import SEPARATOR, is_unspaced, normalize_keeping_accents, split_words
from mapshelf.text.stemming import IndexStemmer, word_variants

LONGEST_NAME: Final = 1024
"""Characters after which a title as one word is cut; nobody types a longer title."""


@dataclass(frozen=True, slots=True)
class MapWords:
    """The words of a map. Those in lists are normalized, in the order of the text.

    Attributes:
        title: of its title.
        description: of its description.
        branches: of the main topics, with the names of owner and category and the path of the file.
        topics: of all other topics, and of notes.
        title_words: the different words of the title, with parts and compounds.
        words: the different words of all texts, with parts and compounds.
        title_stems: the tagged stems of the title.
        stems: the tagged stems of all texts.
        language: the language of the topics, empty if unknown.
    """

    title: list[str]
    description: list[str]
    branches: list[str]
    topics: list[str]
    title_words: set[str]
    words: set[str]
    title_stems: set[str]
    stems: set[str]
    language: str

    @property
    def written(self) -> set[str]:
        """The different words as written."""
        return {*self.title, *self.description, *self.branches, *self.topics}


@dataclass(frozen=True, slots=True)
class _Zone:
    """A text of a map.

    Attributes:
        words: its normalized words in the order of the text.
        variants: the distinct words, with parts and compounds, before accents are removed.
    """

    words: list[str]
    variants: set[str]


class WordFinder:
    """Finds the words of maps, and caches the forms of words meanwhile."""

    def __init__(self) -> None:
        self._stemmer = IndexStemmer()

    def words_of(self, found: Map, source: str, passages: Passages) -> MapWords:
        """Return the words of a map.

        Args:
            found: the map.
            source: name of the file it was read from.
            passages: the text of its topics.
        """
        about = (found.owner, found.category, source)
        title = self._zone(found.title)
        description = self._zone(found.description)
        branches = self._zone(_separated((*passages.shallow, *about)))
        topics = self._zone(_separated(passages.deep))
        title_words = {*title.words, *self._stemmer.normalized(title.variants)}
        variants = title.variants | description.variants | branches.variants | topics.variants
        return MapWords(
            title.words,
            description.words,
            branches.words,
            topics.words,
            title_words=title_words,
            words=title_words.union(self._stemmer.normalized(variants)),
            title_stems=self._stemmer.stems(title.variants, passages.language),
            stems=self._stemmer.stems(variants, passages.language),
            language=passages.language,
        )

    def _zone(self, text: str) -> _Zone:
        whole = normalize_keeping_accents(text)
        accented = split_words(whole)
        words = accented if whole.isascii() else self._stemmer.normalized(accented)
        return _Zone(words, word_variants(text, whole, accented))


def name_of(words: Iterable[str]) -> str:
    """Return words joined without spaces, for comparing a title with a whole search text.

    Spaces and hyphens do not count, and overlapping pairs of characters are joined again.
    """
    name, paired = "", False
    for word in words:
        if not is_unspaced(word):
            name, paired = name + word, False
        elif not paired:
            name, paired = name + word, len(word) == 2
        elif len(word) == 2:
            # A single character after a pair repeats the end of the pair.
            name += word[1] if name[-1] == word[0] else word
    return name[:LONGEST_NAME]


def _separated(texts: Iterable[str]) -> str:
    return SEPARATOR.join([text for text in texts if text])
