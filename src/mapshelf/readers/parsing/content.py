"""The input of readers: the bytes of a file, with cached views of them.

Every reader asks the same questions to detect its format: whether the file is an archive, which
members it has, what its root element is. Each answer is computed at most once per file.
"""

from functools import cached_property

from mapshelf.errors import TooLarge, UnreadableFile
from mapshelf.readers.parsing.decoding import decode
from mapshelf.readers.parsing.images import Images, ReadLinkedFile
from mapshelf.readers.parsing.limits import Limits
from mapshelf.readers.parsing.xml_files import root_tag
from mapshelf.readers.parsing.zip_files import Archive


class Content:
    """The bytes of one file and the limits for parsing it.

    Attributes:
        data: the bytes.
        limits: the limits.
        name: the name of the file without folders, empty if unknown. Only for formats that cannot
            be detected from the content.
        images: collects the images of topics.
    """

    def __init__(
        self, data: bytes, limits: Limits, name: str = "", beside: ReadLinkedFile | None = None
    ) -> None:
        self.data = data
        self.limits = limits
        self.name = name
        self.images = Images(limits, beside or _nothing_beside)

    @cached_property
    def archive(self) -> Archive | None:
        """The file as a zip archive, ``None`` if it is not one.

        Raises:
            UnreadableFile: it begins like one, but is damaged or too large.
        """
        if not self.data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
            return None
        return Archive(self.data, self.limits)

    def member(self, name: str) -> bytes | None:
        """Return a member of the archive, ``None`` if it is missing or cannot be read."""
        if self.archive is None or name not in self.archive.names:
            return None
        try:
            return self.archive.read(name)
        except UnreadableFile:
            return None

    @cached_property
    def text(self) -> str:
        """The file as text, in any encoding."""
        return decode(self.data)

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the text, with any line endings.

        Raises:
            TooLarge: there are too many lines, or the text is too long.
        """
        text = self.text
        if len(text) > self.limits.prose:
            raise TooLarge(f"it has more than {self.limits.prose:,} characters of plain text")
        if text.count("\n") + text.count("\r") > self.limits.lines:
            raise TooLarge(f"it has more than {self.limits.lines:,} lines")
        return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")

    @property
    def root_name(self) -> str:
        """The name of the XML root element without prefix, empty if the file is not XML."""
        return self._root[0]

    @property
    def root_tag(self) -> str:
        """The complete start tag of the XML root element, empty if the file is not XML."""
        return self._root[1]

    @cached_property
    def _root(self) -> tuple[str, str]:
        return root_tag(self.text)


def _nothing_beside(path: str) -> bytes | None:
    return None
