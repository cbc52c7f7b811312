"""``mapshelf serve``: the service, with all its processes."""

import argparse
import os
import sys
from pathlib import Path

from mapshelf.cli.argument_types import whole_number
from mapshelf.cli.catalogue_options import add_catalogue_options
from mapshelf.errors import InvalidSetting
from mapshelf.service.listening import ListenAddress, resolve_address
from mapshelf.service.process_setup import set_up_logging
from mapshelf.service.startup import ServeOptions, serve
from mapshelf.settings import (
    DEFAULT_HOST,
    DEFAULT_PORT,
    Settings,
    checked_base_url,
    checked_network,
)


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
        help="processes that answer requests, default one per processor",
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
        help="show nothing of the catalogue without a token: no pages, feeds or pictures",
    )
    parser.add_argument(
        "--no-counting",
        action="store_true",
        help="do not count visits; Views and Downloads stay as they are",
    )
    parser.add_argument(
        "--trusted-proxy",
        metavar="ADDRESS",
        action="append",
        default=[],
        help="address or network of a proxy whose X-Forwarded-For is trusted; may be repeated",
    )
    parser.add_argument(
        "--drain",
        metavar="SECONDS",
        type=whole_number(3600),
        default=0,
        help="seconds to go on answering before the end, while /readyz says no; default none",
    )
    parser.set_defaults(run=_run)


def _run(given: argparse.Namespace) -> int:
    set_up_logging()
    for folder in given.folders:
        if not folder.is_dir():
            raise InvalidSetting(f"{folder} is not a folder")
    address = resolve_address(given.host, given.port)
    settings = _settings(given, address)
    options = ServeOptions(settings, address, given.workers, given.folders, given.drain)
    serve(options, lambda: _announce(settings))
    return 0


def _settings(given: argparse.Namespace, address: ListenAddress) -> Settings:
    base_url = given.base_url or os.environ.get("MAPSHELF_BASE_URL") or address.url
    if not given.cors_origin.isascii() or not given.cors_origin.isprintable():
        raise InvalidSetting("the CORS origin must be like https://example.org")
    return Settings(
        data=given.data,
        database=given.database,
        base_url=checked_base_url(base_url),
        cors_origin=given.cors_origin,
        private=given.private,
        counting=not given.no_counting,
        trusted_proxies=tuple(map(checked_network, given.trusted_proxy)),
    )


def _announce(settings: Settings) -> None:
    print(f"Mapshelf answers at {settings.base_url}", file=sys.stderr, flush=True)
