"""Resource limits for parsing an untrusted file.

In every format, a small file can describe something huge: nested archives, deep trees, a million
empty elements. Every parser enforces the same ``Limits`` and stops when one is exceeded, so these
numbers bound the cost of the worst file. They are far above real maps: of 1,700 that we
examined, the largest had 6,394 topics, the deepest 33 levels, and one unpacked to 6 MB.
"""

from dataclasses import dataclass
from typing import Final

from mapshelf.formats.outline_size import LARGEST

KIB: Final = 1024
MIB: Final = 1024 * KIB


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits beyond which a file is refused (or, for ``text``, truncated).

    Attributes:
        file: size of the file in bytes.
        unpacked: total uncompressed size of the members read from an archive, in bytes.
        members: entries in an archive.
        ratio: compression ratio of members over 1 MiB uncompressed.
        depth: levels of topics, the root counting as one.
        topics: topics in all sheets together.
        text: bytes of UTF-8 in the text of one topic, and in its note. Longer ones are truncated,
            not refused, so that a map with a whole book in one topic is still readable.
        texts: bytes of all texts of a map together, as they are stored. The largest map of people
            has 0.8 MB. Equal texts may be in the file only once, so its size says little.
        picture: bytes of an embedded image; larger ones are omitted.
        pixels: pixels of such an image, likewise. The largest in a real map had 2.7 million.
        pictures: total bytes of the images in the topics of a map; further ones are omitted.
        most_pictures: number of different images, likewise.
        cpu_seconds: CPU time per file (child processes only).
        memory: bytes of address space a file may add to that of an idle child process.
        wall_seconds: wall-clock time per file (child processes only).
    """

    file: int = 32 * MIB
    unpacked: int = 64 * MIB
    members: int = 1_000
    ratio: int = 100
    depth: int = 256
    topics: int = 100_000
    text: int = 64 * KIB
    texts: int = LARGEST
    picture: int = 8 * MIB
    pixels: int = 16_000_000
    pictures: int = 16 * MIB
    most_pictures: int = 500
    cpu_seconds: int = 10
    memory: int = 512 * MIB
    wall_seconds: float = 30.0

    @property
    def nesting(self) -> int:
        """Levels of XML elements: some formats nest three per topic, and notes contain HTML."""
        return 4 * self.depth

    @property
    def elements(self) -> int:
        """XML elements or JSON values: a topic has fonts, edges, icons and HTML."""
        return 10 * self.topics

    @property
    def attributes(self) -> int:
        """Attributes of one XML element; real ones have up to thirty."""
        return 1_000

    @property
    def lines(self) -> int:
        """Lines of plain-text formats: one per topic, and several per note."""
        return 2 * self.topics

    @property
    def prose(self) -> int:
        """Characters of plain-text formats. Real ones have some ten thousand.

        Processing a character costs more than in XML or JSON.
        """
        return self.file // 16
