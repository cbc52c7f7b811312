"""How much a member may upload. Administrators may upload as much as they like.

Asked twice: before a file is read, which takes long, and in the transaction that keeps it. Of
several uploads at the same moment, only as many as are allowed get that far.

What somebody removes is kept for 30 days, so it counts for something, or uploading and removing in
turns would fill the disk: together with what is there, it may be twice as many maps and bytes.
"""

from typing import Final

from mapshelf.errors import Forbidden, TooManyUploads
from mapshelf.model import HOUR, Usage
from mapshelf.settings import Settings

MEGABYTE: Final = 1 << 20

WITH_REMOVED: Final = 2
"""How many times as much a member may have with what is removed."""


def check_quotas(settings: Settings, usage: Usage, size: int, now: int, *, new: bool) -> None:
    """Check that a member may upload a file.

    Args:
        settings: what members may upload.
        usage: what the member has uploaded.
        size: bytes that it takes, with its pictures as far as they are known.
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
        raise _too_many_maps(settings)
    most = settings.quota_megabytes * MEGABYTE
    if usage.size + size > most:
        raise _too_many_bytes(settings)
    if (
        usage.maps + usage.removed_maps + new > WITH_REMOVED * settings.quota_maps
        or usage.size + usage.removed + size > WITH_REMOVED * most
    ):
        raise Forbidden(
            "kept",
            "The maps that you removed are kept for 30 days, and leave no room for another file;"
            " try again later.",
        )


def check_restored(settings: Settings, usage: Usage) -> None:
    """Check that a member may have what ``usage`` says, with a map that was removed.

    Raises:
        Forbidden: the member would have more maps or bytes than a member may have.
    """
    if usage.maps > settings.quota_maps:
        raise _too_many_maps(settings)
    if usage.size > settings.quota_megabytes * MEGABYTE:
        raise _too_many_bytes(settings)


def check_uploads(settings: Settings) -> None:
    """Check that files may be uploaded at all.

    Raises:
        Forbidden: they may not.
    """
    if not settings.uploads:
        raise Forbidden("uploads", "Files cannot be uploaded to this catalogue.")


def _too_many_maps(settings: Settings) -> Forbidden:
    return Forbidden(
        "maps",
        f"You have {settings.quota_maps} uploaded maps, which is as many as you may have; remove"
        " some.",
        count=settings.quota_maps,
    )


def _too_many_bytes(settings: Settings) -> Forbidden:
    return Forbidden(
        "megabytes",
        "Your files and the pictures in them can take up at most"
        f" {settings.quota_megabytes} megabytes in all; remove some maps.",
        count=settings.quota_megabytes,
    )
