"""``mapshelf config``: the settings that ``serve`` would use, and where each comes from."""

import argparse
import os
from typing import Final

from mapshelf.cli import serve
from mapshelf.cli.base_url_option import base_url
from mapshelf.cli.config_file import VARIABLE, VARIABLES
from mapshelf.cli.sign_in_options import SECRET, proxy_user_settings
from mapshelf.cli.table_output import print_row
from mapshelf.settings import DEFAULT_BACKUPS, without_password

NO_SETTINGS: Final = {"run", "version", "command_line", "variables", "config_file", "config"}


def define(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command: those of ``serve``."""
    serve.define(parser)
    parser.set_defaults(run=_run)


def _run(given: argparse.Namespace) -> int:
    """Print a line for each setting: its name, its value, and where it comes from.

    Raises:
        InvalidSetting: the base URL or the signing in by a proxy is set in a way that ``serve``
            refuses.
    """
    names = sorted(set(vars(given)) - NO_SETTINGS)
    # With ``None`` as the default of all options, only those on the command line have a value.
    own = argparse.ArgumentParser()
    serve.define(own)
    own.set_defaults(**dict.fromkeys(names))
    options = own.parse_args(given.command_line)
    proxy_user_settings(given)  # serve would refuse them
    if given.base_url is None and os.environ.get(VARIABLES["base-url"]):
        given.base_url = base_url(given)
    if given.backup_dir and given.backup_keep is None:
        given.backup_keep = DEFAULT_BACKUPS
    if given.config_file.path:
        print_row("config", given.config_file.path, "option" if options.config else VARIABLE)
    for name in names:
        value = getattr(given, name)
        key = name.replace("_", "-")
        print_row(key, _shown(key, value), _origin(_decisive(key, options), given, options))
    if os.environ.get(SECRET):
        print_row("oidc-client-secret", "(not shown)", SECRET)
    return 0


def _decisive(key: str, options: argparse.Namespace) -> str:
    """Return the setting that decides about a setting: the database may follow from the folder."""
    if key != "database" or options.database is not None:
        return key
    by_folder = options.data is not None or not os.environ.get(VARIABLES["database"])
    return "data" if by_folder else key


def _origin(key: str, given: argparse.Namespace, options: argparse.Namespace) -> str:
    """Return where a setting comes from; ``options`` are those on the command line."""
    if getattr(options, key.replace("-", "_")) not in (None, []):
        return "option"
    if VARIABLES.get(key) in given.variables:
        return VARIABLES[key]
    return "file" if key in given.config_file.values else "default"


def _shown(key: str, value: object) -> object:
    """Return a value as it is written on the command line, without passwords."""
    if key == "database":
        return without_password(str(value))
    if key == "metrics" and isinstance(value, tuple):
        host, port = value
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    if isinstance(value, bool):
        return "true" if value else "false"
    return ", ".join(map(str, value)) if isinstance(value, list) else value
