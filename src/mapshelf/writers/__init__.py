"""Export outlines to the file formats of other programs: the registry of writers.

This is the counterpart of ``mapshelf.readers``: no other package depends on the formats, and each
is one module and one row of ``WRITERS``. What a format cannot express is omitted, as the docstring
of its module states; everything else survives a round trip through our own reader.

Every outline can be written, even if it is deep or large or contains characters that the format
forbids.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from mapshelf.writers import freemind, indented, markdown, mermaid, opml, outline_json, xmind

__all__ = ["WRITERS", "Writer"]


@dataclass(frozen=True, slots=True)
class Writer:
    """A supported export format.

    Attributes:
        name: the usual name of the format.
        suffix: file extension without the dot.
        media_type: value of the Content-Type header; never one that browsers render as a page.
        write: serialises an ``Outline``; its output is deterministic.
        refers_to_catalogue: whether ``write`` accepts two more arguments: the base URL of the map's
            images, with a trailing slash (images are ``DIGEST.png``), and the ids of linked maps,
            by link.
        embeds_pictures: whether ``write`` accepts one more argument: the images in topics as PNG,
            by digest. Missing images are omitted.
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
