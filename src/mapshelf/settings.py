"""What the operator decides, gathered once by the command line and passed on from there."""

import os
import re
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv6Address
from pathlib import Path
from typing import Final
from urllib.parse import quote

from mapshelf.errors import InvalidSetting

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8000

_BASE_URL: Final = re.compile(
    r"https?://(?:\[(?P<ipv6>[^]]*)\]|[a-z0-9._~-]+)(?::(?P<port>[0-9]{1,5}))?"
    r"(?:/(?:[a-z0-9._~!$&'()*+,;=:@/-]|%[0-9a-f]{2})*)?",
    re.IGNORECASE | re.ASCII,
)
"""RFC 3986, without users, passwords, queries and fragments."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How this installation runs.

    Attributes:
        data: folder for everything Mapshelf writes.
        database: URL of the store, see ``store.open_store``.
        base_url: where clients reach the service, without a slash at the end.
        cors_origin: origin whose pages may call the API, ``*`` for any, empty for none.
        private: whether nothing of the catalogue is shown without a token: neither pages nor feeds
            nor pictures.
    """

    data: Path
    database: str
    base_url: str
    cors_origin: str = "*"
    private: bool = False

    @property
    def draining(self) -> Path:
        """The file that is there while this installation is about to end."""
        return self.data / "draining"

    @property
    def snapshots(self) -> Path:
        """The folder of the snapshots."""
        return snapshots_folder(self.data)

    @property
    def thumbnails(self) -> Path:
        """The folder of the pictures that have been made."""
        return self.data / "thumbnails"


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen (``host`` is an IP address), and with how many processes."""

    host: str
    port: int
    workers: int


def snapshots_folder(data: Path) -> Path:
    """Return the folder of the snapshots in the folder for everything Mapshelf writes."""
    return data / "snapshots"


def sqlite_url(data: Path) -> str:
    """Return the URL of the SQLite database that ``data`` holds unless told otherwise."""
    return "sqlite://" + quote(os.fsencode(data.absolute() / "catalogue.db"))


def without_password(url: str) -> str:
    """Return the URL of a database as it may be shown."""
    url = re.sub(r"(?<=//)([^/?#@:]*):[^/?#]*@", r"\1@", url)
    return re.sub(r"([?&](?:ssl)?password=)[^&]*", r"\1...", url)


def checked_base_url(url: str) -> str:
    """Return ``url`` without a slash at the end.

    Raises:
        InvalidSetting: it is not the absolute http(s) address of a service.
    """
    found = _BASE_URL.fullmatch(url)
    if not found:
        raise InvalidSetting(f"the base URL must be like https://maps.example.org, not {url!r}")
    if found["port"] and not 0 < int(found["port"]) < 2**16:
        raise InvalidSetting(f"the base URL has a port that is none: {url!r}")
    if found["ipv6"] is not None:
        try:
            IPv6Address(found["ipv6"])
        except AddressValueError as error:
            raise InvalidSetting(f"the base URL has an address that is none: {url!r}") from error
    return url.rstrip("/")
