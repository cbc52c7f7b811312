"""Maps that link to each other, for tests of the API and of pages."""

import hashlib
from typing import Any

from mapshelf.formats.map_links import map_links
from mapshelf.formats.outline_codec import encode_outline
from mapshelf.model import MapDraft, Outline, Source, Topic, sheets_of


def place(path: str) -> Source:
    """Return the source of a map at ``path``."""
    return Source(path.encode(), path[1:], 1, 1, hashlib.sha256(path.encode()).digest())


def linking(public_id: str, path: str, *links: str, more: int = 0, **fields: Any) -> MapDraft:
    """Return a map that was read from ``path``, whose topic ``t`` has these links.

    ``more`` topics beside it make the map large.
    """
    topics = [Topic("links", "t", links=links), *(Topic("x" * 90, f"m{n}") for n in range(more))]
    outline = Outline(sheets_of((Topic("root", "r", children=topics),)))
    fields.setdefault("title", f"Map {public_id}")
    return MapDraft(
        id=public_id,
        source=place(path) if path else None,
        outline=encode_outline(outline),
        links=map_links(outline),
        **fields,
    )
