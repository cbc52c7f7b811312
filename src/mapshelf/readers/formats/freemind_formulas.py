r"""Parse the formulas of Freeplane, which it stores in four ways.

A formula may be in a hook of its own; the whole text, which then begins with ``\latex`` or has the
LaTeX format; or part of a text, between dollar signs. A text in LaTeX format is prose with
formulas, so the prose becomes ``\text{...}``, unless it contains LaTeX commands: then it stays
unchanged, and is shown as text if it cannot be drawn.
"""

import re
from typing import Final

_PREFIX: Final = re.compile(r"\\(?:unparsed)?latex\b\s*")
_COMMENT: Final = re.compile(r"(?<!\\)%[^\n]*(?:\n|\Z)")
_MATHEMATICS: Final = re.compile(r"(\$\$[^$]+\$\$|\$[^$]+\$|\\\[(?:[^\\]|\\[^\[\]])+\\\])")
_COMMAND: Final = re.compile(r"[\\{}$]")
_LONGEST: Final = 4096


def formula_of(text: str, *, latex: bool) -> tuple[str, str]:
    """Return the formula in a text, empty if there is none, and the text to show without it.

    Args:
        text: the text of a topic.
        latex: whether the topic has the LaTeX format.
    """
    plain = text.strip()
    if prefix := _PREFIX.match(plain):
        plain, latex = plain[prefix.end() :], True
    elif not latex and not (plain.startswith("$") and plain.endswith("$")):
        return "", text
    if len(plain) > _LONGEST:
        return "", plain
    source = _COMMENT.sub("", plain).strip() if latex else plain
    pieces = _MATHEMATICS.split(source)
    if not latex and (pieces[::2] != ["", ""] or _inside(source) != _inside(source).strip()):
        return "", text  # such as prices
    if any(_COMMAND.search(prose) for prose in pieces[::2]):
        return source, plain
    return "".join(_joined(pieces)).strip(), plain


def _joined(pieces: list[str]) -> list[str]:
    """Return the pieces, alternately prose and formulas, as one formula."""
    return [
        _inside(piece).strip() if place % 2 else "\\text{" + piece.replace("\n", " ") + "}"
        for place, piece in enumerate(pieces)
        if piece.strip()
    ]


def _inside(formula: str) -> str:
    signs = 1 if formula.startswith("$") and not formula.startswith("$$") else 2
    return formula[signs:-signs]
