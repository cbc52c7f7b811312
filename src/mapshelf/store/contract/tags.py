"""Tags that administrators have renamed, so that files and people mean the same by one word."""

from collections.abc import Mapping
from typing import Protocol


class Tags(Protocol):
    """Renames tags in all maps, those that come later too."""

    def rename_tag(self, old: str, new: str, after: int = 0) -> int | None:
        """Rename a tag in some of the maps with a ``file_id`` above ``after``.

        Where a map has both, they become one. Return after which map to go on, ``None`` if that was
        all. From the first call on, every tag that a file or somebody gives to a map is called so.
        Names that differ only in case are the same tag.
        """

    def renamed_tags(self) -> Mapping[str, str]:
        """Return what tags are called now, by their former names (``name_key``)."""
