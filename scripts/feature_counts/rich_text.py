"""Find words, links and pictures in rich text: XML, or HTML in a string."""

import re
from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from typing import Final
from xml.etree.ElementTree import Element

PICTURE: Final = re.compile(r"\.(?:png|jpe?g|gif|bmp|svg|webp|tiff?|ico|heic)$", re.IGNORECASE)
_ELSEWHERE: Final = re.compile(r"\s*(?:(?!data:)[a-z][a-z0-9+.-]+:|[a-z]:|/|\\)", re.IGNORECASE)
_UNSEEN: Final = frozenset({"head", "style", "script", "title"})
_HTML: Final = re.compile(r"\s*<(?:!doctype|html|body|p|div|span|ul|ol|a|img|b|i|br)\b", re.I)
_RTF: Final = re.compile(
    r"\{\\\*[^{}]*\}|\{\\(?:fonttbl|colortbl)(?:[^{}]|\{[^{}]*\})*\}|\\[a-z]+-?\d* ?|[{}]"
)


class _Markup(HTMLParser):
    """Collects what a person who reads the HTML would see."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self.links: list[str] = []
        self.pictures: list[str] = []
        self._unseen = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note links and pictures."""
        said = dict(attrs)
        self._unseen += tag in _UNSEEN
        if tag == "a" and said.get("href"):
            self.links.append(said["href"] or "")
        if tag == "img" and said.get("src"):
            self.pictures.append(said["src"] or "")

    def handle_endtag(self, tag: str) -> None:
        """Note where words are seen again."""
        self._unseen -= tag in _UNSEEN

    def handle_data(self, data: str) -> None:
        """Note words."""
        if self._unseen <= 0:
            self.words.append(data)


def markup(text: str) -> _Markup:
    """Return what ``text`` has if it is HTML."""
    found = _Markup()
    found.feed(text)
    found.close()
    return found


def is_html(text: str) -> bool:
    """Return whether ``text`` begins as HTML does."""
    return _HTML.match(text) is not None


def has_words(text: object) -> bool:
    """Return whether plain text, HTML or RTF has at least one word."""
    if not isinstance(text, str):
        return False
    if text.lstrip().startswith("{\\rtf"):
        return bool(_RTF.sub("", text).strip("\\ \r\n\t;*"))
    return bool("".join(markup(text).words).strip() if "<" in text else text.strip())


def words_in(element: Element | None) -> str:
    """Return the words inside an element, without those of its head and styles."""
    if element is None:
        return ""
    unseen = {part for part in element.iter() if part.tag in _UNSEEN}
    pieces = [element.text or ""]
    for part in element.iter():
        if part is not element:
            pieces += ["" if part in unseen else part.text or "", part.tail or ""]
    return "".join(pieces).strip()


def pictures_in(element: Element | None) -> list[str]:
    """Return the sources of the pictures inside an element of rich text."""
    images = [] if element is None else element.iter("img")
    return [image.get("src", "") for image in images if image.get("src")]


def links_in(element: Element | None) -> list[str]:
    """Return the targets of the links inside an element of rich text."""
    links = [] if element is None else element.iter("a")
    return [link.get("href", "") for link in links if link.get("href")]


def different(targets: Iterable[object]) -> int:
    """Return how many different targets there are, not counting empty ones."""
    return len({target.strip() for target in _texts(targets) if target.strip()})


def local(sources: Iterable[object]) -> int:
    """Return how many pictures are data or at a relative path."""
    return sum(1 for source in _texts(sources) if source.strip() and not _ELSEWHERE.match(source))


def _texts(values: Iterable[object]) -> Iterator[str]:
    return (value for value in values if isinstance(value, str))
