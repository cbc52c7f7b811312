"""Parses forms in request bodies: ``application/x-www-form-urlencoded`` and multipart (RFC 7578).

python-multipart splits the bytes as they arrive; this module interprets the parts and enforces
limits. Nothing here waits, and the result does not depend on how the body is split.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO, Final
from urllib.parse import unquote_to_bytes

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, QuerystringParser, parse_options_header

from mapshelf.errors import BodyTooLarge, InvalidParameter, MalformedRequest
from mapshelf.formats.file_names import without_folders

if TYPE_CHECKING:
    from python_multipart.multipart import QuerystringCallbacks

URL_ENCODED: Final = "application/x-www-form-urlencoded"
MULTIPART: Final = "multipart/form-data"

MOST_HEADERS: Final = 16
"""Headers of a part of a multipart form."""

LONGEST_HEADER: Final = 4096
"""Maximum size of one of them in bytes."""

AS_IT_IS: Final = ("", "7bit", "8bit", "binary")
"""Transfer encodings that change nothing; no browser or library uses others."""

_QUOTED: Final = (("%22", '"'), ("%0D", "\r"), ("%0A", "\n"))
"""Escapes that browsers use in file names (WHATWG, multipart/form-data encoding)."""


@dataclass(frozen=True, slots=True)
class FormLimits:
    """Limits on a form.

    Attributes:
        fields: maximum number of fields, including files.
        text: maximum total size of names and values in bytes, without files.
        files: the names of fields that may be files.
        file: maximum size of a file in bytes.
    """

    fields: int = 100
    text: int = 65_536
    files: tuple[str, ...] = ()
    file: int = 0


@dataclass(frozen=True, slots=True)
class Upload:
    """A file in a form.

    Attributes:
        name: its name without folders, as sent by the client; may be empty.
        size: its size in bytes.
        content: the file, positioned at its beginning.
    """

    name: str
    size: int
    content: BinaryIO


@dataclass(frozen=True, slots=True)
class Form:
    """The fields of a form by name, in the order they were sent."""

    fields: Mapping[str, Sequence[str]]
    files: Mapping[str, Sequence[Upload]]

    def text(self, name: str) -> str:
        """Return the value of a field, empty if it was not sent.

        Raises:
            InvalidParameter: it was sent twice.
        """
        values = self.fields.get(name, ("",))
        if len(values) > 1:
            raise InvalidParameter(f"The {name} field is given twice.")
        return values[0]

    def texts(self, name: str) -> Sequence[str]:
        """Return the values of a field that may be sent several times."""
        return self.fields.get(name, ())

    def upload(self, name: str) -> Upload | None:
        """Return a file, ``None`` if none was chosen.

        Raises:
            InvalidParameter: there are several.
        """
        files = self.files.get(name, ())
        if len(files) > 1:
            raise InvalidParameter(f"The {name} field is given twice.")
        return files[0] if files else None


class FormReader:
    """Reads a form piece by piece."""

    def __init__(
        self, content_type: str, limits: FormLimits, new_file: Callable[[], BinaryIO]
    ) -> None:
        """Prepare to read a form.

        Args:
            content_type: the Content-Type of the body with its parameters; empty for an empty body.
            limits: the limits on the form.
            new_file: creates a file for a file in the form.

        Raises:
            MalformedRequest: the type is multipart without a boundary.
        """
        self._parts = _Parts(limits, new_file)
        media_type, options = parse_options_header(content_type)
        self._parser: MultipartParser | QuerystringParser
        self._multipart: _Multipart | None = None
        if media_type == MULTIPART.encode():
            self._multipart = _Multipart(self._parts)
            self._parser = self._multipart.parser(options.get(b"boundary", b""))
        else:
            self._parser = QuerystringParser(_url_encoded(self._parts))

    def feed(self, piece: bytes) -> None:
        """Read a piece of the body.

        Raises:
            MalformedRequest: it is malformed.
            InvalidParameter: there are too many fields, or one is not text.
            BodyTooLarge: a field or a file is too large.
            OSError: a file cannot be written.
        """
        try:
            self._parser.write(piece)
        except FormParserError as error:
            raise MalformedRequest("The form is not valid.") from error

    def form(self) -> Form:
        """Return the form, after the whole body has been read.

        Raises:
            MalformedRequest: it is incomplete.
            InvalidParameter: see ``feed``.
        """
        self._parser.finalize()
        if self._multipart and not self._multipart.is_complete:
            raise MalformedRequest("The form is not complete.")
        return self._parts.form()

    def opened(self) -> int:
        """Return how many files are open, those that nobody chose included."""
        return self._parts.opened()

    def close(self) -> None:
        """Close its files, which deletes them."""
        self._parts.close()


@dataclass(slots=True)
class _Part:
    """A field that is being read; ``file`` holds the content of a file."""

    name: bytearray = field(default_factory=bytearray)
    value: bytearray = field(default_factory=bytearray)
    file_name: str | None = None
    file: BinaryIO | None = None
    size: int = 0


class _Parts:
    """The fields read so far, within the limits."""

    def __init__(self, limits: FormLimits, new_file: Callable[[], BinaryIO]) -> None:
        self._limits = limits
        self._new_file = new_file
        self._count = 0
        self._left = limits.text
        self._part = _Part()
        self._fields: dict[str, list[str]] = {}
        self._files: dict[str, list[Upload]] = {}
        self._opened: list[BinaryIO] = []

    def begin(self) -> None:
        """Begin a field."""
        self._count += 1
        if self._count > self._limits.fields:
            raise InvalidParameter(f"The form must have at most {self._limits.fields} fields.")
        self._part = _Part()

    def begin_file(self, file_name: str) -> None:
        """Treat the current field, whose name is known, as a file, if it may be one."""
        name = _text(bytes(self._part.name))
        if name not in self._limits.files:
            raise InvalidParameter("The form has a file in a field for text.")
        self._part.file_name = file_name
        self._part.file = self._new_file()
        self._opened.append(self._part.file)

    def add_name(self, data: bytes) -> None:
        """Add to the name of the field."""
        self._take(len(data))
        self._part.name += data

    def add_value(self, data: bytes) -> None:
        """Add to the value of the field, or to its file."""
        part = self._part
        if part.file is None:
            self._take(len(data))
            part.value += data
            return
        part.size += len(data)
        if part.size > self._limits.file:
            raise BodyTooLarge(f"A file must be at most {self._limits.file} bytes long.")
        part.file.write(data)

    def end(self, decoded: Callable[[bytes], bytes] = bytes) -> None:
        """End the current field; ``decoded`` decodes its name and value."""
        part = self._part
        name = _text(decoded(bytes(part.name)))
        if part.file is None:
            self._fields.setdefault(name, []).append(_text(decoded(bytes(part.value))))
        elif part.file_name or part.size:  # otherwise, no file was chosen
            part.file.seek(0)
            upload = Upload(part.file_name or "", part.size, part.file)
            self._files.setdefault(name, []).append(upload)

    def form(self) -> Form:
        """Return the form."""
        return Form(self._fields, self._files)

    def opened(self) -> int:
        """Return how many files are open."""
        return len(self._opened)

    def close(self) -> None:
        """Close the files."""
        for file in self._opened:
            file.close()

    def _take(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise BodyTooLarge(
                f"The fields of a form must be at most {self._limits.text} bytes long together."
            )


def _url_encoded(parts: _Parts) -> "QuerystringCallbacks":
    """Return the parser callbacks for a URL-encoded form."""
    return {
        "on_field_start": parts.begin,
        "on_field_name": lambda data, start, end: parts.add_name(data[start:end]),
        "on_field_data": lambda data, start, end: parts.add_value(data[start:end]),
        "on_field_end": lambda: parts.end(_unquoted),
    }


class _Multipart:
    """The parser callbacks for a multipart form.

    Attributes:
        is_complete: whether the last boundary has been read.
    """

    def __init__(self, parts: _Parts) -> None:
        self.is_complete = False
        self._parts = parts
        self._name = b""
        self._value = b""
        self._headers: dict[str, bytes] = {}

    def parser(self, boundary: bytes) -> MultipartParser:
        """Return a parser for parts separated by ``boundary``.

        Raises:
            MalformedRequest: the boundary is invalid.
        """
        if not boundary:
            raise MalformedRequest("The media type of the form has no boundary.")
        try:
            return MultipartParser(
                boundary,
                {
                    "on_part_begin": self._begin,
                    "on_header_field": self._add_to_name,
                    "on_header_value": self._add_to_value,
                    "on_header_end": self._end_header,
                    "on_headers_finished": self._end_headers,
                    "on_part_data": self._add_data,
                    "on_part_end": self._parts.end,
                    "on_end": self._end,
                },
                max_header_count=MOST_HEADERS,
                max_header_size=LONGEST_HEADER,
            )
        except FormParserError as error:
            raise MalformedRequest("The boundary of the form is too long.") from error

    def _begin(self) -> None:
        self._headers = {}
        self._parts.begin()

    def _add_to_name(self, data: bytes, start: int, end: int) -> None:
        self._name += data[start:end]

    def _add_to_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _end_header(self) -> None:
        name = self._name.decode("latin-1").lower()
        if name in self._headers:
            raise MalformedRequest("A part of the form has a header twice.")
        self._headers[name] = self._value
        self._name = self._value = b""

    def _end_headers(self) -> None:
        # Only these two headers matter; the charset is always UTF-8.
        encoding = self._headers.get("content-transfer-encoding", b"").decode("latin-1")
        if encoding.strip().lower() not in AS_IT_IS:
            raise MalformedRequest("A part of the form has a transfer encoding.")
        disposition = self._headers.get("content-disposition", b"")
        kind, options = parse_options_header(disposition.decode("latin-1"))
        if kind != b"form-data" or b"name" not in options:
            raise MalformedRequest("A part of the form has no name.")
        self._parts.add_name(options[b"name"])
        if b"filename" in options:
            self._parts.begin_file(_file_name(options[b"filename"]))

    def _add_data(self, data: bytes, start: int, end: int) -> None:
        self._parts.add_value(data[start:end])

    def _end(self) -> None:
        self.is_complete = True


def _file_name(sent: bytes) -> str:
    """Return a file name without folders and without characters that are invalid in names."""
    name = _text(sent)
    for written, meant in _QUOTED:
        name = name.replace(written, meant)
    return without_folders(name)


def _unquoted(data: bytes) -> bytes:
    return unquote_to_bytes(data.replace(b"+", b" "))


def _text(data: bytes) -> str:
    """Return a name or a value as text.

    Raises:
        InvalidParameter: it is not UTF-8, or contains a NUL.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise InvalidParameter("The form must be UTF-8 text.") from error
    if "\0" in text:
        raise InvalidParameter("The form must not contain a NUL character.")
    return text
