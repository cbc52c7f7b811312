r"""Find formulas between dollar signs in text.

A short text that contains formulas becomes a single formula, with its words in ``\text{...}``, so
that it is drawn as intended. For a longer text, only the formulas are drawn, below the text.
"""

import re
from typing import Final, NamedTuple

_MATHEMATICS: Final = re.compile(
    r"\$\$([^$]{1,4000})\$\$"
    r"|(?<![\\$\w])\$(?=[^\s$])(?=[^$\n]*?[\\^_{}=])([^$\n]{1,2000})(?<=\S)\$(?![\d$])"
)
r"""A formula in ``$$…$$``, or in ``$…$`` with one of ``\ ^ _ { } =``.

Without one of these characters, text between single dollar signs may be about money.
"""

_NO_PROSE: Final = re.compile("[^\x20-\u052f\u2010-\u2026]|[\\\\{}$%&#~^_]")
r"""Characters that cannot stand in ``\text{}``: LaTeX special characters, and those of scripts
missing from mathematical fonts."""

_LONGEST: Final = 80


class Mixture(NamedTuple):
    """The formulas in a text, combined into one.

    Attributes:
        formula: LaTeX, empty if there are no formulas.
        whole: whether it includes the words of the text.
    """

    formula: str
    whole: bool


def formulas_in(text: str) -> Mixture:
    """Return the formulas in a text."""
    text = text.strip()
    pieces = _MATHEMATICS.split(text)
    prose = pieces[::3]
    found = [
        (display or inline).strip()
        for display, inline in zip(pieces[1::3], pieces[2::3], strict=True)
    ]
    if not any(found):
        return Mixture("", whole=False)
    if any(prose) and (len(text) > _LONGEST or any(map(_NO_PROSE.search, prose))):
        return Mixture(r" \quad ".join(filter(None, found)), whole=False)
    words = (f"\\text{{{piece}}}" if piece else "" for piece in prose)
    joined = (before + formula for before, formula in zip(words, [*found, ""], strict=True))
    return Mixture("".join(joined), whole=True)
