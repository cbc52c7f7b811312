"""What picture is wanted, as it travels to the process that makes it.

Most are drawn from the outline (``Order``). Some map files carry a picture of their own, of which a
copy can be had (``Copy``).

It is apart from the drawing, so that the processes that only ask for pictures need not load what
draws them.
"""

from dataclasses import dataclass
from typing import Final

import xxhash

WIDTHS: Final = (160, 320, 640, 1280)
"""Pixels; the height is three quarters of it (``height``)."""


def height(width: int) -> int:
    """Return the height of a picture."""
    return width * 3 // 4


FORMATS: Final = ("png", "svg")

EDITION: Final = 2
"""Raised with every change of what pictures look like: those that are kept are then made anew."""


@dataclass(frozen=True, slots=True)
class Order:
    """A picture to be made.

    It goes to another process, so it is flat.

    Attributes:
        outline: the map, as ``outline_codec.encode_outline`` gives it; ``None`` if it has none.
        title: of the map.
        owner: of the map.
        category: of the map.
        width: one of ``WIDTHS``.
        theme: one of ``themes.THEMES``.
        format: one of ``FORMATS``.
    """

    outline: bytes | None
    title: str
    owner: str
    category: str
    width: int
    theme: str
    format: str

    def key(self) -> str:
        """Return what two orders share if, and only if, they give the same picture."""
        facts = (self.width, self.theme, self.format, self.title)
        beside = () if self.outline else (self.owner, self.category)
        digest = xxhash.xxh3_128(repr((EDITION, *facts, *beside)).encode("utf-8", "replace"))
        digest.update(self.outline or b"")
        return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class Copy:
    """The picture that a map file carries, wanted anew at a size that fits ``width``.

    Attributes:
        digest: of the picture in the file (``Outline.picture``).
        width: one of ``WIDTHS``.
    """

    digest: str
    width: int

    def key(self) -> str:
        """Return what two copies share if, and only if, they are the same."""
        return xxhash.xxh3_128_hexdigest(repr((EDITION, "copy", self.digest, self.width)).encode())
