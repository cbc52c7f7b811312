"""Convert boundaries and summaries to XMind's: each at a topic, for a range of its children."""

from collections.abc import Iterable, Iterator
from typing import Final

from mapshelf.model import Boundary, Sheet, Topic, TopicKind
from mapshelf.writers.plain import sound

_WHOLE: Final = "master"

_Place = tuple[Topic | None, int]
"""The parent of a topic (``None`` for a root), and the topic's index among the branches."""


class Ranges:
    """The boundaries and summaries of a sheet.

    Attributes:
        summaries: the summary topics of a parent's children, by the ``id()`` of the parent.
        loose: summary topics without existing topics to summarise.
    """

    def __init__(self) -> None:
        self.summaries: dict[int, list[Topic]] = {}
        self.loose: list[Topic] = []
        self._boundaries: dict[int, list[dict[str, object]]] = {}
        self._brackets: dict[int, list[dict[str, object]]] = {}

    def members(self, topic: Topic) -> dict[str, object]:
        """Return the members for boundaries and summaries in the object of ``topic``."""
        found = {
            "boundaries": self._boundaries.get(id(topic)),
            "summaries": self._brackets.get(id(topic)),
        }
        return {name: value for name, value in found.items() if value}

    def add_boundary(self, above: Topic, span: str, line: Boundary, name: str) -> None:
        """Add a boundary to ``above``."""
        found: dict[str, object] = {"id": name, "range": span, "title": sound(line.text)}
        if line.colour:
            look = {"line-color": line.colour}
            found["style"] = {"id": f"{name}-style", "properties": look}
        self._boundaries.setdefault(id(above), []).append(found)

    def add_summary(self, above: Topic, span: str, topic: Topic, name: str) -> None:
        """Add a summary to ``above``."""
        self.summaries.setdefault(id(above), []).append(topic)
        bracket: dict[str, object] = {"id": name, "range": span, "topicId": sound(topic.id)}
        self._brackets.setdefault(id(above), []).append(bracket)


def ranges_of(sheet: Sheet) -> Ranges:
    """Return the boundaries and summaries of ``sheet``."""
    ranges = Ranges()
    if not sheet.boundaries and not sheet.summaries:
        return ranges
    topics = {topic.id: topic for tree in sheet.trees() for _, topic in tree.walk()}
    places = _places(sheet)
    for number, line in enumerate(sheet.boundaries, 1):
        known = [topics[topic] for topic in line.topics if topic in topics]
        for part, (above, span) in enumerate(_spans(known, places), 1):
            ranges.add_boundary(above, span, line, f"boundary-{number}-{part}")
    tops = {id(summary.topic): number for number, summary in enumerate(sheet.summaries)}
    for number, (ids, topic) in enumerate(sheet.summaries):
        found_at = [places[id(topics[name])] for name in ids if name in topics]
        parent = next((place[0] for place in found_at if place[0] is not None), None)
        # A summary of its own descendants, or of a later summary, would belong to no tree.
        if parent is None or _top_of(parent, places, tops, number):
            ranges.loose.append(topic)
            continue
        numbers = [place[1] for place in found_at if place[0] is parent]
        span = f"({min(numbers)},{max(numbers)})"
        ranges.add_summary(parent, span, topic, f"summary-{number + 1}")
    return ranges


def _places(sheet: Sheet) -> dict[int, _Place]:
    places: dict[int, _Place] = {}
    for tree in sheet.trees():
        places[id(tree)] = None, 0
        for _, topic in tree.walk():
            number = 0
            for child in topic.children:
                if child.kind is TopicKind.CALLOUT:
                    places[id(child)] = None, 0
                else:
                    places[id(child)] = topic, number
                    number += 1
    return places


def _spans(topics: Iterable[Topic], places: dict[int, _Place]) -> Iterator[tuple[Topic, str]]:
    """Yield the ranges that exactly cover ``topics``, each with its parent topic."""
    below: dict[int, tuple[Topic, list[int]]] = {}
    for topic in topics:
        above, number = places[id(topic)]
        if above is None:
            yield topic, _WHOLE
        else:
            below.setdefault(id(above), (above, []))[1].append(number)
    for above, numbers in below.values():
        numbers.sort()
        first = last = numbers[0]
        for number in numbers[1:]:
            if number > last + 1:
                yield above, f"({first},{last})"
                first = number
            last = number
        yield above, f"({first},{last})"


def _top_of(topic: Topic, places: dict[int, _Place], tops: dict[int, int], number: int) -> bool:
    """Return whether ``topic`` is in the tree of summary ``number`` or of a later one."""
    place: Topic | None = topic
    while place is not None:
        if tops.get(id(place), -1) >= number:
            return True
        place = places[id(place)][0]
    return False
