r"""Normalise the LaTeX of mind map programs for our formula libraries.

* Commands that only Freeplane's library (JLaTeXMath) has, for colours and for its own name, are
  removed or replaced.
* Numbered equations become unnumbered, because maps do not number them.
* Mathematics inside of text (``\text{so $x$}``) is moved out of the text and put beside it.
"""

import re
from typing import Final

from mapshelf.writers.plain import sound

_COLOURS: Final = re.compile(r"\\[fb]gcolor\{\w{1,20}\}")
_NAME: Final = re.compile(r"\\JLaTeXMath(?![A-Za-z])")
_NUMBERED: Final = re.compile(r"\\(begin|end)\{(align|alignat|gather|multline|eqnarray)\}")
_EQUATION: Final = re.compile(r"\\(?:begin|end)\{(?:equation|displaymath|math)\*?\}")
_TEXT: Final = re.compile(r"\\(?:text(?:rm|sf|tt|bf|it|normal)?|mbox)\s*\{")
_BRACES: Final = re.compile(r"\\.|[{}]", re.DOTALL)
_DOLLARS: Final = re.compile(r"(\\.)|\$", re.DOTALL)


def plain_latex(formula: str) -> str:
    """Return a formula without constructs that only the program that created it understands."""
    source = _COLOURS.sub("", sound(formula))
    source = _NAME.sub("JLaTeXMath", source)
    source = _EQUATION.sub(" ", source)
    source = _NUMBERED.sub(r"\\\1{\2*}", source)
    return _with_text_apart(source) if "$" in source else source


def _with_text_apart(source: str) -> str:
    pieces: list[str] = []
    at = 0
    while found := _TEXT.search(source, at):
        end = _closing(source, found.end())
        if end < 0:
            break
        pieces += [source[at : found.start()], _apart(found[0], source[found.end() : end])]
        at = end + 1
    return "".join(pieces) + source[at:]


def _closing(source: str, start: int) -> int:
    """Return the index of the brace that closes the one before ``start``, -1 if there is none."""
    depth = 1
    for found in _BRACES.finditer(source, start):
        depth += (found[0] == "{") - (found[0] == "}")
        if depth == 0:
            return found.start()
    return -1


def _apart(command: str, inside: str) -> str:
    parts = _DOLLARS.sub(lambda found: found[1] or "\0", inside).split("\0")
    if len(parts) % 2 == 0:
        return f"{command}{inside}}}"  # an unpaired dollar sign, perhaps a price
    texts = (
        f"{{{part}}}" if place % 2 else f"{command}{part}}}"
        for place, part in enumerate(parts)
        if part
    )
    return "{" + "".join(texts) + "}" if len(parts) > 1 else f"{command}{inside}}}"
