"""Clean the text and HTML of map files.

Every text of a map passes through ``clean`` once, where trees are built. So no code after the
readers has to handle NUL, lone surrogates or characters that reverse a line. Rich text is converted
to plain text here, too. The standard library's HTML parser is good enough for that, because the
result is never used as HTML.

HTML that is shown is cleaned by nh3. It parses like browsers, in time quadratic in the depth (ten
seconds for 256 KiB of ``<div>``). So its input is rewritten first: balanced, shallow, and without
elements that would be removed anyway.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from html import escape
from html.parser import HTMLParser
from typing import Final, Protocol
from xml.etree.ElementTree import Element

import nh3

from mapshelf.readers.parsing.limits import KIB

_LINE_ENDS: Final = re.compile("\r\n?|[\x85\u2028\u2029]")
_UNWANTED: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls, but tab and line feed
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # they reorder the surrounding text
    "\ud800-\udfff\ufffe\uffff]"  # no characters at all
)
_FILLERS: Final = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and a pattern that are blank."""

_BLANKS: Final = " \t\n\r\f"
_SPACE: Final = re.compile(f"[{_BLANKS}]+")
_TAG: Final = re.compile(r"<[^<>]*>")
_MARKUP: Final = re.compile(r"<!--.*?(?:-->|\Z)|<[!?][^>]*(?:>|\Z)", re.DOTALL)
_EMBEDDED: Final = re.compile(r"""(\bsrc\s*=\s*["'])data:[^"'<>]*""", re.IGNORECASE)
"""A picture inside its own tag: megabytes that are no words."""

_HTML: Final = re.compile(r"\s*<html[\s>]", re.IGNORECASE)

_BLOCKS: Final = frozenset(
    re.findall(
        r"\w+",
        """
    address article blockquote body center dd div dl dt footer h1 h2 h3 h4 h5 h6 header hr html li
    ol p pre section table tr ul
""",
    )
)
_SKIPPED: Final = frozenset({"head", "script", "style", "template", "title"})
_CELLS: Final = frozenset({"td", "th"})

_SHOWN: Final = {
    *("a", "b", "blockquote", "br", "code", "dd", "del", "dl", "dt", "em", "h1", "h2", "h3", "h4"),
    *("h5", "h6", "hr", "i", "li", "ol", "p", "pre", "s", "strong", "sub", "sup", "table", "tbody"),
    *("td", "th", "thead", "tr", "u", "ul"),
}
"""Elements of notes that are kept for display."""

_VOID: Final = frozenset({"br", "hr"})
_DEEPEST: Final = 50
"""Levels of HTML elements that are kept for display; the text of deeper ones stays."""

_MAX_HTML: Final = 256 * KIB
"""Characters of HTML looked at: four times what may be kept of a topic."""


def clean(text: str) -> str:
    """Return ``text`` with line feeds as the only line ends, trimmed, free of what misleads.

    Removed are control characters except tab and line feed, lone surrogates, noncharacters that
    XML forbids, and the characters that change the direction of the text around them.
    """
    return _UNWANTED.sub("", _LINE_ENDS.sub("\n", text)).strip()


def cut(text: str, size: int) -> str:
    """Return ``text``, cut and ended with … if it is over ``size`` bytes in UTF-8."""
    if len(text) * 4 <= size:
        return text
    data = text.encode()
    if len(data) <= size:
        return text
    return data[: size - 3].decode(errors="ignore") + "…"


def one_line(text: str) -> str:
    """Return ``text`` with every run of white space made a single blank."""
    return " ".join(text.split())


def is_visible(text: str) -> bool:
    """Return whether ``text`` shows anything: a link without visible text cannot be found."""
    return any(
        letter.isprintable()
        and letter not in _FILLERS
        and unicodedata.category(letter) not in ("Mn", "Zs")
        for letter in text
    )


def is_html(text: str) -> bool:
    """Return whether ``text`` is an HTML document, as some programs put into plain attributes."""
    return _HTML.match(text) is not None


def safe_html(html: str) -> str:
    """Return ``html`` with nothing in it but formatting and links that are safe to show.

    Longer than ``_MAX_HTML`` it is left out: unlike text, HTML means little cut.
    """
    html = _EMBEDDED.sub(r"\1", html)
    if len(html) > _MAX_HTML:
        return ""
    markup = _Markup()
    if not _fed(html, markup):
        return ""
    plain = _UNWANTED.sub("", markup.result())
    return nh3.clean(plain, tags=_SHOWN, attributes={"a": {"href"}}).strip()


def html_to_text(html: str) -> str:
    """Return the words of ``html``, a line for each block."""
    text = _PlainText()
    html = _EMBEDDED.sub(r"\1", html)
    if len(html) > _MAX_HTML:
        html = html[:_MAX_HTML].rpartition("<")[0]  # no half tag, which would pass for words
    return text.result() if _fed(html, text) else _TAG.sub(" ", html)


def _fed(html: str, sink: "_Sink") -> bool:
    """Pass the parts of ``html`` to ``sink``; return whether the parser accepted it."""
    parser = _Parser(sink)
    # The parser is quadratic on comments, declarations and tags that never end. The first two
    # hold no words; a tag that never ends is none.
    tags, end, rest = _MARKUP.sub("", html).rpartition(">")
    try:
        parser.feed(tags + end + rest.replace("<", "&lt;"))
        parser.close()
    except AssertionError:  # its way of refusing a broken declaration
        return False
    return True


def element_to_text(element: Element) -> str:
    """Return the words of XHTML already parsed, a line for each block."""
    text = _PlainText()
    _pour(element, text)
    return text.result()


def element_to_html(element: Element) -> str:
    """Return what is inside ``element``, XHTML already parsed, as HTML. It is not yet safe."""
    markup = _Markup()
    _pour(element, markup)
    return markup.result()


def _pour(element: Element, sink: "_Sink") -> None:
    sink.start(element.tag, ())
    sink.data(element.text or "")
    for entering, part in _steps(element):
        if entering:
            sink.start(part.tag, part.attrib.items())
            sink.data(part.text or "")
        else:
            sink.end(part.tag)
            sink.data(part.tail or "")


def _steps(root: Element) -> Iterator[tuple[bool, Element]]:
    """Yield every element below ``root`` twice: when entering (True) and leaving it (False)."""
    pending = [(True, child) for child in reversed(root)]
    while pending:
        entering, element = pending.pop()
        yield entering, element
        if entering:
            pending.append((False, element))
            pending.extend((True, child) for child in reversed(element))


class _Sink(Protocol):
    """What takes the parts of rich text, one after the other."""

    def start(self, tag: str, attributes: Iterable[tuple[str, str | None]]) -> None: ...

    def end(self, tag: str) -> None: ...

    def data(self, text: str) -> None: ...


class _Markup:
    """Rewrites HTML: only allowed elements, balanced, and no deeper than ``_DEEPEST``."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._open: list[str] = []
        self._skipped = 0
        self._break_due = False

    def start(self, tag: str, attributes: Iterable[tuple[str, str | None]]) -> None:
        tag = tag.lower()
        if tag == "body":
            self._skipped = 0  # whatever was not closed before
        self._skipped += tag in _SKIPPED
        if tag not in _SHOWN:
            self._break(tag)
        elif tag in _VOID:
            self._break_if_due()
            self._pieces.append(f"<{tag}>")
        elif len(self._open) < _DEEPEST:
            self._break_if_due()
            self._open.append(tag)
            link = dict(attributes).get("href") if tag == "a" else None
            self._pieces.append(f'<a href="{escape(link)}">' if link else f"<{tag}>")

    def end(self, tag: str) -> None:
        tag = tag.lower()
        self._skipped = max(0, self._skipped - (tag in _SKIPPED))
        if tag not in _SHOWN:
            self._break(tag)
        elif tag in self._open:
            while self._open:
                last = self._open.pop()
                self._pieces.append(f"</{last}>")
                if last == tag:
                    break

    def data(self, text: str) -> None:
        if text and not self._skipped:
            if not text.strip(_BLANKS) and (self._break_due or not self._pieces):
                return  # it stands between blocks, and has nothing to part from anything
            self._break_if_due()
            self._pieces.append(escape(text, quote=False))

    def result(self) -> str:
        return "".join(self._pieces) + "".join(f"</{tag}>" for tag in reversed(self._open))

    def _break(self, tag: str) -> None:
        # A block that is not kept must still keep its words apart from those before and after.
        self._break_due |= tag in _BLOCKS

    def _break_if_due(self) -> None:
        if self._break_due:
            while self._pieces and not self._pieces[-1].strip(_BLANKS):
                self._pieces.pop()
            if self._pieces and not self._pieces[-1].endswith(">"):
                self._pieces.append("<br>")
        self._break_due = False


class _PlainText:
    """Collects the words between tags and breaks lines where a browser would."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._after_space = True
        self._skipped = 0
        self._preformatted = 0

    def start(self, tag: str, attributes: Iterable[tuple[str, str | None]]) -> None:
        tag = tag.lower()
        if tag == "body":
            self._skipped = 0  # whatever was not closed before
        self._skipped += tag in _SKIPPED
        self._preformatted += tag == "pre"
        if tag == "br":
            self._pieces.append("\n")
            self._after_space = True
        elif tag == "img":
            self.data(dict(attributes).get("alt") or "")
        else:
            self._break(tag)

    def end(self, tag: str) -> None:
        tag = tag.lower()
        self._skipped = max(0, self._skipped - (tag in _SKIPPED))
        self._preformatted = max(0, self._preformatted - (tag == "pre"))
        self._break(tag)
        if tag in _CELLS:
            self.data(" ")

    def data(self, text: str) -> None:
        if self._skipped or not text:
            return
        if not self._preformatted:
            text = _SPACE.sub(" ", text)
            if self._after_space:
                text = text.lstrip(" ")
        if text:
            self._pieces.append(text)
            self._after_space = text.endswith((" ", "\n"))

    def result(self) -> str:
        text = "".join(self._pieces).replace("\xa0", " ")
        lines = (line.rstrip() for line in text.splitlines())
        return "\n".join(line for line in lines if line)

    def _break(self, tag: str) -> None:
        if tag in _BLOCKS and self._pieces:
            self._pieces.append("\n")
            self._after_space = True


class _Parser(HTMLParser):
    """Feeds HTML that is still text into a sink."""

    def __init__(self, sink: _Sink) -> None:
        super().__init__(convert_charrefs=True)
        self._sink = sink

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._sink.start(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        self._sink.end(tag)

    def handle_data(self, data: str) -> None:
        self._sink.data(data)
