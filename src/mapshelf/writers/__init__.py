"""Write outlines in the formats of other programs: the table of writers.

This is the counterpart of ``mapshelf.readers``: no other package needs to know the formats, and
each is one module and one row of ``WRITERS``. What a format cannot express is left out, as the
docstring of its module says; everything else is read back unchanged by our own reader.

Every outline can be written, however it came into the catalogue: even one that is deep or large, or
has characters that the format forbids.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from mapshelf.writers import freemind, indented, markdown, mermaid, opml, outline_json, xmind

__all__ = ["WRITERS", "Writer"]


@dataclass(frozen=True, slots=True)
class Writer:
    """A format that can be written.

    Attributes:
        name: the usual name of the format.
        suffix: extension of its files, without the dot.
        media_type: for the Content-Type header; never one that browsers would run as a page.
        write: returns a file with an ``Outline``, the same bytes for the same outline.
        refers_to_catalogue: whether ``write`` takes two more arguments: the address below which the
            pictures of the map are, with a slash (``DIGEST.png``), and the ids of the maps that its
            links lead to, by link.
        embeds_pictures: whether ``write`` takes one more argument: the pictures in topics as PNG,
            by digest. Those that are missing are left out.
    """

    name: str
    suffix: str
    media_type: str
    write: Callable[..., bytes]
    refers_to_catalogue: bool = False
    embeds_pictures: bool = False


WRITERS: Final = (
    Writer("Markdown, Markmap", "md", "text/markdown; charset=utf-8", markdown.write),
    Writer("OPML", "opml", "text/x-opml; charset=utf-8", opml.write),
    Writer(
        "FreeMind, Freeplane", "mm", "application/x-freemind", freemind.write, embeds_pictures=True
    ),
    Writer("XMind", "xmind", "application/vnd.xmind.workbook", xmind.write, embeds_pictures=True),
    Writer("Mermaid", "mmd", "text/vnd.mermaid; charset=utf-8", mermaid.write),
    Writer("JSON", "json", "application/json", outline_json.write, refers_to_catalogue=True),
    Writer("Plain text", "txt", "text/plain; charset=utf-8", indented.write),
)
