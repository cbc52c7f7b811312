r"""Parse the formulas in texts of Freeplane.

A text contains formulas if it begins with ``\latex`` (or ``\unparsedlatex``), if its topic has the
LaTeX format, or if all of it is between dollar signs. (Formulas in hooks are read by
``freemind_topics``.) The first two are prose with formulas between dollar signs, so the prose
becomes ``\text{...}``. If the prose contains LaTeX commands, the whole text is the formula, without
such changes, and is shown as text if it cannot be drawn.
"""

import re
from typing import Final

_PREFIX: Final = re.compile(r"\\(?:unparsed)?latex\b\s*")
_COMMENT: Final = re.compile(r"(?<!\\)%[^\n]*(?:\n|\Z)")
_MATHEMATICS: Final = re.compile(r"(\$\$[^$]+\$\$|\$[^$]+\$|\\\[(?:[^\\]|\\[^\[\]])+\\\])")
_COMMAND: Final = re.compile(r"[\\{}$]")
_LONGEST: Final = 4096


def formula_of(text: str, *, latex: bool) -> tuple[str, str]:
    """Return the formula in a text, and the text to show where the formula is not drawn.

    The formula is empty if there is none, or if the text is too long. The text has no prefix.

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
        return "", text  # no formula: other text between dollar signs, such as prices
    if any(_COMMAND.search(prose) for prose in pieces[::2]):
        return source, plain
    return "".join(_joined(pieces)).strip(), plain


def _joined(pieces: list[str]) -> list[str]:
    """Combine pieces, which are alternately prose and formulas, into one formula."""
    return [
        _inside(piece).strip() if place % 2 else "\\text{" + piece.replace("\n", " ") + "}"
        for place, piece in enumerate(pieces)
        if piece.strip()
    ]


def _inside(formula: str) -> str:
    signs = 1 if formula.startswith("$") and not formula.startswith("$$") else 2
    return formula[signs:-signs]
