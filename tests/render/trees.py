"""Maps to draw: random ones of any shape and text, and fixed ones."""

from typing import Final

from hypothesis import strategies as st

from mapshelf.formats.outline_codec import encode_outline
from mapshelf.model import (
    Boundary,
    Image,
    Outline,
    Relationship,
    Sheet,
    Style,
    Summary,
    Topic,
    TopicKind,
    sheets_of,
)
from mapshelf.model.markers import marker
from mapshelf.render.render_request import RenderRequest
from tests.writers.outlines import TEXTS

SOUND: Final = TEXTS.map(lambda text: text.encode("utf-8", "replace").decode())
"""Text that the store can contain."""

WORDS: Final = st.text("ab Γж中אع👍-", max_size=60)


@st.composite
def trees(draw: st.DrawFn, most: int = 40) -> Topic:
    """Draw a tree: the parent of each topic is one of the topics before it."""
    first, *others = draw(st.lists(st.builds(Topic, WORDS | SOUND), min_size=1, max_size=most))
    placed = [first]
    for topic in others:
        placed[draw(st.integers(0, len(placed) - 1))].children.append(topic)
        placed.append(topic)
    return first


SIZES: Final = st.sampled_from([0.0, 1.5, 120.0, 9000.0])
PLACES: Final = st.none() | st.tuples(st.integers(-3000, 3000), st.integers(-3000, 3000))


@st.composite
def sheets(draw: st.DrawFn) -> Sheet:
    """Draw a sheet with everything that takes space; references are to existing topics."""
    root, *others = (draw(trees(most=12)) for _ in range(draw(st.integers(1, 5))))
    summing = [others.pop() for _ in range(draw(st.integers(0, len(others))))]
    topics = [topic for tree in (root, *others, *summing) for _, topic in tree.walk()]
    for number, topic in enumerate(topics):
        topic.id = str(number)
        topic.side = draw(st.sampled_from(["", "left", "right"]))
        topic.position = draw(PLACES)
        topic.kind = draw(st.sampled_from([*[TopicKind.ATTACHED] * 3, TopicKind.CALLOUT]))
        if draw(st.booleans()):
            names = draw(st.lists(st.sampled_from(["priority-1", "emoji-1f600", "other-a"])))
            topic.markers = tuple(marker(name, name) for name in names)
            topic.tags = tuple(draw(st.lists(WORDS, max_size=3)))
            topic.images = tuple(
                draw(st.lists(st.builds(Image, st.just("a" * 64), SIZES, SIZES), max_size=1))
            )
            topic.style = draw(
                st.sampled_from(
                    [None, Style(fill="#ff0000"), Style(text="#111111", line_hidden=True)]
                )
            )
            topic.folded = draw(st.booleans())
            topic.number = draw(st.sampled_from(["", "2.1"]))
            topic.details = draw(WORDS)
            topic.attributes = tuple(draw(st.lists(st.tuples(WORDS, WORDS), max_size=2)))
            topic.shown_attributes = tuple(name for name, _ in topic.attributes)
    ids = st.sampled_from([topic.id for topic in topics] + ["nobody"])
    arrows = st.builds(
        *(Relationship, ids, ids, WORDS),
        point=PLACES,
        heads=st.sampled_from(["end", "start", "both", "none"]),
    )
    some = st.lists(ids, min_size=1, max_size=4).map(tuple)
    return Sheet(
        root,
        floating=tuple(others),
        relationships=tuple(draw(st.lists(arrows, max_size=3))),
        boundaries=tuple(draw(st.lists(st.builds(Boundary, some, WORDS), max_size=4))),
        summaries=tuple(Summary(draw(some), topic) for topic in summing),
        clockwise=draw(st.booleans()),
    )


def tree(*counts: int) -> Topic:
    """Return a tree; each argument is the number of children of every topic of a level."""
    root = Topic("Root")
    level = [root]
    for depth, count in enumerate(counts):
        for topic in level:
            topic.children = [Topic(f"Topic {depth}.{n}") for n in range(count)]
        level = [child for topic in level for child in topic.children]
    return root


def chain(length: int) -> Topic:
    """Return a chain of topics, each the only child of the one before."""
    top = Topic("Top")
    last = top
    for depth in range(length):
        last.children = [Topic(f"Level {depth}")]
        last = last.children[0]
    return top


def render_request(
    root: Topic | None, width: int = 320, picture: str = "svg", theme: str = "light"
) -> RenderRequest:
    """Return the request for a picture of a map with one sheet, or without topics."""
    outline = encode_outline(Outline(sheets_of((root,)))) if root else None
    return RenderRequest(outline, "A title", "ada", "Science", width, theme, picture)
