"""Define render requests: descriptions of pictures, sent to the process that renders them.

* ``RenderRequest``: a thumbnail, drawn from the outline. Most pictures are of this type.
* ``PreviewRequest``: the preview that some map files contain, scaled to one of our sizes.
* ``DrawingRequest``: a drawing of a whole map, in the size that it needs.
* ``CollageRequest``: thumbnails of several maps in one picture.

This module is separate from the drawing code, so that a process that only requests pictures does
not import that code.
"""

from dataclasses import dataclass
from typing import Final

import xxhash

WIDTHS: Final = (160, 320, 640, 1280)  # pixels; ``height`` gives the height
FORMATS: Final = ("png", "svg")

DRAWING_FORMATS: Final = ("svg", "png", "pdf")
"""Formats of drawings of whole maps."""

RENDER_VERSION: Final = 9
"""Increase it with every visible change of pictures: cached pictures are then rendered again."""


def height(width: int) -> int:
    """Return the height of a picture: three quarters of its width."""
    return width * 3 // 4


@dataclass(frozen=True, slots=True)
class RenderRequest:
    """A thumbnail to draw. All values have simple types, because they go to another process.

    Attributes:
        outline: the map, encoded by ``outline_codec.encode_outline``; ``None`` if it has none.
        title: the title of the map.
        owner: the owner of the map.
        category: the category of the map.
        width: one of ``WIDTHS``.
        theme: one of ``themes.THEMES``.
        format: one of ``FORMATS``.
        pictures: the images in its topics: the digest of each, and a PNG that we encoded. Frames
            replace those that are missing. They are not part of the key: the outline names them,
            and every request for a picture of a map is drawn with the same ones.
    """

    outline: bytes | None
    title: str
    owner: str
    category: str
    width: int
    theme: str
    format: str
    pictures: tuple[tuple[str, bytes], ...] = ()

    def key(self) -> str:
        """Return a cache key: two requests share it if, and only if, their pictures are equal."""
        facts = (self.width, self.theme, self.format, self.title)
        beside = () if self.outline else (self.owner, self.category)
        digest = xxhash.xxh3_128(repr((RENDER_VERSION, *facts, *beside)).encode("utf-8", "replace"))
        digest.update(self.outline or b"")
        return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class PreviewRequest:
    """The preview in a map file, as a PNG that fits ``width``.

    Attributes:
        digest: the digest of the preview in the file (``Outline.picture``).
        width: one of ``WIDTHS``.
    """

    digest: str
    width: int

    def key(self) -> str:
        """Return a cache key, as ``RenderRequest.key`` does."""
        facts = (RENDER_VERSION, "copy", self.digest, self.width)
        return xxhash.xxh3_128_hexdigest(repr(facts).encode())


@dataclass(frozen=True, slots=True)
class CollageRequest:
    """The picture of a collection: pictures of maps side by side.

    Attributes:
        keys: the cache keys of the pictures of the maps.
        pictures: these pictures, as PNGs that we made.
        width: one of ``WIDTHS``.
        theme: one of ``themes.THEMES``.
    """

    keys: tuple[str, ...]
    pictures: tuple[bytes, ...]
    width: int
    theme: str

    def key(self) -> str:
        """Return a cache key, as ``RenderRequest.key`` does."""
        facts = (RENDER_VERSION, "collage", self.keys, self.width, self.theme)
        return xxhash.xxh3_128_hexdigest(repr(facts).encode())


@dataclass(frozen=True, slots=True)
class DrawingRequest:
    """A drawing of a whole sheet, or of one branch.

    Attributes:
        title: the title of the map.
        format: one of ``DRAWING_FORMATS``.
        theme: one of ``themes.THEMES``.
        sheet: the number of the sheet, from 1; 0 for the sheet with ``topic``, or for the first one
            without ``topic``.
        topic: the id of the topic whose branch is drawn; empty for the whole sheet.
    """

    title: str
    format: str
    theme: str
    sheet: int = 0
    topic: str = ""


class Pictures(dict[str, bytes]):
    """Images in topics by digest, each as a PNG that we encoded.

    Attributes:
        complete: ``False`` if a later request may get more images, because there was no time to
            render all of them.
        missing: the number of images that are missing, for whatever reason.
    """

    complete: bool = True
    missing: int = 0

    def __repr__(self) -> str:
        """Return the digests, which are enough for debugging."""
        return f"Pictures({sorted(self)})"
