"""Maps to draw: any shape, any text, and some that are known."""

from typing import Final

from hypothesis import strategies as st

from mapshelf.formats.outline_codec import encode_outline
from mapshelf.model import Outline, Topic, sheets_of
from mapshelf.render.render_request import RenderRequest
from tests.writers.outlines import TEXTS

SOUND: Final = TEXTS.map(lambda text: text.encode("utf-8", "replace").decode())
"""What the store can hold."""

WORDS: Final = st.text("ab Γж中אع👍-", max_size=60)


@st.composite
def trees(draw: st.DrawFn, most: int = 40) -> Topic:
    """Draw a tree: each topic after the first hangs on one before it."""
    first, *others = draw(st.lists(st.builds(Topic, WORDS | SOUND), min_size=1, max_size=most))
    placed = [first]
    for topic in others:
        placed[draw(st.integers(0, len(placed) - 1))].children.append(topic)
        placed.append(topic)
    return first


def tree(*counts: int) -> Topic:
    """Return a tree in which each topic of a level has so many children."""
    root = Topic("Root")
    level = [root]
    for depth, count in enumerate(counts):
        for topic in level:
            topic.children = [Topic(f"Topic {depth}.{n}") for n in range(count)]
        level = [child for topic in level for child in topic.children]
    return root


def chain(length: int) -> Topic:
    """Return topics each below the one before."""
    top = Topic("Top")
    last = top
    for depth in range(length):
        last.children = [Topic(f"Level {depth}")]
        last = last.children[0]
    return top


def render_request(
    root: Topic | None, width: int = 320, picture: str = "svg", theme: str = "light"
) -> RenderRequest:
    """Return the request for a picture of a map with one sheet, or of one without topics."""
    outline = encode_outline(Outline(sheets_of((root,)))) if root else None
    return RenderRequest(outline, "A title", "ada", "Science", width, theme, picture)
