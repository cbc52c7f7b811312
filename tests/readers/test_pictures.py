"""Preview pictures in map files: valid ones are copied, all others are ignored at little cost."""

import hashlib
import io
import struct
import time
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from PIL import Image, PngImagePlugin

from mapshelf.errors import PreviewChanged, UnreadableFile
from mapshelf.formats.outline_codec import decode_outline, encode_outline
from mapshelf.formats.outline_lookup import outline_picture
from mapshelf.model import Outline, Topic, sheets_of
from mapshelf.readers import READERS, Limits, Reader, preview_png, read
from mapshelf.readers.parsing.content import Content
from mapshelf.readers.parsing.limits import MIB
from mapshelf.readers.sandboxed_reader import ReadFile, SandboxedReader
from tests.readers.samples import archive_of, as_file, drawn, with_picture, xmind_json
from tests.test_examples import SAMPLES

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus" / "dev"
BOX = (320, 240)


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width: int, height: int, *chunks: bytes) -> bytes:
    """Return a PNG that claims this size, but has only these ``chunks``."""
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + b"".join(chunks) + chunk(b"IEND", b"")


def moving(kind: str) -> bytes:
    frames = [drawn((50, 50)), Image.new("RGB", (50, 50), "blue")]
    return as_file(frames[0], kind, save_all=True, append_images=frames[1:])


def scanned_often() -> bytes:
    """Return a progressive JPEG with 10,000 extra scans."""
    data = as_file(drawn(), "JPEG", progressive=True)
    start = data.index(b"\xff\xda")
    scan = data[start : data.index(b"\xff", start + 16)]
    return data[:start] + scan * 10_000 + data[start:]


SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>x</script></svg>'


def palette_with(transparency: bytes) -> bytes:
    """Return a picture with a palette and this transparency chunk."""
    whole = as_file(drawn().convert("P"))
    at = whole.index(b"IDAT") - 4
    return whole[:at] + chunk(b"tRNS", transparency) + whole[at:]


def copy_of(file: bytes, box: tuple[int, int] = BOX) -> bytes:
    return preview_png(file, read(file, Limits()).picture, Limits(), box)


HOSTILE: dict[str, Callable[[], bytes]] = {
    "empty": lambda: b"",
    "not a picture": lambda: b"<html>" * 100,
    "SVG": lambda: SVG,
    "SVG with a declaration": lambda: b'<?xml version="1.0"?>' + SVG,
    "cut short": lambda: as_file(drawn())[:-200],
    "a JPEG cut short": lambda: as_file(drawn(), "JPEG")[:-200],
    "a signature alone": lambda: b"\x89PNG\r\n\x1a\n",
    "damaged inside": lambda: as_file(drawn())[:60] + b"\xff" * 50 + as_file(drawn())[110:],
    "huge": lambda: png(100_000, 100_000, chunk(b"IDAT", zlib.compress(bytes(1000)))),
    "wide": lambda: png(2**31 - 1, 1, chunk(b"IDAT", zlib.compress(bytes(1000)))),
    "no pixels": lambda: png(0, 0, chunk(b"IDAT", zlib.compress(b""))),
    "a little too large": lambda: as_file(Image.new("1", (4001, 4000))),
    "too many bytes": lambda: as_file(drawn()) + bytes(9 * MIB),
    "packed text": lambda: png(
        9, 9, chunk(b"zTXt", b"k\0\0" + zlib.compress(bytes(200 * MIB), 9)),
    ),
    "a packed profile": lambda: png(
        9, 9, chunk(b"iCCP", b"k\0\0" + zlib.compress(bytes(200 * MIB), 9)),
    ),
    "GIF": lambda: as_file(drawn(), "GIF"),
    "BMP": lambda: as_file(drawn(), "BMP"),
    "TIFF": lambda: as_file(drawn(), "TIFF"),
    "WebP": lambda: as_file(drawn(), "WEBP"),
    "a moving GIF": lambda: moving("GIF"),
    "a moving PNG": lambda: moving("PNG"),
    "a JPEG drawn over and over": scanned_often,
    "more see-through colours than there are": lambda: palette_with(bytes(300)),
    "a see-through colour that is none": lambda: palette_with(b"\xff" * 300 + b"\0"),
}  # fmt: skip


@cache
def hostile(kind: str) -> bytes:
    """Return a harmful picture; making it may take a second."""
    return HOSTILE[kind]()


@pytest.mark.slow
@pytest.mark.parametrize("kind", HOSTILE)
def test_a_map_with_a_hostile_picture_is_read_without_it(kind: str) -> None:
    picture = hostile(kind)
    before = time.process_time()
    outline = read(with_picture(picture), Limits())
    assert (outline.roots[0].text, outline.picture) == ("Carried", "")
    assert time.process_time() - before < 3
    with pytest.raises(UnreadableFile):
        preview_png(with_picture(picture), hashlib.sha256(picture).hexdigest(), Limits(), BOX)


def test_a_changed_picture_is_refused() -> None:
    """If the map was replaced meanwhile, its picture must not be stored under the old digest."""
    with pytest.raises(PreviewChanged):
        preview_png(with_picture(as_file(drawn())), "0" * 64, Limits(), BOX)


@pytest.mark.process
def test_hostile_pictures_do_not_stop_an_import(tmp_path: Path) -> None:
    for number, kind in enumerate(HOSTILE):
        (tmp_path / f"{number}.xmind").write_bytes(with_picture(hostile(kind)))
    with SandboxedReader(workers=1) as reader:
        found = list(reader.read(sorted(str(path) for path in tmp_path.iterdir())))
    assert len(found) == len(HOSTILE)
    for result in found:
        assert isinstance(result, ReadFile), result
        assert outline_picture(result.outline) == ""


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "I;16", "CMYK", "YCbCr"])
def test_every_valid_picture_mode_is_copied(mode: str) -> None:
    kind = "JPEG" if mode in ("CMYK", "YCbCr") else "PNG"
    data = with_picture(as_file(drawn(mode="L" if mode == "I;16" else mode).convert(mode), kind))
    assert read(data, Limits()).picture
    with Image.open(io.BytesIO(copy_of(data))) as copy:
        assert (copy.format, copy.mode, copy.size) == ("PNG", "RGB", (320, 160))


def test_small_pictures_stay_small() -> None:
    copy = copy_of(with_picture(as_file(drawn((40, 30)))))
    assert Image.open(io.BytesIO(copy)).size == (40, 30)


def test_transparent_pictures_get_a_white_background() -> None:
    copy = copy_of(with_picture(as_file(Image.new("RGBA", (9, 9)))))
    assert Image.open(io.BytesIO(copy)).getpixel((4, 4)) == (255, 255, 255)


def test_the_copy_has_no_metadata() -> None:
    """The copy has no metadata, and no data from behind the end of the picture."""
    facts = PngImagePlugin.PngInfo()
    facts.add_text("Comment", "SECRET")
    jpeg = drawn()
    exif = Image.Exif()
    exif[0x010E] = "SECRET"
    for data in (
        as_file(drawn(), pnginfo=facts) + b"SECRET<script>",
        as_file(jpeg, "JPEG", exif=exif, comment=b"SECRET") + b"SECRET<script>",
    ):
        assert data.count(b"SECRET") >= 2
        copy = copy_of(with_picture(data), (1280, 960))
        assert b"SECRET" not in copy
        with Image.open(io.BytesIO(copy)) as opened:
            assert not opened.info
            assert not opened.getexif()


def test_the_digest_is_stored_with_the_outline() -> None:
    picture = as_file(drawn())
    outline = read(with_picture(picture), Limits())
    assert outline.picture == hashlib.sha256(picture).hexdigest()
    encoded = encode_outline(outline)
    assert decode_outline(encoded) == outline
    assert outline_picture(encoded) == outline.picture
    assert outline_picture(encode_outline(Outline(sheets_of(outline.roots)))) == ""
    for author in ('x","sheets":[],"picture":"y', "x" * 100_000):
        assert outline_picture(encode_outline(replace(outline, author=author))) == outline.picture
    topics = [Topic(text=f"a topic {number} with a text of its own") for number in range(5_000)]
    large = encode_outline(
        replace(outline, sheets=sheets_of((Topic(text="Root", children=topics),)))
    )
    # Only the metadata at the start is read: reading the rest would delay others.
    assert outline_picture(large[: len(large) // 2]) == outline.picture


def test_pictures_with_a_duplicate_name_are_ignored() -> None:
    data = with_picture(as_file(drawn()))
    buffer = io.BytesIO(data)
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(buffer, "a") as file:
        file.writestr("Thumbnails/thumbnail.png", as_file(drawn((30, 30))))
    assert read(buffer.getvalue(), Limits()).picture == ""


CARRIERS = [reader for reader in READERS if reader.pictures]


@pytest.mark.slow
@pytest.mark.parametrize("reader", CARRIERS, ids=lambda reader: reader.name)
def test_pictures_are_found_where_the_table_says(reader: Reader) -> None:
    """Put a picture into each place of one of our samples."""
    sample = next(
        path.read_bytes()
        for path in SAMPLES
        if zipfile.is_zipfile(path) and reader.sniff(Content(path.read_bytes(), Limits()))
    )
    with zipfile.ZipFile(io.BytesIO(sample)) as file:
        names = [name for name in file.namelist() if not name.endswith(reader.pictures)]
        members: dict[str, str | bytes] = {name: file.read(name) for name in names}
    assert read(archive_of(members), Limits()).picture == ""
    for place in reader.pictures:
        data = archive_of({**members, place: as_file(drawn())})
        assert read(data, Limits()).picture
        assert copy_of(data).startswith(b"\x89PNG")


def test_files_without_a_picture() -> None:
    assert read(xmind_json({"title": "Bare"}), Limits()).picture == ""
    assert read(b'<map version="1.0.1"><node TEXT="a"/></map>', Limits()).picture == ""
    with pytest.raises(UnreadableFile):
        preview_png(b'<map version="1.0.1"><node TEXT="a"/></map>', "", Limits(), BOX)


@pytest.mark.slow
@pytest.mark.skipif(not CORPUS.exists(), reason=f"the corpus of real maps is not at {CORPUS}")
def test_real_files_have_valid_pictures() -> None:
    """Every file with a preview member gets a picture; the test finds members by name."""
    places = ("thumbnails/thumbnail.png", "preview.png", "quicklook/preview.jpg", "thumbnail.jpeg")
    carriers = []
    for path in sorted(CORPUS.rglob("*")):
        if path.is_file() and zipfile.is_zipfile(path) and "not-" not in str(path):
            with zipfile.ZipFile(path) as file:
                names = [name.lower().lstrip("/") for name in file.namelist()]
            if any(name.endswith(places) for name in names):
                carriers.append(path)
    assert len(carriers) > 150
    for path in carriers[::8]:
        data = path.read_bytes()
        try:
            outline = read(data, Limits(), name=path.name)
        except UnreadableFile:
            continue  # such as one with a password
        assert outline.picture, path
        assert copy_of(data).startswith(b"\x89PNG"), path
