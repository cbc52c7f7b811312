"""Build safe SVG elements, whatever the map contains. ``drawing`` assembles them.

* There is no script, style sheet, link, or reference to an external resource, not even a font. All
  styling is in attributes, and images are embedded.
* Text is escaped. Characters that XML forbids, and those that reorder the text around them, are
  removed.
* In SVG for browsers, every line of text declares its width, so that it fits its box in any font.
  For PNG and PDF, where we choose the fonts, see ``FontRuns.fitted``.
* Numbers have one decimal, and elements are written in the order of the map, so the same layout
  gives the same bytes.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from mapshelf.render.direction import LEFTWARDS, first_direction
from mapshelf.render.fonts import BOLD_WEIGHT, FAMILY
from mapshelf.render.formulas import Drawings
from mapshelf.render.themes import Theme
from mapshelf.render.wrapping import Line, Part
from mapshelf.writers.markup import attribute, escaped

FAMILIES: Final = f"'{FAMILY}', 'Noto Sans', system-ui, sans-serif"
"""The fonts that browsers may use."""

_SHAPES: Final = {"bold": f' font-weight="{BOLD_WEIGHT}"', "italic": ' font-style="italic"'}
_LINES: Final = {"underline": "underline", "struck": "line-through"}
"""Attributes, and values of ``text-decoration``, for the formatting of parts of a line."""

ANCHORS: Final = {"start": 0.0, "middle": 0.5, "end": 1.0}
"""The position of each anchor (``Place.anchor``) in a line, as a share of its width."""


MOST_RUNS: Final = 16
"""Maximum runs of a line. If it has more, it is one run without formatting, and whoever draws it
finds the fonts: resvg shapes the whole line again for each run, and in the line each change of the
direction of writing separately. A topic with a change at every letter would take it 0.1 s."""


class Run(NamedTuple):
    """A part of a line with one font and one formatting.

    Attributes:
        text: its text.
        family: its font family, empty for the default one.
        marks: its formatting (``wrapping.Part``).
    """

    text: str
    family: str = ""
    marks: frozenset[str] = frozenset()


class FontRuns(NamedTuple):
    """A line of text, divided into runs of one font each.

    Attributes:
        runs: the runs; empty if the line cannot be drawn.
        fitted: whether the line is stretched to its computed width, whatever the font. resvg
            cannot do that for several fonts in a line, and our own font does not need it.
    """

    runs: tuple[Run, ...]
    fitted: bool


ChooseFonts = Callable[[str], FontRuns]
"""Divides a line of text into runs."""


def any_font(text: str) -> FontRuns:
    """Return the line as one run, whose font is chosen by the program that shows the picture."""
    return FontRuns((Run(text),), fitted=True)


@dataclass(frozen=True, slots=True)
class Frame:
    """The size of a picture, and the position of a layout in it.

    Attributes:
        width: the width of the picture in pixels.
        height: its height in pixels.
        x: the x coordinate of the layout's origin in the picture, in pixels.
        y: the y coordinate, likewise.
        scale: the number of pixels per layout unit.
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
        choose_fonts: divides each line into runs with a font.
        identified: whether topics have their ids in an attribute, for scripts that fold and find
            topics.
        pictures: the images in topics as PNG, by digest; frames replace the others.
        formulas: the formulas in topics, by their LaTeX.
        pixels: whether we rasterise the drawing, so costly parts are simplified
            (``drawing_costs``).
    """

    theme: Theme
    choose_fonts: ChooseFonts = any_font
    identified: bool = False
    pictures: Mapping[str, bytes] = field(default_factory=dict)
    formulas: Drawings = field(default_factory=dict)
    pixels: bool = False


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


class Place(NamedTuple):
    """The place of a line of text.

    Attributes:
        x: its left end.
        y: its baseline.
        width: its computed width.
        anchor: the point that stays in place whatever the font: "start" (left), "middle" or "end".
    """

    x: float
    y: float
    width: float
    anchor: str = "start"


def text_line(line: str | Line, place: Place, size: float, style: Style, look: str) -> str:
    """Return a line of text as SVG, empty if the line is blank.

    Args:
        line: plain text, or a line with formatted parts.
        place: where to draw it.
        size: the font size.
        style: how to draw it.
        look: further attributes, each with a leading space.
    """
    text, parts = (line, ()) if isinstance(line, str) else (line.text, line.parts)
    if not text.strip():
        return ""
    font_runs = style.choose_fonts(text)
    if not font_runs.runs:
        return _bar(place, size, look)
    x = place.x + ANCHORS[place.anchor] * place.width
    if place.anchor != "start":
        look += f' text-anchor="{place.anchor}"'
    runs = _marked(font_runs.runs, parts)
    if len(runs) > MOST_RUNS:
        runs = (Run("".join(run.text for run in runs)),)
    if font_runs.fitted and (style.choose_fonts is any_font or len(runs) == 1):
        look += f' textLength="{number(place.width)}" lengthAdjust="spacingAndGlyphs"'
    return (
        f'<text x="{number(x)}" y="{number(place.y)}" font-size="{number(size)}"{look}>'
        f"{_content(text, runs)}</text>\n"
    )


def number(value: float) -> str:
    """Return ``value`` with at most one decimal."""
    text = f"{value:.1f}"
    return text[:-2] if text.endswith(".0") else text


def _content(text: str, runs: Sequence[Run]) -> str:
    texts = [escaped(run.text) for run in runs]
    if first_direction(text) == "R":
        # The control characters are inside the first and the last run, because resvg draws no
        # letters if they are a run of their own.
        texts[0] = LEFTWARDS[0] + texts[0]
        texts[-1] += LEFTWARDS[1]
    return "".join(map(_run, runs, texts))


def _marked(runs: Sequence[Run], parts: Sequence[Part]) -> Sequence[Run]:
    """Divide runs where the formatting changes.

    They are returned unchanged if their text differs from that of the parts, because characters
    that cannot be drawn have been left out.
    """
    if not parts or "".join(run.text for run in runs) != "".join(part.text for part in parts):
        return runs
    divided = []
    pending = [Run(part.text, marks=part.marks) for part in reversed(parts)]
    for run in runs:
        left = run.text
        while left:
            part = pending.pop()
            taken, rest = part.text[: len(left)], part.text[len(left) :]
            divided.append(Run(taken, run.family, part.marks))
            left = left[len(taken) :]
            if rest:
                pending.append(part._replace(text=rest))
    return divided


def _run(run: Run, text: str) -> str:
    look = attribute("font-family", run.family) if run.family else ""
    look += _SHAPES["bold"] * ("bold" in run.marks) + _SHAPES["italic"] * ("italic" in run.marks)
    lines = " ".join(line for mark, line in _LINES.items() if mark in run.marks)
    look += f' text-decoration="{lines}"' if lines else ""
    return f"<tspan{look}>{text}</tspan>" if look else text


def _bar(place: Place, size: float, look: str) -> str:
    """Return a bar as long as the text, for text that no font can draw."""
    height = 0.5 * size
    y = place.y - 0.55 * size
    return (
        f'<rect x="{number(place.x)}" y="{number(y)}" width="{number(place.width)}"'
        f' height="{number(height)}" rx="{number(height / 2)}" fill-opacity="0.35"{look}/>\n'
    )
