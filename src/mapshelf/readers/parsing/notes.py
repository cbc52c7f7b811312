"""Build the note of a topic from all that a format stores about it.

Besides notes in plain text or HTML, these are details, comments and other words that have no place
of their own in an outline. A note is needed twice: as plain text for search and as HTML for the
page. This class builds both together, so that they have the same content.
"""

import html
from collections.abc import Iterable
from xml.etree.ElementTree import Element

from mapshelf.readers.parsing.text_cleaning import element_to_html, element_to_text, html_to_text


class Note:
    """Collects the parts of one note, in the order they are added. Empty parts are left out."""

    def __init__(self) -> None:
        self._plain: list[str] = []
        self._html: list[str] = []
        self._rich = False

    def add_text(self, text: str) -> None:
        """Add plain text, in which line ends count."""
        text = text.strip()
        if text:
            self._plain.append(text)
            lines = (html.escape(line, quote=False) for line in text.splitlines())
            self._html.append(f"<p>{'<br>'.join(lines)}</p>")

    def add_fact(self, name: str, values: Iterable[str]) -> None:
        """Add the line ``name: value, value``, unless all values are empty."""
        text = ", ".join(filter(None, (value.strip() for value in values)))
        if text:
            self.add_text(f"{name}: {text}")

    def add_html(self, source: str) -> None:
        """Add rich text."""
        self.add_both(html_to_text(source), source)

    def add_element(self, element: Element | None) -> None:
        """Add rich text that was parsed with the XML around it; nothing for ``None``."""
        if element is not None:
            self.add_both(element_to_text(element), element_to_html(element))

    def add_both(self, plain: str, source: str) -> None:
        """Add rich text that the file holds as plain text too."""
        if plain.strip():
            self._plain.append(plain.strip())
            self._html.append(source)
            self._rich = True

    @property
    def plain(self) -> str:
        """All parts as plain text, each beginning a line."""
        return "\n".join(self._plain)

    @property
    def html(self) -> str:
        """All parts as HTML, not yet cleaned; empty if none was rich."""
        return "\n".join(self._html) if self._rich else ""
