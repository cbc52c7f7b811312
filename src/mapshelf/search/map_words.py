"""Extract the searchable words of a map, as written and in their other forms.

The search index is built from these words, and maps without an index are searched with them.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Final

from mapshelf.formats.outline_codec import Passages
from mapshelf.model import Map
from mapshelf.search.alike_words import with_few_alike
from mapshelf.text.normalize import SEPARATOR, is_unspaced
from mapshelf.text.stemming import STEM
from mapshelf.text.word_forms import (
    CACHED_PIECES,
    MOST_VARIANTS,
    Forms,
    WordForms,
    variants_in,
)

LONGEST_NAME: Final = 1024
"""Length to which a title joined to one word is truncated; longer titles are not searched for."""

MOST_OCCURRENCES: Final = 4096
"""Maximum number of occurrences of a word in a text that phrases are searched in. A phrase of two
words takes time for each pair of occurrences that are compared."""


@dataclass(frozen=True, slots=True)
class MapWords:
    """The words of a map. The words in lists are normalized and in the order of the text.

    Attributes:
        title: words of the title.
        description: words of the description.
        branches: words of the main topics, of the names of owner and category, and of the path of
            the file.
        topics: words of all other topics, and of notes.
        of_title: the distinct pieces of the title (see ``Forms``).
        pieces: the distinct pieces of all texts.
        language: the language of the topics, empty if unknown.
    """

    title: list[str]
    description: list[str]
    branches: list[str]
    topics: list[str]
    of_title: set[Forms]
    pieces: set[Forms]
    language: str

    @property
    def title_words(self) -> set[str]:
        """The distinct words of the title, with their parts and compounds."""
        return {*self.title, *_joined([piece.variants for piece in self.of_title])}

    @property
    def words(self) -> set[str]:
        """The distinct words of all texts, with their parts and compounds."""
        return without_stems(self.forms)

    @property
    def title_forms(self) -> set[str]:
        """The words of the title and their tagged stems."""
        return {*self.title, *_apart([piece.forms for piece in self.of_title])}

    @property
    def forms(self) -> set[str]:
        """The words of all texts and their tagged stems."""
        return {*self.title, *_apart([piece.forms for piece in self.pieces])}

    @property
    def written(self) -> set[str]:
        """The distinct words as they are in the texts, without parts and compounds."""
        return {*self.title, *self.description, *self.branches, *self.topics}


class WordFinder:
    """Finds the words of maps, with a cache of word forms."""

    def __init__(self, cached: int = CACHED_PIECES) -> None:
        """Begin with an empty cache for ``cached`` pieces of text (``CACHED_PIECES``)."""
        self._forms = WordForms(cached)

    def words_of(self, found: Map, source: str, passages: Passages) -> MapWords:
        """Return the words of a map, up to ``MOST_VARIANTS`` different ones, the title first.

        Of words that begin alike, there are few (``alike_words.py``).

        Args:
            found: the map.
            source: name of the file it was read from.
            passages: the text of its topics.
        """
        about = (found.owner, found.category, source)
        language = passages.language
        branch_text = _separated((*passages.shallow, *about))
        texts = (found.title, found.description, branch_text, _separated(passages.deep))
        few, pieces = with_few_alike(self._within_limit(texts, language))
        title, description, branches, topics = few
        self._forms.limit()
        return MapWords(
            _words(title),
            _words(description),
            _words(branches),
            _words(topics),
            of_title=set(title),
            pieces=pieces,
            language=language,
        )

    def _within_limit(self, texts: Iterable[str], language: str) -> Iterator[list[Forms]]:
        room = MOST_VARIANTS
        for text in texts:
            found = self._forms.of(text, language, room)
            room = max(0, room - variants_in(found))
            yield found


def _words(found: Iterable[Forms]) -> list[str]:
    """Return the words of a text, with separators instead of the surplus occurrences of a word."""
    words = list(_joined([piece.words for piece in found]))
    if len(words) <= MOST_OCCURRENCES:
        return words
    surplus = {word for word, count in Counter(words).items() if count > MOST_OCCURRENCES}
    surplus.discard(SEPARATOR)
    if not surplus:
        return words
    seen: Counter[str] = Counter()
    for place, word in enumerate(words):
        if word in surplus:
            seen[word] += 1
            if seen[word] > MOST_OCCURRENCES:
                words[place] = SEPARATOR
    return words


def _apart(found: Iterable[str]) -> list[str]:
    """Return all words in texts that consist of words separated by spaces."""
    return " ".join(found).split()


_joined = chain.from_iterable


def without_stems(forms: Iterable[str]) -> set[str]:
    """Return the words among ``MapWords.forms``."""
    return {form for form in forms if form[0] != STEM}


def name_of(words: Iterable[str]) -> str:
    """Return words joined without spaces, for comparing a title with a whole search text.

    So spaces and hyphens make no difference. Overlapping pairs of characters are merged again.
    """
    name, paired = "", False
    for word in words:
        if not is_unspaced(word):
            name, paired = name + word, False
        elif not paired:
            name, paired = name + word, len(word) == 2
        elif len(word) == 2:
            # A single character after a pair repeats the end of the pair and is skipped.
            name += word[1] if name[-1] == word[0] else word
    return name[:LONGEST_NAME]


def _separated(texts: Iterable[str]) -> str:
    # The spaces make the separator a piece of its own, which is then cached.
    return f" {SEPARATOR} ".join([text for text in texts if text])
