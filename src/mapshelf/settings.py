"""What the operator decides, gathered once by the command line and passed on from there."""

import os
import re
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Network, IPv6Address, IPv6Network, ip_network
from pathlib import Path
from typing import Final
from urllib.parse import quote

from mapshelf.errors import InvalidSetting

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8000

CURRENT: Final = "current"
"""The file in the folder of the snapshots that names the one to read."""

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
        counting: whether visits to pages are counted.
        trusted_proxies: networks of the proxies whose word is taken on where a request comes from.
    """

    data: Path
    database: str
    base_url: str
    cors_origin: str = "*"
    private: bool = False
    counting: bool = True
    trusted_proxies: tuple[IPv4Network | IPv6Network, ...] = ()

    @property
    def lock(self) -> Path:
        """The file that tells that a service uses the data folder, by a lock on it."""
        return self.data / "serve.lock"

    @property
    def draining(self) -> Path:
        """The file that is there while this installation is about to end."""
        return self.data / "draining"

    @property
    def tokens_version(self) -> Path:
        """The file in which the workers share the version of the tokens that they know."""
        return self.data / "token-mark"

    @property
    def snapshots(self) -> Path:
        """The folder of the snapshots."""
        return snapshots_folder(self.data)

    @property
    def has_snapshot(self) -> bool:
        """Whether a snapshot was published before, by the file that names it."""
        return (self.snapshots / CURRENT).exists()

    @property
    def thumbnails(self) -> Path:
        """The folder of the pictures that have been made."""
        return self.data / "thumbnails"

    @property
    def documents(self) -> Path:
        """The folder of the pages and files of large maps that have been made."""
        return self.data / "documents"


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


def checked_network(text: str) -> IPv4Network | IPv6Network:
    """Return the network, or the single address, that ``text`` names.

    Raises:
        InvalidSetting: it names none.
    """
    try:
        return ip_network(text.strip())
    except ValueError as error:
        raise InvalidSetting(
            f"a trusted proxy must be an address or a network like 10.0.0.0/8, not {text!r}"
        ) from error


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
