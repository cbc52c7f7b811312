r"""Formulas of Freeplane, which are written in four ways.

In a hook of their own beside the text; as the whole text, which then begins with ``\latex`` or has
the format of LaTeX; or between dollar signs, as people write them everywhere. Text that is LaTeX is
prose with formulas in it, so the prose becomes ``\text{...}``. Where it has commands of its own,
nothing but a LaTeX program can show it: then it stays text.
"""

import re
from typing import Final

_PREFIX: Final = re.compile(r"\s*\\latex\b\s*")
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
    if plain.startswith("\\latex") and (prefix := _PREFIX.match(plain)):
        plain, latex = plain[prefix.end() :], True
    elif not latex and not (plain.startswith("$") and plain.endswith("$")):
        return "", text
    if len(plain) > _LONGEST:
        return "", plain
    pieces = _MATHEMATICS.split(_COMMENT.sub("", plain).strip() if latex else plain)
    if len(pieces) == 1 or (not latex and pieces[::2] != ["", ""]):
        return "", plain
    if any(_COMMAND.search(prose) for prose in pieces[::2]):
        return "", plain
    return "".join(_joined(pieces)).strip(), plain


def _joined(pieces: list[str]) -> list[str]:
    """Return the pieces, prose and formulas by turns, as one formula."""
    return [
        _inside(piece) if place % 2 else "\\text{" + piece.replace("\n", " ") + "}"
        for place, piece in enumerate(pieces)
        if piece.strip()
    ]


def _inside(formula: str) -> str:
    signs = 1 if formula.startswith("$") and not formula.startswith("$$") else 2
    return formula[signs:-signs].strip()
