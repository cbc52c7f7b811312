"""Read untrusted zip archives into memory, under limits.

``zipfile`` finds the members, but it does not notice overlapping entries (before Python 3.11.8),
trusts the sizes in the headers, and would unpack 4 GB. Here bytes are counted while they are
unpacked. Nothing is written to disk, so names like ``../x`` are harmless.
"""

import io
import struct
import zipfile
import zlib
from collections import Counter
from itertools import pairwise
from typing import Final

from mapshelf.errors import BrokenFile, TooLarge, UnreadableFile
from mapshelf.readers.parsing.limits import KIB, MIB, Limits

_LOCAL_HEADER: Final = struct.Struct("<4s22xHH")
_ENCRYPTED: Final = 0x1
_METHODS: Final = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
_PIECE: Final = 64 * KIB

# The exceptions that zipfile and its codecs raise for damaged archives.
DAMAGE: Final = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    IndexError,
    NotImplementedError,
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
)


class Archive:
    """A zip file in memory.

    Attributes:
        names: names of its members as ``read`` accepts them: without a leading slash.
    """

    def __init__(self, data: bytes, limits: Limits) -> None:
        """Parse the directory of the archive in ``data``.

        Raises:
            BrokenFile: it is not a zip file, or its members overlap.
            TooLarge: it has too many members.
        """
        # zipfile builds an object for each entry, so a million entries must be refused first.
        if data.count(b"PK\x01\x02") > 10 * limits.members:
            raise TooLarge(f"the archive has more than {10 * limits.members:,} members")
        try:
            self._file = zipfile.ZipFile(io.BytesIO(data))
        except DAMAGE as error:
            raise BrokenFile("the archive is damaged or cut short") from error
        members = self._file.infolist()
        if len(members) > limits.members:
            raise TooLarge(
                f"the archive has {len(members):,} members; the limit is {limits.members:,}"
            )
        _refuse_overlaps(data, members)
        self._limits = limits
        self._unpacked = 0
        self._contents: dict[str, bytes] = {}
        self._members = {plain_name(member.filename): member for member in members}
        self._copies = Counter(plain_name(member.filename) for member in members)
        self.names = frozenset(self._members)

    def read(self, name: str) -> bytes:
        """Return the content of the member ``name``; it is unpacked only once.

        Raises:
            BrokenFile: it is missing, damaged or encrypted, or its name is duplicate.
            TooLarge: it, or all members read so far, unpack to more than the limit.
        """
        member = self._members.get(name)
        if member is None:
            raise BrokenFile(f"the archive lacks {name}")
        if self._copies[name] > 1:
            # Programs differ in which duplicate they use, and could show a different map than we
            # do.
            raise BrokenFile(f"the archive holds {name} more than once")
        refuse_locked(member, name)
        if name not in self._contents:
            try:
                self._contents[name] = self._unpack(member)
            except DAMAGE as error:
                raise BrokenFile(f"{name} in the archive is damaged") from error
        return self._contents[name]

    def read_if_sound(self, name: str, largest: int) -> bytes | None:
        """Return the content of a member that is not essential to the map.

        ``None`` if it is missing, damaged, or larger than ``largest`` bytes.
        """
        if self.size(name) > largest:
            return None
        try:
            return self.read(name)
        except UnreadableFile:
            return None

    def size(self, name: str) -> int:
        """Return the declared size of the member ``name`` in bytes, 0 if it is missing."""
        member = self._members.get(name)
        return member.file_size if member else 0

    def _unpack(self, member: zipfile.ZipInfo) -> bytes:
        pieces: list[bytes] = []
        size = 0
        with self._file.open(member) as stream:
            while piece := stream.read(_PIECE):
                size += len(piece)
                self._unpacked += len(piece)
                self._check(size, member)
                pieces.append(piece)
        return b"".join(pieces)

    def _check(self, size: int, member: zipfile.ZipInfo) -> None:
        if self._unpacked > self._limits.unpacked:
            raise TooLarge(f"the archive unpacks to more than {self._limits.unpacked // MIB} MiB")
        if size > MIB and size > self._limits.ratio * member.compress_size:
            raise TooLarge(
                f"a member of the archive unpacks to more than {self._limits.ratio} times its size"
            )


def plain_name(name: str) -> str:
    """Return a member's name with forward slashes, and without leading ones."""
    return name.replace("\\", "/").lstrip("/")


def refuse_locked(member: zipfile.ZipInfo, name: str) -> None:
    """Refuse a member that cannot be unpacked.

    Raises:
        BrokenFile: it is encrypted, or its compression method is not supported.
    """
    if member.flag_bits & _ENCRYPTED:
        raise BrokenFile(f"{name} in the archive is encrypted; save the map without password")
    if member.compress_type not in _METHODS:
        raise BrokenFile(f"{name} in the archive is packed in an unusual way")


def _refuse_overlaps(data: bytes, members: list[zipfile.ZipInfo]) -> None:
    spans = sorted(_span(data, member) for member in members)
    overlapping = any(end > start for (_, end), (start, _) in pairwise(spans))
    if overlapping or (spans and spans[-1][1] > len(data)):
        raise BrokenFile("the archive is damaged: its members overlap or run past its end")


def _span(data: bytes, member: zipfile.ZipInfo) -> tuple[int, int]:
    """Return the start of a member's header and the end of its compressed data."""
    start = member.header_offset
    try:
        signature, name, extra = _LOCAL_HEADER.unpack_from(data, start)
    except struct.error:
        signature, name, extra = b"", 0, 0
    if signature != b"PK\x03\x04" or start < 0:
        raise BrokenFile("the archive is damaged: a member is not where its directory says")
    return start, start + 30 + name + extra + member.compress_size
