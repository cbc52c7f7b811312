"""The formulas in topics, as drawings and as MathML, made of LaTeX that anybody may have written.

What is made of a formula depends on nothing but its source. Whoever calls this is a confined child
process (``formula_worker``, ``render_worker``, ``api.documents``): the limits here keep a formula
from costing the map it is in, those of the child keep it from costing the service. A formula that
cannot be made is left out, and its source stands for it.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, TypeVar

from mapshelf.model import Topic
from mapshelf.render.formula_drawing import FormulaDrawing
from mapshelf.writers.plain import sound

T = TypeVar("T")

LONGEST: Final = 4096
"""Characters of a formula that is drawn; the longest one in our corpus has 863."""

DEEPEST: Final = 40
"""Levels of braces in it."""

MOST_CHARACTERS: Final = 60_000
"""Of the formulas of a map that are drawn, together."""

MOST_WORK: Final = 4_000_000
"""For all formulas of a map, whether they can be drawn or not; the others are shown as their
source. It is counted, not measured, so that a busy machine draws the same: about one second of a
processor. The formulas of the maps in our corpus take at most 1,100,000."""

_WORK_OF_EACH: Final = 500
_WORK_OF_A_CHARACTER: Final = 20
"""Besides a unit for each character of what is made, on the way and at the end."""

_BRACES: Final = re.compile(r"\\.|[{}]", re.DOTALL)


Drawings = Mapping[str, FormulaDrawing]
"""Formulas that can be drawn, by their LaTeX."""

Mathml = Mapping[str, str]
"""Formulas as MathML that is safe to show, by their LaTeX."""


def formulas_of(topics: Iterable[Topic]) -> list[str]:
    """Return the formulas in topics, each once, as many as are drawn."""
    found: dict[str, None] = {}
    left = MOST_CHARACTERS
    for topic in topics:
        formula = topic.formula
        if formula and formula not in found and is_drawable(formula):
            left -= len(formula)
            if left < 0:
                break
            found[formula] = None
    return list(found)


def is_drawable(formula: str) -> bool:
    """Tell whether a formula is neither too long nor too deep, and as readers clean it."""
    return (
        bool(formula.strip())
        and len(formula) <= LONGEST
        and formula == sound(formula)
        and _depth(formula) <= DEEPEST
    )


def drawings(formulas: Iterable[str]) -> dict[str, FormulaDrawing]:
    """Return the formulas that can be drawn, as many as ``MOST_WORK`` allows."""
    from mapshelf.render.formula_paths import drawn  # noqa: PLC0415 - loads a font of a megabyte

    return dict(_made(formulas, drawn))


def mathml(formulas: Iterable[str]) -> dict[str, str]:
    """Return the formulas that can be written as MathML, as many as ``MOST_WORK`` allows."""
    from mapshelf.render.formula_markup import written  # noqa: PLC0415 - not needed for drawings

    return dict(_made(formulas, written))


def _made(
    formulas: Iterable[str], make: Callable[[str], tuple[T | None, int]]
) -> Iterator[tuple[str, T]]:
    left = MOST_WORK
    for formula in formulas:
        made, work = make(formula)
        left -= _WORK_OF_EACH + _WORK_OF_A_CHARACTER * len(formula) + work
        if left < 0:
            return
        if made is not None:
            yield formula, made


def _depth(formula: str) -> int:
    depth = deepest = 0
    for sign in _BRACES.findall(formula):
        depth += (sign == "{") - (sign == "}")
        deepest = max(deepest, depth)
    return deepest
