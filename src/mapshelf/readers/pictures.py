"""Pictures that map files carry: what the program that wrote a file saw when it was saved.

Many archives have one, for the file manager of a desktop. It shows what our own drawing does not,
colours and icons and where the author put things, so pages offer it as well. It is never given out
as it is: a picture from a stranger may be a bomb, a script or another format than it says. Here it
is decoded whole, under limits, and what comes out of that is written anew without anything else
that was in it. Only the two formats that programs write are taken, and only still ones; whatever is
wrong with a picture costs nothing but the picture.

Pillow does the decoding. It speaks thirty formats, of which two are let in here; and it works in
child processes only (``readers.sandbox``, ``render.studio``).
"""

import hashlib
import io
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from mapshelf.errors import BrokenFile, FileReplaced, TooLarge, UnreadableFile
from mapshelf.readers.parsing.limits import MIB, Limits
from mapshelf.readers.parsing.zip_files import Archive

if TYPE_CHECKING:
    from PIL.Image import Image

_SIGNATURES: Final = {b"\x89PNG\r\n\x1a\n": "PNG", b"\xff\xd8\xff": "JPEG"}
_SCAN: Final = b"\xff\xda"
_MOST_SCANS: Final = 64
"""Passes over a JPEG; encoders make some ten, and each costs as much as the whole picture."""

_PAPER: Final = (255, 255, 255)
"""What is behind see-through pictures: most are dark lines that were meant for a white window."""


def carried(archive: Archive | None, names: Iterable[str]) -> bytes | None:
    """Return the picture in ``archive`` under the first of ``names``, as it is.

    A document that is a folder may be in the archive as that folder.

    Raises:
        UnreadableFile: it is there, but cannot be read or is too large.
    """
    if archive is None:
        return None
    for name in names:
        found = sorted(each for each in archive.names if f"/{each}".endswith(f"/{name}"))
        if len(found) == 1:
            return archive.read(found[0])
    return None


def digest_of(archive: Archive | None, names: Iterable[str], limits: Limits) -> str:
    """Return a digest of the picture that ``archive`` carries, empty if it has none that is sound.

    Nothing is raised for a picture: the map is not lost for it.
    """
    try:
        data = carried(archive, names)
        if data is None:
            return ""
        _decoded(data, limits)
    except (UnreadableFile, MemoryError):
        return ""
    return hashlib.sha256(data).hexdigest()


def fitted(data: bytes, digest: str, limits: Limits, width: int, height: int) -> bytes:
    """Return a picture as a PNG that fits into so many pixels; a smaller one stays as it is.

    Raises:
        FileReplaced: it is another picture than the one with ``digest``: the map was replaced
            since the caller read its outline.
        BrokenFile: it is damaged, or not of a kind that is taken.
        TooLarge: it exceeds one of ``limits``.
    """
    from PIL import Image  # noqa: PLC0415 - most children never need it

    if hashlib.sha256(data).hexdigest() != digest:
        raise FileReplaced("the map is being replaced")
    picture = _decoded(data, limits)
    picture.thumbnail((width, height), Image.Resampling.LANCZOS)
    whole = picture.convert("RGBA")
    flat = Image.new("RGB", whole.size, _PAPER)
    flat.paste(whole, mask=whole.getchannel("A"))
    buffer = io.BytesIO()
    flat.save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


def _decoded(data: bytes, limits: Limits) -> "Image":
    kind = _kind(data, limits)
    from PIL import Image  # noqa: PLC0415 - most children never need it

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            picture: Image.Image = Image.open(io.BytesIO(data), formats=(kind,))
            _check(picture, limits)
            picture.load()
            if picture.mode not in ("1", "L", "LA", "RGB", "RGBA"):
                picture = picture.convert("RGBA")
    except (UnreadableFile, MemoryError):
        raise
    except Exception as error:  # decoders raise whatever comes to hand
        raise BrokenFile("the picture is damaged") from error
    return picture


def _kind(data: bytes, limits: Limits) -> str:
    if len(data) > limits.picture:
        raise TooLarge(f"the picture is larger than {limits.picture / MIB:g} MiB")
    kind = next((kind for start, kind in _SIGNATURES.items() if data.startswith(start)), None)
    if kind is None:
        raise BrokenFile("the picture is neither PNG nor JPEG")
    if kind == "JPEG" and data.count(_SCAN) > _MOST_SCANS:
        raise TooLarge(f"the picture is drawn over more than {_MOST_SCANS} times")
    return kind


def _check(picture: "Image", limits: Limits) -> None:
    width, height = picture.size
    if width * height > limits.pixels:
        raise TooLarge(f"the picture has more than {limits.pixels:,} pixels")
    if getattr(picture, "n_frames", 1) != 1:
        raise BrokenFile("the picture moves")
