"""The shape of what writers write: the traversal, and trees for formats that know nothing else.

The traversal is a loop without recursion, so the depth of a map does not matter. Most formats mark
where a topic ends as well as where it begins, which ``Topic.walk`` does not show.

Few formats have floating topics, summaries and sheets. For the others they are attached: a floating
topic to the central one, a summary after what it sums up, sheets to a topic that names them all.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final, NamedTuple

from mapshelf.model import Outline, Sheet, Topic
from mapshelf.writers.plain import one_line

LONGEST_TITLE: Final = 100
"""Maximum of characters of the text above several sheets."""


class Gathered(NamedTuple):
    """A sheet as one tree.

    Attributes:
        root: the central topic.
        sums: the ids of what each topic that is a summary sums up, by its ``id()``.
    """

    root: Topic
    sums: dict[int, tuple[str, ...]]


def steps(roots: Iterable[Topic]) -> Iterator[tuple[bool, Topic]]:
    """Yield each topic twice: when it begins (True), and after all topics below it (False)."""
    pending = [(True, root) for root in reversed(tuple(roots))]
    while pending:
        beginning, topic = pending.pop()
        yield beginning, topic
        if beginning:
            pending.append((False, topic))
            pending.extend((True, child) for child in reversed(topic.children))


def one_sheet(outline: Outline) -> Sheet:
    """Return one sheet for a map, for formats that have only one canvas.

    Several sheets are attached to a topic that names them all, with all that is in them.
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
    """Return one central topic for a map, with everything else below it."""
    return gathered(one_sheet(outline)).root


def gathered(sheet: Sheet) -> Gathered:
    """Return a sheet as one tree. Its topics may be copies, those below them included."""
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
    # What sums up nothing that is there is a topic all the same.
    for summary in sheet.summaries:
        if id(summary.topic) not in done:
            root.children += copy(Topic(""), [summary.topic]).children
    return Gathered(root, sums)


def _summaries_after(sheet: Sheet) -> dict[int, list[Topic]]:
    """Return the summaries that follow each topic, by its ``id()``."""
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
    """Return the central topics on one line."""
    names = ", ".join(filter(None, (one_line(root.text) for root in outline.roots)))
    return names if len(names) <= LONGEST_TITLE else names[: LONGEST_TITLE - 1].rstrip() + "…"
