"""The option for the public URL of the service, for commands that print addresses."""

import argparse
import os
from typing import Final

from mapshelf.settings import DEFAULT_HOST, DEFAULT_PORT, checked_base_url

DEFAULT_BASE_URL: Final = f"http://{DEFAULT_HOST}:{DEFAULT_PORT}"
"""The address of ``mapshelf serve`` without options."""


def add_base_url_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--base-url``."""
    parser.add_argument(
        "--base-url",
        metavar="URL",
        help="public URL of the service (or MAPSHELF_BASE_URL)",
    )


def base_url(given: argparse.Namespace, default: str = DEFAULT_BASE_URL) -> str:
    """Return the base URL, without a slash at the end; the option overrides the environment.

    Raises:
        InvalidSetting: it is not an absolute HTTP(S) URL.
    """
    return checked_base_url(given.base_url or os.environ.get("MAPSHELF_BASE_URL") or default)
