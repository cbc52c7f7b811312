"""``mapshelf serve``: the service, with all its processes."""

import argparse
import logging
import re
import sys
from contextlib import suppress
from importlib.util import find_spec
from typing import Final

from mapshelf.cli.argument_types import listen_address, named_path, whole_number
from mapshelf.cli.attribution_options import add_attribution_options, attribution_of
from mapshelf.cli.base_url_option import add_base_url_option, base_url
from mapshelf.cli.catalogue_options import DUMP, add_catalogue_options, sqlite_database
from mapshelf.cli.home_folders import expanded
from mapshelf.cli.rate_limit_option import add_rate_limit_option, rate_limits
from mapshelf.cli.sign_in_options import (
    add_sign_in_options,
    provider_settings,
    proxy_user_settings,
)
from mapshelf.errors import InvalidSetting
from mapshelf.importer.attribution import Attribution
from mapshelf.service.backup_plan import BackupPlan
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

_ORIGIN: Final = re.compile(r"[a-z][a-z0-9+.-]*://[a-z0-9._:\[\]-]+")
"""An origin as browsers send it. Browser extensions have schemes of their own."""


def define(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_catalogue_options(parser)
    parser.add_argument(
        "folders",
        metavar="FOLDER",
        nargs="*",
        type=named_path,
        help="a folder to import and keep in sync while serving",
    )
    add_attribution_options(parser)
    parser.add_argument("--host", default=DEFAULT_HOST, help=f"default: {DEFAULT_HOST}")
    parser.add_argument(
        "--port", default=DEFAULT_PORT, type=whole_number(65_535), help=f"default: {DEFAULT_PORT}"
    )
    parser.add_argument(
        "--workers",
        metavar="N",
        type=whole_number(256),
        default=default_workers(),
        help="worker processes; default: one per processor, if each can have 400 MB of memory and"
        " 128 threads and processes",
    )
    add_base_url_option(parser)
    parser.add_argument(
        "--cors-origin",
        metavar="ORIGIN",
        default="*",
        help="origin whose pages may call the API (CORS); default: any ('*'); '' for none",
    )
    parser.add_argument(
        "--private",
        action="store_true",
        help="require signing in or a token for everything",
    )
    parser.add_argument(
        "--dynamic-registration",
        action="store_true",
        help="let OAuth programs register themselves (RFC 7591)",
    )
    parser.add_argument(
        "--registration",
        metavar="WHO",
        choices=[one.value for one in Registration],
        default=Registration.CLOSED,
        help="who may create an account: nobody ('closed', the default), people with an "
        "invitation ('invite'), or anyone ('open')",
    )
    parser.add_argument(
        "--no-counting",
        action="store_true",
        help="do not count views and downloads",
    )
    parser.add_argument(
        "--trusted-proxy",
        metavar="ADDRESS",
        action="append",
        default=[],
        help="address or network of a proxy whose X-Forwarded-For is trusted; may be repeated",
    )
    add_rate_limit_option(parser)
    add_sign_in_options(parser)
    _add_upload_options(parser)
    _add_backup_options(parser)
    parser.add_argument(
        "--drain",
        metavar="SECONDS",
        type=whole_number(3600, least=0),
        default=0,
        help="seconds to keep answering before stopping, while /readyz is 'not ready'; default: 0",
    )
    _add_watching_options(parser)
    parser.set_defaults(run=_run)


def _add_watching_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--log-format",
        choices=[one.value for one in LogFormat],
        default=LogFormat.TEXT.value,
        help="format of the log; default: text",
    )
    parser.add_argument(
        "--access-log",
        action="store_true",
        help="log each request with the client's address",
    )
    parser.add_argument(
        "--opentelemetry",
        action="store_true",
        help="send a span for each request to an OpenTelemetry collector; needs the extra "
        "'opentelemetry', and is configured by OTEL_ variables",
    )
    parser.add_argument(
        "--metrics",
        metavar="HOST:PORT",
        type=listen_address,
        help="answer GET /metrics for Prometheus at this address, without a token; default: off",
    )


def _add_upload_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--uploads",
        choices=("on", "off"),
        default="on",
        help="whether users may upload map files; default: on",
    )
    for name, default, what in (
        ("--quota-maps", DEFAULT_QUOTA_MAPS, "uploaded maps per member"),
        (
            "--quota-megabytes",
            DEFAULT_QUOTA_MEGABYTES,
            "megabytes of files and pictures per member",
        ),
        ("--uploads-per-hour", DEFAULT_UPLOADS_PER_HOUR, "uploads per member and hour"),
    ):
        parser.add_argument(
            name,
            metavar="N",
            type=whole_number(1_000_000_000),
            default=default,
            help=f"{what}; default: {default:,}",
        )


def _add_backup_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--backup-dir",
        metavar="DIR",
        type=named_path,
        help="back up the catalogue to this folder every day (SQLite only)",
    )
    parser.add_argument(
        "--backup-keep",
        metavar="N",
        type=whole_number(10_000),
        help=f"backups to keep; default: {DEFAULT_BACKUPS}",
    )


def _backup_plan(given: argparse.Namespace) -> BackupPlan | None:
    if given.backup_dir is None:
        if given.backup_keep is not None:
            raise InvalidSetting("--backup-keep needs --backup-dir")
        return None
    sqlite_database(given.database, DUMP)
    folder = expanded(given.backup_dir).absolute()
    if folder.exists() and not folder.is_dir():
        raise InvalidSetting(f"{folder} is not a folder")
    return BackupPlan(folder, given.backup_keep or DEFAULT_BACKUPS)


def _run(given: argparse.Namespace) -> int:
    set_up_logging(LogFormat(given.log_format))
    options = checked_options(given)
    serve(options, lambda: _announce(options.settings))
    return 0


def checked_options(given: argparse.Namespace) -> ServeOptions:
    """Return the options of the service.

    Raises:
        InvalidSetting: one is wrong, or does not go with another.
    """
    attribution = attribution_of(given)
    if attribution != Attribution() and not given.folders:
        raise InvalidSetting("--owner, --category and --visibility need a FOLDER")
    for folder in given.folders:
        if not folder.is_dir():
            raise InvalidSetting(f"{folder} is not a folder")
    address = resolve_address(given.host, given.port)
    return ServeOptions(
        _settings(given, address),
        address,
        given.workers,
        given.folders,
        given.drain,
        attribution,
        resolve_address(*given.metrics) if given.metrics else None,
        _backup_plan(given),
    )


def _settings(given: argparse.Namespace, address: ListenAddress) -> Settings:
    if given.cors_origin not in ("*", "") and not _ORIGIN.fullmatch(given.cors_origin):
        raise InvalidSetting(
            "the CORS origin must be like https://example.org (lower case, no path), not"
            f" {given.cors_origin!r}"
        )
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
    except ModuleNotFoundError:  # its parent package is missing
        return False


def _with_opentelemetry(given: argparse.Namespace) -> bool:
    """Return whether to send spans.

    Raises:
        InvalidSetting: they are requested, but the packages for them are not installed.
    """
    if given.opentelemetry and not _is_installed("opentelemetry.sdk"):
        raise InvalidSetting(
            "--opentelemetry needs more packages: install Mapshelf again, with its extra"
            " 'opentelemetry' (docs/operating.md, Traces)"
        )
    return bool(given.opentelemetry)


def _announce(settings: Settings) -> None:
    said = f"Mapshelf answers at {settings.base_url}"
    if settings.log_format is LogFormat.JSON:
        logging.getLogger("mapshelf").info(said)
        return
    with suppress(OSError):  # a full disk, where the log is, must not end the service
        print(f"{line_start()}{said}", file=sys.stderr, flush=True)
