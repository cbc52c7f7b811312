"""Outlines to files in the formats other programs open: the table of writers.

The way back from ``mapshelf.readers``, and like it the one place that knows formats differ: one
module and one row of ``WRITERS`` each. What a format has no place for is left out, as the module's
first lines say; what it has a place for is read back by our own reader as it was.

Any outline can be written, however it came into the catalogue: deep, large, or with characters in
it that a format forbids.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from mapshelf.model import Outline
from mapshelf.writers import freemind, indented, markdown, mermaid, opml, outline_json

__all__ = ["WRITERS", "Writer"]


@dataclass(frozen=True, slots=True)
class Writer:
    """A format that can be written.

    Attributes:
        name: what people call the format.
        suffix: extension of its files, without the dot.
        media_type: for the Content-Type header. None of them is one that browsers run as a page.
        write: makes a file of an outline, the same bytes for the same outline.
    """

    name: str
    suffix: str
    media_type: str
    write: Callable[[Outline], bytes]


WRITERS: Final = (
    Writer("Markdown, Markmap", "md", "text/markdown; charset=utf-8", markdown.write),
    Writer("OPML", "opml", "text/x-opml; charset=utf-8", opml.write),
    Writer("FreeMind, Freeplane", "mm", "application/x-freemind", freemind.write),
    Writer("Mermaid", "mmd", "text/vnd.mermaid; charset=utf-8", mermaid.write),
    Writer("JSON", "json", "application/json", outline_json.write),
    Writer("Plain text", "txt", "text/plain; charset=utf-8", indented.write),
)
