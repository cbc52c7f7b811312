"""Split the HTML of topics into plain text, formatting, links and images.

Some programs write every text as HTML, formatted or not. To be shown as HTML it needs to have
more than paragraphs; otherwise the plain words say the same.
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
    """What HTML in a topic says.

    Attributes:
        text: its words.
        html: the HTML, not yet safe; empty if it has no formatting.
        links: what it links to.
    """

    text: str
    html: str
    links: tuple[str, ...]


def rich_text(source: str) -> RichText:
    """Return what ``source``, HTML, says."""
    formatted = _FORMATTING.search(source) is not None
    links = tuple(map(html.unescape, _LINK.findall(source))) if formatted else ()
    return RichText(html_to_text(source), source if formatted else "", links)


def has_elements(text: str) -> bool:
    """Return whether ``text`` is HTML although nothing says so: it has tags that end, or breaks."""
    return "<" in text and _ELEMENT.search(text) is not None


def embedded_pictures(source: str) -> list[bytes]:
    """Return the pictures that ``source``, HTML, contains as ``data:`` URLs, as they are."""
    if "data:" not in source:
        return []
    return [data for url in _PICTURE.findall(source) if (data := data_of_url(url))]


def data_of_url(url: str) -> bytes:
    """Return what a ``data:`` URL contains, nothing if it is another or damaged."""
    head = _DATA.match(url)
    if head is None:
        return b""
    if not head[1].lower().endswith(";base64"):
        return unquote_to_bytes(url[head.end() :])
    try:
        return base64.b64decode(url[head.end() :])
    except (binascii.Error, ValueError):
        return b""
