"""How much a member may upload. Administrators may upload as much as they like.

Asked twice: before a file is read, which takes long, and in the transaction that keeps it. Of
several uploads at the same moment, only as many as are allowed get that far.
"""

from typing import Final

from mapshelf.errors import Forbidden, TooManyUploads
from mapshelf.model import HOUR, Usage
from mapshelf.settings import Settings

MEGABYTE: Final = 1 << 20


def check_quotas(settings: Settings, usage: Usage, size: int, now: int, *, new: bool) -> None:
    """Check that a member may upload a file.

    Args:
        settings: what members may upload.
        usage: what the member has uploaded.
        size: bytes of the file.
        now: milliseconds since 1970-01-01 UTC.
        new: whether the file is a new map.

    Raises:
        Forbidden: the member has as many maps or bytes as a member may have.
        TooManyUploads: the member uploaded as many files as one may within an hour.
    """
    if usage.recent >= settings.uploads_per_hour:
        first = now if usage.first is None else usage.first
        raise TooManyUploads(max(1, -((now - HOUR - first) // 1000)))
    if new and usage.maps >= settings.quota_maps:
        raise Forbidden(
            f"You have {usage.maps} uploaded maps, which is as many as you may have; remove some."
        )
    if usage.size + size > settings.quota_megabytes * MEGABYTE:
        raise Forbidden(
            f"Your files may have {settings.quota_megabytes} megabytes together; remove some maps."
        )


def check_uploads(settings: Settings) -> None:
    """Check that files may be uploaded at all.

    Raises:
        Forbidden: they may not.
    """
    if not settings.uploads:
        raise Forbidden("Files cannot be uploaded to this catalogue.")
