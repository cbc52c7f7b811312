"""Render the formulas in topics as drawings and as MathML, from untrusted LaTeX.

The output depends only on the source of a formula. Callers run in sandboxed child processes
(``formula_worker``, ``render_worker``, ``api.documents``). The limits in this module protect the
rest of the map from a costly formula; the limits of the child protect the service. A formula that
cannot be rendered is omitted from the result, and its source is shown instead.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, TypeVar

from mapshelf.model import Topic
from mapshelf.render.formula_drawing import FormulaDrawing
from mapshelf.writers.plain import sound

T = TypeVar("T")

LONGEST: Final = 4096
"""Maximum characters of a formula that is drawn; the longest one in our corpus has 863."""

DEEPEST: Final = 40
"""Maximum nesting depth of braces in a formula that is drawn."""

MOST_CHARACTERS: Final = 60_000
"""Maximum total characters of the formulas of a map that are drawn."""

MOST_WORK: Final = 4_000_000
"""Maximum work for all formulas of a map, including those that cannot be drawn. Formulas beyond it
are shown as their source. Work is counted in units, not measured as time, so that a busy machine
gives the same result. The maximum is about one second of CPU time. The maps in our corpus take at
most 1,100,000 units."""

_WORK_OF_EACH: Final = 500
_WORK_OF_A_CHARACTER: Final = 20
"""Units of work for each formula, and for each character of its source. One unit is added for each
character of output and of intermediate output."""

_BRACES: Final = re.compile(r"\\.|[{}]", re.DOTALL)


Drawings = Mapping[str, FormulaDrawing]
"""Formulas that can be drawn, by their LaTeX."""

Mathml = Mapping[str, str]
"""Formulas as MathML that is safe to show, by their LaTeX."""


def formulas_of(topics: Iterable[Topic]) -> list[str]:
    """Return the distinct formulas in topics that may be drawn, up to ``MOST_CHARACTERS``."""
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
    """Return whether a formula may be drawn.

    It must not be blank, too long or too deeply nested, and must be clean text (``sound``).
    """
    return (
        bool(formula.strip())
        and len(formula) <= LONGEST
        and formula == sound(formula)
        and _depth(formula) <= DEEPEST
    )


def drawings(formulas: Iterable[str]) -> dict[str, FormulaDrawing]:
    """Return the drawings of formulas that can be drawn, as many as ``MOST_WORK`` allows."""
    from mapshelf.render.formula_paths import drawn  # noqa: PLC0415 - loads a font of a megabyte

    return dict(_made(formulas, drawn))


def mathml(formulas: Iterable[str]) -> dict[str, str]:
    """Return the MathML of formulas that can be converted, as many as ``MOST_WORK`` allows."""
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
