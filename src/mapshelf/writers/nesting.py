"""Traverse outlines for writers, and reduce a map to a single tree for formats that need one.

The traversal is iterative, so the depth of a map is not limited. Unlike ``Topic.walk`` it reports
the end of each topic, which most formats need.

Few formats have floating topics, summaries and sheets. For the others, a floating topic becomes a
branch of the central topic, a summary follows the topics it summarises, and sheets become branches
of a topic that names them all.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final, NamedTuple

from mapshelf.model import Outline, Sheet, Topic
from mapshelf.writers.plain import one_line

LONGEST_TITLE: Final = 100
"""Maximum length of the topic that names several sheets, in characters."""


class Gathered(NamedTuple):
    """A sheet as one tree.

    Attributes:
        root: the central topic.
        sums: the ids of the covered topics, by the Python ``id()`` of the summary topic.
    """

    root: Topic
    sums: dict[int, tuple[str, ...]]


def steps(roots: Iterable[Topic]) -> Iterator[tuple[bool, Topic]]:
    """Yield each topic twice: at its start (True) and after its descendants (False)."""
    pending = [(True, root) for root in reversed(tuple(roots))]
    while pending:
        beginning, topic = pending.pop()
        yield beginning, topic
        if beginning:
            pending.append((False, topic))
            pending.extend((True, child) for child in reversed(topic.children))


def one_sheet(outline: Outline) -> Sheet:
    """Merge the sheets of a map into one, for formats with a single canvas.

    Several sheets become branches of a topic that names them all.
    """
    sheets = outline.sheets
    if len(sheets) == 1:
        return sheets[0]
    roots = [replace(sheet.root, children=_branches(sheet)) for sheet in sheets]
    return Sheet(
        Topic(title(outline), children=roots),
        relationships=tuple(arrow for sheet in sheets for arrow in sheet.relationships),
        boundaries=tuple(line for sheet in sheets for line in sheet.boundaries),
        summaries=tuple(summary for sheet in sheets for summary in sheet.summaries),
        background=sheets[0].background,
    )


def _branches(sheet: Sheet) -> list[Topic]:
    return [*sheet.root.children, *sheet.floating]


def under_one_root(outline: Outline) -> Topic:
    """Merge a map into one tree below one central topic."""
    return gathered(one_sheet(outline)).root


def gathered(sheet: Sheet) -> Gathered:
    """Return a sheet as one tree, which may consist of the original topics or of copies."""
    if not sheet.summaries:
        root = sheet.root
        return Gathered(replace(root, children=_branches(sheet)) if sheet.floating else root, {})
    places = _summaries_after(sheet)
    summed = {id(topic): ids for ids, topic in sheet.summaries}
    sums: dict[int, tuple[str, ...]] = {}
    done: set[int] = set()

    def copy(top: Topic, further: Iterable[Topic]) -> Topic:
        root = replace(top, children=[])
        pending = [(topic, root.children) for topic in reversed([*top.children, *further])]
        while pending:
            topic, siblings = pending.pop()
            if id(topic) in done:
                continue
            made = replace(topic, children=[])
            siblings.append(made)
            if id(topic) in summed:
                done.add(id(topic))
                sums[id(made)] = summed[id(topic)]
            after = places.get(id(topic), ())
            pending.extend((summary, siblings) for summary in reversed(after))
            pending.extend((child, made.children) for child in reversed(topic.children))
        return root

    root = copy(sheet.root, sheet.floating)
    # Summaries whose topics are missing were not reached above; append them to the root.
    for summary in sheet.summaries:
        if id(summary.topic) not in done:
            root.children += copy(Topic(""), [summary.topic]).children
    return Gathered(root, sums)


def _summaries_after(sheet: Sheet) -> dict[int, list[Topic]]:
    """Return the summary topics to insert after each topic, by the ``id()`` of that topic."""
    wanted = {topics[-1] for topics, _ in sheet.summaries if topics}
    last = {
        topic.id: topic
        for tree in sheet.trees()
        for _, topic in tree.walk()
        if topic.id in wanted and topic is not sheet.root
    }
    after: dict[int, list[Topic]] = {}
    for topics, summary in sheet.summaries:
        if topics and topics[-1] in last and last[topics[-1]] is not summary:
            after.setdefault(id(last[topics[-1]]), []).append(summary)
    return after


def title(outline: Outline) -> str:
    """Return the texts of the central topics on one line."""
    names = ", ".join(filter(None, (one_line(root.text) for root in outline.roots)))
    return names if len(names) <= LONGEST_TITLE else names[: LONGEST_TITLE - 1].rstrip() + "…"
