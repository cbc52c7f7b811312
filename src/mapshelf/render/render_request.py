"""What picture is wanted, as it is sent to the process that makes it.

Most pictures are drawn from the outline (``RenderRequest``). Some map files carry a preview, a
picture of their own, which is offered in our sizes (``PreviewRequest``). A ``DrawingRequest`` shows
a map whole, in the size that it needs. A ``CollageRequest`` puts pictures of several maps together.

This is separate from the drawing, so that a process that only asks for pictures does not load the
code that draws them.
"""

from dataclasses import dataclass
from typing import Final

import xxhash

WIDTHS: Final = (160, 320, 640, 1280)  # pixels; ``height`` gives the height
FORMATS: Final = ("png", "svg")

DRAWING_FORMATS: Final = ("svg", "png", "pdf")
"""Formats of drawings that show a map whole."""

RENDER_VERSION: Final = 8
"""Increase it with every change of what pictures look like: cached pictures are then remade."""


def height(width: int) -> int:
    """Return the height of a picture: three quarters of its width."""
    return width * 3 // 4


@dataclass(frozen=True, slots=True)
class RenderRequest:
    """A picture to be drawn. All values are flat, because they go to another process.

    Attributes:
        outline: the map, encoded by ``outline_codec.encode_outline``; ``None`` if it has none.
        title: of the map.
        owner: of the map.
        category: of the map.
        width: one of ``WIDTHS``.
        theme: one of ``themes.THEMES``.
        format: one of ``FORMATS``.
        pictures: pictures in its topics: their digests, and each as a PNG of our own making.
            Frames stand for those that are missing. They are no part of the key: the outline names
            them, and every request for a picture of a map is drawn with the same ones.
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
        digest: of the picture in the file (``Outline.picture``).
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
        keys: the keys of the pictures.
        pictures: each as a PNG of our own making.
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
    """What is to be drawn.

    Attributes:
        title: of the map.
        format: one of ``DRAWING_FORMATS``.
        theme: one of ``themes.THEMES``.
        sheet: its number, counted from 1; 0 for the one that has ``topic``, or else the first.
        topic: id of the topic whose branch is drawn; empty for the whole sheet.
    """

    title: str
    format: str
    theme: str
    sheet: int = 0
    topic: str = ""


class Pictures(dict[str, bytes]):
    """The pictures in topics by their digests, each as a PNG of our own making.

    Attributes:
        complete: whether all are there that ever will be; those that cannot be shown are never.
            Otherwise some are missing because there was no time to make them.
        missing: how many are not there, for whatever reason.
    """

    complete: bool = True
    missing: int = 0

    def __repr__(self) -> str:
        """Return what tells them apart."""
        return f"Pictures({sorted(self)})"
