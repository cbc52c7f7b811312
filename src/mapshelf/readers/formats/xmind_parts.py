"""Read what both XMind formats share: references from topics, and elements outside the tree.

Topics refer to archive members (pictures, attached files) and to other topics. Boundaries and
summaries refer to a range of siblings by index: ``(0,2)`` means the first three. Relationships
refer to topics or boundaries by id.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from mapshelf.model import (
    TASK_STATES,
    Attachment,
    Boundary,
    Image,
    Relationship,
    Sheet,
    Summary,
    Task,
    Topic,
    TopicKind,
)
from mapshelf.readers.formats.xmind_sides import put_on_sides
from mapshelf.readers.formats.xmind_styles import Properties, Theme
from mapshelf.readers.parsing.beside import Beside
from mapshelf.readers.parsing.content import Content
from mapshelf.readers.parsing.detached_topics import DetachedTopics, detach, give_ids
from mapshelf.readers.parsing.task_dates import task_date
from mapshelf.readers.parsing.topic_tree import reference

KINDS: Final = {
    "callout": TopicKind.CALLOUT,
    "detached": TopicKind.FLOATING,
    "summary": TopicKind.SUMMARY,
}
"""Kinds of children by the name of their group. Children in all other groups are branches."""

PLACED: Final = (TopicKind.ATTACHED, TopicKind.FLOATING)
"""Kinds of children whose positions at the central topic are used, relative to its middle."""

TASK: Final = ("org.xmind.ui.taskInfo", "org.xmind.ui.task")
FORMULA: Final = "org.xmind.ui.mathJax"

_TOPIC: Final = "xmind:#"
_MEMBER: Final = "xap:"
_PICTURES: Final = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp", ".svg")
_RANGE: Final = re.compile(r"\(\s*(\d{1,6})\s*,\s*(\d{0,6})\s*\)", re.ASCII)
_WHOLE: Final = "master"
_PERCENT: Final = re.compile(r"\s*(\d{1,3})(?:\.\d*)?\s*%?\s*", re.ASCII)
_STATES: Final = {state: state for state in TASK_STATES} | {"doing": "started"}


class Bracket(NamedTuple):
    """A boundary or summary as stored in the file.

    Attributes:
        id: id of the element, to which relationships may refer.
        range: index range of the children it covers, or ``master`` for the topic itself.
        text: label.
        colour: colour of the line.
        topic: for a summary, the id of the summary topic.
    """

    id: str
    range: str
    text: str = ""
    colour: str = ""
    topic: str = ""


class Canvas(NamedTuple):
    """The properties of a sheet, without its topics.

    Attributes:
        title: name of the sheet.
        background: background colour.
        relationships: relationships between topics or boundaries.
        theme: default styles of the topics.
        structure: name of the structure, see ``xmind_sides``.
        right_number: number of main topics on the right as written, see ``xmind_sides``.
    """

    title: str
    background: str
    relationships: tuple[Relationship, ...]
    theme: Theme
    structure: str = ""
    right_number: str = ""


class Parts:
    """Collects what belongs to the topics of one file, and builds the sheets from it.

    The readers fill the attributes while they read topics, one after the other.

    Attributes:
        boundaries: the boundaries stored at each topic, by the ``id()`` of the topic.
        summaries: the summaries stored at each topic, likewise.
        properties: the style properties set at each topic itself, likewise.
    """

    def __init__(self, content: Content) -> None:
        self.properties: dict[int, Properties] = {}
        self.boundaries: dict[int, list[Bracket]] = {}
        self.summaries: dict[int, list[Bracket]] = {}
        self._content = content
        self._beside = Beside()
        self._pictures: dict[tuple[str, float, float], Image] = {}

    def add_link(self, topic: Topic, link: str) -> None:
        """Add a link to a topic or to another address, to the topic that is being read.

        A link to a file in the archive adds an attachment instead, and also a picture if the file
        is one.
        """
        if link.startswith(_TOPIC):
            self._beside.links.append(f"#{reference(link[len(_TOPIC) :])}")
        elif not link.startswith(_MEMBER):
            self._beside.links.append(link)
        else:
            self.add_attachment(topic, link)
            if link.lower().endswith(_PICTURES):
                self.add_picture(link)

    def add_attachment(self, topic: Topic, address: str) -> None:
        """Add a file in the archive to the topic that is being read.

        Archive members have generated names. So the title of the topic is used as the file name, if
        it has the same extension.
        """
        member = address.removeprefix(_MEMBER)
        suffix = member.rpartition("/")[2].rpartition(".")[2]
        title = topic.text.strip()
        named = suffix and title.lower().endswith(f".{suffix.lower()}")
        name = title if named else member.rpartition("/")[2]
        size = self._content.archive.size(member) if self._content.archive else 0
        self._beside.attachments.append(Attachment(name, size))

    def add_picture(self, source: str, width: float = 0.0, height: float = 0.0) -> None:
        """Add the picture at ``source`` to the topic that is being read."""
        key = (source, width, height)
        image = self._pictures.get(key)
        if image is None:
            image = self._pictures[key] = self._picture(*key)
        self._beside.images.append(image)

    def finish(self, topic: Topic) -> None:
        """Give a topic the links, pictures and files that were added since the one before."""
        self._beside.add_to(topic)
        self._beside = Beside()

    def _picture(self, source: str, width: float, height: float) -> Image:
        if not source.startswith(_MEMBER):
            return Image("", width, height, source.partition("?")[0].rpartition("/")[2])
        archive, limits = self._content.archive, self._content.limits
        member = source.removeprefix(_MEMBER)
        data = archive.read_if_sound(member, limits.picture) if archive else None
        return self._content.images.add(data, width, height)

    def sheets(self, roots: Sequence[Topic], canvases: Iterable[Canvas]) -> tuple[Sheet, ...]:
        """Return a sheet for each of ``roots``, including all elements outside its tree."""
        detached = [detach(root) for root in roots]
        if self.boundaries or self.summaries:
            give_ids(detached)
        return tuple(map(self._sheet, detached, canvases))

    def _sheet(self, detached: DetachedTopics, canvas: Canvas) -> Sheet:
        places: dict[str, str] = {}
        line = canvas.theme.properties("boundary").get("line-color", "")
        boundaries = tuple(self._boundaries(detached, places, line)) if self.boundaries else ()
        theme = canvas.theme
        line = theme.properties("relationship").get("line-color", "")
        sheet = Sheet(
            detached.root,
            canvas.title,
            detached.floating,
            tuple(
                arrow._replace(
                    start=places.get(arrow.start, arrow.start),
                    end=places.get(arrow.end, arrow.end),
                    colour=arrow.colour or line,
                )
                for arrow in canvas.relationships
            ),
            boundaries,
            tuple(self._summaries(detached)),
            canvas.background or theme.background,
            put_on_sides(detached.root, canvas.structure, canvas.right_number),
        )
        theme.apply(sheet, self.properties)
        return sheet

    def _boundaries(
        self, detached: DetachedTopics, places: dict[str, str], line: str
    ) -> Iterator[Boundary]:
        """Yield the boundaries of a sheet.

        Also add the first topic of each boundary to ``places``, by the id of the boundary:
        relationships that refer to the boundary then refer to this topic.
        """
        for topic in detached.topics():
            brackets = self.boundaries.get(id(topic), ())
            branches = _branches(topic) if brackets else []
            for bracket in brackets:
                topics = _meant(topic, branches, bracket.range)
                yield Boundary(topics, bracket.text, bracket.colour or line)
                if bracket.id and topics:
                    places[bracket.id] = topics[0]

    def _summaries(self, detached: DetachedTopics) -> Iterator[Summary]:
        """Yield the summaries of a sheet.

        A summary topic belongs to the bracket with its id, or else to the bracket with the same
        index at its parent.
        """
        counts: Counter[int] = Counter()
        branches: dict[int, list[str]] = {}
        by_topic: dict[tuple[int, str], Bracket] = {}
        for parent, topic in detached.summaries:
            key = id(parent)
            brackets = self.summaries.get(key, [])
            if key not in branches:
                branches[key] = _branches(parent)
                for bracket in brackets:
                    by_topic.setdefault((key, bracket.topic), bracket)
            place = counts[key]
            counts[key] += 1
            first = by_topic.get((key, topic.id)) or next(iter(brackets[place : place + 1]), None)
            yield Summary(_meant(parent, branches[key], first.range) if first else (), topic)


def _branches(parent: Topic) -> list[str]:
    """Return the ids of the children of ``parent`` to which the indices of ranges refer."""
    return [child.id for child in parent.children if child.kind is TopicKind.ATTACHED]


def _meant(parent: Topic, branches: list[str], span: str) -> tuple[str, ...]:
    """Return the ids of the topics in a range at ``parent``; none if the range is invalid."""
    if span == _WHOLE:
        return (parent.id,)
    found = _RANGE.fullmatch(span.strip())
    if found is None:
        return ()
    first, last = int(found[1]), int(found[2] or -1)
    return tuple(branches[first : last + 1 if last >= 0 else None])


def number(text: str) -> float:
    """Return a number that may end in ``px``, 0 if ``text`` is not one."""
    try:
        return float(text.strip().removesuffix("px"))
    except ValueError:
        return 0.0


def position_of(x: str, y: str) -> tuple[float, float] | None:
    """Return a position, ``None`` if one of its numbers is missing or invalid."""
    try:
        return float(x), float(y)
    except ValueError:
        return None


def task_of(facts: Iterable[tuple[str, str]]) -> Task:
    """Return the task with the properties ``facts``, which have either older or newer names."""
    known = {name: value.strip() for name, value in facts if value.strip()}
    get = known.get
    percent = _PERCENT.fullmatch(get("progress", ""))
    priority = get("priority", "").removeprefix("priority-")
    worker = get("assigned-to") or get("assignee") or ""
    return Task(
        state=_STATES.get(get("status", "").lower(), ""),
        progress=int(percent[1]) if percent else None,
        priority=int(priority) if priority.isdecimal() and len(priority) == 1 else None,
        start=task_date(get("start-date") or get("start") or ""),
        due=task_date(get("end-date") or get("due-date") or get("due") or ""),
        resources=tuple(re.split(r"[,;、]", worker)) if worker else (),
    )
