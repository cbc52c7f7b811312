"""Draw a sheet that has been laid out, with its colours and arrows.

Thumbnails, drawings of whole sheets and comparisons share this step.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from mapshelf.model import Sheet
from mapshelf.render import drawing
from mapshelf.render.arrows import Curve, Link, links, room_of, routed
from mapshelf.render.floating import around
from mapshelf.render.layout import Layout
from mapshelf.render.nodes import Node, by_id
from mapshelf.render.svg import Frame, Style
from mapshelf.render.themes import Theme
from mapshelf.render.topic_colours import colours_of_authors, on_ground


@dataclass(frozen=True, slots=True)
class SheetDrawing:
    """A sheet as SVG elements, without the document around them.

    Attributes:
        frame: the size of the picture, and the position of the layout in it.
        theme: its colours, adapted to the author's background.
        content: the SVG elements.
    """

    frame: Frame
    theme: Theme
    content: list[str]


def drawn_sheet(
    sheet: Sheet, placed: Layout, style: Style, frame_of: Callable[[Layout], Frame]
) -> SheetDrawing:
    """Draw a sheet.

    Args:
        sheet: the whole sheet.
        placed: the layout of the topics that are shown.
        style: how to draw, in one of our themes.
        frame_of: returns the frame around a layout, whose bounding box now includes the arrows.
    """
    style = replace(style, theme=on_ground(style.theme, sheet.background))
    arrows: list[tuple[Link, Curve]] = []
    if sheet.relationships:
        relationships = sheet.relationships
        if any(node.topic.hidden for node in placed.nodes):
            # An arrow to a place would point to nothing: what is there may be hidden.
            relationships = tuple(one for one in relationships if not one.point)
        arrows = routed(placed.nodes, links(relationships, _shown(sheet, placed)))
        placed = replace(placed, box=around([placed.box, *room_of(arrows)]))
    frame = frame_of(placed)
    all_colours = colours_of_authors(placed.nodes, style.theme)
    content = [*drawing.drawn(placed, all_colours, arrows, frame, style)]
    return SheetDrawing(frame, style.theme, content)


def _shown(sheet: Sheet, placed: Layout) -> dict[str, Node]:
    """Return the nodes by topic id; a hidden topic maps to its nearest visible ancestor."""
    drawn = by_id(node for node in placed.nodes if node.topic.source)
    shown: dict[str, Node] = {}
    for tree in sheet.trees():
        path: list[Node | None] = []
        for depth, topic in tree.walk():
            del path[depth:]
            path.append(drawn.get(topic.id) or (path[-1] if path else None))
            if node := path[-1]:
                shown.setdefault(topic.id, node)
    return shown
