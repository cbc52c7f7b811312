"""The file that readers get: its bytes, and views of them that are computed once.

Every reader asks the same questions to detect its format (is it an archive, which members does it
have, what is the root element). Each is answered at most once for a file.
"""

from functools import cached_property

from mapshelf.errors import TooLarge, UnreadableFile
from mapshelf.readers.parsing.decoding import decode
from mapshelf.readers.parsing.images import Images, ReadLinkedFile
from mapshelf.readers.parsing.limits import Limits
from mapshelf.readers.parsing.xml_files import root_tag
from mapshelf.readers.parsing.zip_files import Archive


class Content:
    """The bytes of one file and the limits it is read under.

    Attributes:
        data: the bytes.
        limits: the limits.
        name: the name of the file without folders, empty if unknown. Only for formats that cannot
            be detected from the content.
        images: takes the pictures of topics.
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
        """The file as a zip archive, ``None`` if it is none.

        Raises:
            UnreadableFile: it begins as one, but is damaged or too large.
        """
        if not self.data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
            return None
        return Archive(self.data, self.limits)

    def member(self, name: str) -> bytes | None:
        """Return a member of the archive, ``None`` if it is not there or cannot be read."""
        if self.archive is None or name not in self.archive.names:
            return None
        try:
            return self.archive.read(name)
        except UnreadableFile:
            return None

    @cached_property
    def text(self) -> str:
        """The file as text, whatever its encoding."""
        return decode(self.data)

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the text, whatever ends them.

        Raises:
            TooLarge: there are too many, or they are too long together.
        """
        text = self.text
        if len(text) > self.limits.prose:
            raise TooLarge(f"it has more than {self.limits.prose:,} characters of plain text")
        if text.count("\n") + text.count("\r") > self.limits.lines:
            raise TooLarge(f"it has more than {self.limits.lines:,} lines")
        return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")

    @property
    def root_name(self) -> str:
        """Name of the XML root element without prefix, empty if the file is not XML."""
        return self._root[0]

    @property
    def root_tag(self) -> str:
        """The whole start tag of the XML root element, empty if the file is not XML."""
        return self._root[1]

    @cached_property
    def _root(self) -> tuple[str, str]:
        return root_tag(self.text)


def _nothing_beside(path: str) -> bytes | None:
    return None
