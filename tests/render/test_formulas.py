"""Formulas are drawn and written as MathML; hostile formulas cost little."""

import os
import re
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mapshelf.disk_cache import DiskCache
from mapshelf.model import Outline, Sheet, Topic, sheets_of
from mapshelf.render import formula_worker
from mapshelf.render import formulas as formulas_module
from mapshelf.render.formula_drawing import FormulaDrawing
from mapshelf.render.formula_markup import ATTRIBUTES, ELEMENTS, LARGEST
from mapshelf.render.formula_source import plain_latex
from mapshelf.render.formula_worker import TRIED_AGAIN_AFTER, FormulaWorker, Rendered
from mapshelf.render.formulas import (
    LONGEST,
    MOST_CHARACTERS,
    MOST_WORK,
    drawings,
    formulas_of,
    is_drawable,
    mathml,
)
from mapshelf.render.map_drawing import map_drawing
from mapshelf.render.render_request import DrawingRequest

DRAWN: Final = (
    "x",
    r"e^{i\pi}+1=0",
    r"\frac{-b\pm\sqrt{b^2-4ac}}{2a}",
    r"\sum_{\substack{0<i<m\\0<j<n}}P(i,j)",
    r"\begin{pmatrix}a&b\\c&d\end{pmatrix}",
    r"\begin{align}a&=b\\c&=d\end{align}",
    r"\begin{equation}a=b\end{equation}",
    r"\text{example: }x_2=\frac{1}{3}",
    r"\textsf{so $\log(x)$}",
    r"\ce{2H2 + O2 -> 2H2O}",
    r"\cancel{x}\boxed{y}\overline{z}",
    r"\colorbox{yellow}{x}\color{red}y",
    r"\fgcolor{ff0000}{\heartsuit}\mbox{\JLaTeXMath}",
    "α ≤ ∞",
)
WRITTEN: Final = tuple(formula for formula in DRAWN if r"\ce" not in formula)

NOT_DRAWN: Final = (
    r"\unknown{x}",
    r"\text{数学}",
    r"\frac{1}{",
    r"\chemfig{A-B}",
    r"\hspace{5000em}x",
    r"\text{}",
    r"\textcircled{a}",
    r"\includegraphics{a.png}",
    r"\href{javascript:alert(1)}{x}",
)

HOSTILE: Final = {
    "nested roots": r"\sqrt{" * 39 + "x" + "}" * 39,
    "nested roots in fractions": r"\sqrt{\frac{" * 19 + "x" + "}{y}}" * 19,
    "nested accents": r"\widehat{" * 39 + "x" + "}" * 39,
    "nested scripts": "x_{" * 39 + "1" + "}" * 39,
    "nested fences": r"\left(" * 500 + "x" + r"\right)" * 500,
    "roots without braces": r"\sqrt" * 800 + "x",
    "braces": "{" * 10_000 + "}" * 10_000,
    "braces that stay open": "{" * 10_000,
    "braces side by side": "{}" * 2000,
    "a macro that calls itself": r"\newcommand{\a}{\a\a}\a",
    "a definition that calls itself": r"\def\a{\a\a}\a",
    "macros that double": "".join(
        rf"\newcommand{{\{new}}}{{\{old}\{old}}}"
        for old, new in zip("abcdefghijkl", "bcdefghijklm", strict=True)
    )
    + r"\m",
    "a huge matrix": r"\begin{matrix}" + r"\\".join(["&".join("a" * 100)] * 100) + r"\end{matrix}",
    "a matrix of nothing": r"\begin{matrix}" + "&" * 2000 + r"\\" * 900 + r"\end{matrix}",
    "columns": r"\begin{array}{" + "c|" * 1900 + r"}x\end{array}",
    "a long line": "x+" * 2000,
    "a long root": r"\sqrt{" + "x" * 4000 + "}",
    "a long text": r"\text{" + "x" * 4000 + "}",
    "dollars in text": r"\text{" + "$" * 4000 + "}",
    "text in text": r"\text{$" * 500,
    "backslashes": "\\" * 4000,
    "carets": "^" * 4000,
    "scripts of scripts": "x_" * 2000,
    "primes": "x" + "'" * 4000,
    "a large rule": r"\rule{999999em}{99999em}",
    "a large distance": r"x\hspace{1e300em}y\\[1e9em]z",
    "script in text": r"\text{<script>alert(1)</script>}",
    "markup": r"<img src=x onerror=alert(1)>\text{</math><script>alert(1)</script>}",
    "a link": r"\href{javascript:alert(1)}{x}",
    "a style": r"\style{background:url(http://a.example)}{x}\class{a}{b}",
    "a file": r"\input{/etc/passwd}\includegraphics{/etc/passwd}",
    "control characters": "x\x00\x08\u202ey\ud800",
    "chemistry": r"\chemfig{" * 30,
}

PATH: Final = re.compile(r"(?:[mlc][-\d ]+|z)*")


def test_formulas_are_drawn_as_one_shape() -> None:
    found = drawings(DRAWN)
    assert [*found] == [*DRAWN]
    for drawing in found.values():
        assert PATH.fullmatch(drawing.path), drawing.path[:200]
        assert drawing.path.startswith("m")
        assert 0.3 < drawing.width < 20
        assert 0.3 < drawing.height < 10


def test_a_shape_fills_its_size() -> None:
    """The points of the path fill the size that the layout uses, and do not exceed it."""
    for formula, drawing in drawings((r"\frac{a}{b}", r"\sqrt{x}", r"\boxed{y}")).items():
        xs, ys = zip(*ends(drawing.path), strict=True)
        assert -60 <= min(xs) < max(xs) <= 1000 * drawing.width + 60, formula
        assert -60 <= min(ys) < max(ys) <= 1000 * drawing.height + 60, formula
        assert max(xs) - min(xs) > 600 * drawing.width
        assert max(ys) - min(ys) > 600 * drawing.height


def ends(path: str) -> list[tuple[int, int]]:
    """Return the end point of each step of a path."""
    x = y = 0
    start = (0, 0)
    found = []
    for command, numbers in re.findall(r"([mlcz])([-\d ]*)", path):
        values = [int(value) for value in re.findall(r"-?\d+", numbers)]
        pairs = [*zip(values[::2], values[1::2], strict=True)]
        if pairs:  # the other points of a curve are control points
            x, y = x + pairs[-1][0], y + pairs[-1][1]
        if command == "m":
            start = (x, y)
        if command == "z":
            x, y = start
        found.append((x, y))
    return found


def test_a_fraction_is_higher_than_its_letters() -> None:
    found = drawings(("a", r"\frac{a}{b}", "aa"))
    assert found[r"\frac{a}{b}"].height > 2 * found["a"].height
    assert found["aa"].width == pytest.approx(2 * found["a"].width, rel=0.01)


@pytest.mark.parametrize("formula", NOT_DRAWN)
def test_partly_drawable_formulas_are_not_drawn(formula: str) -> None:
    assert drawings([formula]) == {}


def test_formulas_are_written_as_mathml() -> None:
    found = mathml(WRITTEN)
    assert [*found] == [*WRITTEN]
    for formula, written in found.items():
        root = ET.fromstring(written)
        assert root.tag == "math"
        assert root.get("alttext") == formula
        assert "\\" not in "".join(root.itertext())
    fraction = ET.fromstring(found[DRAWN[2]])
    assert [element.tag for element in fraction.iter()][:3] == ["math", "mrow", "mfrac"]
    assert "".join(ET.fromstring(found[r"\textsf{so $\log(x)$}"]).itertext()) == "so\xa0log(x)"


def test_formulas_with_unknown_commands_have_no_mathml() -> None:
    assert mathml([r"\unknown{x}", r"\ce{H2O}"]) == {}
    assert "Α" in mathml([r"\Alpha"])[r"\Alpha"]


@pytest.mark.slow
@pytest.mark.parametrize("formula", HOSTILE.values(), ids=HOSTILE)
def test_hostile_formulas_cost_little(formula: str) -> None:
    start = time.process_time()
    if is_drawable(formula):
        drawn, written = drawings([formula]), mathml([formula])
        assert all(len(one.path) < 1_000_000 for one in drawn.values())
        assert all(len(one) <= LARGEST + 2 * LONGEST * 6 for one in written.values())
        for one in written.values():
            check_harmless(one)
    assert time.process_time() - start < 1


@given(
    st.lists(
        st.sampled_from(
            re.findall(
                r"\S+",
                r"\frac \sqrt \text{ \mbox{ { } & \\ ^ _ $ < > \" \' x 1 é 数 \left( \right)"
                r" \begin{matrix} \end{matrix} \begin{align} \end{align} \href{javascript:x}"
                r" \style{a:b} \class{a} \color{red} \unicode{x3C} \&lt; &#60;script&#62; <script>"
                r" ]]> <!-- \newcommand{\a} \a \operatorname{ \tag{ \not \limits \hspace{1em}"
                r" \rule{1em}{1em} \overset{ \boxed{ \ce{ \cancel{ \~ ~ %",
            )
        ),
        max_size=40,
    ).map("".join)
)
def test_any_formula_gives_harmless_paths_and_markup(formula: str) -> None:
    if is_drawable(formula):
        for drawing in drawings([formula]).values():
            assert PATH.fullmatch(drawing.path)
        for written in mathml([formula]).values():
            check_harmless(written)


def check_harmless(written: str) -> None:
    """Check that MathML has only known elements and attributes."""
    root = ET.fromstring(written)
    for element in root.iter():
        assert element.tag in ELEMENTS
        for name, value in element.attrib.items():
            if (element.tag, name) != ("math", "alttext"):
                assert ATTRIBUTES[name].fullmatch(value), (name, value)


def test_formulas_too_long_too_deep_or_too_many_are_ignored() -> None:
    assert is_drawable("x" * LONGEST)
    assert not is_drawable("x" * (LONGEST + 1))
    assert not is_drawable("{" * 41)
    assert is_drawable(r"\{" * 41)
    assert not is_drawable("  ")
    many = [Topic("", formula=f"{number:05}") for number in range(20_000)]
    assert len(formulas_of([*many, *many])) == MOST_CHARACTERS / 5
    assert formulas_of([Topic("", formula="x"), Topic("y"), Topic("", formula="x")]) == ["x"]


def rows(row: str, count: int, at: int) -> str:
    """Return a formula of several rows, different for each number ``at``."""
    inside = (row + r"\\") * count
    return rf"\begin{{gathered}}{inside}{at}\end{{gathered}}"


COSTLY: Final[dict[str, Callable[[int], str]]] = {
    "thousands of different ones": "{:05}".format,
    "letters of many lines": lambda at: rows(r"\mathfrak{WWWWWWWWWWWWWWWWWWWW}", 10, at),
    "too wide to be drawn": lambda at: "@" * 4000 + f"{at:05}",
    "too many points": lambda at: rows(r"\frak{" + "W" * 90 + "}", 40, at),
    "unknown commands": lambda at: rf"\unknown{at:05}",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", COSTLY)
@pytest.mark.parametrize("make", [drawings, mathml])
def test_the_work_for_the_formulas_of_a_map_is_bounded(
    name: str, make: Callable[[Iterable[str]], dict[str, object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Use a quarter of the limit to save time."""
    most, tried = MOST_WORK // 4, 0
    monkeypatch.setattr(formulas_module, "MOST_WORK", most)

    def formulas() -> Iterator[str]:
        nonlocal tried
        for tried in range(1, 100_000):
            yield COSTLY[name](tried)

    made = make(formulas())
    length = len(COSTLY[name](1))
    assert tried * (500 + 20 * length) < most + 200_000
    whole = sum(
        len(one.path if isinstance(one, FormulaDrawing) else str(one)) for one in made.values()
    )
    assert whole < most


@pytest.mark.slow
def test_formulas_beyond_the_limit_are_shown_as_source() -> None:
    bomb = [Topic("", f"t{at}", formula=f"{at:05}") for at in range(8000)]
    outline = Outline(
        (Sheet(Topic("Bomb", "r", children=[*bomb, Topic("", "end", formula="e^x")])),)
    )
    text = map_drawing(outline, DrawingRequest("Bomb", "svg", "light"), {}).decode()
    assert ">00000<" not in text  # drawn
    assert ">07999<" in text
    assert ">e^x<" in text


@pytest.mark.parametrize(
    ("formula", "plain"),
    [
        (r"\text{so $x$ is}", r"{\text{so }{x}\text{ is}}"),
        (r"\text{costs $5}", r"\text{costs $5}"),
        (r"\text{\$5 $x$}", r"{\text{\$5 }{x}}"),
        (r"\text{open $x$", r"\text{open $x$"),
        (r"\text{a $\frac{1}{2}$}^2", r"{\text{a }{\frac{1}{2}}}^2"),
        (r"\begin{align}a\end{align}", r"\begin{align*}a\end{align*}"),
        (r"\bgcolor{00ff00}{a}", "{a}"),
    ],
)
def test_latex_of_other_programs_becomes_plain_latex(formula: str, plain: str) -> None:
    assert plain_latex(formula) == plain


# --- the child --------------------------------------------------------------------------------


def outline_of(*formulas: str) -> Outline:
    return Outline(sheets_of([Topic("r", children=[Topic("", formula=one) for one in formulas])]))


@pytest.mark.process
def test_formulas_are_rendered_once_by_a_child(tmp_path: Path) -> None:
    outline = outline_of(*DRAWN, *HOSTILE.values())
    worker = FormulaWorker(DiskCache(tmp_path, 1 << 24))
    drawn, written = worker.drawings(outline), worker.mathml(outline)
    worker.close()
    formulas = formulas_of(topic for _, topic in outline.topics())
    assert drawn == Rendered(drawings(formulas))
    assert written == Rendered(mathml(formulas))
    # A worker that cannot start a child process finds the results on disk.
    closed = FormulaWorker(DiskCache(tmp_path, 1 << 24))
    closed.close()
    assert closed.drawings(outline) == drawn
    assert closed.mathml(outline) == written


def endless(_: object) -> dict[str, str]:
    while True:
        time.sleep(1)


@pytest.mark.process
def test_slow_formulas_are_left_out_and_retried_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    clock = [0.0]
    worker = FormulaWorker(DiskCache(tmp_path, 1 << 24), now=lambda: clock[0])
    with monkeypatch.context() as patched:
        patched.setattr(formula_worker, "WALL_SECONDS", 0.2)
        patched.setattr(formula_worker, "_drawings", endless)
        for _ in range(2):  # it is not retried at once
            assert worker.drawings(outline_of("x")) == Rendered({}, complete=False)
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    clock[0] += TRIED_AGAIN_AFTER
    drawn = worker.drawings(outline_of("x"))
    worker.close()
    assert ([*drawn.formulas], drawn.complete) == (["x"], True)


@pytest.mark.process
def test_a_formula_that_crashes_its_child_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(formula_worker, "_mathml", deadly)
    clock = [0.0]
    worker = FormulaWorker(DiskCache(tmp_path, 1 << 24), now=lambda: clock[0])
    for _ in range(2):  # it is never retried
        assert worker.mathml(outline_of("x")) == Rendered({})
        clock[0] += TRIED_AGAIN_AFTER
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    drawn = worker.drawings(outline_of("x"))
    assert [*drawn.formulas] == ["x"], "no new child process was started"
    worker.close()


def deadly(_: object) -> dict[str, str]:
    os._exit(1)


def test_a_map_without_formulas_needs_no_child(tmp_path: Path) -> None:
    worker = FormulaWorker(DiskCache(tmp_path, 1 << 24))
    worker.close()
    assert worker.drawings(Outline(sheets_of([Topic("r")]))) == Rendered({})
    assert list(tmp_path.iterdir()) == []
