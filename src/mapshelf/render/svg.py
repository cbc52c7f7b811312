"""Write a layout as SVG that is safe to show, whatever the map contains.

* There is no script, style sheet, link, or reference to anything outside, not even to a font.
  Everything is in attributes.
* Text is escaped. Characters that XML forbids, and those that reorder the text around them, are
  removed.
* Every line of text declares its width, so that it fits its box in any font.
* Numbers have one decimal, and everything is written in the order of the map, so the same layout
  gives the same bytes.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from mapshelf.render.direction import LEFTWARDS, first_direction
from mapshelf.render.fonts import ASCENT, BOLD_WEIGHT, FAMILY
from mapshelf.render.layout import COUNT_PADDING, COUNT_SIZE, LINE_HEIGHT, TWIG, Layout, Node
from mapshelf.render.themes import Theme
from mapshelf.writers.markup import attribute, escaped

FAMILIES: Final = f"'{FAMILY}', 'Noto Sans', system-ui, sans-serif"
"""The fonts that browsers may use."""

_STROKES: Final = (0.0, 2.6, 1.7, 1.3, 1.1)
"""Width of the line to a topic, by its depth."""

_ANCHORS: Final = {"start": 0.0, "middle": 0.5, "end": 1.0}

_ROUND: Final = 0.45
"""Radius of the corners of a box of one line, in its heights."""


class Run(NamedTuple):
    """A part of a line in one font; ``family`` is empty for the default font."""

    text: str
    family: str = ""


class FontRuns(NamedTuple):
    """A line of text, divided into runs of one font each.

    Attributes:
        runs: the runs; none if the line cannot be drawn.
        fitted: whether the line is stretched to its computed width, whatever the font. resvg
            cannot do that for several fonts in a line, and our own font does not need it.
    """

    runs: tuple[Run, ...]
    fitted: bool


ChooseFonts = Callable[[str], FontRuns]
"""Divides a line of text into runs."""


def any_font(text: str) -> FontRuns:
    """Leave the choice of fonts to the program that shows the picture."""
    return FontRuns((Run(text),), fitted=True)


@dataclass(frozen=True, slots=True)
class Frame:
    """The picture around a layout.

    Attributes:
        width: of the picture in pixels.
        height: likewise.
        x: the place of the layout's origin in it.
        y: likewise.
        scale: pixels for each unit of the layout.
    """

    width: float
    height: float
    x: float
    y: float
    scale: float


@dataclass(frozen=True, slots=True)
class Style:
    """How to draw.

    Attributes:
        theme: the colours.
        choose_fonts: chooses the fonts of each line.
        identified: whether topics carry their ids, for scripts that fold and find them.
    """

    theme: Theme
    choose_fonts: ChooseFonts = any_font
    identified: bool = False


def document(title: str, frame: Frame, theme: Theme, content: Iterable[str]) -> str:
    """Return a complete SVG document with ``content``."""
    width, height = number(frame.width), number(frame.height)
    return "".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
            f' viewBox="0 0 {width} {height}" role="img"{attribute("font-family", FAMILIES)}'
            f' text-rendering="geometricPrecision">\n<title>{escaped(title)}</title>\n'
            f'<rect width="{width}" height="{height}" fill="{theme.ground}"/>\n',
            *content,
            "</svg>\n",
        )
    )


def drawn(placed: Layout, frame: Frame, style: Style) -> Iterable[str]:
    """Yield a layout as SVG: lines first, because boxes cover them."""
    yield (
        f'<g transform="translate({number(frame.x)} {number(frame.y)})'
        f' scale({frame.scale:.4f})">\n<g fill="none" stroke-linecap="round">\n'
    )
    for node in placed.nodes[1:]:
        yield _connection(node, placed.nodes[node.parent], style.theme)
        if node.twigs:
            yield _twigs(node, style.theme)
    yield "</g>\n"
    for node in placed.nodes:
        yield _topic(node, style)
    yield "</g>\n"


class Place(NamedTuple):
    """The place of a line of text.

    Attributes:
        x: its left end.
        y: its baseline.
        width: its computed width.
        anchor: the point that stays in place in any font: "start" (left), "middle", "end".
    """

    x: float
    y: float
    width: float
    anchor: str = "start"


def text_line(text: str, place: Place, size: float, style: Style, look: str) -> str:
    """Return a line of text.

    Args:
        text: the text.
        place: where to draw it.
        size: the font size.
        style: how to draw it.
        look: further attributes, each with a leading blank.
    """
    if not text.strip():
        return ""
    font_runs = style.choose_fonts(text)
    if not font_runs.runs:
        return _bar(place, size, look)
    x = place.x + _ANCHORS[place.anchor] * place.width
    if place.anchor != "start":
        look += f' text-anchor="{place.anchor}"'
    if font_runs.fitted:
        look += f' textLength="{number(place.width)}" lengthAdjust="spacingAndGlyphs"'
    return (
        f'<text x="{number(x)}" y="{number(place.y)}" font-size="{number(size)}"{look}>'
        f"{_content(text, font_runs.runs)}</text>\n"
    )


def number(value: float) -> str:
    """Return ``value`` with at most one decimal."""
    text = f"{value:.1f}"
    return text[:-2] if text.endswith(".0") else text


def _content(text: str, runs: Sequence[Run]) -> str:
    texts = [escaped(run.text) for run in runs]
    if first_direction(text) == "R":
        # Inside the first and the last run, because resvg sets no letters for a run of signs.
        texts[0] = LEFTWARDS[0] + texts[0]
        texts[-1] += LEFTWARDS[1]
    return "".join(map(_run, runs, texts))


def _run(run: Run, text: str) -> str:
    return f"<tspan{attribute('font-family', run.family)}>{text}</tspan>" if run.family else text


def _bar(place: Place, size: float, look: str) -> str:
    """Return a bar in place of text that no font can draw, as long as the text."""
    height = 0.5 * size
    y = place.y - 0.55 * size
    return (
        f'<rect x="{number(place.x)}" y="{number(y)}" width="{number(place.width)}"'
        f' height="{number(height)}" rx="{number(height / 2)}" fill-opacity="0.35"{look}/>\n'
    )


def _colour(node: Node, theme: Theme) -> str:
    if node.main < 0 or (node.depth == 1 and not node.lines):
        return theme.quiet
    return theme.branches[node.main % len(theme.branches)]


def _connection(node: Node, parent: Node, theme: Theme) -> str:
    """Return the line from a topic's parent, continued below the topic if it has no box."""
    end = node.near
    start, height = _departure(node, parent)
    bend = start + 0.55 * (end - start)
    joint = node.joint
    path = f"M{number(start)} {number(height)}"
    if abs(height - joint) > 0.05:
        path += (
            f"C{number(bend)} {number(height)} {number(bend)} {number(joint)}"
            f" {number(end)} {number(joint)}"
        )
    else:
        path += f"H{number(end)}"
    if node.lines and not node.kind.boxed:
        path += f"H{number(end + node.side * node.body)}"
    stroke = _STROKES[min(node.depth, len(_STROKES) - 1)]
    return f'<path d="{path}" stroke="{_colour(node, theme)}" stroke-width="{number(stroke)}"/>\n'


def _twigs(node: Node, theme: Theme) -> str:
    """Return short lines at a topic's end that stand for hidden topics."""
    start, height = node.near + node.side * node.body, node.joint
    path = ""
    for twig in range(node.twigs):
        rise = 4.0 * (twig - (node.twigs - 1) / 2)
        path += f"M{number(start)} {number(height)}q{number(node.side * 0.5 * TWIG)} 0"
        path += f" {number(node.side * TWIG)} {number(rise)}"
    return f'<path d="{path}" stroke="{_colour(node, theme)}" stroke-width="1.1"/>\n'


def _departure(node: Node, parent: Node) -> tuple[float, float]:
    """Return where the line to a topic starts at its parent."""
    if parent.depth == 0:
        # From inside the centre, so that lines to far branches do not bunch at its side.
        return node.side * 0.3 * parent.body, 0.0
    far = parent.x + parent.width if node.side > 0 else parent.x
    return far, parent.joint


def _topic(node: Node, style: Style) -> str:
    colour = _colour(node, style.theme)
    inside = "".join((*_box(node, style.theme, colour), *_text(node, style)))
    inside += _count(node, style, colour)
    if style.identified:
        return f"<g{attribute('data-topic', node.topic.id)}>\n{inside}</g>\n"
    return inside


def _box(node: Node, theme: Theme, colour: str) -> Iterable[str]:
    if node.kind.boxed and node.lines:
        line = node.kind.size * LINE_HEIGHT + 2 * node.kind.down
        yield (
            f'<rect x="{number(node.left)}" y="{number(node.y)}" width="{number(node.body)}"'
            f' height="{number(node.height)}" rx="{number(_ROUND * line)}"'
            f' fill="{theme.centre if node.depth == 0 else colour}"/>\n'
        )


def _text(node: Node, style: Style) -> Iterable[str]:
    kind, theme = node.kind, style.theme
    fill = theme.text
    if kind.boxed:
        fill = theme.on_centre if node.depth == 0 else theme.on_branch
    weight = f' font-weight="{BOLD_WEIGHT}"' if kind.bold else ""
    height = kind.size * LINE_HEIGHT
    y = node.middle - height * len(node.lines) / 2 + height / 2 + (ASCENT - 0.62) * kind.size
    for line in node.lines:
        width = line.width * kind.size
        anchor = "middle" if kind.boxed else "end" if node.side < 0 else "start"
        x = node.left + kind.across + _ANCHORS[anchor] * (node.text_width - width)
        place = Place(x, y, width, anchor)
        yield text_line(line.text, place, kind.size, style, f' fill="{fill}"{weight}')
        y += height


def _count(node: Node, style: Style, colour: str) -> str:
    if not node.count:
        return ""
    size = node.kind.size * COUNT_SIZE
    height = size * LINE_HEIGHT
    x = node.x + node.width - node.count_width if node.side >= 0 else node.x
    y = node.middle
    box = (
        f'<rect x="{number(x)}" y="{number(y - height / 2)}" width="{number(node.count_width)}"'
        f' height="{number(height)}" rx="{number(height / 2)}" fill="{colour}"'
        ' fill-opacity="0.16"/>\n'
    )
    width = node.count_width - 2 * COUNT_PADDING
    place = Place(x + COUNT_PADDING, y + 0.35 * size, width, "middle")
    look = f' fill="{colour}" font-weight="{BOLD_WEIGHT}"'
    return box + text_line(node.count, place, size, style, look)
