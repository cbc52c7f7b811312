"""Move floating topics and summaries out of the tree of a sheet.

Some formats store floating topics and summaries among the ordinary children of a topic. They are
parsed like other topics, so that the limits apply to all topics together, and are then moved to the
fields of the sheet.
"""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from mapshelf.model import Outline, Sheet, Summary, Topic, TopicKind
from mapshelf.readers.parsing.topic_ids import assign_topic_ids

_BESIDE: Final = (TopicKind.FLOATING, TopicKind.SUMMARY)


class DetachedTopics(NamedTuple):
    """A central topic, and the topics detached from its tree.

    Attributes:
        root: the central topic.
        floating: floating topics.
        summaries: pairs of former parent and summary topic.
    """

    root: Topic
    floating: tuple[Topic, ...]
    summaries: tuple[tuple[Topic, Topic], ...]

    def topics(self) -> Iterator[Topic]:
        """Yield all topics of the sheet."""
        summing_up = (summary for _, summary in self.summaries)
        for tree in (self.root, *self.floating, *summing_up):
            for _, topic in tree.walk():
                yield topic


def detach(root: Topic) -> DetachedTopics:
    """Detach all topics of the kinds ``FLOATING`` and ``SUMMARY`` from the tree of ``root``."""
    floating: list[Topic] = []
    summaries: list[tuple[Topic, Topic]] = []
    pending = [root]
    while pending:
        topic = pending.pop()
        pending.extend(reversed(topic.children))
        beside = [child for child in topic.children if child.kind in _BESIDE]
        if not beside:
            continue
        topic.children = [child for child in topic.children if child.kind not in _BESIDE]
        floating += (child for child in beside if child.kind is TopicKind.FLOATING)
        summaries += ((topic, child) for child in beside if child.kind is TopicKind.SUMMARY)
    return DetachedTopics(root, tuple(floating), tuple(summaries))


def give_ids(sheets: Iterable[DetachedTopics]) -> None:
    """Assign every topic its final id.

    Needed only if a file refers to topics by position: a topic without an id in the file, or with
    a duplicate one, cannot be referred to before.
    """
    assign_topic_ids(
        Outline(
            tuple(
                Sheet(
                    sheet.root,
                    floating=sheet.floating,
                    summaries=tuple(Summary((), topic) for _, topic in sheet.summaries),
                )
                for sheet in sheets
            )
        )
    )
