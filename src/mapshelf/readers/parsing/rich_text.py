"""Split the HTML of topics into plain text, formatting, links and images.

Some programs write every text as HTML, formatted or not. HTML that contains only paragraphs is
reduced to plain text, because it has no formatting worth showing.
"""

import base64
import binascii
import html
import re
from typing import Final, NamedTuple
from urllib.parse import unquote_to_bytes

from mapshelf.readers.parsing.text_cleaning import html_to_text

_FORMATTING: Final = re.compile(
    r"<(?:b|i|u|s|em|strong|del|strike|code|pre|sub|sup|a|ul|ol|h[1-6]|table|blockquote)[\s>]",
    re.IGNORECASE,
)
_ELEMENT: Final = re.compile(
    r"</(?:p|div|span|b|i|u|s|em|strong|a|ul|ol|li|h[1-6]|font|table|pre|code|body|html)\s*>"
    r"|<(?:br|p|hr)\s{0,20}/?>",
    re.IGNORECASE,
)
_LINK: Final = re.compile(
    r"""<a\s[^<>]*?\bhref\s{0,20}=\s{0,20}["']([^"'<>]{1,4096})["']""", re.IGNORECASE
)
_PICTURE: Final = re.compile(
    r"""<img\s[^<>]*?\bsrc\s{0,20}=\s{0,20}["'](data:[^"'<>]+)["']""", re.IGNORECASE
)
_DATA: Final = re.compile(r"data:[\w.+-]{0,60}/?[\w.+-]{0,60}((?:;[\w.=+-]{1,60}){0,5}),", re.ASCII)


class RichText(NamedTuple):
    """The content of HTML in a topic.

    Attributes:
        text: its plain text.
        html: the HTML, not yet sanitised; empty if it has no formatting.
        links: its link targets.
    """

    text: str
    html: str
    links: tuple[str, ...]


def rich_text(source: str) -> RichText:
    """Parse the HTML in ``source``."""
    formatted = _FORMATTING.search(source) is not None
    links = tuple(map(html.unescape, _LINK.findall(source))) if formatted else ()
    return RichText(html_to_text(source), source if formatted else "", links)


def has_elements(text: str) -> bool:
    """Return whether unmarked ``text`` is HTML: it has closing tags or line breaks (``br``)."""
    return "<" in text and _ELEMENT.search(text) is not None


def embedded_pictures(source: str) -> list[bytes]:
    """Return the undecoded images that the HTML in ``source`` embeds as ``data:`` URLs."""
    if "data:" not in source:
        return []
    return [data for url in _PICTURE.findall(source) if (data := data_of_url(url))]


def data_of_url(url: str) -> bytes:
    """Return the content of a ``data:`` URL, empty if it is invalid or another URL."""
    head = _DATA.match(url)
    if head is None:
        return b""
    if not head[1].lower().endswith(";base64"):
        return unquote_to_bytes(url[head.end() :])
    try:
        return base64.b64decode(url[head.end() :])
    except (binascii.Error, ValueError):
        return b""
