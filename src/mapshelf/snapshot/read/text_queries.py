"""From the terms of a search text to a query of the engine.

For every term a map must match one of several clauses, whose scores add up: its words where they
are written, their other forms, what begins with the last one. Clauses over single words are what
the engine is fastest with, so forms and short beginnings are words of fields of their own.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

import tantivy
from tantivy import Occur, Query

from mapshelf.search.query_parser import QueryTerm
from mapshelf.snapshot.format.text_fields import (
    BEGINNINGS,
    CHARACTER_WEIGHT,
    FORMS,
    LANGUAGE,
    LONGEST_BEGINNING,
    LONGEST_TITLE_BEGINNING,
    NAME,
    PHRASE_WEIGHT,
    PIECES,
    WEIGHTS,
    ZONES,
    filter_field,
    name_of,
)
from mapshelf.text.normalize import is_unspaced
from mapshelf.text.stemming import LANGUAGES, query_stems, stem_words

MOST_ENDINGS: Final = 4096
"""Words with a certain beginning that are looked up, the most frequent ones; seldom are there
half as many."""

FEW_ENDINGS: Final = 16
"""Words up to which looking them up one by one is faster than all at once."""

Clauses = list[tuple[Occur, Query]]


class Queries:
    """Makes queries for one state of the index."""

    def __init__(self, schema: tantivy.Schema, searcher: tantivy.Searcher) -> None:
        self._schema = schema
        self._searcher = searcher
        self.languages = [code for code in LANGUAGES if searcher.doc_freq(LANGUAGE, code)]

    def of(self, terms: Sequence[QueryTerm], filters: tuple[tuple[str, int], ...]) -> Query:
        """Return the query for maps that match all terms and all filters, scored."""
        return self._query(terms, filters, self._term, ranked=True)

    def matching(self, terms: Sequence[QueryTerm], filters: tuple[tuple[str, int], ...]) -> Query:
        """Return a query for the same maps as ``of``, whose scores mean nothing."""
        return self._query(terms, filters, self._matching, ranked=False)

    def _query(
        self,
        terms: Sequence[QueryTerm],
        filters: tuple[tuple[str, int], ...],
        clauses_of: Callable[[QueryTerm], Clauses],
        *,
        ranked: bool,
    ) -> Query:
        wanted = [term for term in terms if not term.excluded]
        if not terms:
            return Query.empty_query()
        clauses: Clauses = []
        if len(wanted) == 1:
            clauses.append((Occur.Must, _any([*clauses_of(wanted[0]), *self._name(wanted)])))
        elif wanted:
            clauses += [(Occur.Must, _any(clauses_of(term))) for term in wanted]
            clauses += self._name(wanted) + self._title_phrase(wanted) if ranked else []
        else:
            clauses.append((Occur.Must, Query.all_query()))
        clauses += self._limits(terms, filters)
        return Query.boolean_query(clauses) if len(clauses) > 1 else clauses[0][1]

    def holding(self, word: str) -> Query:
        """Return the query for maps that hold ``word``, as it is."""
        return Query.term_query(self._schema, "forms", word)

    def in_title(self, terms: Sequence[QueryTerm], filters: tuple[tuple[str, int], ...]) -> Query:
        """Return the query for maps whose titles match all terms that are wanted."""
        wanted: Clauses = [
            (Occur.Must, _any(self._in_title(term))) for term in terms if not term.excluded
        ]
        if not wanted:
            return Query.empty_query()
        return Query.boolean_query([*wanted, *self._limits(terms, filters)])

    def _limits(self, terms: Sequence[QueryTerm], filters: tuple[tuple[str, int], ...]) -> Clauses:
        """Return clauses for what must not occur, and for the filters."""
        excluded = [term for term in terms if term.excluded]
        clauses: Clauses = [(Occur.MustNot, _any(self._matching(term))) for term in excluded]
        clauses += [(Occur.Must, self._having(filter_field(name), key)) for name, key in filters]
        return clauses

    def most_matches(self, term: QueryTerm) -> int:
        """Return how many maps match ``term``, a single word, at most."""
        frequency = self._searcher.doc_freq
        (word,) = term.words
        if is_unspaced(word):
            # Pairs of characters are their own beginnings, and have no other forms.
            return frequency("beginnings", word)
        found = frequency("forms", word)
        if term.has_forms:
            found = max(found, sum(frequency("forms", form) for form in self._forms(word)))
        if term.prefix:
            found += frequency("beginnings", word[:LONGEST_BEGINNING])
        return found

    def with_key(self, query: Query, field: str, key: int) -> Query:
        """Return ``query`` for the maps alone that have ``key`` in ``field``."""
        return Query.boolean_query([(Occur.Must, query), (Occur.Must, self._having(field, key))])

    def _having(self, field: str, key: int) -> Query:
        return Query.const_score_query(Query.term_query(self._schema, field, key), 0.0)

    def _term(self, term: QueryTerm) -> Clauses:
        clauses = self._exactly(term)
        if not term.exact and not term.is_character:
            clauses += self._otherwise(term, FORMS)
        return clauses

    def _matching(self, term: QueryTerm) -> Clauses:
        """Return fewer clauses than ``_term`` that the same maps match.

        All words of a map are among its forms, by themselves and with their stems. Those of more
        than one word may be anywhere in it, and scripts without spaces have no forms.
        """
        if len(term.words) > 1 or is_unspaced(term.words[0]):
            return self._term(term)
        if term.exact:
            return self._words(["forms"], term.words)
        return self._otherwise(term, ["forms"])

    def _otherwise(self, term: QueryTerm, fields: Sequence[str]) -> Clauses:
        """Return clauses for a term in any form but as it is written."""
        clauses: Clauses = []
        if term.has_forms:
            clauses += self._words(fields, self._forms(term.words[0]))
        if term.joined:
            clauses += self._words(fields, [term.joined])
        if term.subwords:
            clauses += self._rows(term.subwords)
        if term.prefix:
            clauses += self._beginning(term)
        return clauses

    def _forms(self, word: str) -> list[str]:
        """Return what stands for a word in any form: its stems, and those of them that are words.

        What no map says may be misspelt: then the language of a stem has to know that stem.
        """
        frequency = self._searcher.doc_freq
        stems = query_stems(word, self.languages)
        known = frequency("forms", word) > 0
        likely = [stem for stem in stems if known or frequency("forms", stem)]
        return [*stems, *sorted(stem_words(word, likely))]

    def _in_title(self, term: QueryTerm) -> Clauses:
        clauses = [(Occur.Should, Query.boost_query(self._row("title", term.words), 2.0))]
        if term.has_forms:
            clauses += self._words(["title_forms"], self._forms(term.words[0]))
        if term.prefix:
            # Of several words written together the last may be anywhere: this only completes.
            beginning = term.words[-1][:LONGEST_TITLE_BEGINNING]
            clauses += self._words(["title_beginnings"], [beginning])
        return clauses

    def _exactly(self, term: QueryTerm) -> Clauses:
        """Return clauses for the words of a term as they are written."""
        if term.is_character:
            begun = self._words(BEGINNINGS, term.words)
            return [(occur, Query.boost_query(one, CHARACTER_WEIGHT)) for occur, one in begun]
        clauses = self._rows(term.words)
        if term.exact and len(term.words) == 1:
            clauses += self._words([PIECES], term.words)
        return clauses

    def _rows(self, words: Sequence[str]) -> Clauses:
        return [
            (Occur.Should, Query.boost_query(self._row(zone, words), WEIGHTS[zone]))
            for zone in ZONES
        ]

    def _row(self, field: str, words: Sequence[str]) -> Query:
        if len(words) == 1:
            return Query.term_query(self._schema, field, words[0])
        return Query.phrase_query(self._schema, field, list(words))

    def _words(self, fields: Iterable[str], words: Iterable[str]) -> Clauses:
        """Return clauses for other forms of words, as far as they are in any map at all.

        Many are in none, and would cost a search several times what it takes to find that out.
        """
        return [
            (Occur.Should, self._word(field, word))
            for word in words
            for field in fields
            if self._searcher.doc_freq(field, word)
        ]

    def _word(self, field: str, word: str) -> Query:
        return Query.boost_query(Query.term_query(self._schema, field, word), WEIGHTS[field])

    def _name(self, wanted: Sequence[QueryTerm]) -> Clauses:
        words = [word for term in wanted for word in term.words]
        return self._words([NAME], [name_of(words)])

    def _title_phrase(self, wanted: Sequence[QueryTerm]) -> Clauses:
        words = [word for term in wanted for word in term.words]
        phrase = Query.phrase_query(self._schema, "title", [*words])
        return [(Occur.Should, Query.boost_query(phrase, PHRASE_WEIGHT))]

    # -- beginnings -----------------------------------------------------------------------

    def _beginning(self, term: QueryTerm) -> Clauses:
        *whole, last = term.words
        if whole:
            rows = [self._row_beginning(zone, whole, last) for zone in ZONES]
            return [(Occur.Should, row) for row in rows]
        # Maps that say the word itself have its stems, which are asked for already.
        elsewhere = (Occur.Should, self._elsewhere(last, besides=last))
        if len(last) > LONGEST_TITLE_BEGINNING:
            return [elsewhere]
        return [*self._words(["title_beginnings"], [last]), elsewhere]

    def _elsewhere(self, beginning: str, besides: str = "") -> Query:
        """Return the query for maps with a word that begins so, in the title or not.

        That a map has the word ``besides`` need not be found.
        """
        if len(beginning) <= LONGEST_BEGINNING:
            return self._word("beginnings", beginning)
        found = self._searcher.terms_with_prefix("forms", beginning, limit=MOST_ENDINGS)
        words = [word for word, _ in found if word != besides]
        if len(words) > FEW_ENDINGS:
            any_of_them = Query.term_set_query(self._schema, "forms", words)
        else:
            any_of_them = _any(self._words(["forms"], words))
        return Query.const_score_query(any_of_them, WEIGHTS["beginnings"])

    def _row_beginning(self, zone: str, whole: Sequence[str], last: str) -> Query:
        """Return the query for words in a row of which the last is a beginning.

        Tantivy is slow with one that many words begin with, and gives up on one that has
        thousands. The others must then occur in a row, and it anywhere in the same map.
        """
        if not all(self._searcher.doc_freq(zone, word) for word in whole):
            return Query.empty_query()
        endings = self._searcher.terms_with_prefix(zone, last, limit=MOST_ENDINGS)
        if not endings:
            return Query.empty_query()
        if len(endings) < MOST_ENDINGS:
            found = Query.regex_phrase_query(self._schema, zone, [*whole, f"{last}.*"])
        else:
            row = self._row(zone, whole)
            found = Query.boolean_query([(Occur.Must, row), (Occur.Must, self._elsewhere(last))])
        return Query.const_score_query(found, WEIGHTS[zone] * WEIGHTS["beginnings"])


def _any(clauses: Clauses) -> Query:
    return Query.boolean_query(clauses)
