"""The settings of an installation: created once by the command line, and passed on from there."""

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

_BASE_URL: Final = re.compile(
    r"https?://(?:\[(?P<ipv6>[^]]*)\]|[a-z0-9._~-]+)(?::(?P<port>[0-9]{1,5}))?"
    r"(?:/(?:[a-z0-9._~!$&'()*+,;=:@/-]|%[0-9a-f]{2})*)?",
    re.IGNORECASE | re.ASCII,
)
"""A URL of RFC 3986 without user, password, query and fragment."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of an installation, and where its files are.

    Attributes:
        data: folder for everything Mapshelf writes.
        database: URL of the store, see ``store.open_store``.
        base_url: where clients reach the service, without a slash at the end.
        cors_origin: origin whose pages may call the API, ``*`` for any, empty for none.
        private: whether the catalogue, its pages, feeds and pictures included, is only shown with a
            token.
        counting: whether visits to pages are counted.
        trusted_proxies: networks of the proxies that are trusted to name the client's address.
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
        """The file that a service locks while it uses the data folder."""
        return self.data / "serve.lock"

    @property
    def draining(self) -> Path:
        """The file that exists while the service is draining."""
        return self.data / "draining"

    @property
    def tokens_version(self) -> Path:
        """The file in which the workers share the version of the tokens."""
        return self.data / "token-mark"

    @property
    def snapshots(self) -> Path:
        """The folder of the snapshots."""
        return snapshots_folder(self.data)

    @property
    def thumbnails(self) -> Path:
        """The folder of rendered thumbnails."""
        return self.data / "thumbnails"

    @property
    def documents(self) -> Path:
        """The folder of cached pages and files of large maps."""
        return self.data / "documents"


def snapshots_folder(data: Path) -> Path:
    """Return the folder of the snapshots in the data folder."""
    return data / "snapshots"


def sqlite_url(data: Path) -> str:
    """Return the URL of the default database: SQLite in the data folder."""
    return "sqlite://" + quote(os.fsencode(data.absolute() / "catalogue.db"))


def without_password(url: str) -> str:
    """Return the URL of a database without its password."""
    url = re.sub(r"(?<=//)([^/?#@:]*):[^/?#]*@", r"\1@", url)
    return re.sub(r"([?&](?:ssl)?password=)[^&]*", r"\1...", url)


def checked_network(text: str) -> IPv4Network | IPv6Network:
    """Return ``text`` as a network; a single address is one, too.

    Raises:
        InvalidSetting: it is neither.
    """
    try:
        return ip_network(text.strip())
    except ValueError as error:
        raise InvalidSetting(
            f"a trusted proxy must be an address or a network like 10.0.0.0/8, not {text!r}"
        ) from error


def checked_base_url(url: str) -> str:
    """Return a base URL without a slash at the end.

    Raises:
        InvalidSetting: it is not an absolute HTTP(S) URL.
    """
    found = _BASE_URL.fullmatch(url)
    if not found:
        raise InvalidSetting(f"the base URL must be like https://maps.example.org, not {url!r}")
    if found["port"] and not 0 < int(found["port"]) < 2**16:
        raise InvalidSetting(f"the base URL has an invalid port: {url!r}")
    if found["ipv6"] is not None:
        try:
            IPv6Address(found["ipv6"])
        except AddressValueError as error:
            raise InvalidSetting(f"the base URL has an invalid IPv6 address: {url!r}") from error
    return url.rstrip("/")
