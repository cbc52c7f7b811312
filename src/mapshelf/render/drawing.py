"""Draw a layout as SVG: boundaries, connectors, topics with the content of their boxes, arrows.

Elements are written in the order of the map, and numbers with one decimal, so the same layout gives
the same bytes. ``site/static/drawing.js`` draws the same in the browser.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import hypot
from typing import Final

from mapshelf.render.arrows import Curve, Link, Point
from mapshelf.render.boundaries import Boundary
from mapshelf.render.contrast import LINE, legible, tint
from mapshelf.render.direction import first_direction
from mapshelf.render.drawing_costs import Simpler, illustrated, line_length, simpler
from mapshelf.render.fonts import ASCENT, BOLD_WEIGHT
from mapshelf.render.layout import Brace, Layout
from mapshelf.render.layout_style import (
    BRACE,
    COUNT_PADDING,
    COUNT_SIZE,
    LABEL_SIZE,
    LINE_HEIGHT,
    TWIG,
)
from mapshelf.render.nodes import Node
from mapshelf.render.pieces import piece
from mapshelf.render.svg import ANCHORS, Frame, Place, Style, number, text_line
from mapshelf.render.topic_colours import TopicColours, branch_colour, valid
from mapshelf.render.wrapping import Line
from mapshelf.writers.markup import attribute

_STROKES: Final = (0.0, 2.6, 1.7, 1.3, 1.1)
"""Width of the connector to a topic, by the depth of the topic."""

_ROUND: Final = 0.45
"""Corner radius of a box, as a share of the height of a box with one line of text."""

CODE_ABOVE: Final = 0.98
CODE_HEIGHT: Final = 1.26
"""The top of the border around code above the baseline, and its height, in font sizes."""

_HEAD: Final = 7.0  # length of an arrowhead


def drawn(
    placed: Layout,
    all_colours: Sequence[TopicColours],
    arrows: Iterable[tuple[Link, Curve]],
    frame: Frame,
    style: Style,
) -> Iterable[str]:
    """Yield a layout as SVG, from the bottom layer to the top one.

    Args:
        placed: the layout.
        all_colours: the colours of its topics.
        arrows: the relationships between them, with their curves.
        frame: the size of the picture, and the position of the layout in it.
        style: how to draw.
    """
    colours_of = dict(zip(placed.nodes, all_colours, strict=True))
    arrows = list(arrows)
    less = _simpler(placed, arrows, frame.scale) if style.pixels else Simpler()
    pictured = illustrated(placed.nodes, style.pictures) if style.pictures else set()
    bare = replace(style, pictures={})
    yield (
        f'<g transform="translate({number(frame.x)} {number(frame.y)}) scale({frame.scale:.4f})">\n'
    )
    for at, boundary in enumerate(sorted(placed.boundaries, key=_area, reverse=True)):
        yield _boundary(boundary, style, less, hollow=at < less.hollow)
    yield f'<g fill="none" stroke-linecap="round"{less.lines}>\n'
    for node in placed.nodes:
        if node.above and not _is_summary(node):
            yield _connection(node, node.above, colours_of[node])
        if node.twigs:
            yield _twigs(node, colours_of[node])
    for brace in placed.braces:
        yield _brace(brace, colours_of[brace.summary])
    yield "</g>\n"
    for node in placed.nodes:
        yield _topic(node, colours_of[node], style if node in pictured else bare)
    for link, curve in arrows:
        yield _arrow(link, curve, style, less)
    yield "</g>\n"


def _simpler(placed: Layout, arrows: Iterable[tuple[Link, Curve]], scale: float) -> Simpler:
    lines = (
        line_length(node, _departure(node, node.above))
        for node in placed.nodes
        if node.above and not _is_summary(node)
    )
    boxes = [boundary.box for boundary in placed.boundaries]
    return simpler(lines, (curve for _, curve in arrows), boxes, scale)


def _is_summary(node: Node) -> bool:
    """Return whether a topic is attached by a brace instead of a connector."""
    if node.above is None or node.is_free:
        return False
    return node.above.children[node.at : node.at + 1] != [node]


def _connection(node: Node, parent: Node, colours: TopicColours) -> str:
    """Return the connector from a topic's parent, continued below the topic if it has no box.

    Without the connector, only the line below the topic is left.
    """
    end = node.near
    start, height = _departure(node, parent)
    bend = start + 0.55 * (end - start)
    joint = node.joint
    path = f"M{number(start)} {number(height)}"
    if not node.has_line:
        path = f"M{number(end)} {number(joint)}"
    elif abs(height - joint) > 0.05:
        path += (
            f"C{number(bend)} {number(height)} {number(bend)} {number(joint)}"
            f" {number(end)} {number(joint)}"
        )
    else:
        path += f"H{number(end)}"
    if node.lines and not node.kind.boxed:
        path += f"H{number(end + node.side * node.body)}"
    stroke = _STROKES[min(node.depth, len(_STROKES) - 1)]
    dashes = ' stroke-dasharray="2 3"' if node.is_callout and node.has_line else ""
    if "C" not in path and "H" not in path:
        return ""
    return f'<path d="{path}" stroke="{colours.line}" stroke-width="{number(stroke)}"{dashes}/>\n'


def _twigs(node: Node, colours: TopicColours) -> str:
    """Return the short lines at a topic's end that represent hidden topics."""
    start, height = node.near + node.side * node.body, node.joint
    path = ""
    for twig in range(node.twigs):
        rise = 4.0 * (twig - (node.twigs - 1) / 2)
        path += f"M{number(start)} {number(height)}q{number(node.side * 0.5 * TWIG)} 0"
        path += f" {number(node.side * TWIG)} {number(rise)}"
    return f'<path d="{path}" stroke="{colours.line}" stroke-width="1.1"/>\n'


def _departure(node: Node, parent: Node) -> tuple[float, float]:
    """Return the point at which the connector to a topic starts at its parent."""
    if parent.depth == 0:
        # Inside the central topic, so that connectors to far branches do not bunch at its side.
        return node.side * 0.3 * parent.body, 0.0
    far = parent.x + parent.width if node.side > 0 else parent.x
    return far, parent.joint


def _area(boundary: Boundary) -> float:
    box = boundary.box
    return (box.right - box.left) * (box.bottom - box.top)


def _boundary(boundary: Boundary, style: Style, less: Simpler, *, hollow: bool) -> str:
    box, group = boundary.box, boundary.group
    chosen, ground = valid(group.colour), style.theme.ground
    colour = legible(chosen or branch_colour(boundary.main, style.theme), ground, LINE)
    inside = f'fill="{tint(chosen, ground)}"' if chosen else f'fill="{colour}" fill-opacity="0.07"'
    inside = 'fill="none"' if hollow else inside
    drawn = (
        f'<rect x="{number(box.left)}" y="{number(box.top)}"'
        f' width="{number(box.right - box.left)}" height="{number(box.bottom - box.top)}" rx="9"'
        f' {inside} stroke="{colour}" stroke-opacity="0.7" stroke-width="1.1"{less.lines}/>\n'
    )
    if group.label:
        place = Place(box.left + 7, box.top + LABEL_SIZE * 1.25, group.label_width)
        fill = f' fill="{legible(colour, style.theme.ground)}"'
        drawn += text_line(group.label.text, place, LABEL_SIZE, style, fill)
    return drawn


def _brace(brace: Brace, colours: TopicColours) -> str:
    """Return the brace of a summary, whose point is at the summary topic."""
    x, side = brace.x + brace.side * 5, brace.side
    middle = (brace.top + brace.bottom) / 2
    bend = min(6.0, (brace.bottom - brace.top) / 4)
    out = number(side * (BRACE - 10) / 2)
    path = (
        f"M{number(x)} {number(brace.top)}q{out} 0 {out} {number(bend)}V{number(middle - bend)}"
        f"q0 {number(bend)} {out} {number(bend)}"
        f"M{number(x)} {number(brace.bottom)}q{out} 0 {out} {number(-bend)}"
        f"V{number(middle + bend)}q0 {number(-bend)} {out} {number(-bend)}"
    )
    return f'<path d="{path}" stroke="{colours.line}" stroke-width="1.4"/>\n'


def _topic(node: Node, colours: TopicColours, style: Style) -> str:
    parts = [*_box(node, colours), *_text(node, colours, style)]
    parts += [piece(one, node, colours, style) for one in node.pieces]
    parts.append(_count(node, colours, style))
    inside = "".join(parts)
    if style.identified:
        return f"<g{attribute('data-topic', node.topic.id)}>\n{inside}</g>\n"
    return inside


def _box(node: Node, colours: TopicColours) -> Iterable[str]:
    if not node.lines or not (colours.fill or colours.border):
        return
    x, y, width, height = node.left, node.y, node.body, node.height
    fill = f' fill="{colours.fill or "none"}"'
    if colours.border:
        fill += f' stroke="{colours.border}" stroke-width="1.4"'
    shape = node.style.shape if node.style else ""
    if shape in ("diamond", "hexagon"):
        cut = min(height / 2, node.kind.across + 4)
        yield (
            f'<path d="M{number(x - cut / 2)} {number(y + height / 2)}L{number(x + cut / 2)}'
            f" {number(y)}H{number(x + width - cut / 2)}L{number(x + width + cut / 2)}"
            f" {number(y + height / 2)}L{number(x + width - cut / 2)} {number(y + height)}"
            f'H{number(x + cut / 2)}Z"{fill}/>\n'
        )
        return
    yield (
        f'<rect x="{number(x)}" y="{number(y)}" width="{number(width)}"'
        f' height="{number(height)}" rx="{number(corner(node))}"{fill}/>\n'
    )


def corner(node: Node) -> float:
    """Return the radius of the corners of a topic's box."""
    shape = node.style.shape if node.style else ""
    if shape == "rectangle":
        return 1.0
    if shape in ("ellipse", "cloud"):
        return node.height / 2
    if not node.kind.boxed:
        return 3.0
    return _ROUND * (node.kind.size * LINE_HEIGHT + 2 * node.kind.down)


def _text(node: Node, colours: TopicColours, style: Style) -> Iterable[str]:
    kind, contents = node.kind, node.contents
    look = f' fill="{colours.text}"'
    if kind.bold or (node.style and node.style.bold):
        look += f' font-weight="{BOLD_WEIGHT}"'
    if node.style and node.style.italic:
        look += ' font-style="italic"'
    height = kind.size * LINE_HEIGHT
    y = node.y + contents.text_top + height / 2 + (ASCENT - 0.62) * kind.size
    if not contents.pieces:  # a count may be taller than the text beside it
        y += (node.height - contents.height) / 2
    for line in node.lines:
        width = line.width * kind.size
        anchor = "middle" if kind.boxed else "end" if node.side < 0 else "start"
        x = node.left + contents.text_left + ANCHORS[anchor] * (node.text_width - width)
        place = Place(x, y, width, anchor)
        yield from _code(line, place, kind.size, colours)
        yield text_line(line, place, kind.size, style, look)
        y += height


def _code(line: Line, place: Place, size: float, colours: TopicColours) -> Iterable[str]:
    """Yield a border around each piece of code in a line of text; none in right-to-left text."""
    if not any("code" in part.marks for part in line.parts) or first_direction(line.text) == "R":
        return
    x = place.x
    for part in line.parts:
        if "code" in part.marks:
            yield (
                f'<rect x="{number(x - 1.5)}" y="{number(place.y - CODE_ABOVE * size)}"'
                f' width="{number(part.width * size + 3)}" height="{number(CODE_HEIGHT * size)}"'
                f' rx="2.5" fill="none" stroke="{colours.text}" stroke-opacity="0.45"'
                ' stroke-width="0.8"/>\n'
            )
        x += part.width * size


def _count(node: Node, colours: TopicColours, style: Style) -> str:
    if not node.count:
        return ""
    size = node.kind.size * COUNT_SIZE
    height = size * LINE_HEIGHT
    x = node.x + node.width - node.count_width if node.side >= 0 else node.x
    y = node.middle
    box = (
        f'<rect x="{number(x)}" y="{number(y - height / 2)}" width="{number(node.count_width)}"'
        f' height="{number(height)}" rx="{number(height / 2)}" fill="{colours.line}"'
        ' fill-opacity="0.16"/>\n'
    )
    width = node.count_width - 2 * COUNT_PADDING
    place = Place(x + COUNT_PADDING, y + 0.35 * size, width, "middle")
    look = f' fill="{legible(colours.line, style.theme.ground)}" font-weight="{BOLD_WEIGHT}"'
    return box + text_line(node.count, place, size, style, look)


def _arrow(link: Link, curve: Curve, style: Style, less: Simpler) -> str:
    colour = legible(valid(link.colour) or style.theme.quiet, style.theme.ground, LINE)
    points = [f"{number(x)} {number(y)}" for x, y in curve]
    heads = _head(curve.second, curve.end) if link.heads in ("end", "both") else ""
    heads += _head(curve.first, curve.start) if link.heads in ("start", "both") else ""
    drawn = (
        f'<path d="M{points[0]}C{points[1]} {points[2]} {points[3]}" fill="none"'
        f' stroke="{colour}" stroke-width="1.3" stroke-dasharray="5 3"{less.lines}/>\n'
    )
    drawn += f'<path d="{heads}" fill="{colour}"/>\n' if heads else ""
    if link.label:
        x, y = curve.at(0.5)
        width = link.width
        drawn += (
            f'<rect x="{number(x - width / 2 - 3)}" y="{number(y - 7)}"'
            f' width="{number(width + 6)}" height="14" rx="4" fill="{style.theme.ground}"'
            ' fill-opacity="0.88"/>\n'
        )
        place = Place(x - width / 2, y + 0.35 * LABEL_SIZE, width, "middle")
        fill = f' fill="{legible(colour, style.theme.ground)}"'
        drawn += text_line(link.label.text, place, LABEL_SIZE, style, fill)
    return drawn


def _head(before: Point, tip: Point) -> str:
    """Return the path of an arrowhead at ``tip``, for a line that comes from ``before``."""
    (x2, y2), (x3, y3) = before, tip
    length = hypot(x2 - x3, y2 - y3) or 1.0
    right, down = (x2 - x3) / length * _HEAD, (y2 - y3) / length * _HEAD
    return (
        f"M{number(x3)} {number(y3)}L{number(x3 + right + down / 2)}"
        f" {number(y3 + down - right / 2)}L{number(x3 + right - down / 2)}"
        f" {number(y3 + down + right / 2)}Z"
    )
