"""Build the note of a topic from everything that a format stores about it.

Besides notes in plain text or HTML, these are details, comments and other texts without a field of
their own in an outline. A note is needed twice: as plain text for search and as HTML for the page.
``Note`` builds both together, so that they have the same content.
"""

import html
from xml.etree.ElementTree import Element

from mapshelf.readers.parsing.text_cleaning import element_to_html, element_to_text, html_to_text


class Note:
    """Collects the parts of one note, in order. Empty parts are ignored."""

    def __init__(self) -> None:
        self._plain: list[str] = []
        self._html: list[str] = []
        self._rich = False

    def add_text(self, text: str) -> None:
        """Add plain text; line breaks are preserved."""
        text = text.strip()
        if text:
            self._plain.append(text)
            lines = (html.escape(line, quote=False) for line in text.splitlines())
            self._html.append(f"<p>{'<br>'.join(lines)}</p>")

    def add_html(self, source: str) -> None:
        """Add HTML."""
        self.add_both(html_to_text(source), source)

    def add_element(self, element: Element | None) -> None:
        """Add rich text that is part of the parsed XML; ``None`` adds nothing."""
        if element is not None:
            self.add_both(element_to_text(element), element_to_html(element))

    def add_both(self, plain: str, source: str) -> None:
        """Add rich text that the file contains as plain text, too."""
        if plain.strip():
            self._plain.append(plain.strip())
            self._html.append(source)
            self._rich = True

    @property
    def plain(self) -> str:
        """All parts as plain text, each on a new line."""
        return "\n".join(self._plain)

    @property
    def html(self) -> str:
        """All parts as HTML, not yet sanitised; empty if none is formatted."""
        return "\n".join(self._html) if self._rich else ""
