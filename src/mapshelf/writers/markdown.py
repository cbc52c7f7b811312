"""Write Markdown for Markmap: a heading for the central topic, nested lists below.

* The front matter marks it as a Markmap file; other programs ignore it.
* A topic with a link is a Markdown link. Further links follow with empty text, so they are
  preserved without changing the text. Spaces in URLs become ``%20``.
* Bold, italic, struck-through text and code are marked only between white space, where the marks
  are unambiguous. Other formatting is omitted.
* A task has a checkbox. A formula that is the whole text is between dollar signs. A folded topic
  has Markmap's fold comment.
* A note is a paragraph below its topic, without formatting. It also contains lines for tags,
  attributes and task properties.
* Line breaks inside a topic or note are ``<br>``. Separate lines would have to be indented, and a
  long note in a deep map would take too much memory.
* Several sheets become branches of a topic that names them, because a page has one main heading.
  Floating topics become branches too, and summaries follow the topics they summarise.

Markdown has no field for ids or for metadata of the map.
"""

import re
from collections.abc import Iterator
from typing import Final

from mapshelf.model import Outline, Topic
from mapshelf.writers.facts import beside_text, is_formula, with_lines
from mapshelf.writers.nesting import under_one_root
from mapshelf.writers.plain import one_line, safe_links, sound
from mapshelf.writers.rich_text import Run, runs_of

_FRONT_MATTER: Final = "---\nmarkmap:\n  colorFreezeLevel: 2\n---\n\n"

_SIGNS: Final = re.compile(
    r"[\\`*_\[\]~$|^]"  # anywhere
    r"|=(?==)|\+(?=\+)"  # in pairs: marked and inserted text
    r"|#(?=\s*\Z)"  # at the end of a heading
    r"|\A[-+=#>]"  # at the beginning: lists, headings, quotations
)
_NUMBER: Final = re.compile(r"\A(\d{1,9})([.)])")
_AMPERSAND: Final = re.compile("&(?=[#A-Za-z])")
_ADDRESS_SIGNS: Final = re.compile(r"[\\()\[\]&*_~`]")
_LONGEST_LABEL: Final = 1000
"""Maximum length of link text, in characters; programs fail on very long ones."""


_BOXES: Final = {"todo": "[ ] ", "started": "[ ] ", "paused": "[ ] ", "done": "[x] "}
_BOX: Final = re.compile(r"\A[☐☑]\s+")
"""The checkbox characters that our reader leaves at the start of a task's text."""

_RAW: Final = re.compile(r"[^$<>`\n]+")
"""A formula that is safe between dollar signs, even in programs without support for formulas."""

_COMMENT: Final = re.compile(r"(?<!\\)%[^\n]*")
"""A LaTeX comment."""

_CODE: Final = re.compile(r"[^`<>&\n\\\[\]]+")
_EMPHASIS: Final = {"bold": "**", "italic": "_", "struck": "~~"}
_EDGES: Final = re.compile(r"(\s*)(.*?)(\s*)", re.DOTALL)


def write(outline: Outline) -> bytes:
    """Return ``outline`` as Markdown in UTF-8."""
    pieces = [_FRONT_MATTER]
    for depth, topic in under_one_root(outline).walk():
        indent = "  " * (depth - 1)
        if depth:
            fold = " <!-- markmap: fold -->" * (topic.folded and bool(topic.children))
            pieces.append(f"{indent}- {_box(topic)}{_label(topic)}{fold}\n")
        else:
            pieces.append(f"# {_label(topic)}\n\n")
        lines = beside_text(topic, tags=True, checkbox=True)
        note = _escaped(with_lines(topic.note, lines))
        if note:
            pieces.append(f"\n{indent}  {note}\n\n" if depth else f"{note}\n\n")
    return "".join(pieces).encode()


def _box(topic: Topic) -> str:
    return _BOXES.get(topic.task.state, "") if topic.task else ""


def _label(topic: Topic) -> str:
    # LaTeX treats line breaks like spaces, except that they end a comment.
    formula = one_line(_COMMENT.sub("", topic.formula))
    if is_formula(topic) and _RAW.fullmatch(formula):
        return f"$${formula}$$"
    # An empty list item would end here and lose its note.
    text = _words(topic) or "&nbsp;"
    addresses = [_address(link) for link in safe_links(topic.links)]
    if addresses and len(text) <= _LONGEST_LABEL:
        text = f"[{text}]({addresses.pop(0)})"
    return " ".join((text, *(f"[]({address})" for address in addresses)))


def _words(topic: Topic) -> str:
    if runs := runs_of(topic):
        return "".join(_marked(runs))
    text = topic.text or topic.formula
    return _escaped(_BOX.sub("", text) if _box(topic) else text)


def _marked(runs: list[Run]) -> Iterator[str]:
    """Yield pieces of text, with marks only where both sides are white space or a text boundary."""
    for place, (text, marks) in enumerate(runs):
        before = runs[place - 1].text[-1] if place else " "
        after = runs[place + 1].text[0] if place + 1 < len(runs) else " "
        found = _EDGES.fullmatch(text)
        left, words, right = found.groups() if found else ("", text, "")
        free = (left or before.isspace()) and (right or after.isspace())
        plain = _escaped_part(words, begins=not place)
        if not free or not words or "\n" in words:
            yield f"{_line_ends(left)}{plain}{_line_ends(right)}"
        elif "code" in marks and _CODE.fullmatch(words):
            yield f"{_line_ends(left)}`{words}`{_line_ends(right)}"
        else:
            signs = [sign for mark, sign in _EMPHASIS.items() if mark in marks]
            start, end = "".join(signs), "".join(reversed(signs))
            yield f"{_line_ends(left)}{start}{plain}{end}{_line_ends(right)}"


def _line_ends(blanks: str) -> str:
    return blanks.replace("\n", "<br>")


def _escaped_part(text: str, *, begins: bool) -> str:
    """Return an escaped piece of text; only the first can look like a list item."""
    return _escaped(text) if begins else _escaped(f"a{text}")[1:]


def _escaped(text: str) -> str:
    text = _SIGNS.sub(r"\\\g<0>", sound(text).strip())
    text = _NUMBER.sub(r"\1\\\2", text)
    # Entities, because some programs parse tags and comments first.
    return _AMPERSAND.sub("&amp;", text).replace("<", "&lt;").replace("\n", "<br>")


def _address(link: str) -> str:
    address = one_line(link).replace(" ", "%20").replace("<", "%3C").replace(">", "%3E")
    return _ADDRESS_SIGNS.sub(r"\\\g<0>", address)
