"""Functions that make small map files, so that each test shows what it reads."""

import io
import json
import struct
import zipfile

from PIL import Image, ImageDraw

XMIND_XML = (
    '<?xml version="1.0" encoding="UTF-8" standalone="no"?>'
    '<xmap-content xmlns="urn:xmind:xmap:xmlns:content:2.0"'
    ' xmlns:xhtml="http://www.w3.org/1999/xhtml" xmlns:xlink="http://www.w3.org/1999/xlink"'
    ' version="2.0">{sheets}</xmap-content>'
)


def freemind(nodes: str, version: str = "1.0.1") -> bytes:
    """Return a ``.mm`` file with ``nodes``."""
    return f'<map version="{version}">\n{nodes}\n</map>\n'.encode()


def xmind_xml(*topics: str) -> str:
    """Return a ``content.xml`` with a sheet for each of ``topics`` (the root's inner XML)."""
    sheets = "".join(f'<sheet id="s"><topic id="t">{topic}</topic></sheet>' for topic in topics)
    return XMIND_XML.format(sheets=sheets)


def archive(**members: str | bytes) -> bytes:
    """Return a zip file; ``__`` in a name stands for a dot, ``___`` for a slash."""
    return archive_of(
        {name.replace("___", "/").replace("__", "."): data for name, data in members.items()}
    )


def archive_of(members: dict[str, str | bytes]) -> bytes:
    """Return a zip file with ``members``."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return buffer.getvalue()


def xmind_json(*roots: dict[str, object]) -> bytes:
    """Return a newer ``.xmind`` file with a sheet for each of ``roots``."""
    return archive(content__json=json.dumps([{"rootTopic": root} for root in roots]))


def patch_directory(data: bytes, member: int, offset: int, value: int, form: str = "<I") -> bytes:
    """Return the archive ``data`` with a field of a central directory entry overwritten.

    Args:
        data: the archive.
        member: which entry, from 0.
        offset: where the field is in the entry (APPNOTE 4.3.12).
        value: what to write there.
        form: the format of the value, for ``struct``.
    """
    position = -1
    for _ in range(member + 1):
        position = data.index(b"PK\x01\x02", position + 1)
    patched = bytearray(data)
    struct.pack_into(form, patched, position + offset, value)
    return bytes(patched)


def drawn(size: tuple[int, int] = (400, 200), mode: str = "RGB") -> Image.Image:
    """Return a picture that is not a single colour."""
    picture = Image.new("RGB", size, "white")
    ImageDraw.Draw(picture).ellipse((10, 10, size[0] - 10, size[1] - 10), fill="red")
    return picture.convert(mode)


def as_file(picture: Image.Image, kind: str = "PNG", **settings: object) -> bytes:
    """Return a picture as a file."""
    buffer = io.BytesIO()
    picture.save(buffer, kind, **settings)
    return buffer.getvalue()


def with_picture(picture: bytes, name: str = "Thumbnails/thumbnail.png") -> bytes:
    """Return an XMind file with a preview picture."""
    buffer = io.BytesIO(xmind_json({"title": "Carried"}))
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_STORED) as file:
        file.writestr(name, picture)
    return buffer.getvalue()
