"""Resource limits for parsing an untrusted file.

In every format, a small file can describe something huge: nested archives, deep trees, a million
empty elements. Each parser takes the same ``Limits`` and stops at the first that is exceeded, so
these numbers bound the cost of the worst file. They are far above real maps: of 1,700 that we
examined, the largest had 6,394 topics, the deepest 33 levels, and one unpacked to 6 MB.
"""

from dataclasses import dataclass
from typing import Final

KIB: Final = 1024
MIB: Final = 1024 * KIB


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits beyond which a file is refused (or, for ``text``, truncated).

    Attributes:
        file: bytes of the file itself.
        unpacked: bytes that all members read from an archive may unpack to, together.
        members: entries of an archive.
        ratio: unpacked bytes for each packed one, of members over 1 MiB unpacked.
        depth: levels of topics, the root counting as one.
        topics: topics in all sheets together.
        text: bytes of UTF-8 in the text of one topic, and in its note. Longer ones are truncated,
            not refused, so that a map with a whole book in one topic is still readable.
        picture: bytes of a picture that a file carries; a larger one is left out.
        pixels: of such a picture, likewise. The largest seen had 2.7 million.
        pictures: bytes of all pictures in the topics of a map; those beyond are left out.
        most_pictures: number of different ones, likewise.
        cpu_seconds: processor time for one file (child processes only).
        memory: bytes of address space a file may add to a bare child process.
        wall_seconds: time on the clock for one file (child processes only).
    """

    file: int = 32 * MIB
    unpacked: int = 64 * MIB
    members: int = 1_000
    ratio: int = 100
    depth: int = 256
    topics: int = 100_000
    text: int = 64 * KIB
    picture: int = 8 * MIB
    pixels: int = 16_000_000
    pictures: int = 16 * MIB
    most_pictures: int = 500
    cpu_seconds: int = 10
    memory: int = 512 * MIB
    wall_seconds: float = 30.0

    @property
    def nesting(self) -> int:
        """Levels of XML elements: some formats wrap each topic in three, and notes hold HTML."""
        return 4 * self.depth

    @property
    def elements(self) -> int:
        """XML elements or JSON values: a topic comes with its fonts, edges, icons and HTML."""
        return 10 * self.topics

    @property
    def attributes(self) -> int:
        """Attributes of one XML element; real ones have up to thirty."""
        return 1_000

    @property
    def lines(self) -> int:
        """Lines of formats that are plain text: a topic has one, and its note some more."""
        return 2 * self.topics

    @property
    def prose(self) -> int:
        """Characters of formats that are plain text. Real ones have some ten thousand.

        Every mark in them has to be looked at, which costs more than XML or JSON does.
        """
        return self.file // 16
