"""What picture is wanted, as it travels to the process that makes it.

It is apart from the drawing, so that the processes that only ask for pictures need not load what
draws them.
"""

from dataclasses import dataclass
from typing import Final

import xxhash

WIDTHS: Final = (160, 320, 640, 1280)
"""Pixels; the height is three quarters of it."""

FORMATS: Final = ("png", "svg")

EDITION: Final = 1
"""Raised with every change of what pictures look like: those that are kept are then made anew."""


@dataclass(frozen=True, slots=True)
class Order:
    """A picture to be made.

    It goes to another process, so it is flat.

    Attributes:
        outline: the map, as ``outlines.encode_outline`` gives it; ``None`` if it has none.
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
