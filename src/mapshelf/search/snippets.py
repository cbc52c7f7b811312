"""Select snippets: the topics of a map that match a query, each with its path from the root."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from mapshelf.formats.outline_bytes import unpacked_up_to
from mapshelf.formats.outline_texts import OutlineTexts, read_texts
from mapshelf.search.chunk_analysis import NO_TERMS
from mapshelf.search.deadline import Deadline
from mapshelf.search.highlight import Highlight, Highlighter, highlighted

LONGEST_EXCERPT: Final = 300  # maximum characters shown of a text

BEFORE: Final = 60
"""Characters shown before the first highlight of a text that is too long to show in full."""

LONGEST_STEP: Final = 100  # maximum characters shown of each topic on the path


class SnippetBudget(NamedTuple):
    """Limits for the work of finding snippets.

    Attributes:
        snippets: maximum number of snippets of one map.
        outline_bytes: maximum size of an outline in bytes, decompressed; larger ones are not
            searched.
        bytes_per_answer: maximum size of all outlines searched for a response together. Outlines
            that exceed it are not searched.
        topics_per_map: maximum number of topics searched in one map.
        topics_per_answer: maximum number of topics searched in all maps of a response together.
            Maps beyond this budget are returned without snippets.
        seconds: maximum processor time for finding all snippets of a response. The other limits
            suffice for maps that people made; some texts take a hundred times as long as these.
    """

    snippets: int
    outline_bytes: int
    bytes_per_answer: int
    topics_per_map: int
    topics_per_answer: int
    seconds: float


API_BUDGET: Final = SnippetBudget(3, 1 << 20, 4 << 20, 10_000, 10_000, 0.75)
"""For ``GET /search``: up to 50 maps in one second. Few outlines have a tenth of this size."""

PAGE_BUDGET: Final = SnippetBudget(3, 512 << 10, 3 << 20, 1_000, 24_000, 0.5)
"""For the library page: 24 maps, fast enough for a person who is typing."""

QUICK_SECONDS: Final = 0.15
"""Seconds of processor time after which a search for topics is interrupted, so that it can continue
where it delays only others like it. In the maps of people that we know, 99 of 100 take less."""

LONGEST_FIND: Final = 0.5
"""Seconds of processor time for finding the topics of one map. The largest real map takes 0.2."""

LONGEST_MARKING: Final = 0.1
"""Seconds that are left of these for the excerpts of what was found before. A hundred excerpts take
a tenth of it."""

LONGEST_NOTE: Final = 65_536
"""Maximum characters searched of a note with its attributes, tags and labels: as many as a text can
have. A topic has any number of attributes; the longest note of a real map has 18,107."""


@dataclass(frozen=True, slots=True)
class Snippet:
    """A topic that matches a query. Its fields are the keys of the JSON of ``GET /search``.

    Attributes:
        id: the id of the topic.
        path: the texts of the topics from the root down to its parent.
        text: the text of the topic, or an excerpt.
        marked: the same text as escaped HTML, with highlights in ``mark`` elements.
        note: an excerpt of its note as the same kind of HTML, empty if nothing in it matches.
    """

    id: str
    path: list[str]
    text: str
    marked: str
    note: str


class SnippetFinder:
    """Finds the snippets of the maps in one response, within one budget.

    Attributes:
        is_interrupted: whether it has used ``QUICK_SECONDS``, and snippets are missing. Call
            ``resume``, and then find those of all maps again.
        takeovers: ``Store.takeovers()`` before the first map was read.
    """

    def __init__(self, highlighter: Highlighter, budget: SnippetBudget, takeovers: int = 0) -> None:
        self.takeovers = takeovers
        quick = min(QUICK_SECONDS, budget.seconds)
        self._seconds_left = budget.seconds - quick
        self._finding, self._marking = Deadline(quick), Deadline(quick)
        self._finder = highlighter.until(self._finding)
        self._marker = highlighter.until(self._marking)
        self._budget = budget
        self._topics_left = budget.topics_per_answer
        self._bytes_left = budget.bytes_per_answer
        self._found: dict[int, list[Snippet]] = {}
        self.is_interrupted = False

    def resume(self) -> None:
        """Continue in the present thread, for what is left of the budget."""
        self.is_interrupted = False
        self._finding.restart(self._seconds_left - LONGEST_MARKING)
        self._marking.restart(self._seconds_left)
        self._seconds_left = 0.0

    def find(
        self, file_id: int, title: str, language: str, load: Callable[[], bytes | None]
    ) -> list[Snippet]:
        """Return the snippets of a map.

        Args:
            file_id: the number of the map in the store.
            title: its title.
            language: its language, empty if unknown.
            load: returns its encoded outline; called only if it is needed.

        Raises:
            StoreDamaged: the outline cannot be decoded.
        """
        if not len(self._finder):
            return []
        if file_id not in self._found:
            found = self._search(title, language, load)
            # Work that was finished late, but was finished, need not be done again.
            is_cut = self._finding.has_ended_work or self._marking.has_ended_work
            if self._seconds_left > 0 and is_cut:
                self.is_interrupted = True
                # Many searches may wait to be resumed, and must not fill the memory meanwhile.
                self._finder.forget_maps()
                self._marker.forget_maps()
                return []
            self._topics_left -= found.topics
            self._bytes_left -= found.size
            self._found[file_id] = found.snippets
        return self._found[file_id]

    def _search(
        self, title: str, language: str, load: Callable[[], bytes | None]
    ) -> "_SearchedMap":
        nothing = _SearchedMap([], 0, 0)
        if self._topics_left <= 0 or self._finding.is_over():
            return nothing
        encoded, room = load(), min(self._bytes_left, self._budget.outline_bytes)
        document = unpacked_up_to(encoded, room) if encoded else None
        if document is None:
            return nothing
        outline = read_texts(document)
        most = min(self._topics_left, self._budget.topics_per_map)
        finder, marker = self._finder.within(language), self._marker.within(language)
        search = _OutlineSearch(outline, finder, marker, self._finding, most)
        best = _best_snippets(search, title, self._budget.snippets)
        topics = min(len(outline.texts), self._budget.topics_per_map)
        return _SearchedMap(best, topics, len(document))


class _SearchedMap(NamedTuple):
    """The snippets of a map, and what they took: topics, and bytes of its outline."""

    snippets: list[Snippet]
    topics: int
    size: int


class _OutlineSearch(NamedTuple):
    """A search in the first ``most`` topics of an outline.

    ``finder`` finds topics until ``deadline``, and ``marker`` marks the terms in them, maybe later.
    """

    outline: OutlineTexts
    finder: Highlighter
    marker: Highlighter
    deadline: Deadline
    most: int


class _Found(NamedTuple):
    """A topic that matches; ``rank`` is less for better topics and ends with its number."""

    rank: tuple[int, int, int, int]
    content: tuple[str, str]

    @property
    def topic(self) -> int:
        return self.rank[-1]


def marked_line(text: str, highlighter: Highlighter) -> str:
    """Return a short text as HTML with its highlights, empty if nothing in it matches."""
    found = highlighter.highlights(text) if len(highlighter) else []
    return highlighted(text, found) if found else ""


def _best_snippets(search: _OutlineSearch, title: str, count: int) -> list[Snippet]:
    """Return up to ``count`` topics that match the most terms.

    Of topics that match equally many terms, those with more of them in the text rather than the
    note come first, then those nearer to the root. A topic with the same text as the map's
    ``title`` or as a better topic is left out, unless its note also matches.
    """
    best: list[_Found] = []
    seen = {(title, "")}
    for found in sorted(_found(search)):
        if found.content not in seen:
            seen.add(found.content)
            best.append(found)
        if len(best) == count:
            break
    return [_snippet(search, found.topic) for found in best]


def topics_with(
    outline: OutlineTexts, highlighter: Highlighter, count: int, most: int
) -> list[Snippet]:
    """Return up to ``count`` topics that match the most terms, in the order of the map.

    Unlike ``SnippetFinder.find``, this includes topics with equal texts, as their positions differ.
    Only the first ``most`` topics are searched, for ``LONGEST_FIND``.
    """
    finding, marking = Deadline(LONGEST_FIND - LONGEST_MARKING), Deadline(LONGEST_FIND)
    finder, marker = highlighter.until(finding), highlighter.until(marking)
    search = _OutlineSearch(outline, finder, marker, finding, most)
    found = list(_found(search))
    best = min((one.rank[0] for one in found), default=0)
    chosen = [one for one in found if one.rank[0] == best][:count]
    return [_snippet(search, one.topic) for one in chosen]


def _found(search: _OutlineSearch) -> Iterator[_Found]:
    outline = search.outline
    # This runs for thousands of topics, so nothing is looked up twice.
    notes, was_over = outline.notes, search.deadline.was_over
    matched_terms = search.finder.matched_terms
    for topic, text in enumerate(outline.texts[: search.most]):
        note = notes.get(topic, "")
        if note:
            note = note[:LONGEST_NOTE]
        if was_over(len(text) + len(note)):
            return
        in_text = matched_terms(text)
        in_note = matched_terms(note) if note else NO_TERMS
        if in_text or in_note:
            rank = (-len(in_text | in_note), -len(in_text), outline.depth(topic), topic)
            yield _Found(rank, (text, note if in_note else ""))


def _snippet(search: _OutlineSearch, topic: int) -> Snippet:
    outline = search.outline
    text, in_text = _excerpt(outline.texts[topic], search.marker)
    note, in_note = _excerpt(outline.notes.get(topic, "")[:LONGEST_NOTE], search.marker)
    note = highlighted(note, in_note) if in_note else ""
    path = [_step(outline.texts[above]) for above in outline.above(topic)]
    return Snippet(outline.id(topic), path, text, highlighted(text, in_text), note)


def _step(text: str) -> str:
    return text if len(text) <= LONGEST_STEP else text[: LONGEST_STEP - 1] + "…"


def _excerpt(text: str, highlighter: Highlighter) -> tuple[str, list[Highlight]]:
    """Return the part of a long text around the first highlight, and the highlights in it."""
    if len(text) <= LONGEST_EXCERPT:
        return text, highlighter.highlights(text)
    # Those that begin in the excerpt. To find the others may take seconds.
    highlights = highlighter.first_highlights(text, LONGEST_EXCERPT)
    first = highlights[0].start if highlights else 0
    start = max(0, min(first - BEFORE, len(text) - LONGEST_EXCERPT))
    end = start + LONGEST_EXCERPT
    shift = (start > 0) - start
    moved = [
        Highlight(found.start + shift, min(found.end, end) + shift)
        for found in highlights
        if start <= found.start < end
    ]
    return "…" * (start > 0) + text[start:end] + "…" * (end < len(text)), moved
