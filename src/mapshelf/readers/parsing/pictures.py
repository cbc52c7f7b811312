"""Decode and re-encode images in map files: previews, and images in topics.

A preview is an image of the map, which many programs add to their archives for the desktop's file
manager. It shows the map as that program draws it. So pages offer it as well, but never its
original bytes: an image from an untrusted file may be a decompression bomb, contain a script, or
have another format than declared. Here it is decoded under limits and re-encoded without metadata.
Only PNG and JPEG without animation are accepted. A broken preview is omitted; the map remains
readable.

Images in topics are handled the same way, but more formats are accepted, and transparency is
preserved.

Pillow decodes the images. It supports thirty formats, of which only those listed here are enabled,
and it runs only in child processes (``readers.sandboxed_reader``, ``render.render_worker``,
``render.image_worker``).
"""

import hashlib
import io
import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from mapshelf.errors import BrokenFile, PreviewChanged, TooLarge, UnreadableFile
from mapshelf.readers.parsing.limits import MIB, Limits
from mapshelf.readers.parsing.svg_pictures import is_svg, svg_size
from mapshelf.readers.parsing.zip_files import Archive

if TYPE_CHECKING:
    from PIL.Image import Image

_SIGNATURES: Final = {b"\x89PNG\r\n\x1a\n": "PNG", b"\xff\xd8\xff": "JPEG"}
_MORE_SIGNATURES: Final = {
    b"GIF8": "GIF",
    b"RIFF": "WEBP",
    b"BM": "BMP",
    b"\0\0\1\0": "ICO",
    b"II*\0": "TIFF",
    b"MM\0*": "TIFF",
}
"""Additional file types for images in topics."""

_ICON_HEAD: Final = 6
_ICON_ENTRY: Final = 16
_MOST_ICONS: Final = 64
_LARGEST_ICON: Final = 1024
"""Sizes of the ICO header and of each directory entry in bytes, most icons, and most pixels across.
"""

_PLAIN: Final = frozenset({"raw", "packbits"})
"""The only accepted kind of TIFF, which Macs put on their clipboard. All others would be decoded
by libtiff, a large library with a history of vulnerabilities."""

_SCAN: Final = b"\xff\xda"
_MOST_SCANS: Final = 64
"""Maximum scans in a JPEG; encoders write about ten, and each costs as much as a whole image."""

_PAPER: Final = (255, 255, 255)
"""The background of transparent images: most are dark lines made for a white window."""


def find_preview(archive: Archive | None, names: Iterable[str]) -> bytes | None:
    """Return the bytes of the first of ``names`` in ``archive``, ``None`` if it has none.

    The names may be inside a folder: some documents are folders that were zipped as a whole.

    Raises:
        UnreadableFile: the preview cannot be read or is too large.
    """
    if archive is None:
        return None
    for name in names:
        found = sorted(each for each in archive.names if f"/{each}".endswith(f"/{name}"))
        if len(found) == 1:
            return archive.read(found[0])
    return None


def preview_digest(archive: Archive | None, names: Iterable[str], limits: Limits) -> str:
    """Return the SHA-256 of the preview in ``archive``, empty if it has no usable one.

    Never raises for a broken preview, because the map can be read without it.
    """
    try:
        data = find_preview(archive, names)
        if data is None:
            return ""
        _decoded(data, limits)
    except (UnreadableFile, MemoryError):
        return ""
    return hashlib.sha256(data).hexdigest()


def fit_preview(data: bytes, digest: str, limits: Limits, width: int, height: int) -> bytes:
    """Return a preview as a PNG of at most ``width`` x ``height``; smaller ones are not enlarged.

    Raises:
        PreviewChanged: its digest is not ``digest``; the map has been replaced.
        BrokenFile: it is damaged, or neither PNG nor JPEG.
        TooLarge: it exceeds one of ``limits``.
    """
    from PIL import Image  # noqa: PLC0415 - most children never need it

    if hashlib.sha256(data).hexdigest() != digest:
        raise PreviewChanged("the map is being replaced")
    picture = _decoded(data, limits)
    picture.thumbnail((width, height), Image.Resampling.LANCZOS)
    whole = picture.convert("RGBA")
    flat = Image.new("RGB", whole.size, _PAPER)
    flat.paste(whole, mask=whole.getchannel("A"))
    buffer = io.BytesIO()
    flat.save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


def image_png(data: bytes, limits: Limits, width: int, height: int) -> bytes:
    """Return an image of a topic as a PNG of at most ``width`` x ``height``, never enlarged.

    Transparency is preserved. Of an animation, only the first frame is used.

    Raises:
        BrokenFile: it is damaged, or in an unsupported format.
        TooLarge: it exceeds one of ``limits``.
    """
    from PIL import Image  # noqa: PLC0415 - most children never need it

    size = fitting(measure(data, limits), width, height)
    kind = _kind(data, limits, _SIGNATURES | _MORE_SIGNATURES)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(data), formats=(kind,)) as picture:
                picture.draft("RGB", size)  # decodes a JPEG no larger than needed
                whole = picture.convert("RGBA" if picture.has_transparency_data else "RGB")
                scaled = whole.resize(size, Image.Resampling.LANCZOS, reducing_gap=3.0)
                scaled.info.clear()
                buffer = io.BytesIO()
                scaled.save(buffer, "PNG")
    except MemoryError:
        raise
    except Exception as error:  # decoders raise exceptions of many types
        raise BrokenFile("the picture is damaged") from error
    return buffer.getvalue()


def fitting(size: tuple[int, int], width: int, height: int) -> tuple[int, int]:
    """Return ``size`` scaled down to at most ``width`` x ``height``, preserving its proportions."""
    scale = min(1.0, width / size[0], height / size[1])
    return max(1, round(size[0] * scale)), max(1, round(size[1] * scale))


def measure(data: bytes, limits: Limits) -> tuple[int, int]:
    """Return the width and height of an image of a topic from its header, without decoding it.

    Raises:
        BrokenFile: it is damaged, or in an unsupported format.
        TooLarge: it exceeds one of ``limits``.
    """
    from PIL import Image  # noqa: PLC0415 - most maps have no picture

    if len(data) <= limits.picture and is_svg(data):
        width, height = svg_size(data, limits)
        _check_size(width, height, limits)
        return width, height
    kind = _kind(data, limits, _SIGNATURES | _MORE_SIGNATURES)
    if kind == "WEBP":
        _check_size(*_webp_size(data), limits)
    if kind == "ICO":
        _check_icon(data)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(data), formats=(kind,)) as picture:
                width, height = picture.size
                plain = kind != "TIFF" or all(tile[0] in _PLAIN for tile in picture.tile)
    except MemoryError:
        raise
    except Exception as error:  # decoders raise exceptions of many types
        raise BrokenFile("the picture is damaged") from error
    _check_size(width, height, limits)
    if not plain:
        raise BrokenFile("the picture is of a kind that is not shown")
    return width, height


def _check_size(width: int, height: int, limits: Limits) -> None:
    if width * height > limits.pixels:
        raise TooLarge(f"the picture has more than {limits.pixels:,} pixels")
    if width < 1 or height < 1:
        raise BrokenFile("the picture is empty")


def _webp_size(data: bytes) -> tuple[int, int]:
    """Return the size in the header of a WebP: its decoder allocates memory for it at once."""
    form, start = data[12:16], data[20:30]
    if len(start) < 10:
        raise BrokenFile("the picture is damaged")
    if form == b"VP8X":
        return int.from_bytes(start[4:7], "little") + 1, int.from_bytes(start[7:10], "little") + 1
    if form == b"VP8L":
        bits = int.from_bytes(start[1:5], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    width, height = start[6:8], start[8:10]
    return int.from_bytes(width, "little") & 0x3FFF, int.from_bytes(height, "little") & 0x3FFF


def _check_icon(data: bytes) -> None:
    """Refuse an ICO that contains images larger than icons, whatever its header declares."""
    count = int.from_bytes(data[4:6], "little")
    if not 0 < count <= _MOST_ICONS:
        raise BrokenFile("the picture is damaged")
    for at in range(_ICON_HEAD, _ICON_HEAD + _ICON_ENTRY * count, _ICON_ENTRY):
        start = int.from_bytes(data[at + 12 : at + 16], "little")
        head = data[start : start + 24]
        if len(head) < 24:
            raise BrokenFile("the picture is damaged")
        if head.startswith(b"\x89PNG"):
            sides = int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")
        else:  # a BMP without file header, of double height: the mask is below
            sides = int.from_bytes(head[4:8], "little"), int.from_bytes(head[8:12], "little") // 2
        if max(sides) > _LARGEST_ICON:
            raise TooLarge(f"the icon is larger than {_LARGEST_ICON} pixels")


def _decoded(data: bytes, limits: Limits) -> "Image":
    kind = _kind(data, limits, _SIGNATURES)
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
    except Exception as error:  # decoders raise exceptions of many types
        raise BrokenFile("the picture is damaged") from error
    return picture


def _kind(data: bytes, limits: Limits, signatures: Mapping[bytes, str]) -> str:
    if len(data) > limits.picture:
        raise TooLarge(f"the picture is larger than {limits.picture / MIB:g} MiB")
    kind = next((kind for start, kind in signatures.items() if data.startswith(start)), None)
    if kind is None:
        raise BrokenFile("the picture is of a kind that is not shown")
    if kind == "JPEG" and data.count(_SCAN) > _MOST_SCANS:
        raise TooLarge(f"the picture is drawn over more than {_MOST_SCANS} times")
    return kind


def _check(picture: "Image", limits: Limits) -> None:
    _check_size(*picture.size, limits)
    if getattr(picture, "n_frames", 1) != 1:
        raise BrokenFile("the picture moves")
