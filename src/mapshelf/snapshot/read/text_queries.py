"""Build Tantivy queries from the terms of a search text.

For every term, a map must match at least one of several clauses, whose scores are added: the words
as written, their other forms, and the words that start with the last one. Tantivy is fastest with
clauses for single index terms, so forms and short prefixes are indexed in fields of their own.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

import tantivy
from tantivy import Occur, Query

from mapshelf.lru_cache import LRUCache
from mapshelf.query import NOT
from mapshelf.search.map_words import name_of
from mapshelf.search.query_parser import QueryTerm
from mapshelf.snapshot.format.text_fields import (
    BEGINNINGS,
    CHARACTER_WEIGHT,
    FINGERPRINT,
    FORMS,
    LANGUAGE,
    LONGEST_TITLE_BEGINNING,
    NAME,
    PHRASE_WEIGHT,
    PIECES,
    WEIGHTS,
    ZONES,
    filter_field,
)
from mapshelf.snapshot.read.endings import MOST_ENDINGS, EndingFinder
from mapshelf.text.normalize import is_unspaced
from mapshelf.text.stemming import LANGUAGES, query_stems, stem_words
from mapshelf.text.word_forms import LONGEST_BEGINNING

FEW_ENDINGS: Final = 16
"""Maximum number of words for which one clause per word is faster than one clause for all."""

KEPT_ENDINGS: Final = 64
"""Maximum number of words with its prefix for which the clauses of a term are cached. Thousands of
long words take megabytes."""

TERMS_IN_MEMORY: Final = 512
"""Number of terms whose clauses are cached, a few kilobytes each."""

Clauses = list[tuple[Occur, Query]]


class QueryBuilder:
    """Builds queries for the index of one snapshot."""

    def __init__(self, schema: tantivy.Schema, searcher: tantivy.Searcher) -> None:
        self._schema = schema
        self._searcher = searcher
        # Most searches use the same few words, and each word is looked up several times.
        self._parts: LRUCache[QueryTerm, Clauses] = LRUCache(TERMS_IN_MEMORY)
        self._endings = EndingFinder(partial(searcher.terms_with_prefix, limit=MOST_ENDINGS))
        self._known_forms: LRUCache[str, list[str]] = LRUCache(TERMS_IN_MEMORY)
        self.languages = [code for code in LANGUAGES if searcher.doc_freq(LANGUAGE, code)]

    def scored(self, terms: Sequence[QueryTerm], filters: tuple[tuple[str, int], ...]) -> Query:
        """Return the query for maps that match all terms and all filters, with scores."""
        return self._query(terms, filters, self._part, ranked=True)

    def matching(self, terms: Sequence[QueryTerm], filters: tuple[tuple[str, int], ...]) -> Query:
        """Return a faster query for the same maps as ``scored``, without meaningful scores."""
        return self._query(terms, filters, self._matching, ranked=False)

    def _query(
        self,
        terms: Sequence[QueryTerm],
        filters: tuple[tuple[str, int], ...],
        clauses_of: Callable[[QueryTerm], Clauses],
        *,
        ranked: bool,
    ) -> Query:
        if not terms:
            return Query.empty_query()
        wanted = [term for term in terms if not term.excluded]
        if any(map(_zones, wanted)):
            wanted = list(self._affordable(wanted))
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
        """Return the query for maps that have ``word`` among their forms."""
        return Query.term_query(self._schema, "forms", word)

    def having_any(self, terms: Sequence[str]) -> Query:
        """Return the query for maps with any of these fingerprint terms; each scores 1."""
        return _any(
            [(Occur.Should, Query.const_score_query(query, 1.0)) for query in self._alike(terms)]
        )

    def about(self, terms: Sequence[str]) -> Query:
        """Return the query for maps with any of these fingerprint terms; rare ones score higher."""
        return _any([(Occur.Should, query) for query in self._alike(terms)])

    def _alike(self, terms: Sequence[str]) -> list[Query]:
        return [Query.term_query(self._schema, FINGERPRINT, term) for term in terms]

    def in_title(self, terms: Sequence[QueryTerm], filters: tuple[tuple[str, int], ...]) -> Query:
        """Return the query for maps whose titles match all terms that are not excluded."""
        wanted: Clauses = [
            (Occur.Must, _any(self._in_title(term))) for term in terms if not term.excluded
        ]
        if not wanted:
            return Query.empty_query()
        return Query.boolean_query([*wanted, *self._limits(terms, filters)])

    def _limits(self, terms: Sequence[QueryTerm], filters: tuple[tuple[str, int], ...]) -> Clauses:
        """Return clauses for excluded terms and for filters."""
        excluded = [term for term in terms if term.excluded]
        clauses: Clauses = [(Occur.MustNot, _any(self._matching(term))) for term in excluded]
        for name, key in filters:
            occur = Occur.MustNot if name.startswith(NOT) else Occur.Must
            field = filter_field(name.removeprefix(NOT))
            clauses.append((occur, self._having(field, key)))
        return clauses

    def most_matches(self, term: QueryTerm) -> int:
        """Return an upper bound for the number of maps that match ``term``, a single word."""
        frequency = self._searcher.doc_freq
        (word,) = term.words
        if is_unspaced(word):
            # Pairs of characters are indexed as prefixes, and have no other forms.
            return frequency("beginnings", word)
        found = frequency("forms", word)
        if term.has_forms:
            found = max(found, sum(frequency("forms", form) for form in self._forms(word)))
        if term.prefix:
            found += frequency("beginnings", word[:LONGEST_BEGINNING])
        return found

    def with_key(self, query: Query, field: str, key: int) -> Query:
        """Return ``query``, limited to maps that have ``key`` in ``field``."""
        return Query.boolean_query([(Occur.Must, query), (Occur.Must, self._having(field, key))])

    def _having(self, field: str, key: int) -> Query:
        return Query.const_score_query(Query.term_query(self._schema, field, key), 0.0)

    def _part(self, term: QueryTerm) -> Clauses:
        clauses = self._parts.get(term)
        if clauses is None:
            clauses = self._made_part(term)
            if not self._has_many_endings(term):
                self._parts.put(term, clauses)
        return clauses

    def _made_part(self, term: QueryTerm) -> Clauses:
        if term.in_title:
            return self._only_in_title(term)
        clauses = self._as_written(term)
        if not term.exact and not term.is_character:
            clauses += self._other_forms(term, FORMS)
        return clauses

    def _matching(self, term: QueryTerm) -> Clauses:
        """Return clauses for the same maps as ``_part``, but fewer, without useful scores.

        The field ``forms`` contains all words of a map and their stems, so it is enough for most
        terms. But it cannot match phrases, and scripts without spaces have no forms.
        """
        if term.in_title or len(term.words) > 1 or is_unspaced(term.words[0]):
            return self._part(term)
        if term.exact:
            return self._words(["forms"], term.words)
        return self._other_forms(term, ["forms"])

    def _other_forms(self, term: QueryTerm, fields: Sequence[str]) -> Clauses:
        """Return clauses for a term in all forms except as written."""
        clauses: Clauses = []
        if term.has_forms:
            clauses += self._words(fields, self._forms(term.words[0]))
        if term.joined:
            clauses += self._words(fields, [term.joined])
        if term.subwords:
            clauses += self._in_zones(term.subwords)
        if term.prefix:
            clauses += self._prefix(term)
        return clauses

    def _forms(self, word: str) -> list[str]:
        """Return the terms for a word in any form: its stems and its roots.

        A word that no map has may be misspelt. Then only the stems that some map has yield roots.
        """
        forms = self._known_forms.get(word)
        if forms is None:
            frequency = self._searcher.doc_freq
            stems = query_stems(word, self.languages)
            known = frequency("forms", word) > 0
            likely = [stem for stem in stems if known or frequency("forms", stem)]
            forms = [*stems, *sorted(stem_words(word, likely))]
            self._known_forms.put(word, forms)
        return forms

    def _in_title(self, term: QueryTerm) -> Clauses:
        clauses = [
            (Occur.Should, Query.boost_query(self._word_or_phrase("title", term.words), 2.0))
        ]
        if term.has_forms:
            clauses += self._words(["title_forms"], self._forms(term.words[0]))
        if term.prefix:
            # The prefix of the last of several words may match anywhere in the title, because this
            # query only completes what the user is typing.
            beginning = term.words[-1][:LONGEST_TITLE_BEGINNING]
            clauses += self._words(["title_beginnings"], [beginning])
        return clauses

    def _only_in_title(self, term: QueryTerm) -> Clauses:
        """Return clauses for a term in any form, in titles."""
        if term.is_character:
            return self._words(["title_beginnings"], term.words)
        *whole, last = term.words
        clauses: Clauses = [(Occur.Should, self._word_or_phrase("title", term.words))]
        if term.exact:
            # A single word is also found as a part of another one.
            return clauses + (self._words(["title_forms"], term.words) if not whole else [])
        if term.has_forms and not is_unspaced(term.words[0]):
            clauses += self._words(["title_forms"], self._forms(term.words[0]))
        if term.joined:
            clauses += self._words(["title_forms"], [term.joined])
        if term.subwords:
            clauses.append((Occur.Should, self._word_or_phrase("title", term.subwords)))
        if term.prefix and whole:
            clauses += self._phrase_with_prefix(term)
        elif term.prefix:
            clauses += self._words(["title_beginnings"], [last[:LONGEST_TITLE_BEGINNING]])
        return clauses

    def _as_written(self, term: QueryTerm) -> Clauses:
        """Return clauses for the words of a term as written."""
        if term.is_character:
            begun = self._words(BEGINNINGS, term.words)
            return [(occur, Query.boost_query(one, CHARACTER_WEIGHT)) for occur, one in begun]
        clauses = self._in_zones(term.words)
        if term.exact and len(term.words) == 1:
            clauses += self._words([PIECES], term.words)
        return clauses

    def _in_zones(self, words: Sequence[str]) -> Clauses:
        return [
            (Occur.Should, Query.boost_query(self._word_or_phrase(zone, words), WEIGHTS[zone]))
            for zone in ZONES
        ]

    def _word_or_phrase(self, field: str, words: Sequence[str]) -> Query:
        if len(words) == 1:
            return Query.term_query(self._schema, field, words[0])
        return Query.phrase_query(self._schema, field, list(words))

    def _words(self, fields: Iterable[str], words: Iterable[str]) -> Clauses:
        """Return a clause for each word in each field, leaving out words that no map has.

        Many words occur nowhere, and a clause for such a word would take several times as long as
        this look-up.
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

    # -- prefixes -------------------------------------------------------------------------

    def _affordable(self, wanted: Sequence[QueryTerm]) -> Iterator[QueryTerm]:
        """Return the terms, loose if the endings of their prefixes are too many together.

        Tantivy is slow if a prefix after other words has many endings, and fails if thousands do.
        Each zone may have fewer than ``MOST_ENDINGS`` for all phrases of a query.
        """
        left = MOST_ENDINGS - 1
        for term in wanted:
            most = max(
                (len(self._endings_of(term, zone) or ()) for zone in _zones(term)), default=0
            )
            if most <= left:
                left -= most
                yield term
            else:
                yield replace(term, loose=True)

    def _endings_of(self, term: QueryTerm, zone: str) -> Sequence[str] | None:
        """Return the words that may be the last of a phrase; ``None`` if there are too many."""
        *whole, last = term.words
        if all(self._searcher.doc_freq(zone, word) for word in whole):
            return self._endings.all(zone, last)
        return ()

    def _has_many_endings(self, term: QueryTerm) -> bool:
        """Return whether the clauses of a term have many words with its prefix."""
        *whole, last = term.words
        if not term.prefix or len(last) <= LONGEST_BEGINNING:
            return False
        phrases = [self._endings_of(term, zone) for zone in _zones(term)]
        if whole and not term.loose and None not in phrases:
            return False
        return len(self._endings.most_frequent("forms", last)) > KEPT_ENDINGS

    def _prefix(self, term: QueryTerm) -> Clauses:
        if len(term.words) > 1:
            return self._phrase_with_prefix(term)
        (last,) = term.words
        # Maps with the word itself already match the clauses for its stems.
        elsewhere = (Occur.Should, self._prefix_anywhere(last, besides=last))
        if len(last) > LONGEST_TITLE_BEGINNING:
            return [elsewhere]
        return [*self._words(["title_beginnings"], [last]), elsewhere]

    def _prefix_anywhere(self, beginning: str, besides: str = "") -> Query:
        """Return the query for maps with a word that has this prefix, in any field.

        The word ``besides`` may be left out.
        """
        if len(beginning) <= LONGEST_BEGINNING:
            return self._word("beginnings", beginning)
        found = self._endings.most_frequent("forms", beginning)
        words = [word for word in found if word != besides]
        if len(words) > FEW_ENDINGS:
            any_of_them = Query.term_set_query(self._schema, "forms", words)
        else:
            any_of_them = _any(self._words(["forms"], words))
        return Query.const_score_query(any_of_them, WEIGHTS["beginnings"])

    def _phrase_with_prefix(self, term: QueryTerm) -> Clauses:
        """Return clauses for a phrase whose last word is a prefix.

        In a zone with too many words with the prefix, only the other words must form a phrase, and
        the prefix may match anywhere in the map.
        """
        *whole, last = term.words
        clauses: Clauses = []
        rows: Clauses = []
        for zone in _zones(term):
            weight = WEIGHTS[zone] * WEIGHTS["beginnings"]
            endings = self._endings_of(term, zone)
            if endings is None or (endings and term.loose):
                row = self._word_or_phrase(zone, whole)
                rows.append((Occur.Should, Query.const_score_query(row, weight)))
            elif endings:
                row = Query.regex_phrase_query(self._schema, zone, [*whole, f"{last}.*"])
                clauses.append((Occur.Should, Query.const_score_query(row, weight)))
        if rows:
            anywhere = Query.const_score_query(self._prefix_anywhere(last), 0.0)
            both = [(Occur.Must, _any(rows)), (Occur.Must, anywhere)]
            clauses.append((Occur.Should, Query.boolean_query(both)))
        return clauses


def _zones(term: QueryTerm) -> Sequence[str]:
    """Return the zones in which the last word of a phrase is a prefix; none for other terms."""
    if not term.prefix or len(term.words) == 1:
        return ()
    return ("title",) if term.in_title else ZONES


def _any(clauses: Clauses) -> Query:
    return Query.boolean_query(clauses)
