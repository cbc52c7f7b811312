"""What the operator decides, gathered once by the command line and passed on from there."""

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlsplit

from mapshelf.errors import InvalidSetting

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8000


@dataclass(frozen=True, slots=True)
class Settings:
    """How this installation runs.

    Attributes:
        data: folder for everything Mapshelf writes.
        database: URL of the store, see ``store.open_store``.
        base_url: where clients reach the service, without a slash at the end.
        cors_origin: origin whose pages may call the API, ``*`` for any, empty for none.
    """

    data: Path
    database: str
    base_url: str
    cors_origin: str = "*"

    @property
    def snapshots(self) -> Path:
        """The folder of the snapshots."""
        return snapshots_folder(self.data)


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen, and with how many processes."""

    host: str
    port: int
    workers: int


def snapshots_folder(data: Path) -> Path:
    """Return the folder of the snapshots in the folder for everything Mapshelf writes."""
    return data / "snapshots"


def sqlite_url(data: Path) -> str:
    """Return the URL of the SQLite database that ``data`` holds unless told otherwise."""
    return "sqlite://" + quote(str(data.absolute() / "catalogue.db"))


def checked_base_url(url: str) -> str:
    """Return ``url`` without a slash at the end.

    Raises:
        InvalidSetting: it is not the absolute http(s) address of a service.
    """
    parts = urlsplit(url)
    plain = url.isascii() and url.isprintable() and not any(c in url for c in ' "<>\\^`{|}')
    if parts.scheme not in ("http", "https") or not parts.netloc or not plain:
        raise InvalidSetting(f"the base URL must be like https://maps.example.org, not {url}")
    if parts.query or parts.fragment:
        raise InvalidSetting(f"the base URL must have no query and no fragment: {url}")
    return url.rstrip("/")
