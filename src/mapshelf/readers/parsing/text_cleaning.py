"""Clean the text and HTML of map files.

Every text of a map passes through ``clean`` once, when trees are built. So code outside the readers
need not handle NUL, lone surrogates or bidirectional control characters. Rich text is converted
to plain text here, too. The standard library's HTML parser is good enough for that, because the
result is never used as HTML.

HTML for display is sanitised by nh3. It parses like browsers, in time quadratic in the depth (ten
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
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters except tab and line feed
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # they reorder the surrounding text
    "\ud800-\udfff\ufffe\uffff]"  # surrogates and noncharacters
)
_FILLERS: Final = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and a braille pattern that are blank."""

_BLANKS: Final = " \t\n\r\f"
_SPACE: Final = re.compile(f"[{_BLANKS}]+")
_TAG: Final = re.compile(r"<[^<>]*>")
_MARKUP: Final = re.compile(r"<!--.*?(?:-->|\Z)|<[!?][^>]*(?:>|\Z)", re.DOTALL)
_EMBEDDED: Final = re.compile(r"""(\bsrc\s*=\s*["'])data:[^"'<>]*""", re.IGNORECASE)
"""An image as a data URL in a tag: megabytes without any words."""

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
"""Elements of notes that are preserved for display."""

_VOID: Final = frozenset({"br", "hr"})
_DEEPEST: Final = 50
"""Maximum levels of HTML elements for display; the text of deeper ones is preserved."""

_MAX_HTML: Final = 256 * KIB
"""Maximum characters of HTML to parse: four times the limit of a topic's text."""


def clean(text: str) -> str:
    """Return ``text`` trimmed, with line feeds as line endings and without unsafe characters.

    These are control characters except tab and line feed, lone surrogates, noncharacters that
    XML forbids, and bidirectional control characters.
    """
    return _UNWANTED.sub("", _LINE_ENDS.sub("\n", text)).strip()


def cut(text: str, size: int) -> str:
    """Return ``text``, truncated and ended with … if it is longer than ``size`` bytes of UTF-8."""
    if len(text) * 4 <= size:
        return text
    data = text.encode()
    if len(data) <= size:
        return text
    return data[: size - 3].decode(errors="ignore") + "…"


def one_line(text: str) -> str:
    """Return ``text`` with every run of white space replaced by one space."""
    return " ".join(text.split())


def is_visible(text: str) -> bool:
    """Return whether ``text`` has a visible character: a link without one cannot be found."""
    return any(
        letter.isprintable()
        and letter not in _FILLERS
        and unicodedata.category(letter) not in ("Mn", "Zs")
        for letter in text
    )


def is_html(text: str) -> bool:
    """Return whether ``text`` is an HTML document, which some programs put into attributes."""
    return _HTML.match(text) is not None


def safe_html(html: str) -> str:
    """Return ``html`` with only formatting and links, safe for display.

    The result is empty if it is longer than ``_MAX_HTML``: unlike text, truncated HTML is useless.
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
    """Return the plain text of ``html``, one line per block."""
    text = _PlainText()
    html = _EMBEDDED.sub(r"\1", html)
    if len(html) > _MAX_HTML:
        html = html[:_MAX_HTML].rpartition("<")[0]  # without an incomplete tag
    return text.result() if _fed(html, text) else _TAG.sub(" ", html)


def _fed(html: str, sink: "_Sink") -> bool:
    """Pass the parts of ``html`` to ``sink``; return whether the parser accepted it."""
    parser = _Parser(sink)
    # The parser is quadratic for unterminated comments, declarations and tags. The first two
    # contain no text; an unterminated tag is not a tag.
    tags, end, rest = _MARKUP.sub("", html).rpartition(">")
    try:
        parser.feed(tags + end + rest.replace("<", "&lt;"))
        parser.close()
    except AssertionError:  # raised for an invalid declaration
        return False
    return True


def element_to_text(element: Element) -> str:
    """Return the plain text of parsed XHTML, one line per block."""
    text = _PlainText()
    _pour(element, text)
    return text.result()


def element_to_html(element: Element) -> str:
    """Return the content of ``element``, parsed XHTML, as HTML that is not yet sanitised."""
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
    """Yield each element below ``root`` twice: when entering it (True) and leaving it (False)."""
    pending = [(True, child) for child in reversed(root)]
    while pending:
        entering, element = pending.pop()
        yield entering, element
        if entering:
            pending.append((False, element))
            pending.extend((True, child) for child in reversed(element))


class _Sink(Protocol):
    """Receives the parts of rich text in order."""

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
            self._skipped = 0  # closes unterminated elements
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
                return  # white space between blocks
            self._break_if_due()
            self._pieces.append(escape(text, quote=False))

    def result(self) -> str:
        return "".join(self._pieces) + "".join(f"</{tag}>" for tag in reversed(self._open))

    def _break(self, tag: str) -> None:
        # The text of a removed block must remain separate from the text around it.
        self._break_due |= tag in _BLOCKS

    def _break_if_due(self) -> None:
        if self._break_due:
            while self._pieces and not self._pieces[-1].strip(_BLANKS):
                self._pieces.pop()
            if self._pieces and not self._pieces[-1].endswith(">"):
                self._pieces.append("<br>")
        self._break_due = False


class _PlainText:
    """Collects text, with line breaks where a browser would show them."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._after_space = True
        self._skipped = 0
        self._preformatted = 0

    def start(self, tag: str, attributes: Iterable[tuple[str, str | None]]) -> None:
        tag = tag.lower()
        if tag == "body":
            self._skipped = 0  # closes unterminated elements
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
    """Parses HTML and passes its parts to a sink."""

    def __init__(self, sink: _Sink) -> None:
        super().__init__(convert_charrefs=True)
        self._sink = sink

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._sink.start(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        self._sink.end(tag)

    def handle_data(self, data: str) -> None:
        self._sink.data(data)
