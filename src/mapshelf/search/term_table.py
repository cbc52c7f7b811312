"""Look up which terms of a query match a word.

A query may have a hundred terms, and a map a hundred thousand different words. To compare each
with each takes seconds, so the terms are in dictionaries here. A lookup takes as long for a hundred
terms as for one. Only terms that match as prefixes are compared with the word, and of those only
the ones with the same first character.
"""

from collections.abc import Iterable, Sequence

from mapshelf.search.query_parser import QueryTerm


class TermTable:
    """The terms of one query, by the words and stems that they match."""

    def __init__(
        self,
        terms: Sequence[QueryTerm],
        stems: Sequence[frozenset[str]],
        stem_words: Sequence[set[str]],
    ) -> None:
        """Prepare for a query.

        Args:
            terms: its terms.
            stems: for each term the tagged stems that it matches.
            stem_words: for each term the stems that it matches as words.
        """
        self._by_stem: dict[str, list[int]] = {}
        self._by_form: dict[str, list[int]] = {}
        self._prefixes: dict[str, list[tuple[str, int]]] = {}
        for number, term in enumerate(terms):
            for stem in stems[number]:
                self._by_stem.setdefault(stem, []).append(number)
            for form in {*stem_words[number], term.joined, *self._whole_word(term)}:
                self._by_form.setdefault(form, []).append(number)
            if len(term.words) == 1 and term.prefix:
                beginning = term.words[0]
                self._prefixes.setdefault(beginning[0], []).append((beginning, number))

    def matching(self, forms: Iterable[str], stems: Iterable[str]) -> list[int]:
        """Return the indices of the terms that match a word, in ascending order.

        Args:
            forms: the word, and the words that are its parts.
            stems: the tagged stems of all of these.
        """
        found: set[int] = set()
        for stem in stems:
            found.update(self._by_stem.get(stem, ()))
        for form in forms:
            found.update(self._by_form.get(form, ()))
            for beginning, number in self._prefixes.get(form[:1], ()):
                if form.startswith(beginning):
                    found.add(number)
        return sorted(found)

    @staticmethod
    def _whole_word(term: QueryTerm) -> tuple[str, ...]:
        """Return the word of a term that matches only whole words, if it is such a term."""
        return term.words if len(term.words) == 1 and not term.prefix else ()
