"""What a search was meant to say when nothing matches it as it is written.

Words that no map holds are taken for misspelt, and the nearest known word is put in their place,
of equally near ones the most frequent, or what the word is a form of if none is near. If every word
is known, one of them may still be somebody else's typo: then each is tried in turn, against words
that are far more frequent.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from mapshelf.search.query_parser import QueryTerm
from mapshelf.snapshot.format.term_dictionary import Lexicon
from mapshelf.snapshot.read.text_index import TextIndex
from mapshelf.text.stemming import query_stems, stem_words

FAR_MORE: Final = 8
"""A word that is known is given up for one that so many times more maps hold."""

TRIES: Final = 4
"""Words that are tried in place of one."""

MOST_WORDS: Final = 8
"""Words of a search that are looked up; nobody mistypes more."""


class Spelling:
    """Corrects searches by the words of one snapshot."""

    def __init__(self, index: TextIndex, lexicon: Lexicon) -> None:
        self._index = index
        self._lexicon = lexicon

    def candidates(self, terms: tuple[QueryTerm, ...]) -> Iterator[tuple[QueryTerm, ...]]:
        """Yield terms that may have been meant by these, which no map matches."""
        places = [i for i, term in enumerate(terms) if _is_correctable(term)][:MOST_WORDS]
        unknown = [i for i in places if len(terms) == 1 or not self._index.count([terms[i]], ())]
        if unknown:
            words = {i: terms[i].words[0] for i in unknown}
            better = {i: self._better(word, 1) or self._root(word) for i, word in words.items()}
            if all(better.values()):
                yield tuple(_with_word(term, better.get(i)) for i, term in enumerate(terms))
            return
        for i in places:
            frequency = self._index.frequency(terms[i].words[0])
            word = self._better(terms[i].words[0], FAR_MORE * max(1, frequency))
            if word:
                yield (*terms[:i], _with_word(terms[i], word), *terms[i + 1 :])

    def _better(self, word: str, least: int) -> str | None:
        """Return the nearest word to ``word`` that at least ``least`` maps hold.

        Frequencies count maps that are gone until the index is cleaned up, so the words they put
        first are counted.
        """
        near = self._lexicon.nearest(word)
        known = sorted((distance, -self._index.frequency(other), other) for distance, other in near)
        for _, _, other in [one for one in known if -one[1] >= least][:TRIES]:
            if self._index.holding(other) >= least:
                return other
        return None

    def _root(self, word: str) -> str | None:
        """Return the word that most maps hold of those that are stems of ``word``.

        Its maps may be in another language than the one that it is a stem in.
        """
        roots = stem_words(word, query_stems(word, self._index.languages))
        held = {root: self._index.holding(root) for root in roots}
        root = max(sorted(held), key=held.__getitem__, default="")
        return root if held.get(root) else None


def _is_correctable(term: QueryTerm) -> bool:
    return len(term.words) == 1 and not term.exact and not term.excluded


def _with_word(term: QueryTerm, word: str | None) -> QueryTerm:
    return replace(term, words=(word,), subwords=(), written=word) if word else term
