"""Pictures made to do harm: none gets further than it may, and none costs more than itself."""

import resource
import struct
import time
import zlib
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

import pytest
from PIL import Image as Pillow

from mapshelf.disk_cache import DiskCache
from mapshelf.errors import UnreadableFile
from mapshelf.formats.outline_codec import decode_outline
from mapshelf.readers import Limits
from mapshelf.readers.parsing.images import Images
from mapshelf.readers.parsing.limits import MIB
from mapshelf.readers.pictures import measure
from mapshelf.readers.sandboxed_reader import ReadFile, SandboxedReader
from mapshelf.readers.svg_pictures import safe_svg, svg_size
from mapshelf.render.image_worker import ImageRequest, ImageWorker
from tests.readers.illustrated import illustrated, illustrated_readers, picture, within
from tests.readers.samples import as_file

LIMITS = Limits()


def chunk(kind: bytes, data: bytes) -> bytes:
    checksum = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", checksum)


def png(width: int, height: int, packed: bytes = b"", *more: bytes) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = chunk(b"IDAT", packed or zlib.compress(bytes(1000)))
    start = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header)
    return start + b"".join(more) + body + chunk(b"IEND", b"")


def webp(width: int, height: int) -> bytes:
    body = bytes(4) + b"".join((side - 1).to_bytes(3, "little") for side in (width, height))
    chunks = b"WEBPVP8X" + struct.pack("<I", len(body)) + body
    return b"RIFF" + struct.pack("<I", len(chunks)) + chunks


def gif(width: int, height: int) -> bytes:
    frame = b"," + struct.pack("<HHHHB", 0, 0, width, height, 0) + b"\x02\x02D\x01\x00"
    return b"GIF89a" + struct.pack("<HHBBB", 1, 1, 0x80, 0, 0) + bytes(6) + frame + b";"


def svg(content: str = "", attributes: str = 'width="40" height="30"', before: str = "") -> bytes:
    names = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    return f"{before}<svg {names} {attributes}>{content}</svg>".encode()


ENTITIES = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))

REFUSED: dict[str, Callable[[], bytes]] = {
    "empty": lambda: b"",
    "text": lambda: b"no picture",
    "30,000 x 30,000 PNG": lambda: png(30_000, 30_000),
    "PNG without pixels": lambda: png(0, 10),
    "WebP of 16,384 x 16,384": lambda: webp(16_384, 16_384),
    "GIF whose frame is larger than it says": lambda: gif(65_535, 65_535),
    "BMP of 2 billion": lambda: (
        b"BM" + struct.pack("<IIIIiiHHIIiiII", 1, 0, 54, 40, 2**31 - 1, 1, 1, 24, *(0,) * 6)
    ),
    "PNG with a book in it": lambda: png(
        1, 1, b"", chunk(b"zTXt", b"a\0\0" + zlib.compress(bytes(64 * MIB)))
    ),
    "JPEG drawn over and over": lambda: picture(kind="JPEG") + b"\xff\xda" * 100,
    "PNG cut in its header": lambda: picture()[:20],
    "WebP cut in its header": lambda: picture(kind="WEBP")[:18],
    "JPEG that is cut at once": lambda: b"\xff\xd8\xff",
    "TIFF": lambda: as_file(Pillow.new("RGB", (4, 4)), "TIFF"),
    "icon": lambda: as_file(Pillow.new("RGB", (16, 16)), "ICO"),
    "HTML": lambda: b"<html><svg/></html>",
    "larger than allowed": lambda: picture() + bytes(LIMITS.picture),
    "SVG of a kilometre": lambda: svg(attributes='width="1000000mm" height="1000000mm"'),
    "SVG that is not closed": lambda: svg("<g>")[:-6],
    "SVG with entities": lambda: svg(
        "&e9;", before=f'<!DOCTYPE svg [<!ENTITY e0 "ha">{ENTITIES}]>'
    ),
    "SVG with a file as entity": lambda: svg(
        "<text>&x;</text>", before='<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
    ),
    "SVG with a DTD from elsewhere": lambda: svg(
        before='<!DOCTYPE svg SYSTEM "http://127.0.0.1:9/x.dtd" [<!ENTITY % x SYSTEM "y"> %x;]>'
    ),
    "SVG 10,000 deep": lambda: svg("<g>" * 10_000 + "</g>" * 10_000),
    "SVG of 200,000 elements": lambda: svg("<g/>" * 200_000),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_bad_picture_is_left_out_and_soon(name: str) -> None:
    data = REFUSED[name]()
    began = time.process_time()
    with pytest.raises(UnreadableFile):
        measure(data, LIMITS)
    assert time.process_time() - began < 1.0
    images = Images(LIMITS, lambda _: data)
    assert images.add(data, 3, 4, "words") == ("", 3, 4, "words")
    assert images.add_beside("a/words") == ("", 0, 0, "words")
    assert images.found == {}


@pytest.mark.parametrize(
    ("attributes", "size"),
    [
        ('width="40" height="30"', (40, 30)),
        ('width="40px" height="3e1"', (40, 150)),
        ('width="1in" height="25.4mm"', (96, 96)),
        ('width="3cm" height="6pt"', (113, 8)),
        ('viewBox="0 0 40 30"', (40, 30)),
        ('viewBox="-5,-5,40.4,30.6"', (40, 31)),
        ('width="100%" height="100%" viewBox="0 0 40 30"', (40, 30)),
        ('width="80" viewBox="0 0 40 30"', (80, 60)),
        ('height="60" viewBox="0 0 40 30"', (80, 60)),
        ('width="-4" height="nan" viewBox="0 0 1e99 inf"', (300, 150)),
        ('width="0" height="0.001"', (300, 1)),
        ("", (300, 150)),
    ],
)
def test_the_size_of_an_svg(attributes: str, size: tuple[int, int]) -> None:
    data = svg(attributes=attributes)
    assert svg_size(data, LIMITS) == measure(data, LIMITS) == size


def test_an_svg_may_begin_as_programs_write_it() -> None:
    doctype = (
        '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN"'
        ' "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">'
    )
    before = f'\ufeff<?xml version="1.0" encoding="utf-8"?>\n<!-- made by hand -->\n{doctype}\n'
    assert measure(svg(before=before), LIMITS) == (40, 30)
    prefixed = b'<svg:svg xmlns:svg="http://www.w3.org/2000/svg" width="5" height="4"/>'
    assert measure(prefixed, LIMITS) == (5, 4)


def test_an_svg_keeps_nothing_but_what_draws(tmp_path: Path) -> None:
    secret = tmp_path / "secret.png"
    secret.write_bytes(picture())
    inner = f"data:image/svg+xml,{quote(svg())}"
    huge = "data:image/png;base64," + within(png(30_000, 30_000)).split()[1]
    good = "data:image/png;base64," + within(picture()).split()[1]
    harmful = "".join(
        f'<image xlink:href="{target}" width="9" height="9"/>'
        for target in (str(secret), secret.as_uri(), "./secret.png", "//127.0.0.1", inner, huge)
    )
    data = svg(
        f"<script>alert(1)</script><g onclick='alert(2)'><script href='x.js'/></g>{harmful}"
        "<foreignObject><iframe src='http://127.0.0.1:9/'/></foreignObject>"
        "<use href='other.svg#x'/><use href='#own'/><a href='javascript:alert(3)'><g/></a>"
        f"<image href='{good}'/><feImage href='{good}'/><rect id='own' fill='red'/>"
    )
    safe = safe_svg(data, LIMITS, (40, 30), measure)
    for word in ("script", "onclick", "secret", "//127", "svg+xml", "foreign", "other.svg"):
        assert word not in safe, word
    assert safe.count("data:") == 1
    assert '<use href="#own" />' in safe
    assert 'viewBox="0 0 40 30"' in safe


def test_so_many_pictures_are_looked_at_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = []

    def measured(data: bytes, _: Limits) -> tuple[int, int]:
        looked.append(data)
        return 1, 1

    monkeypatch.setattr("mapshelf.readers.pictures.measure", measured)
    images = Images(LIMITS, lambda _: None)
    kept = [images.add(b"%d" % n) for n in range(5000)]
    assert len(images.found) == len(looked) == LIMITS.most_pictures
    assert [bool(image.digest) for image in kept] == [n < LIMITS.most_pictures for n in range(5000)]
    assert images.add(b"7").digest, "one that is there may be in any number of topics"


def test_so_many_bytes_are_looked_at_and_no_more() -> None:
    images = Images(LIMITS, lambda _: None)
    began = time.process_time()
    for number in range(1000):
        images.add((b"no picture %d" % number).ljust(MIB))
    assert time.process_time() - began < 2.0
    assert not images.add(picture()).digest, "16 MiB of what is no picture are enough"


def test_the_same_picture_is_looked_at_once() -> None:
    images = Images(LIMITS, lambda _: None)
    large = picture() + bytes(7 * MIB)
    began = time.process_time()
    assert len({images.add(large) for _ in range(10_000)}) == 1
    assert time.process_time() - began < 2.0


@pytest.mark.process
def test_thousands_of_pictures_in_one_map_cost_what_is_allowed(tmp_path: Path) -> None:
    path = tmp_path / "a.mm"
    many = [picture(size=(n % 250 + 1, n // 250 + 1)) for n in range(5000)]
    for number, data in enumerate(many[:2000]):
        (tmp_path / f"{number}.png").write_bytes(data)
    lines = (
        *(f"beside {number}.png" for number in range(2000)),
        *map(within, many[2000:]),
        within(webp(16_384, 16_384)),
        within(png(30_000, 30_000)),
    )
    path.write_bytes(illustrated(*lines))
    with SandboxedReader(workers=1, readers=illustrated_readers) as reader:
        (result,) = reader.read([str(path)], lambda _: str(tmp_path))
    assert isinstance(result, ReadFile)
    assert len(result.images) == LIMITS.most_pictures
    assert sum(map(len, result.images.values())) <= LIMITS.pictures
    assert decode_outline(result.outline).topic_count == len(lines) + 1


# -- shown ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ImageWorker]:
    worker = ImageWorker(DiskCache(tmp_path_factory.mktemp("cache"), 1 << 26, 1))
    yield worker
    worker.close()


def shown(worker: ImageWorker, data: bytes) -> object:
    return worker.image(ImageRequest(sha256(data).hexdigest(), 1600), data)


def copies() -> bytes:
    """Copies of copies: a thousand million rectangles."""
    groups = "".join(
        f'<g id="g{n}">' + f'<use href="#g{n - 1}"/>' * 10 + "</g>" for n in range(1, 10)
    )
    return svg(f'<defs><g id="g0"><rect width="1" height="1"/></g>{groups}</defs><use href="#g9"/>')


def blurred() -> bytes:
    effects = '<feGaussianBlur stdDeviation="500"/><feTurbulence numOctaves="9999"/>' * 500
    return svg(
        f'<filter id="f">{effects}</filter><rect width="4000" height="3000" filter="url(#f)"/>',
        'width="4000" height="3000"',
    )


DRAWN_IN_VAIN: dict[str, Callable[[], bytes]] = {
    "truncated PNG": lambda: png(4000, 3000),
    "truncated JPEG": lambda: picture(size=(900, 900), kind="JPEG")[:900],
    "copies of copies": copies,
    "effects on effects": blurred,
}


@pytest.mark.process
@pytest.mark.parametrize("name", DRAWN_IN_VAIN)
def test_what_cannot_be_shown_costs_a_few_seconds_once(worker: ImageWorker, name: str) -> None:
    data = DRAWN_IN_VAIN[name]()
    measure(data, LIMITS)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    assert shown(worker, data) is None
    assert worker.has_refused(ImageRequest(sha256(data).hexdigest(), 1600))
    assert shown(worker, data) is None
    assert shown(worker, picture()) is not None, "others are shown all the same"
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before < 30


@pytest.mark.process
def test_an_svg_reads_no_file(worker: ImageWorker, tmp_path: Path) -> None:
    secret = tmp_path / "secret.png"
    secret.write_bytes(picture("red", (40, 30)))
    plain = shown(worker, svg())
    for reference in (str(secret), secret.as_uri()):
        image = f'<image xlink:href="{reference}" width="40" height="30"/>'
        assert shown(worker, svg(image)) == plain
    good = "data:image/png;base64," + within(secret.read_bytes()).split()[1]
    assert shown(worker, svg(f'<image href="{good}" width="40" height="30"/>')) != plain
