"""Read files as bytes, text, XML or archives, with the standard library only.

The counts must not share code with the readers, or they would share their mistakes. Files that
Mapshelf refuses are not parsed here either: files with declared entities, and damaged ones, except
for undeclared HTML entities, stray ampersands and forbidden characters.
"""

import html.entities
import io
import json
import re
import zipfile
from functools import cached_property
from pathlib import Path
from typing import Final
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

MOST: Final = 64 << 20
"""Maximum bytes of an unpacked member, as in Mapshelf."""

_DECLARED: Final = re.compile(rb"""<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.-]{1,40})["']""")
_PROLOG: Final = re.compile(r"^\s*<\?xml[^>]*\?>")
_ENTITY: Final = re.compile(r"&(#x[0-9A-Fa-f]+|#[0-9]+|\w+);|&")
_FORBIDDEN: Final = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_OF_XML: Final = frozenset({"amp", "lt", "gt", "quot", "apos"})


class RawFile:
    """A file that is parsed only as far as needed."""

    def __init__(self, name: str, data: bytes) -> None:
        self.name = name
        self.data = data

    @classmethod
    def at(cls, path: Path) -> "RawFile":
        """Return the file at ``path``."""
        return cls(path.name, path.read_bytes())

    @cached_property
    def text(self) -> str:
        """The file as text."""
        return decoded(self.data)

    @cached_property
    def root(self) -> Element | None:
        """The root element, if the file itself is XML."""
        return parsed(self.data) if self.text.lstrip("\ufeff \t\r\n").startswith("<") else None

    @cached_property
    def members(self) -> dict[str, zipfile.ZipInfo]:
        """The members of an archive by name; empty if it is not one. Some names begin with /."""
        if self._archive is None:
            return {}
        infos = self._archive.infolist()
        return {info.filename.replace("\\", "/").lstrip("/"): info for info in infos}

    @cached_property
    def _archive(self) -> zipfile.ZipFile | None:
        if not self.data.startswith(b"PK"):
            return None
        try:
            return zipfile.ZipFile(io.BytesIO(self.data))
        except (zipfile.BadZipFile, OSError, ValueError):
            return None

    def member(self, name: str) -> bytes:
        """Return a member of the archive, empty if it is missing or damaged."""
        info = self.members.get(name)
        if info is None or self._archive is None or info.file_size > MOST:
            return b""
        try:
            return self._archive.read(info)
        except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError, ValueError):
            return b""

    def member_root(self, name: str) -> Element | None:
        """Return the root element of a member."""
        return parsed(self.member(name)) if name in self.members else None

    def json_of(self, name: str = "") -> object:
        """Return a member (without a name, the file itself) parsed as JSON; None if it is not."""
        text = decoded(self.member(name)) if name else self.text
        if not text.lstrip("\ufeff \t\r\n").startswith(("{", "[")):
            return None
        try:
            return json.loads(text.lstrip("\ufeff"), strict=False)
        except (ValueError, RecursionError):
            return None


def decoded(data: bytes) -> str:
    """Return ``data`` as text by its byte-order mark, its declaration, UTF-8 or Windows-1252."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    if data[:4] in {b"<\0?\0", b"<\0m\0"}:
        return data.decode("utf-16-le", "replace")
    told = _DECLARED.match(data.removeprefix(b"\xef\xbb\xbf")[:300])
    names = [told[1].decode()] if told else []
    for name in ["utf-8-sig", *names]:
        try:
            return data.decode(name)
        except (UnicodeDecodeError, LookupError):
            continue
    return data.decode("cp1252", "replace")


def parsed(data: bytes) -> Element | None:
    """Return the root of XML, with names without namespaces; None if Mapshelf refuses it."""
    text = _PROLOG.sub("", decoded(data).lstrip("\ufeff"))
    if "<!ENTITY" in text:
        return None
    text = _FORBIDDEN.sub("", text)
    try:
        root = ElementTree.fromstring(text)  # noqa: S314 - entities are refused above
    except ElementTree.ParseError:
        try:
            root = ElementTree.fromstring(_ENTITY.sub(_known, text))  # noqa: S314 - as above
        except ElementTree.ParseError:
            return None
    for element in root.iter():
        _bare(element)
    return root


def _known(entity: re.Match[str]) -> str:
    name = entity[1]
    if name is None:
        return "&amp;"
    if name.startswith("#") or name in _OF_XML:
        return entity[0]
    code = html.entities.name2codepoint.get(name)
    return f"&amp;{name};" if code is None else chr(code)


def _bare(element: Element) -> None:
    if not isinstance(element.tag, str):
        return
    element.tag = element.tag.rpartition("}")[2]
    for name in [name for name in element.attrib if "}" in name]:
        element.attrib[name.rpartition("}")[2]] = element.attrib.pop(name)
