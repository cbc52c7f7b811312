"""Types of command-line arguments: functions that check a text and convert it, for argparse."""

import argparse
from collections.abc import Callable
from pathlib import Path

from mapshelf.model import is_user_name


def user_name(text: str) -> str:
    """Accept a username."""
    if not is_user_name(text):
        raise argparse.ArgumentTypeError(
            "a username must be one printable line without spaces around it"
        )
    return text


def category_name(text: str) -> str:
    """Accept the name of a category, and remove spaces around it."""
    if not text.strip() or not text.isprintable():
        raise argparse.ArgumentTypeError("a category must be one printable line")
    return text.strip()


def one_line(text: str) -> str:
    """Accept a text that is one printable line, so that it fits into a table."""
    if not text.isprintable():
        raise argparse.ArgumentTypeError("must be one printable line")
    return text


def named_path(text: str) -> Path:
    """Accept a path that is not empty: an empty one would be the current folder."""
    if not text:
        raise argparse.ArgumentTypeError("the path is empty")
    return Path(text)


def whole_number(most: int, least: int = 1) -> Callable[[str], int]:
    """Return an argument type for whole numbers from ``least``, not negative, to ``most``."""

    def parse(text: str) -> int:
        digits = text.isascii() and text.isdigit() and len(text) <= len(str(most))
        if not (digits and least <= int(text) <= most):
            raise argparse.ArgumentTypeError(
                f"must be a number from {least} to {most}, not {text!r}"
            )
        return int(text)

    return parse


def listen_address(text: str) -> tuple[str, int]:
    """Accept an address to listen on, such as ``127.0.0.1:9000`` or ``[::1]:9000``."""
    host, _, port = text.rpartition(":")
    if not host or (":" in host and not (host.startswith("[") and host.endswith("]"))):
        raise argparse.ArgumentTypeError(f"must be like 127.0.0.1:9000, not {text!r}")
    return host.strip("[]"), whole_number(65_535)(port)
