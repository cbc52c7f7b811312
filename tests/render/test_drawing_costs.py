"""Expensive parts of a map are drawn in a simpler way. The tests count work instead of time."""

import io
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final

import pytest
from PIL import Image as Pillow

from mapshelf.errors import NotFound
from mapshelf.model import Boundary, Image, Outline, Relationship, Sheet, Topic
from mapshelf.render import arrows, drawing_costs, layout, map_drawing, png
from mapshelf.render.render_request import DrawingRequest

ROUGH: Final = 'shape-rendering="optimizeSpeed"'
DASHED: Final = 'stroke-dasharray="5 3"'
FILLED: Final = re.compile(r'width="([\d.]+)" height="([\d.]+)" rx="9" fill="#\w+" fill-opacity')
FRAMED: Final = re.compile(r'rx="9" fill="none"')
SCALE: Final = re.compile(r"scale\(([\d.]+)\)")


def dot() -> bytes:
    buffer = io.BytesIO()
    Pillow.new("RGB", (3, 3), "red").save(buffer, "PNG")
    return buffer.getvalue()


def wide(branches: int, *, depth: int = 0, **more: Any) -> Outline:
    topics = []
    for branch in range(branches):
        topic = Topic(f"topic {branch}", f"k{branch}", side="right")
        topics.append(topic)
        for level in range(depth):
            topic.children = [Topic("wide " * 6, f"k{branch}-{level}")]
            (topic,) = topic.children
    return Outline((Sheet(Topic("root", "r", children=topics), **more),))


def around(branches: int, count: int) -> tuple[Boundary, ...]:
    return (Boundary(tuple(f"k{n}" for n in range(branches))),) * count


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> Callable[[Outline], str]:
    """Draw as SVG what would become pixels: converting it would take too long here."""

    def text(svg: str, *_: object, **__: object) -> bytes:
        return svg.encode()

    monkeypatch.setattr(png, "rasterised", text)

    def draw(outline: Outline) -> str:
        request = DrawingRequest("T", "png", "light")
        return map_drawing.map_drawing(outline, request, {"d": dot()}).decode()

    return draw


def test_small_maps_are_drawn_in_full_quality(drawn: Callable[[Outline], str]) -> None:
    arrow = Relationship("k0", "k5")
    text = drawn(wide(9, relationships=(arrow,), boundaries=around(9, 2)))
    assert ROUGH not in text
    assert len(FILLED.findall(text)) == 2
    assert text.count(DASHED) == 1


@pytest.mark.slow
def test_long_lines_are_not_smoothed(drawn: Callable[[Outline], str]) -> None:
    text = drawn(wide(3000))
    assert f'stroke-linecap="round" {ROUGH}>' in text
    assert ROUGH not in drawn(wide(300))


def test_long_arrows_are_not_smoothed(drawn: Callable[[Outline], str]) -> None:
    across = tuple(Relationship(f"k{n}", f"k{299 - n}") for n in range(100))
    text = drawn(wide(300, relationships=across))
    assert text.count(DASHED) == text.count(f"{DASHED} {ROUGH}") == len(across)


def test_the_area_filled_by_boundaries_is_limited(drawn: Callable[[Outline], str]) -> None:
    text = drawn(wide(60, depth=12, boundaries=around(60, 40)))
    scale = float(SCALE.findall(text)[0])
    areas = [float(across) * float(down) * scale**2 for across, down in FILLED.findall(text)]
    assert 0 < sum(areas) <= drawing_costs.MOST_FILLED
    assert len(FRAMED.findall(text)) == 40 - len(areas) > 0


def test_the_smallest_boundaries_are_filled(drawn: Callable[[Outline], str]) -> None:
    small = tuple(Boundary((f"k{n}",), f"small {n}") for n in range(50))
    text = drawn(wide(60, depth=12, boundaries=(*around(60, 40), *small)))
    rows = [line for line in text.splitlines() if 'rx="9"' in line]
    assert not any("fill-opacity" in line for line in rows[:36])
    assert all("fill-opacity" in line for line in rows[-50:])


@pytest.mark.parametrize("format_name", ["svg", "png"])
def test_the_number_of_shown_pictures_is_limited(
    drawn: Callable[[Outline], str], format_name: str
) -> None:
    outline = wide(drawing_costs.MOST_SHOWN + 100)
    for topic in outline.sheets[0].root.children:
        topic.images = (Image("d", 30, 30, "dot"),)
    request = DrawingRequest("T", format_name, "light")
    text = map_drawing.map_drawing(outline, request, {"d": dot()}).decode()
    assert text.count("<image") == drawing_costs.MOST_SHOWN


@pytest.mark.slow
def test_the_total_length_of_arrows_is_limited(drawn: Callable[[Outline], str]) -> None:
    far = tuple(Relationship("k0", "k2999") for _ in range(60))
    near = (Relationship("k0", "k1"),)
    text = drawn(wide(3000, relationships=far + near))
    height = max(float(y) for y in re.findall(r'y="([\d.]+)"', text))
    count = text.count(DASHED)
    assert 0 < count < len(far)
    assert height * count < arrows.MOST_LENGTH < 4 * height * (count + 1)


def steps(outline: Outline) -> int:
    """Return how many lines of the layout run; comprehensions count once for each iteration."""
    count = 0

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal count
        if frame.f_code.co_filename != layout.__file__:
            return None
        count += event == "line"
        return trace

    with traced_by(trace):
        map_drawing.map_drawing(outline, DrawingRequest("T", "svg", "light"), {})
    return count


@contextmanager
def traced_by(trace: Callable[..., Any]) -> Iterator[None]:
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)


@pytest.mark.slow
def test_the_cost_of_a_boundary_does_not_depend_on_topics() -> None:
    def boundaries(count: int) -> tuple[Boundary, ...]:
        return tuple(Boundary((f"k{n}",)) for n in range(count))

    few, many = (
        steps(wide(topics, boundaries=boundaries(200))) - steps(wide(topics))
        for topics in (300, 1500)
    )
    assert many < 1.5 * few


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["png", "pdf"])
def test_a_map_that_is_too_large_is_refused_before_it_is_converted(
    monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    picture = dot()
    outline = wide(40)
    outline.sheets[0].root.images = (Image("d", 3, 3),)
    svg = map_drawing.map_drawing(outline, DrawingRequest("Wide", "svg", "light"), {})
    monkeypatch.setattr(map_drawing, "MOST_CONVERTED", len(svg) // 2)
    request = DrawingRequest("Wide", kind, "light")
    with pytest.raises(NotFound, match=f"too large to be drawn as {kind.upper()}; the SVG has all"):
        map_drawing.map_drawing(outline, request, {})
    assert map_drawing.map_drawing(outline, DrawingRequest("Wide", "svg", "light"), {}) == svg
    monkeypatch.setattr(map_drawing, "MOST_CONVERTED", 2 * len(svg))
    heavy = picture + bytes(3 * len(svg))  # pictures do not count
    assert map_drawing.map_drawing(outline, request, {"d": heavy})
