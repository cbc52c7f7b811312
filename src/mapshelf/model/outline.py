"""The content of a map: sheets, trees of topics, and everything attached to a topic.

Every reader produces these types, whatever the format, so each concept has one name here although
programs use different ones. Topics are mutable; all other types are immutable.

* A sheet has one central topic. Floating topics and summaries are separate trees; relationships and
  boundaries refer to topics by id.
* Colours are ``#rrggbb``, empty if the author set none. Lengths are in pixels of the author's
  screen. Positions are relative to the middle of the central topic; x increases to the right, y
  downwards.
* Dates of tasks are in ISO 8601 format, to the day or the minute: ``2026-01-31``,
  ``2026-01-31T09:30``.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple


class TopicKind(StrEnum):
    """The role of a topic in the map."""

    ATTACHED = "attached"
    """A child of its parent topic, or a central topic."""
    CALLOUT = "callout"
    """A callout on its parent topic."""
    FLOATING = "floating"
    """The root of a separate tree on the sheet."""
    SUMMARY = "summary"
    """It sums up several siblings (``Summary``)."""


class Marker(NamedTuple):
    """An icon on a topic.

    Attributes:
        name: its meaning in the common vocabulary of ``model.markers``.
        original: its name in the program that created the map.
    """

    name: str
    original: str


TASK_STATES: Final = ("todo", "started", "paused", "done", "cancelled")
"""The states of a task."""


@dataclass(frozen=True, slots=True)
class Task:
    """The task properties of a topic.

    Attributes:
        state: one of ``TASK_STATES``, empty if not set.
        progress: per cent complete, ``None`` if not set.
        priority: 1 (highest) to 9, ``None`` if not set.
        start: start date (see the module docstring), empty if not set.
        due: due date, likewise.
        resources: assigned people or resources.
    """

    state: str = ""
    progress: int | None = None
    priority: int | None = None
    start: str = ""
    due: str = ""
    resources: tuple[str, ...] = ()


class Image(NamedTuple):
    """An image in a topic.

    Attributes:
        digest: hexadecimal SHA-256 of its bytes, empty if the image is missing.
        width: display width, 0 if not in the file.
        height: display height, likewise. One of the two is enough; without either, the image's own
            size applies.
        alt: alternative text or file name.
        below: whether it is below the text of the topic, not above it.
    """

    digest: str
    width: float = 0.0
    height: float = 0.0
    alt: str = ""
    below: bool = False


class Attachment(NamedTuple):
    """A file embedded in the map, with its size in bytes, 0 if unknown."""

    name: str
    size: int = 0


@dataclass(frozen=True, slots=True)
class Style:
    """The style of a topic: set by the author, otherwise by the theme of the map.

    Attributes:
        text: text colour.
        fill: fill colour.
        line: colour of the line to the parent, and of its branch.
        border: border colour.
        bold: whether the text is bold.
        italic: whether the text is italic.
        size: font size in points, 0 if not set.
        shape: ``rectangle``, ``rounded``, ``ellipse``, ``underline``, ``diamond``, ``hexagon``,
            ``cloud`` or ``none``; empty if not set or not known.
        line_width: width of the line to the parent in pixels, 0 if not set.
        line_hidden: whether there is no line to the parent.
    """

    text: str = ""
    fill: str = ""
    line: str = ""
    border: str = ""
    bold: bool = False
    italic: bool = False
    size: float = 0.0
    shape: str = ""
    line_width: float = 0.0
    line_hidden: bool = False


@dataclass(slots=True)
class Topic:
    """A topic of a map, with its children in the author's order.

    Attributes:
        text: plain text, possibly several lines.
        id: unique within the map, empty until assigned (``readers.parsing.topic_ids``).
        note: its note as plain text, empty if none.
        note_html: the note as sanitised HTML, empty if it has no formatting.
        links: link targets, see ``formats.links``: URLs, paths, and ``#ID`` for a topic of this
            map. Never fetched.
        children: the topics below it.
        text_html: the text as sanitised HTML, empty if it has no formatting.
        kind: role in the map.
        markers: its icons.
        tags: tags (in some programs: labels, keywords).
        task: its task properties.
        attributes: name-value pairs.
        images: its images.
        attachments: its embedded files.
        formula: LaTeX without delimiters.
        style: its style, ``None`` if the file sets none.
        folded: whether its children are folded.
        side: for a main topic, ``left`` or ``right`` of the central topic; empty if the author did
            not choose.
        position: position of its middle, if the author placed it; of a callout, relative to the
            middle of its parent.
        number: automatic number that the program shows before the text, such as ``2.1``; empty if
            none.
        details: the part of the note that the program shows below the text.
        shown_attributes: the names of the attributes that the program shows below the text.
    """

    text: str
    id: str = ""
    note: str = ""
    note_html: str = ""
    links: tuple[str, ...] = ()
    children: list["Topic"] = field(default_factory=list)
    text_html: str = ""
    kind: TopicKind = TopicKind.ATTACHED
    markers: tuple[Marker, ...] = ()
    tags: tuple[str, ...] = ()
    task: Task | None = None
    attributes: tuple[tuple[str, str], ...] = ()
    images: tuple[Image, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    formula: str = ""
    style: Style | None = None
    folded: bool = False
    side: str = ""
    position: tuple[float, float] | None = None
    number: str = ""
    details: str = ""
    shown_attributes: tuple[str, ...] = ()

    def facts(self) -> list[str]:
        """Return the searchable text attached to it, except the note; see ``topic_facts``."""
        resources = self.task.resources if self.task else ()
        files = [file.name for file in self.attachments]
        return topic_facts(self.tags, self.attributes, resources, files, self.formula)

    def walk(self) -> Iterator[tuple[int, "Topic"]]:
        """Yield this topic and its descendants in document order, with their depth from 0."""
        yield 0, self
        above: list[Iterator[Topic]] = []  # the siblings that are still to come, level by level
        siblings = iter(self.children)
        while True:
            depth = len(above) + 1
            for topic in siblings:
                yield depth, topic
                if topic.children:
                    above.append(siblings)
                    siblings = iter(topic.children)
                    break
            else:
                if not above:
                    return
                siblings = above.pop()


def topic_facts(
    tags: Sequence[str],
    attributes: Iterable[Sequence[str]],
    resources: Sequence[str],
    files: Sequence[str],
    formula: str,
) -> list[str]:
    """Return the searchable text attached to a topic, one line for each kind.

    The names of images are left out because programs generate them. Markers are left out because
    ``idea`` would otherwise find every map with a light bulb.
    """
    lines = (", ".join(tags), *map(": ".join, attributes), ", ".join(resources), ", ".join(files))
    return [line for line in (*lines, formula) if line]


class Relationship(NamedTuple):
    """An arrow between two topics.

    Attributes:
        start: the id of the topic that it starts from.
        end: the id of the topic that it leads to.
        text: its label.
        colour: its colour.
        point: the place that it leads to, relative to the edge of the topic that it starts from;
            ``None`` for a topic. ``start`` and ``end`` are then the same.
        heads: where it has heads: ``end``, ``start``, ``both`` or ``none``.
    """

    start: str
    end: str
    text: str = ""
    colour: str = ""
    point: tuple[float, float] | None = None
    heads: str = "end"


class Boundary(NamedTuple):
    """An outline around topics and their descendants, given by id, with a label."""

    topics: tuple[str, ...]
    text: str = ""
    colour: str = ""


class Summary(NamedTuple):
    """A brace over sibling topics, given by id, with the topic that summarises them."""

    topics: tuple[str, ...]
    topic: Topic


@dataclass(frozen=True, slots=True)
class Sheet:
    """One canvas of a map.

    Attributes:
        root: its central topic.
        title: its name, empty if unnamed.
        floating: floating topics, with their descendants.
        relationships: arrows between topics of the sheet.
        boundaries: lines around topics of the sheet.
        summaries: summaries of the sheet.
        background: background colour.
        clockwise: whether the main topics are arranged clockwise: on the left, the first is at the
            bottom.
    """

    root: Topic
    title: str = ""
    floating: tuple[Topic, ...] = ()
    relationships: tuple[Relationship, ...] = ()
    boundaries: tuple[Boundary, ...] = ()
    summaries: tuple[Summary, ...] = ()
    background: str = ""
    clockwise: bool = False

    def trees(self) -> tuple[Topic, ...]:
        """Return the roots of all trees on the sheet, the central topic first."""
        return (self.root, *self.floating, *(summary.topic for summary in self.summaries))

    def topics(self) -> Iterator[Topic]:
        """Yield every topic of the sheet, tree by tree."""
        for tree in self.trees():
            yield from (topic for _, topic in tree.walk())


def sheets_of(roots: Iterable[Topic]) -> tuple[Sheet, ...]:
    """Return a sheet for each central topic, with nothing but its tree."""
    return tuple(map(Sheet, roots))


@dataclass(frozen=True, slots=True)
class Outline:
    """The result of reading a map file, the same for every format.

    Attributes:
        sheets: the sheets of the file; at least one.
        software: name of the program that wrote the file, empty if unknown.
        software_version: its version, likewise.
        template: whether the format marks the file as a template.
        author: author of the map, empty if unknown.
        copyright: copyright or licence statement, likewise.
        created: creation time in milliseconds since 1970-01-01 UTC, if in the file.
        modified: time of the last edit, likewise.
        language: ISO 639-1 code of its language, empty if unsure. Not read from the file but
            detected from the text (``readers.summary.language``).
        picture: digest of the preview image in the file, empty if there is none that can be shown
            (``readers.parsing.pictures``).
    """

    sheets: tuple[Sheet, ...]
    software: str = ""
    software_version: str = ""
    template: bool = False
    author: str = ""
    copyright: str = ""
    created: int | None = None
    modified: int | None = None
    language: str = ""
    picture: str = ""

    @property
    def roots(self) -> tuple[Topic, ...]:
        """The central topics, one for each sheet."""
        return tuple(sheet.root for sheet in self.sheets)

    def trees(self) -> Iterator[Topic]:
        """Yield the roots of all trees, sheet by sheet."""
        for sheet in self.sheets:
            yield from sheet.trees()

    def topics(self) -> Iterator[tuple[int, Topic]]:
        """Yield every topic of every sheet with its depth in its tree, in document order."""
        for tree in self.trees():
            yield from tree.walk()

    @property
    def topic_count(self) -> int:
        """Number of topics in all sheets together."""
        return sum(1 for _ in self.topics())

    @property
    def depth(self) -> int:
        """Levels of topics in the deepest tree, its root counting as one."""
        return 1 + max((depth for depth, _ in self.topics()), default=-1)
