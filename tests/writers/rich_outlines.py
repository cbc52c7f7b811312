"""Outlines with everything that authors attach to topics, in the form that readers return.

Unlike those of ``tests.writers.outlines`` they are valid: references are to existing topics, and
cleaning changes no text.
"""

from typing import Final

from hypothesis import strategies as st

from mapshelf.formats.freemind_icons import FREEMIND_ICONS
from mapshelf.formats.xmind_ids import XMIND_IDS
from mapshelf.model import (
    TASK_STATES,
    Boundary,
    Marker,
    Outline,
    Relationship,
    Sheet,
    Style,
    Summary,
    Task,
    Topic,
    TopicKind,
)

WORDS: Final = st.sampled_from(["Plan", "a <b> & 'c'", "été 🔥", "5 # of *x*", "日本", "x: y"])
FORMULAS: Final = st.sampled_from(["", "", "e^{i\\pi}", "a & b", "\\frac{1}{2}"])
COLOURS: Final = st.sampled_from(["", "#ff0000", "#012abc"])
BOTH: Final = sorted(set(FREEMIND_ICONS) & set(XMIND_IDS) - {"progress-100"})
"""Markers that both FreeMind and XMind draw."""

RICH: Final = st.sampled_from(
    [
        ("", ""),
        ("bold word", "<b>bold</b> word"),
        ("one two three", "one <i>two</i> <b>three</b>"),
        ("a & b\nnext", "a &amp; <b>b</b><br>next"),
    ]
)
TASKS: Final = st.none() | st.builds(
    Task,
    state=st.sampled_from(["", *TASK_STATES]),
    progress=st.sampled_from([None, 0, 40, 50, 100]),
    priority=st.sampled_from([None, 1, 9]),
    start=st.sampled_from(["", "2026-01-31"]),
    due=st.sampled_from(["", "2026-01-31T09:30"]),
    resources=st.sampled_from([(), ("Ann",), ("Ann", "Bob")]),
).filter(lambda task: task != Task())
STYLES: Final = st.none() | st.builds(
    Style,
    text=COLOURS,
    fill=COLOURS,
    line=COLOURS,
    border=COLOURS,
    bold=st.booleans(),
    italic=st.booleans(),
    size=st.sampled_from([0.0, 9.0, 14.0]),
    shape=st.sampled_from(["", "ellipse", "rectangle", "rounded", "underline", "hexagon"]),
    line_width=st.sampled_from([0.0, 2.0]),
).filter(lambda style: style != Style())


def _some(strategy: st.SearchStrategy[str]) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(strategy, max_size=2, unique=True).map(tuple)


@st.composite
def topics(draw: st.DrawFn, number: int) -> Topic:
    """Draw a topic with anything attached to it."""
    text, text_html = draw(RICH)
    formula = "" if text else draw(FORMULAS)
    names = draw(_some(st.sampled_from(BOTH)))
    return Topic(
        text=text or ("" if formula else draw(WORDS)),
        id=f"t{number}",
        note=draw(st.sampled_from(["", "a\nb"])),
        links=draw(_some(st.sampled_from(["https://example.org/", "other.mm", "#t0"]))),
        text_html=text_html,
        markers=tuple(Marker(name, FREEMIND_ICONS[name][0]) for name in names),
        tags=draw(_some(st.sampled_from(["work", "at home"]))),
        task=draw(TASKS),
        attributes=draw(st.sampled_from([(), (("cost", "100"),), (("a", "b & c"), ("d", "<e>"))])),
        formula=formula,
        style=draw(STYLES),
        folded=draw(st.booleans()),
        side=draw(st.sampled_from(["", "left", "right"])),
    )


@st.composite
def sheets(draw: st.DrawFn, first: int = 0) -> Sheet:
    """Draw a sheet whose topics are numbered from ``first``."""
    count = draw(st.integers(3, 9))
    made = [draw(topics(first + number)) for number in range(count)]
    root, *others = made
    placed, floating = [root], []
    for topic in others:
        where = draw(st.integers(-1, len(placed) - 1))
        if where < 0:
            topic.kind = TopicKind.FLOATING
            x, y = draw(st.tuples(st.integers(-900, 900), st.integers(-900, 900)))
            topic.position = (float(x), float(y))
            floating.append(topic)
        else:
            placed[where].children.append(topic)
        placed.append(topic)
    ids = st.sampled_from([topic.id for topic in made])
    heads = st.sampled_from(["end", "start", "both", "none"])
    words = WORDS | st.just("")
    arrows = st.builds(Relationship, ids, ids, words, COLOURS, point=st.none(), heads=heads)
    lines = st.builds(Boundary, st.tuples(ids), WORDS | st.just(""), COLOURS)
    return Sheet(
        root,
        draw(st.sampled_from(["First", "Ü"])),
        tuple(floating),
        tuple(draw(st.lists(arrows, max_size=2, unique=True))),
        tuple(draw(st.lists(lines, max_size=2, unique_by=lambda line: line.topics))),
        tuple(draw(_summaries(placed, first + count))),
        draw(COLOURS),
        draw(st.booleans()),
    )


@st.composite
def _summaries(draw: st.DrawFn, parents: list[Topic], number: int) -> list[Summary]:
    """Draw at most one summary for each of ``parents``, and no two of the same topics."""
    found: list[Summary] = []
    for parent in parents:
        siblings = [child for child in parent.children if child.kind is TopicKind.ATTACHED]
        if not siblings or draw(st.integers(0, 3)):
            continue
        for child in siblings:
            child.side = siblings[0].side
        first = draw(st.integers(0, len(siblings) - 1))
        last = draw(st.integers(first, len(siblings) - 1))
        ids = tuple(child.id for child in siblings[first : last + 1])
        topic = Topic("in all", id=f"t{number + len(found)}", kind=TopicKind.SUMMARY)
        found.append(Summary(ids, topic))
    return found


@st.composite
def rich_outlines(draw: st.DrawFn, most: int = 1) -> Outline:
    """Draw an outline of up to ``most`` sheets with everything in it."""
    made: list[Sheet] = []
    for _ in range(draw(st.integers(1, most))):
        made.append(draw(sheets(100 * len(made))))
    return Outline(tuple(made))
