"""The settings of an installation: created once by the command line, and passed on from there."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from ipaddress import AddressValueError, IPv4Network, IPv6Address, IPv6Network, ip_network
from pathlib import Path
from typing import Final
from urllib.parse import quote

from mapshelf.errors import InvalidSetting

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8000

DEFAULT_BACKUPS: Final = 7
"""Daily backups that are kept."""

DEFAULT_QUOTA_MAPS: Final = 1000
DEFAULT_QUOTA_MEGABYTES: Final = 1024
DEFAULT_UPLOADS_PER_HOUR: Final = 100
"""What a member may upload."""

_BASE_URL: Final = re.compile(
    r"https?://(?:\[(?P<ipv6>[^]]*)\]|[a-z0-9._~-]+)(?::(?P<port>[0-9]{1,5}))?"
    r"(?:/(?:[a-z0-9._~!$&'()*+,;=:@/-]|%[0-9a-f]{2})*)?",
    re.IGNORECASE | re.ASCII,
)
"""A URL of RFC 3986 without user, password, query and fragment."""


class Registration(StrEnum):
    """Who may register an account: nobody, who has an invitation, or everybody."""

    CLOSED = "closed"
    INVITE = "invite"
    OPEN = "open"


class LogFormat(StrEnum):
    """How lines of the log look: for people, or for programs."""

    TEXT = "text"
    JSON = "json"


class Budget(StrEnum):
    """What clients may have budgets of requests for.

    The API is counted by token, or by address where there is no valid one; all else by address.
    """

    API = "api"
    PAGES = "pages"
    PICTURES = "pictures"
    SIGN_IN = "sign-in"


@dataclass(frozen=True, slots=True)
class RateLimit:
    """How many requests a client may send.

    Attributes:
        requests: after a pause, as many at once.
        seconds: within which as many more become possible, one after the other.
    """

    requests: int
    seconds: int


RECOMMENDED_LIMITS: Final[Mapping[Budget, RateLimit]] = {
    Budget.API: RateLimit(6000, 60),
    Budget.PAGES: RateLimit(3000, 60),
    Budget.PICTURES: RateLimit(30_000, 60),
    Budget.SIGN_IN: RateLimit(300, 60),
}
"""Limits that people never meet, not even ten behind one address who each scroll through another
page of sixty pictures every two seconds (18,000 a minute), and that a program meets which asks for
more than a hundred lists a second for a minute."""


@dataclass(frozen=True, slots=True)
class ProviderSettings:
    """An OpenID provider by which people sign in.

    Attributes:
        issuer: its issuer identifier, a URL.
        client_id: what it calls us.
        client_secret: with which we prove that.
        name: what people call it.
        auto_create: whether whom it knows gets an account if nobody here is linked to them.
    """

    issuer: str
    client_id: str
    client_secret: str = field(repr=False)
    name: str
    auto_create: bool = False


@dataclass(frozen=True, slots=True)
class ProxyUserSettings:
    """A header in which a trusted proxy names the user.

    Attributes:
        header: its name, in lower case.
        auto_create: whether a name that is not known gets an account.
    """

    header: bytes
    auto_create: bool = False


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of an installation, and where its files are.

    Attributes:
        data: folder for everything Mapshelf writes.
        database: URL of the store, see ``store.open_store``.
        base_url: where clients reach the service, without a slash at the end.
        cors_origin: origin whose pages may call the API, ``*`` for any, empty for none.
        private: whether the catalogue, its pages, feeds and pictures included, is only shown with a
            token, or to those who have signed in.
        registration: who may register an account.
        provider: the OpenID provider by which people sign in, if there is one.
        proxy_user: the header in which trusted proxies name the user, if they do.
        counting: whether visits to pages are counted.
        trusted_proxies: networks of the proxies that are trusted to name the client's address, and
            the user.
        uploads: whether people may upload map files.
        quota_maps: uploaded maps that a member may have.
        quota_megabytes: megabytes (1024² bytes) that the files of these, with all their versions
            and the pictures in the present ones, may have.
        uploads_per_hour: files that a member may upload within an hour.
        dynamic_registration: whether programs may register themselves.
        log_format: how lines of the log look.
        access_log: whether each request gets a line in the log.
        opentelemetry: whether each request gets a span for OpenTelemetry.
        rate_limits: how many requests a client may send; what is missing has no limit.
    """

    data: Path
    database: str
    base_url: str
    cors_origin: str = "*"
    private: bool = False
    registration: Registration = Registration.CLOSED
    provider: ProviderSettings | None = None
    proxy_user: ProxyUserSettings | None = None
    counting: bool = True
    trusted_proxies: tuple[IPv4Network | IPv6Network, ...] = ()
    uploads: bool = True
    quota_maps: int = DEFAULT_QUOTA_MAPS
    quota_megabytes: int = DEFAULT_QUOTA_MEGABYTES
    uploads_per_hour: int = DEFAULT_UPLOADS_PER_HOUR
    dynamic_registration: bool = False
    log_format: LogFormat = LogFormat.TEXT
    access_log: bool = False
    opentelemetry: bool = False
    rate_limits: Mapping[Budget, RateLimit] = field(default_factory=dict)

    @property
    def lock(self) -> Path:
        """The file that a service locks while it uses the data folder."""
        return lock_file(self.data)

    @property
    def draining(self) -> Path:
        """The file that exists while the service is draining."""
        return self.data / "draining"

    @property
    def tokens_version(self) -> Path:
        """The file in which the workers share the version of the tokens."""
        return self.data / "token-mark"

    @property
    def last_withdrawal(self) -> Path:
        """The file in which the workers share which change withdrew a map last."""
        return self.data / "last-withdrawal"

    @property
    def rates(self) -> Path:
        """The file in which the workers share what clients have used of their rate limits."""
        return self.data / "rates"

    @property
    def snapshots(self) -> Path:
        """The folder of the snapshots."""
        return snapshots_folder(self.data)

    @property
    def thumbnails(self) -> Path:
        """The folder of rendered thumbnails."""
        return self.data / "thumbnails"

    @property
    def exports(self) -> Path:
        """The folder of what people take along of their data, for minutes."""
        return self.data / "exports"

    @property
    def counts(self) -> Path:
        """The folder in which the workers keep what they have counted."""
        return counts_folder(self.data)

    @property
    def documents(self) -> Path:
        """The folder of cached pages and files of large maps."""
        return self.data / "documents"


def lock_file(data: Path) -> Path:
    """Return the file in the data folder that a service locks."""
    return data / "serve.lock"


def snapshots_folder(data: Path) -> Path:
    """Return the folder of the snapshots in the data folder."""
    return data / "snapshots"


def counts_folder(data: Path) -> Path:
    """Return the folder in the data folder in which workers keep what they have counted."""
    return data / "counts"


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
