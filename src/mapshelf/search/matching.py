"""Search a few maps without an index: the unpublished maps of an owner.

The matching rules are those of ``snapshot.read.text_queries``, which expresses them with index
fields; ``tests/snapshot/test_matching.py`` checks that both find the same maps. Results are not
ranked, and spelling is not corrected.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mapshelf.search.map_words import MapWords, name_of
from mapshelf.search.query_parser import QueryTerm
from mapshelf.text.normalize import SEPARATOR, is_unspaced
from mapshelf.text.stemming import LANGUAGES, query_stems, stem_words


@dataclass(frozen=True, slots=True)
class _Searched:
    """The words of a map, or of its title, prepared for matching.

    Attributes:
        zones: the words of each text, in order.
        written: the distinct words of the texts.
        forms: all words, parts, compounds and stems.
        words: the same without stems, for matching prefixes.
        name: the title as one word.
    """

    zones: tuple[list[str], ...]
    written: set[str]
    forms: set[str]
    words: set[str]
    name: str


class UnindexedMaps:
    """A set of maps that is searched like a separate catalogue."""

    def __init__(self, maps: Iterable[MapWords]) -> None:
        self._maps: list[_Searched] = []
        self._titles: list[_Searched] = []
        languages = set()
        for one in maps:  # none is kept, because they take much memory
            self._maps.append(_searched(one))
            self._titles.append(_searched_title(one))
            languages.add(one.language)
        self._languages = sorted(LANGUAGES.keys() & languages)

    def clear(self) -> None:
        """Free the memory, map by map: all at once would hold the interpreter for 50 ms."""
        for searched in (self._maps, self._titles):
            while searched:
                searched.pop()

    def matching(self, terms: Sequence[QueryTerm]) -> list[int]:
        """Return the indices of the maps that match a parsed query, in ascending order.

        A query without a word matches none.
        """
        wanted = [term for term in terms if not term.excluded]
        excluded = [term for term in terms if term.excluded]
        forms = {term: self._forms(term) for term in wanted}
        name = name_of(wanted[0].words) if len(wanted) == 1 else ""
        return [
            place
            for place, one in enumerate(self._maps)
            if terms
            and (
                all(_matches(self._part(place, term), term, forms[term]) for term in wanted)
                or one.name == name != ""
            )
            and not any(_is_written(self._part(place, term), term) for term in excluded)
        ]

    def _part(self, place: int, term: QueryTerm) -> _Searched:
        """Return the part of a map in which to search for a term: its title or everything."""
        return self._titles[place] if term.in_title else self._maps[place]

    def _forms(self, term: QueryTerm) -> set[str]:
        """Return the tagged stems of a term's word, and those stems that may be words themselves.

        If no map contains the word, it may be misspelt. Then only stems that occur in some map are
        also used as words.
        """
        if not term.has_forms or is_unspaced(term.words[0]):
            return set()
        (word,) = term.words
        stems = query_stems(word, self._languages)
        likely = stems if self._has(word) else [stem for stem in stems if self._has(stem)]
        return {*stems, *stem_words(word, likely)}

    def _has(self, form: str) -> bool:
        return any(form in one.forms for one in self._maps)


def _searched(found: MapWords) -> _Searched:
    zones = (found.title, found.description, found.branches, found.topics)
    written = found.written
    return _Searched(
        zones,
        written,
        forms=found.forms,
        words=(found.words | written) - {SEPARATOR},
        name=name_of(found.title),
    )


def _searched_title(found: MapWords) -> _Searched:
    words = {*found.title, *found.title_words}
    return _Searched(
        (found.title,),
        set(found.title),
        forms=found.title_forms,
        words=words - {SEPARATOR},
        name=name_of(found.title),
    )


def _matches(one: _Searched, term: QueryTerm, forms: set[str]) -> bool:
    if _is_written(one, term):
        return True
    if term.exact or term.is_character:
        return False
    return (
        not forms.isdisjoint(one.forms)
        or bool(term.joined and term.joined in one.forms)
        or bool(term.subwords and _has_row(one, term.subwords))
        or (term.prefix and _is_begun(one, term.words))
    )


def _is_written(one: _Searched, term: QueryTerm) -> bool:
    """Return whether a map contains the words of a term in a row.

    A single exact word also matches a part or a compound of words. A single character of an
    unspaced script also matches the beginning of a word.
    """
    if term.is_character:
        return _is_begun(one, term.words)
    if term.exact and len(term.words) == 1 and term.words[0] in one.words:
        return True
    return _has_row(one, term.words)


def _is_begun(one: _Searched, words: Sequence[str]) -> bool:
    """Return whether a map contains ``words`` in a row, where the last may be a prefix."""
    if len(words) > 1:
        return _has_row(one, words, unfinished=True)
    return any(word.startswith(words[0]) for word in one.words)


def _has_row(one: _Searched, words: Sequence[str], *, unfinished: bool = False) -> bool:
    """Return whether a text has ``words`` in a row; if ``unfinished``, the last is a prefix."""
    if len(words) == 1:
        return words[0] in one.written
    *whole, last = words
    if not one.written.issuperset(whole):
        return False
    return any(
        zone[place : place + len(whole)] == whole
        and (following.startswith(last) if unfinished else following == last)
        for zone in one.zones
        for place, following in enumerate(zone[len(whole) :])
    )
