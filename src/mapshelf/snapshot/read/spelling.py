"""Correct the spelling of searches without matches.

An unknown word is replaced by the nearest known word (the most frequent one in case of ties), or by
its root if no known word is near. If every word is known, one of them may be a typo that also
occurs in a map. Then each word in turn is replaced by a near word that is far more frequent.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from mapshelf.search.deadline import Deadline
from mapshelf.search.query_parser import QueryTerm
from mapshelf.snapshot.format.term_dictionary import TermDictionary
from mapshelf.snapshot.read.text_index import TextIndex
from mapshelf.text.stemming import query_stems, stem_words

FAR_MORE: Final = 8
"""A known word is only replaced by a word that is in at least this many times as many maps."""

TRIES: Final = 4
"""Maximum number of replacements tried for each word."""

MOST_WORDS: Final = 8
"""Maximum number of words of a search that are corrected."""

LONGEST_CORRECTION: Final = 0.5
"""Seconds of processor time after which no further word is corrected. Ordinary words take a few
milliseconds; ones that resemble thousands of other words take longer."""


class Spelling:
    """Corrects searches with the words of one snapshot."""

    def __init__(self, index: TextIndex, dictionary: TermDictionary) -> None:
        self._index = index
        self._dictionary = dictionary

    def candidates(self, terms: tuple[QueryTerm, ...]) -> Iterator[tuple[QueryTerm, ...]]:
        """Yield possible corrections of ``terms``, which match no map, in order of preference.

        There are none after ``LONGEST_CORRECTION``.
        """
        deadline = Deadline(LONGEST_CORRECTION)
        places = [i for i, term in enumerate(terms) if _is_correctable(term)][:MOST_WORDS]
        unknown = [i for i in places if len(terms) == 1 or not self._index.count([terms[i]], ())]
        if unknown:
            better: dict[int, str] = {}
            for i in unknown:
                typed = terms[i].words[0]
                nearest = "" if deadline.is_over() else self._better(typed, 1) or self._root(typed)
                if not nearest:
                    return
                better[i] = nearest
            yield tuple(_with_word(term, better.get(i)) for i, term in enumerate(terms))
            return
        for i in places:
            if deadline.is_over():
                return
            frequency = self._index.frequency(terms[i].words[0])
            word = self._better(terms[i].words[0], FAR_MORE * max(1, frequency))
            if word:
                yield (*terms[:i], _with_word(terms[i], word), *terms[i + 1 :])

    def _better(self, word: str, least: int) -> str | None:
        """Return the nearest word to ``word`` that at least ``least`` maps have, ``None`` if none.

        Frequencies include deleted documents until segments are merged. So for up to ``TRIES``
        words, the maps are also counted exactly.
        """
        near = self._dictionary.nearest(word)
        known = sorted((distance, -self._index.frequency(other), other) for distance, other in near)
        for _, _, other in [one for one in known if -one[1] >= least][:TRIES]:
            if self._index.holding(other) >= least:
                return other
        return None

    def _root(self, word: str) -> str | None:
        """Return the most frequent root of ``word``, ``None`` if no map has any of its roots.

        The maps that have it may be in a different language than the one of the root.
        """
        roots = stem_words(word, query_stems(word, self._index.languages))
        held = {root: self._index.holding(root) for root in roots}
        root = max(sorted(held), key=held.__getitem__, default="")
        return root if held.get(root) else None


def _is_correctable(term: QueryTerm) -> bool:
    return len(term.words) == 1 and not term.exact and not term.excluded


def _with_word(term: QueryTerm, word: str | None) -> QueryTerm:
    return replace(term, words=(word,), subwords=(), written=word) if word else term
