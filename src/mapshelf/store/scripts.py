"""The scripts that make and change schemas, and their digests.

A script that is not released yet may still change. By the digest, a store refuses a database that
was made by an earlier version of a script, instead of misreading it. Scripts are read once, because
each opening of a store needs all of them.
"""

import hashlib
import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files


@cache
def read_script(name: str) -> str:
    """Return the statements of a script in ``migrations``."""
    return (files("mapshelf.store") / "migrations" / name).read_text("utf-8")


def schema_digest(names: Iterable[str]) -> bytes:
    """Return a digest of these scripts, without comments and white space."""
    digest = hashlib.sha256()
    for name in names:
        statements = re.sub("--.*", "", read_script(name))
        digest.update(" ".join(statements.split()).encode())
    return digest.digest()
