"""Upload quotas of members. Administrators have no quotas.

They are checked twice: before a file is parsed, which is slow, and in the transaction that stores
it. So concurrent uploads cannot exceed them.

Removed maps are stored for 30 days, and count too, or repeated uploads and removals would fill the
disk: together with existing maps, they may reach twice the quotas.
"""

from typing import Final

from mapshelf.errors import Forbidden, TooManyUploads
from mapshelf.model import HOUR, Usage
from mapshelf.plurals import noun
from mapshelf.readers.parsing.limits import MIB
from mapshelf.settings import Settings

WITH_REMOVED: Final = 2
"""Removed and existing maps together may reach this multiple of the quotas."""


def check_quotas(settings: Settings, usage: Usage, size: int, now: int, *, new: bool) -> None:
    """Check that a member may upload a file.

    Args:
        settings: the quotas.
        usage: the member's current usage.
        size: the size of the file in bytes, including its pictures as far as they are known.
        now: milliseconds since 1970-01-01 UTC.
        new: whether the file is a new map.

    Raises:
        Forbidden: the upload would exceed the quota of maps or bytes.
        TooManyUploads: the member reached the hourly limit on uploads.
    """
    if usage.recent >= settings.uploads_per_hour:
        first = now if usage.first is None else usage.first
        raise TooManyUploads(max(1, -((now - HOUR - first) // 1000)))
    if new and usage.maps >= settings.quota_maps:
        raise _too_many_maps(settings)
    most = settings.quota_megabytes * MIB
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
    """Check that a member may restore a removed map, which ``usage`` includes.

    Raises:
        Forbidden: the member would exceed the quota of maps or bytes.
    """
    if usage.maps > settings.quota_maps:
        raise _too_many_maps(settings)
    if usage.size > settings.quota_megabytes * MIB:
        raise _too_many_bytes(settings)


def check_uploads(settings: Settings) -> None:
    """Check that uploads are enabled.

    Raises:
        Forbidden: they are disabled.
    """
    if not settings.uploads:
        raise Forbidden("uploads", "Files cannot be uploaded to this catalogue.")


def _too_many_maps(settings: Settings) -> Forbidden:
    return Forbidden(
        "maps",
        f"You have {settings.quota_maps} uploaded {noun(settings.quota_maps, 'map')},"
        " which is as many as you may have; remove some.",
        count=settings.quota_maps,
    )


def _too_many_bytes(settings: Settings) -> Forbidden:
    return Forbidden(
        "megabytes",
        "Your files and the pictures in them can take up at most"
        f" {settings.quota_megabytes} {noun(settings.quota_megabytes, 'megabyte')} in all;"
        " remove some maps.",
        count=settings.quota_megabytes,
    )
