"""A layout as SVG: lines, boxes and words, and nothing that could do anything.

* No script, no style sheet, no link, no reference to anything outside, not even to a font: what
  is drawn is all in the attributes. So a page may show it, whatever the map says.
* Text is cleaned of what XML forbids and of characters that reorder the text around them, and
  escaped.
* Every line of text says how wide it is to be, so that boxes fit it with any font.
* Numbers have one decimal, and everything is written in the order of the map: the same layout
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
"""What browsers may draw the text with."""

_STROKES: Final = (0.0, 2.6, 1.7, 1.3, 1.1)
"""Width of the line to a topic, by its depth."""

_ANCHORS: Final = {"start": 0.0, "middle": 0.5, "end": 1.0}

_ROUND: Final = 0.45
"""Radius of the corners of a box of one line, in its heights."""


class Run(NamedTuple):
    """Part of a line, and the font it is drawn with; empty for that of all text."""

    text: str
    family: str = ""


class Setting(NamedTuple):
    """How a line is set.

    Attributes:
        runs: its parts; none if it cannot be drawn at all.
        fitted: whether it is made as wide as it was taken to be, whatever the font. resvg cannot
            do that with several fonts in a line, and ours needs it not.
    """

    runs: tuple[Run, ...]
    fitted: bool


Lettering = Callable[[str], Setting]
"""Says how a line of text is set."""


def any_font(text: str) -> Setting:
    """Leave it to whoever shows the picture to find fonts."""
    return Setting((Run(text),), fitted=True)


@dataclass(frozen=True, slots=True)
class Frame:
    """The picture around a layout.

    Attributes:
        width: of the picture in pixels.
        height: likewise.
        x: where the origin of the layout lies in it.
        y: likewise.
        scale: pixels for each unit of the layout.
    """

    width: float
    height: float
    x: float
    y: float
    scale: float


@dataclass(frozen=True, slots=True)
class Manner:
    """How to draw.

    Attributes:
        theme: the colours.
        lettering: the fonts.
        identified: whether topics bear their ids, for scripts that fold and find them.
    """

    theme: Theme
    lettering: Lettering = any_font
    identified: bool = False


def document(title: str, frame: Frame, theme: Theme, content: Iterable[str]) -> str:
    """Return an SVG document of its own around what is drawn."""
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


def drawn(placed: Layout, frame: Frame, manner: Manner) -> Iterable[str]:
    """Yield a whole layout: the lines first, since boxes lie on them."""
    yield (
        f'<g transform="translate({number(frame.x)} {number(frame.y)})'
        f' scale({frame.scale:.4f})">\n<g fill="none" stroke-linecap="round">\n'
    )
    for node in placed.nodes[1:]:
        yield _connection(node, placed.nodes[node.parent], manner.theme)
        if node.twigs:
            yield _twigs(node, manner.theme)
    yield "</g>\n"
    for node in placed.nodes:
        yield _topic(node, manner)
    yield "</g>\n"


class Place(NamedTuple):
    """Where a line of text stands.

    Attributes:
        x: its left end.
        y: its baseline.
        width: how wide it is taken to be.
        anchor: the end that is to be at its place in any font: "start" (left), "middle", "end".
    """

    x: float
    y: float
    width: float
    anchor: str = "start"


def text_line(text: str, place: Place, size: float, manner: Manner, look: str) -> str:
    """Return a line of text.

    Args:
        text: what it says.
        place: where it stands.
        size: of the letters.
        manner: how to draw.
        look: further attributes, with a blank before each.
    """
    if not text.strip():
        return ""
    setting = manner.lettering(text)
    if not setting.runs:
        return _bar(place, size, look)
    x = place.x + _ANCHORS[place.anchor] * place.width
    if place.anchor != "start":
        look += f' text-anchor="{place.anchor}"'
    if setting.fitted:
        look += f' textLength="{number(place.width)}" lengthAdjust="spacingAndGlyphs"'
    return (
        f'<text x="{number(x)}" y="{number(place.y)}" font-size="{number(size)}"{look}>'
        f"{_content(text, setting.runs)}</text>\n"
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
    """Return what stands for text that no font here can draw: that there is some, and how long."""
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
    """Return the line from a topic's parent, going on below it if it is not in a box."""
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
    """Return short lines at a topic's end that show that there is more below it."""
    start, height = node.near + node.side * node.body, node.joint
    path = ""
    for twig in range(node.twigs):
        rise = 4.0 * (twig - (node.twigs - 1) / 2)
        path += f"M{number(start)} {number(height)}q{number(node.side * 0.5 * TWIG)} 0"
        path += f" {number(node.side * TWIG)} {number(rise)}"
    return f'<path d="{path}" stroke="{_colour(node, theme)}" stroke-width="1.1"/>\n'


def _departure(node: Node, parent: Node) -> tuple[float, float]:
    """Return where the line to a topic leaves its parent."""
    if parent.depth == 0:
        # From inside the centre, so that lines to far branches do not bunch at its side.
        return node.side * 0.3 * parent.body, 0.0
    far = parent.x + parent.width if node.side > 0 else parent.x
    return far, parent.joint


def _topic(node: Node, manner: Manner) -> str:
    colour = _colour(node, manner.theme)
    inside = "".join((*_box(node, manner.theme, colour), *_text(node, manner)))
    inside += _count(node, manner, colour)
    if manner.identified:
        return f"<g{attribute('data-topic', node.branch.id)}>\n{inside}</g>\n"
    return inside


def _box(node: Node, theme: Theme, colour: str) -> Iterable[str]:
    if node.kind.boxed and node.lines:
        line = node.kind.size * LINE_HEIGHT + 2 * node.kind.down
        yield (
            f'<rect x="{number(node.left)}" y="{number(node.y)}" width="{number(node.body)}"'
            f' height="{number(node.height)}" rx="{number(_ROUND * line)}"'
            f' fill="{theme.centre if node.depth == 0 else colour}"/>\n'
        )


def _text(node: Node, manner: Manner) -> Iterable[str]:
    kind, theme = node.kind, manner.theme
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
        yield text_line(line.text, place, kind.size, manner, f' fill="{fill}"{weight}')
        y += height


def _count(node: Node, manner: Manner, colour: str) -> str:
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
    return box + text_line(node.count, place, size, manner, look)
