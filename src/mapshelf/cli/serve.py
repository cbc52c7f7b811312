"""``mapshelf serve``: the service, with everything that belongs to it."""

import argparse
import logging
import os
import socket
import sys
import time
from contextlib import suppress
from functools import partial
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Final

from mapshelf.cli.argument_types import whole_number
from mapshelf.cli.catalogue_options import add_catalogue_options
from mapshelf.errors import InvalidSetting, StoreUnavailable
from mapshelf.service.data_folder import data_folder
from mapshelf.service.descriptors import raise_limit
from mapshelf.service.listening import bound_socket, listen
from mapshelf.service.process import set_up_logging
from mapshelf.service.supervisor import Child, Supervisor
from mapshelf.settings import (
    DEFAULT_HOST,
    DEFAULT_PORT,
    Settings,
    checked_base_url,
    checked_network,
)
from mapshelf.store import open_store

HEAD_START: Final = 3.0
"""Seconds that answering has to itself where there is a snapshot, unless it begins before."""

ANSWER_TIMEOUT: Final = 0.5
"""Seconds to wait for the first answer before looking at everything else again."""

log = logging.getLogger(__name__)


def define(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_catalogue_options(parser)
    parser.add_argument("folders", metavar="FOLDER", nargs="*", type=Path)
    parser.add_argument("--host", default=DEFAULT_HOST, help=f"default {DEFAULT_HOST}")
    parser.add_argument(
        "--port", default=DEFAULT_PORT, type=whole_number(65_535), help=f"default {DEFAULT_PORT}"
    )
    parser.add_argument(
        "--workers",
        metavar="N",
        type=whole_number(256),
        default=os.cpu_count() or 1,
        help="processes that answer, default one for each processor",
    )
    parser.add_argument(
        "--base-url", metavar="URL", help="address under which clients reach the service"
    )
    parser.add_argument(
        "--cors-origin",
        metavar="ORIGIN",
        default="*",
        help="origin whose pages may call the API, default any ('*'); '' for none",
    )
    parser.add_argument(
        "--private",
        action="store_true",
        help="show nothing of the catalogue without a token: no pages, no feeds, no pictures",
    )
    parser.add_argument(
        "--no-counting",
        action="store_true",
        help="count nobody's visits; Views and Downloads stay as they are",
    )
    parser.add_argument(
        "--trusted-proxy",
        metavar="ADDRESS",
        action="append",
        default=[],
        help="address or network of a proxy whose X-Forwarded-For tells who asks; may be repeated",
    )
    parser.add_argument(
        "--drain",
        metavar="SECONDS",
        type=whole_number(3600),
        default=0,
        help="seconds to go on answering, while /readyz says no, before the end; default none",
    )
    parser.set_defaults(run=_run)


def _run(given: argparse.Namespace) -> int:
    set_up_logging()
    for folder in given.folders:
        if not folder.is_dir():
            raise InvalidSetting(f"{folder} is not a folder")
    raise_limit()
    hosts = _resolved(given.host)
    settings = _settings(given, hosts)
    with (
        bound_socket(given.host, hosts, given.port) as listener,
        data_folder(settings),
    ):
        listen(listener)
        _serve(given, settings, listener)
    return 0


def _serve(given: argparse.Namespace, settings: Settings, listener: socket.socket) -> None:
    """Run the processes of the service until it is asked to end."""
    beginning = _Beginning(settings, listener)
    children = [
        Child("builder", "mapshelf.service.building:build", (settings,), due=beginning.later),
        Child("web", "mapshelf.service.web:answer", (settings, listener, given.workers)),
    ]
    if given.folders:
        run = "mapshelf.service.folders:follow_folders"
        children.append(Child("importer", run, (settings, given.folders), due=beginning.later))
    settings.draining.unlink(missing_ok=True)
    try:
        # Whoever tries to connect while all ends is refused, instead of waiting for nobody.
        supervisor = Supervisor(
            children, given.drain, partial(_tell_draining, settings), listener.close
        )
        supervisor.run(beginning.look)
    finally:
        with suppress(OSError):
            settings.draining.unlink(missing_ok=True)


def _tell_draining(settings: Settings) -> None:
    """Let the workers know that the service is about to end."""
    try:
        settings.draining.touch()
    except OSError as error:
        log.error("/readyz cannot say that this node is ending: %s", error)


class _Beginning:
    """What is seen to while the service starts, and whether there is a snapshot to answer from.

    The store is opened once here, so that what is wrong with it is said once. Where there is a
    snapshot, that is done, and builder and importer started, once the service answers: it does so
    without any, and starting all at once would make whoever waits for answers wait longer.
    """

    def __init__(self, settings: Settings, listener: socket.socket) -> None:
        self._settings = settings
        self._address: tuple[str, int] = listener.getsockname()[:2]
        self._answers = self._checked = False
        self.later = time.monotonic()
        if settings.has_snapshot:
            self.later += HEAD_START
        else:
            self._check()

    def look(self) -> bool:
        """Tell whether the service has begun."""
        self._answers = self._answers or _announce(self._settings, self._address)
        if not self._checked and (self._answers or time.monotonic() > self.later):
            self._check()
        return self._answers

    def _check(self) -> None:
        """Open the store.

        Raises:
            StoreUnavailable: it is away, and there is no snapshot to answer from meanwhile.
        """
        self._checked = True
        try:
            open_store(self._settings.database).close()
        except StoreUnavailable as error:
            if not self._settings.has_snapshot:
                raise
            log.warning("the store is away, the snapshot is there: %s", error)


def _settings(given: argparse.Namespace, hosts: list[str]) -> Settings:
    host = f"[{given.host}]" if ":" in given.host else given.host
    everywhere = hosts[0] in ("0.0.0.0", "::")  # noqa: S104 - compared, not bound
    default = f"http://{'localhost' if everywhere else host}:{given.port}"
    base_url = given.base_url or os.environ.get("MAPSHELF_BASE_URL") or default
    if not given.cors_origin.isascii() or not given.cors_origin.isprintable():
        raise InvalidSetting("the CORS origin must be like https://example.org")
    base_url = checked_base_url(base_url)
    return Settings(
        data=given.data,
        database=given.database,
        base_url=base_url,
        cors_origin=given.cors_origin,
        private=given.private,
        counting=not given.no_counting,
        trusted_proxies=tuple(map(checked_network, given.trusted_proxy)),
    )


def _resolved(host: str) -> list[str]:
    """Return the IP addresses of a host, those of IPv4 first, since everything reaches them.

    Raises:
        InvalidSetting: it has none.
    """
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise InvalidSetting(f"{host!r} is not a host to listen on: {error}") from error
    if any(len(address) == 4 and address[3] for *_, address in found):
        raise InvalidSetting(f"{host!r} has a zone, which cannot be listened on")
    found.sort(key=lambda one: one[0] != socket.AF_INET)
    return [str(address[0]) for *_, address in found]


def _announce(settings: Settings, address: tuple[str, int]) -> bool:
    """Say that the service answers, once it does."""
    everywhere = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - compared, not bound
    host, port = address
    connection = HTTPConnection(everywhere.get(host, host), port, timeout=ANSWER_TIMEOUT)
    try:
        connection.request("GET", "/openapi.json")
        answers = connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()
    if answers:
        print(f"Mapshelf answers at {settings.base_url}", file=sys.stderr, flush=True)
    return answers
