"""SQL migration scripts and their digests.

An unreleased script may still change. A store compares digests, so that it rejects a database
created by an earlier version of a script instead of misreading it. Scripts are cached, because
opening a store needs all of them.
"""

import hashlib
import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files


@cache
def read_script(name: str) -> str:
    """Return the SQL of a script in ``migrations``."""
    return (files("mapshelf.store") / "migrations" / name).read_text("utf-8")


def schema_digest(names: Iterable[str]) -> bytes:
    """Return a digest of these scripts, ignoring comments and white space."""
    digest = hashlib.sha256()
    for name in names:
        statements = re.sub("--.*", "", read_script(name))
        digest.update(" ".join(statements.split()).encode())
    return digest.digest()
