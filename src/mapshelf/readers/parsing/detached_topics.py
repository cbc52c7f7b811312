"""Take the topics that stand beside a tree out of it.

Some formats store floating topics and summaries next to the ordinary children of a topic. They are
read like all others, so that the limits hold for all of them together, and moved afterwards to
where a sheet keeps them.
"""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from mapshelf.model import Outline, Sheet, Summary, Topic, TopicKind
from mapshelf.readers.parsing.topic_ids import assign_topic_ids

_BESIDE: Final = (TopicKind.FLOATING, TopicKind.SUMMARY)


class DetachedTopics(NamedTuple):
    """A central topic, and what was taken out of its tree.

    Attributes:
        root: the central topic.
        floating: topics that stand alone.
        summaries: topics that sum up others, each after the topic it was found below.
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
    """Take all topics of the kinds ``FLOATING`` and ``SUMMARY`` out of the tree of ``root``."""
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
    """Give every topic its final id.

    Only for files in which something refers to topics by their place: a topic whose file gives it
    no id, or one that is taken, could not be referred to before.
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
