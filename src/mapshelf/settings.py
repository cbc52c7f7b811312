"""The settings of an installation, created once by the command line and passed on explicitly."""

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
"""Number of daily backups to retain."""

DEFAULT_QUOTA_MAPS: Final = 1000
DEFAULT_QUOTA_MEGABYTES: Final = 1024
DEFAULT_UPLOADS_PER_HOUR: Final = 100
"""Default upload quotas of a member."""

_BASE_URL: Final = re.compile(
    r"https?://(?:\[(?P<ipv6>[^]]*)\]|[a-z0-9._~-]+)(?::(?P<port>[0-9]{1,5}))?"
    r"(?:/(?:[a-z0-9._~!$&'()*+,;=:@/-]|%[0-9a-f]{2})*)?",
    re.IGNORECASE | re.ASCII,
)
"""A URL (RFC 3986) without user, password, query and fragment."""

_PLAIN_USER: Final = re.compile("[A-Za-z0-9._%+-]*")
_PLAIN_HOST: Final = re.compile(r"(\[[0-9A-Fa-f:.%]*\]|[A-Za-z0-9._%-]*)(:[0-9]*)?")
_HARMLESS: Final = (
    *("host", "hostaddr", "port", "dbname", "user", "service", "sslmode", "sslrootcert"),
    *("application_name", "connect_timeout", "target_session_attrs"),
)
"""Parts of a database URL that contain no password: a user name, a host with its port, and the
names of parameters."""


class Registration(StrEnum):
    """Who may register an account: nobody, people with an invitation, or everybody."""

    CLOSED = "closed"
    INVITE = "invite"
    OPEN = "open"


class LogFormat(StrEnum):
    """The format of log lines: for people or for programs."""

    TEXT = "text"
    JSON = "json"


class Budget(StrEnum):
    """The kinds of requests that have separate rate limits.

    API requests are counted by token, or by address if there is no valid token; all others are
    counted by address.
    """

    API = "api"
    PAGES = "pages"
    PICTURES = "pictures"
    SIGN_IN = "sign-in"


@dataclass(frozen=True, slots=True)
class RateLimit:
    """How many requests a client may send (a token bucket).

    Attributes:
        requests: the burst that is possible after a pause.
        seconds: the time in which the bucket refills.
    """

    requests: int
    seconds: int


RECOMMENDED_LIMITS: Final[Mapping[Budget, RateLimit]] = {
    Budget.API: RateLimit(6000, 60),
    Budget.PAGES: RateLimit(3000, 60),
    Budget.PICTURES: RateLimit(30_000, 60),
    Budget.SIGN_IN: RateLimit(300, 60),
}
"""Limits that people never reach, even ten behind one address who each open another page of sixty
pictures every two seconds (18,000 a minute). A program reaches them if it requests more than a
hundred lists a second for a minute."""


@dataclass(frozen=True, slots=True)
class ProviderSettings:
    """An OpenID provider that people can sign in with.

    Attributes:
        issuer: its issuer identifier, a URL.
        client_id: our client id.
        client_secret: our client secret.
        name: its name, as shown to people.
        auto_create: whether to create an account for a user who has none here.
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
        auto_create: whether to create an account for an unknown name.
    """

    header: bytes
    auto_create: bool = False


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of an installation, and where its files are.

    Attributes:
        data: folder for everything Mapshelf writes.
        database: URL of the store, see ``store.open_store``.
        base_url: the public address of the service, without a slash at the end.
        cors_origin: origin whose pages may call the API, ``*`` for any, empty for none.
        private: whether the whole catalogue, including pages, feeds and pictures, requires a token
            or signing in.
        registration: who may register an account.
        provider: the OpenID provider that people can sign in with, if any.
        proxy_user: the header in which trusted proxies name the user, if any.
        counting: whether to count page views.
        trusted_proxies: networks of the proxies that are trusted to name the client's address, and
            the user.
        uploads: whether people may upload map files.
        quota_maps: maximum uploaded maps of a member.
        quota_megabytes: maximum megabytes (1024² bytes) of a member's files, including all versions
            and the pictures in the current ones.
        uploads_per_hour: maximum uploads of a member within an hour.
        dynamic_registration: whether programs may register themselves.
        log_format: the format of log lines.
        access_log: whether to log each request.
        opentelemetry: whether to record an OpenTelemetry span for each request.
        rate_limits: how many requests a client may send; kinds that are missing have no limit.
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
        """The file in which the workers share the version of the tokens; its old name is kept."""
        return self.data / "token-mark"

    @property
    def last_withdrawal(self) -> Path:
        """The file in which the workers share the last change that withdrew a map."""
        return self.data / "last-withdrawal"

    @property
    def rates(self) -> Path:
        """The file in which the workers share the rate limit usage of clients."""
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
        """The folder of users' data exports, which last for minutes."""
        return self.data / "exports"

    @property
    def counts(self) -> Path:
        """The folder of the workers' counters."""
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
    """Return the folder of the workers' counters in the data folder."""
    return data / "counts"


def sqlite_url(data: Path) -> str:
    """Return the URL of the default database: SQLite in the data folder."""
    return "sqlite://" + quote(os.fsencode(data.absolute() / "catalogue.db"))


def without_password(url: str) -> str:
    """Return the URL of a database, shortened so that it shows no password.

    A password may contain what ends it in other URLs, and libpq accepts some of it. So this shows
    only what cannot be one: of the part before the last @ a plain user name, hosts, ports and the
    database, and harmless parameters. Of a text that is no URL it shows nothing, and of one with a
    question mark before the last @ only the scheme, because either may belong to a password.
    """
    scheme, separator, rest = url.partition("://")
    if url.startswith("sqlite:///"):
        return url
    if not separator or not scheme.isalpha():
        return "..."
    user, at, rest = rest.rpartition("@")
    if "?" in user:
        return f"{scheme}://..."
    user = user.partition(":")[0]
    beginning = f"{scheme}://{user if _PLAIN_USER.fullmatch(user) else '...'}{at}"
    place, question_mark, query = rest.partition("?")
    if not all(map(_PLAIN_HOST.fullmatch, place.partition("/")[0].split(","))):
        return f"{beginning}..."
    shown = (
        one if not one or one.partition("=")[0] in _HARMLESS else "..." for one in query.split("&")
    )
    return f"{beginning}{place}{question_mark}{'&'.join(shown)}"


def checked_network(text: str) -> IPv4Network | IPv6Network:
    """Return ``text`` as a network; a single address is accepted, too.

    Raises:
        InvalidSetting: it is neither a network nor an address.
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
