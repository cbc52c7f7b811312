r"""Formulas of Freeplane, which are written in four ways.

In a hook of their own beside the text; as the whole text, which then begins with ``\latex`` or has
the format of LaTeX; or between dollar signs, as people write them everywhere. Text that is LaTeX is
prose with formulas in it, so the prose becomes ``\text{...}``, unless it has commands of its own:
then it stays unchanged, and is shown as text if it cannot be drawn.
"""

import re
from typing import Final

_PREFIX: Final = re.compile(r"\\(?:unparsed)?latex\b\s*")
_COMMENT: Final = re.compile(r"(?<!\\)%[^\n]*(?:\n|\Z)")
_MATHEMATICS: Final = re.compile(r"(\$\$[^$]+\$\$|\$[^$]+\$|\\\[(?:[^\\]|\\[^\[\]])+\\\])")
_COMMAND: Final = re.compile(r"[\\{}$]")
_LONGEST: Final = 4096


def formula_of(text: str, *, latex: bool) -> tuple[str, str]:
    """Return the formula that a text is, empty if it is none, and the text to show instead of it.

    Args:
        text: the text of a topic.
        latex: whether the topic has the format of LaTeX.
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
        return "", text  # prices, for instance
    if any(_COMMAND.search(prose) for prose in pieces[::2]):
        return source, plain
    return "".join(_joined(pieces)).strip(), plain


def _joined(pieces: list[str]) -> list[str]:
    """Return the pieces, prose and formulas by turns, as one formula."""
    return [
        _inside(piece).strip() if place % 2 else "\\text{" + piece.replace("\n", " ") + "}"
        for place, piece in enumerate(pieces)
        if piece.strip()
    ]


def _inside(formula: str) -> str:
    signs = 1 if formula.startswith("$") and not formula.startswith("$$") else 2
    return formula[signs:-signs]
