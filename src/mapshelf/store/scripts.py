"""The scripts that make and change schemas, and how a database tells which ones it has had.

A script that is not released yet may still change; a digest of what it says lets a store refuse a
database that was made by an earlier version of it, rather than misread it.
"""

import hashlib
import re
from collections.abc import Iterable
from importlib.resources import files


def read_script(name: str) -> str:
    """Return the statements of a script in ``migrations``."""
    return (files("mapshelf.store") / "migrations" / name).read_text("utf-8")


def schema_digest(names: Iterable[str]) -> bytes:
    """Return a digest of what these scripts do; remarks and blanks in them do nothing."""
    digest = hashlib.sha256()
    for name in names:
        statements = re.sub("--.*", "", read_script(name))
        digest.update(" ".join(statements.split()).encode())
    return digest.digest()
