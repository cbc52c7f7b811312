"""Fuzz targets: each is one row of the table of readers, with guarantees for any input.

This module needs no fuzzing engine, so that the test suite can run every target with its seeds.
"""

import io
import time
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from mapshelf.errors import UnreadableFile
from mapshelf.formats.outline_codec import decode_outline, encode_outline
from mapshelf.readers import READERS, Limits, Reader, read
from mapshelf.readers.parsing.content import Content

EXAMPLES: Final = Path(__file__).resolve().parents[2] / "examples"
LONGEST: Final = 2.0
"""The most seconds of processor time that one input may take."""

LIMITS: Final = Limits()

Mutate = Callable[[bytes, int], bytes]
"""Changes bytes in some way; the result has at most the given length."""


class Slow(AssertionError):
    """Reading an input took longer than ``LONGEST``."""


def reader_named(name: str) -> Reader:
    """Return the reader whose name starts with ``name``."""
    found = [reader for reader in READERS if reader.name.lower().startswith(name.lower())]
    if len(found) != 1:
        raise SystemExit(f"{name!r} names none of: {', '.join(r.name for r in READERS)}")
    return found[0]


def file_name(reader: Reader) -> str:
    """Return a file name that suits this format."""
    return "map" + (*reader.suffixes, *reader.shared)[0]


def seeds(reader: Reader) -> list[bytes]:
    """Return our samples that ``reader`` recognises."""
    files = sorted(path for path in EXAMPLES.glob("*/*.*") if path.is_file())
    return [
        path.read_bytes()
        for path in files
        if reader.sniff(Content(path.read_bytes(), LIMITS, path.name))
    ]


def check(reader: Reader, data: bytes) -> bool:
    """Read ``data`` and return whether the reader accepted it; refusing is correct, too.

    Raises:
        Slow: it took longer than ``LONGEST``.
        Exception: the reader raised something else than ``UnreadableFile``, or the outline changed
            when it was stored.
    """
    start = time.process_time()
    outline, reason = None, ""
    try:
        outline = read(data, LIMITS, (reader,), file_name(reader))
    except UnreadableFile as error:
        reason = str(error)
    spent = time.process_time() - start
    if spent > LONGEST:
        raise Slow(f"{spent:.1f} s for {len(data):,} bytes")
    if outline is None:
        assert reason
        assert "\n" not in reason
        return False
    assert outline.roots
    stored = encode_outline(outline)
    assert encode_outline(decode_outline(stored)) == stored
    return True


def mutated(data: bytes, size: int, number: int, mutate: Mutate) -> bytes:
    """Return ``data`` changed by ``mutate`` into at most ``size`` bytes.

    For an archive, this usually changes one member and writes a new archive: almost any other
    change breaks a checksum, so that the code behind the check would never run.
    """
    if number % 8 == 0 or not data.startswith(b"PK"):
        return mutate(data, size)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [(name, archive.read(name)) for name in archive.namelist()[:20]]
    except Exception:  # a broken archive can raise anything
        return mutate(data, size)
    if not members:
        return mutate(data, size)
    chosen = number // 8 % len(members)
    buffer = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w") as archive:
        warnings.simplefilter("ignore")  # about two members with the same name
        for position, (name, content) in enumerate(members):
            changed = mutate(content, size) if position == chosen else content
            archive.writestr(name, changed)
    made = buffer.getvalue()
    return made if len(made) <= size else mutate(data, size)
