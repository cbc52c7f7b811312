"""``mapshelf serve``: the service, with all its processes."""

import argparse
import logging
import sys
from importlib.util import find_spec
from pathlib import Path

from mapshelf.cli.argument_types import category_name, listen_address, user_name, whole_number
from mapshelf.cli.backup import INSTEAD
from mapshelf.cli.base_url_option import add_base_url_option, base_url
from mapshelf.cli.catalogue_options import add_catalogue_options, sqlite_database
from mapshelf.cli.rate_limit_option import add_rate_limit_option, rate_limits
from mapshelf.cli.sign_in_options import (
    add_sign_in_options,
    provider_settings,
    proxy_user_settings,
)
from mapshelf.errors import InvalidSetting
from mapshelf.importer.attribution import Attribution
from mapshelf.service.backup_folder import BackupPlan
from mapshelf.service.listening import ListenAddress, resolve_address
from mapshelf.service.process_setup import line_start, set_up_logging
from mapshelf.service.startup import ServeOptions, serve
from mapshelf.service.worker_count import default_workers
from mapshelf.settings import (
    DEFAULT_BACKUPS,
    DEFAULT_HOST,
    DEFAULT_PORT,
    DEFAULT_QUOTA_MAPS,
    DEFAULT_QUOTA_MEGABYTES,
    DEFAULT_UPLOADS_PER_HOUR,
    LogFormat,
    Registration,
    Settings,
    checked_network,
)


def define(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_catalogue_options(parser)
    parser.add_argument(
        "folders",
        metavar="FOLDER",
        nargs="*",
        type=Path,
        help="a folder to import, and to follow while the service runs",
    )
    parser.add_argument(
        "--owner", metavar="NAME", type=user_name, help="owner of the maps in the folders"
    )
    parser.add_argument(
        "--category",
        metavar="NAME",
        type=category_name,
        help="category of the maps in the folders, default the names of their folders",
    )
    parser.add_argument("--host", default=DEFAULT_HOST, help=f"default {DEFAULT_HOST}")
    parser.add_argument(
        "--port", default=DEFAULT_PORT, type=whole_number(65_535), help=f"default {DEFAULT_PORT}"
    )
    parser.add_argument(
        "--workers",
        metavar="N",
        type=whole_number(256),
        default=default_workers(),
        help="processes that answer requests, default one per processor, fewer where there is"
        " less than 400 MB of memory for each",
    )
    add_base_url_option(parser)
    parser.add_argument(
        "--cors-origin",
        metavar="ORIGIN",
        default="*",
        help="origin whose pages may call the API, default any ('*'); '' for none",
    )
    parser.add_argument(
        "--private",
        action="store_true",
        help="show nothing of the catalogue but to those who sign in, or have a token",
    )
    parser.add_argument(
        "--dynamic-registration",
        action="store_true",
        help="let programs register themselves (RFC 7591)",
    )
    parser.add_argument(
        "--registration",
        metavar="WHO",
        choices=[one.value for one in Registration],
        default=Registration.CLOSED,
        help="who may register an account: nobody ('closed', the default), who has an invitation "
        "('invite'), or everybody ('open')",
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
        help="address or network of a proxy that is trusted to say in X-Forwarded-For who asks; "
        "may be repeated",
    )
    add_rate_limit_option(parser)
    add_sign_in_options(parser)
    _add_upload_options(parser)
    _add_backup_options(parser)
    parser.add_argument(
        "--drain",
        metavar="SECONDS",
        type=whole_number(3600),
        default=0,
        help="seconds to go on answering before the end, while /readyz says no; default none",
    )
    _add_watching_options(parser)
    parser.set_defaults(run=_run)


def _add_watching_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--log-format",
        choices=[one.value for one in LogFormat],
        default=LogFormat.TEXT.value,
        help="lines of the log as text for people, or as JSON for programs; default text",
    )
    parser.add_argument(
        "--access-log",
        action="store_true",
        help="write a line for each request to the log, with the address of the client",
    )
    parser.add_argument(
        "--opentelemetry",
        action="store_true",
        help="send a span of each request by OTLP; the package's extra of this name, and"
        " OTEL_ variables, say how",
    )
    parser.add_argument(
        "--metrics",
        metavar="HOST:PORT",
        type=listen_address,
        help="answer GET /metrics for Prometheus at this address, to whoever reaches it;"
        " default nowhere",
    )


def _add_upload_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--uploads",
        choices=("on", "off"),
        default="on",
        help="whether people may upload map files, default on",
    )
    for name, default, what in (
        ("--quota-maps", DEFAULT_QUOTA_MAPS, "uploaded maps that a member may have"),
        ("--quota-megabytes", DEFAULT_QUOTA_MEGABYTES, "megabytes of their files and pictures"),
        ("--uploads-per-hour", DEFAULT_UPLOADS_PER_HOUR, "files that a member may upload an hour"),
    ):
        parser.add_argument(
            name,
            metavar="N",
            type=whole_number(1_000_000_000),
            default=default,
            help=f"{what}, default {default:,}",
        )


def _add_backup_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--backup-dir",
        metavar="DIR",
        type=Path,
        help="back up the catalogue (in SQLite) into this folder every day",
    )
    parser.add_argument(
        "--backup-keep",
        metavar="N",
        type=whole_number(10_000),
        help=f"backups to keep in it, default {DEFAULT_BACKUPS}",
    )


def _backup_plan(given: argparse.Namespace) -> BackupPlan | None:
    if given.backup_dir is None:
        if given.backup_keep is not None:
            raise InvalidSetting("--backup-keep is of backups: name their folder by --backup-dir")
        return None
    sqlite_database(given.database, INSTEAD)
    folder = given.backup_dir.expanduser().absolute()
    if folder.exists() and not folder.is_dir():
        raise InvalidSetting(f"{folder} is not a folder")
    return BackupPlan(folder, given.backup_keep or DEFAULT_BACKUPS)


def _run(given: argparse.Namespace) -> int:
    set_up_logging(LogFormat(given.log_format))
    if (given.owner or given.category) and not given.folders:
        raise InvalidSetting("--owner and --category are of maps in folders: name a FOLDER")
    for folder in given.folders:
        if not folder.is_dir():
            raise InvalidSetting(f"{folder} is not a folder")
    address = resolve_address(given.host, given.port)
    settings = _settings(given, address)
    options = ServeOptions(
        settings,
        address,
        given.workers,
        given.folders,
        given.drain,
        Attribution(given.owner, given.category),
        resolve_address(*given.metrics) if given.metrics else None,
        _backup_plan(given),
    )
    serve(options, lambda: _announce(settings))
    return 0


def _settings(given: argparse.Namespace, address: ListenAddress) -> Settings:
    if not given.cors_origin.isascii() or not given.cors_origin.isprintable():
        raise InvalidSetting("the CORS origin must be like https://example.org")
    return Settings(
        data=given.data,
        database=given.database,
        base_url=base_url(given, address.url),
        cors_origin=given.cors_origin,
        private=given.private,
        registration=Registration(given.registration),
        provider=provider_settings(given),
        proxy_user=proxy_user_settings(given),
        counting=not given.no_counting,
        trusted_proxies=tuple(map(checked_network, given.trusted_proxy)),
        uploads=given.uploads == "on",
        quota_maps=given.quota_maps,
        quota_megabytes=given.quota_megabytes,
        uploads_per_hour=given.uploads_per_hour,
        dynamic_registration=given.dynamic_registration,
        log_format=LogFormat(given.log_format),
        access_log=given.access_log,
        opentelemetry=_with_opentelemetry(given),
        rate_limits=rate_limits(given.rate_limit),
    )


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # what it is a part of is not there
        return False


def _with_opentelemetry(given: argparse.Namespace) -> bool:
    """Tell whether spans are wanted.

    Raises:
        InvalidSetting: they are, and cannot be had.
    """
    if given.opentelemetry and not _is_installed("opentelemetry.sdk"):
        raise InvalidSetting(
            "--opentelemetry needs packages that are not there: install mapshelf[opentelemetry]"
        )
    return bool(given.opentelemetry)


def _announce(settings: Settings) -> None:
    said = f"Mapshelf answers at {settings.base_url}"
    if settings.log_format is LogFormat.JSON:
        logging.getLogger("mapshelf").info(said)
    else:
        print(f"{line_start()}{said}", file=sys.stderr, flush=True)
