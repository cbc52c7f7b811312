"""What a fuzz target is: one row of the table of readers, and what it promises for any input.

Free of any fuzzing engine, so that the test suite can hold every target to its own seeds.
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
"""Seconds of processor time one input may take."""

LIMITS: Final = Limits()

Mutate = Callable[[bytes, int], bytes]
"""Changes bytes in some way, to no more than a given number of them."""


class Slow(AssertionError):
    """An input took longer than it may."""


def reader_named(name: str) -> Reader:
    """Return the reader whose name begins with ``name``."""
    found = [reader for reader in READERS if reader.name.lower().startswith(name.lower())]
    if len(found) != 1:
        raise SystemExit(f"{name!r} names none of: {', '.join(r.name for r in READERS)}")
    return found[0]


def file_name(reader: Reader) -> str:
    """Return the name a file of this format could have."""
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
    """Read ``data`` and tell whether it was read; refusing it is as good.

    Raises:
        Slow: it took longer than ``LONGEST``.
        Exception: the reader let something out that is no ``UnreadableFile``, or an outline that
            does not survive being stored.
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

    Of an archive mostly one member is changed and the archive made anew: almost every other
    change breaks a checksum, and nothing behind it would ever be reached.
    """
    if number % 8 == 0 or not data.startswith(b"PK"):
        return mutate(data, size)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [(name, archive.read(name)) for name in archive.namelist()[:20]]
    except Exception:  # whatever a broken archive makes it raise
        return mutate(data, size)
    if not members:
        return mutate(data, size)
    chosen = number // 8 % len(members)
    buffer = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w") as archive:
        warnings.simplefilter("ignore")  # of two members with one name
        for position, (name, content) in enumerate(members):
            changed = mutate(content, size) if position == chosen else content
            archive.writestr(name, changed)
    made = buffer.getvalue()
    return made if len(made) <= size else mutate(data, size)
