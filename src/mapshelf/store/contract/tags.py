"""Tag renames by administrators, so that one topic has one tag throughout the catalogue."""

from collections.abc import Mapping
from typing import Protocol


class Tags(Protocol):
    """Renames tags in all current and future maps."""

    def rename_tag(self, old: str, new: str, after: int = 0) -> int | None:
        """Rename a tag in a batch of maps with a ``file_id`` above ``after``.

        If a map has both tags, they are merged. Returns the ``after`` of the next batch, ``None``
        when done. From the first call on, the tag is also renamed whenever a file or a user adds it
        to a map. Names that differ only in case are the same tag.
        """

    def renamed_tags(self) -> Mapping[str, str]:
        """Return the current names of renamed tags, by their former names (``name_key``)."""
