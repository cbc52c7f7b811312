"""Pictures made to do harm: each is refused or drawn at little cost, and affects no other."""

import resource
import struct
import time
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from itertools import count
from pathlib import Path
from threading import Event
from urllib.parse import quote

import pytest
from PIL import Image as Pillow

from mapshelf.disk_cache import DiskCache
from mapshelf.errors import BrokenFile, Overloaded, TooLarge, UnreadableFile
from mapshelf.formats.outline_codec import decode_outline
from mapshelf.model import Image
from mapshelf.readers import Limits
from mapshelf.readers.parsing.images import Images
from mapshelf.readers.parsing.limits import MIB
from mapshelf.readers.parsing.pictures import measure
from mapshelf.readers.parsing.svg_pictures import safe_svg, svg_size
from mapshelf.readers.sandboxed_reader import ReadFile, SandboxedReader
from mapshelf.render import image_worker
from mapshelf.render.image_worker import ImageRequest, ImageTime, ImageWorker
from mapshelf.render.slow_maps import FORGIVEN_AFTER
from mapshelf.sandbox.pool import ConfinedChild
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


def tiff(width: int, height: int) -> bytes:
    """Return a TIFF that claims this size, but has one row."""
    facts = {256: width, 257: height, 258: 8, 259: 1, 262: 1, 273: 8, 277: 1, 278: height, 279: 1}
    entries = b"".join(struct.pack("<HHII", tag, 4, 1, fact) for tag, fact in facts.items())
    return b"II*\0" + struct.pack("<IH", 8, len(facts)) + entries + bytes(4)


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
    "TIFF that a library of C would decode": lambda: as_file(
        Pillow.new("RGB", (4, 4)), "TIFF", compression="tiff_lzw"
    ),
    "TIFF of 30,000 x 30,000": lambda: tiff(30_000, 30_000),
    "TIFF cut in its header": lambda: as_file(Pillow.new("RGB", (4, 4)), "TIFF")[:10],
    "cursor": lambda: b"\0\0\2\0" + as_file(Pillow.new("RGB", (16, 16)), "ICO")[4:],
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


@pytest.mark.slow
@pytest.mark.parametrize("name", REFUSED)
def test_bad_pictures_are_left_out_quickly(name: str) -> None:
    data = REFUSED[name]()
    began = time.process_time()
    with pytest.raises(UnreadableFile):
        measure(data, LIMITS)
    assert time.process_time() - began < 1.0
    images = Images(LIMITS, lambda _: data)
    assert images.add(data, 3, 4, "words") == Image("", 3, 4, "words")
    assert images.add_beside("a/words") == Image("", 0, 0, "words")
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


def test_svg_prologs_of_other_programs_are_accepted() -> None:
    doctype = (
        '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN"'
        ' "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">'
    )
    before = f'\ufeff<?xml version="1.0" encoding="utf-8"?>\n<!-- made by hand -->\n{doctype}\n'
    assert measure(svg(before=before), LIMITS) == (40, 30)
    prefixed = b'<svg:svg xmlns:svg="http://www.w3.org/2000/svg" width="5" height="4"/>'
    assert measure(prefixed, LIMITS) == (5, 4)


def test_only_drawing_elements_of_an_svg_are_kept(tmp_path: Path) -> None:
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


def test_the_number_of_checked_pictures_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = []

    def measured(data: bytes, _: Limits) -> tuple[int, int]:
        looked.append(data)
        return 1, 1

    monkeypatch.setattr("mapshelf.readers.parsing.pictures.measure", measured)
    images = Images(LIMITS, lambda _: None)
    kept = [images.add(b"%d" % n) for n in range(5000)]
    assert len(images.found) == len(looked) == LIMITS.most_pictures
    assert [bool(image.digest) for image in kept] == [n < LIMITS.most_pictures for n in range(5000)]
    assert images.add(b"7").digest, "a known picture was refused in another topic"


@pytest.mark.slow
def test_the_bytes_of_checked_pictures_are_limited() -> None:
    images = Images(LIMITS, lambda _: None)
    began = time.process_time()
    for number in range(1000):
        images.add((b"no picture %d" % number).ljust(MIB))
    assert time.process_time() - began < 2.0
    assert not images.add(picture()).digest, "a picture was read after 16 MiB of other data"


def test_the_same_picture_is_checked_once() -> None:
    images = Images(LIMITS, lambda _: None)
    large = picture() + bytes(7 * MIB)
    began = time.process_time()
    assert len({images.add(large) for _ in range(10_000)}) == 1
    assert time.process_time() - began < 2.0


@pytest.mark.process
def test_thousands_of_pictures_stay_within_the_limits(tmp_path: Path) -> None:
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


def icon(inside: bytes, side: int = 16) -> bytes:
    """Return an ICO whose header claims that the picture inside is small."""
    head = b"\0\0\1\0\1\0" + bytes((side, side, 0, 0, 1, 0, 32, 0))
    return head + len(inside).to_bytes(4, "little") + (22).to_bytes(4, "little") + inside


def test_too_large_icons_are_refused() -> None:
    assert measure(icon(picture(size=(16, 16))), LIMITS) == (16, 16)
    with pytest.raises(TooLarge, match="icon"):
        measure(icon(png(30_000, 30_000)), LIMITS)
    bitmap = (
        b"\x28\0\0\0" + (9000).to_bytes(4, "little") + (18_000).to_bytes(4, "little") + bytes(99)
    )
    with pytest.raises(TooLarge, match="icon"):
        measure(icon(bitmap), LIMITS)
    for broken in (b"\0\0\1\0", b"\0\0\1\0\xff\xff" + bytes(99), icon(b"")):
        with pytest.raises(BrokenFile):
            measure(broken, LIMITS)


# -- shown ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ImageWorker]:
    worker = ImageWorker(DiskCache(tmp_path_factory.mktemp("cache"), 1 << 26, 1))
    yield worker
    worker.close()


MAPS = count(1)


def shown(worker: ImageWorker, data: bytes) -> object:
    # Each picture is in its own map, because all pictures of a map share a time limit.
    return worker.image(
        ImageRequest(sha256(data).hexdigest(), 1600), data, next(MAPS), ImageTime(600, quick=False)
    )


def copies() -> bytes:
    """Return an SVG of nested copies: a billion rectangles."""
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
}


@pytest.mark.process
def test_nested_effects_are_left_out(worker: ImageWorker) -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    assert shown(worker, blurred()) is not None
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before < 5


@pytest.mark.process
@pytest.mark.parametrize("name", DRAWN_IN_VAIN)
def test_broken_pictures_are_tried_once(worker: ImageWorker, name: str) -> None:
    data = DRAWN_IN_VAIN[name]()
    measure(data, LIMITS)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    assert shown(worker, data) is None
    assert worker.has_refused(ImageRequest(sha256(data).hexdigest(), 1600))
    assert shown(worker, data) is None
    assert shown(worker, picture()) is not None, "another picture is not shown"
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


def filtered(
    uses: int, primitives: str, shape: str = '<rect width="9" filter="url(#f)"/>'
) -> bytes:
    return svg(f'<filter id="f">{primitives}</filter>' + shape * uses)


COPIES = "".join(f'<g id="g{n}">' + f'<use href="#g{n - 1}"/>' * 9 + "</g>" for n in range(1, 9))


@pytest.mark.parametrize(
    "bomb",
    [
        filtered(200, '<feGaussianBlur stdDeviation="500"/><feTurbulence numOctaves="1000"/>'),
        filtered(500, "<feOffset/>", '<rect style="fill:red;filter:url(#f)"/>'),
        filtered(500, "<feOffset/>", "<style>rect{filter:url(#f)}</style><rect/>"),
        filtered(500, "", '<rect style="filter:blur(3px)"/>'),
        filtered(1, "<feOffset/>", f'<g id="g0" filter="url(#f)"/>{COPIES}'),
    ],
)
def test_filters_that_take_too_long_are_dropped(bomb: bytes) -> None:
    kept = safe_svg(bomb, LIMITS, (1600, 1600), measure)
    assert "url(" not in kept
    assert "blur(" not in kept
    assert "<rect" in kept or "<use" in kept


def covered(kind: str, used: str, levels: int, each: int) -> bytes:
    """Return nested masks: each level has ``each`` shapes with the mask of the level before."""
    shapes = "".join(
        f'<{kind} id="c{n}">' + f"<rect {used % (n - 1)}/>" * each + f"</{kind}>"
        for n in range(1, levels)
    )
    return svg(f'<{kind} id="c0"><rect/></{kind}>{shapes}<rect {used % (levels - 1)}/>')


@pytest.mark.parametrize(
    ("kind", "used"),
    [
        ("mask", 'mask="url(#c%d)"'),
        ("clipPath", 'clip-path="url(#c%d)"'),
        ("mask", 'style="fill:red;mask:url(#c%d)"'),
        ("clipPath", """style="clip-path: url('#c%d')\""""),
    ],
)
@pytest.mark.parametrize(("levels", "each"), [(4, 9), (9, 9), (40, 2), (3, 30)])
def test_masks_within_masks_are_dropped(kind: str, used: str, levels: int, each: int) -> None:
    kept = safe_svg(covered(kind, used, levels, each), LIMITS, (1600, 1600), measure)
    assert "url(" not in kept
    assert kept.count("<rect") == each * (levels - 1) + 2


def test_masks_used_by_a_style_sheet_are_counted() -> None:
    rules = "".join(f".c{n}{{mask:url(#c{n})}}" for n in range(9))
    bomb = covered("mask", 'class="c%d"', 9, 9).replace(
        b"<mask", f"<style>{rules}</style><mask".encode(), 1
    )
    assert "url(" not in safe_svg(bomb, LIMITS, (1600, 1600), measure)


def test_a_filter_within_a_mask_counts_wherever_the_mask_is_used() -> None:
    shadow = '<filter id="f"><feGaussianBlur/></filter><mask id="m"><rect filter="url(#f)"/></mask>'
    kept = safe_svg(svg(shadow + '<rect mask="url(#m)"/>' * 500), LIMITS, (1600, 1600), measure)
    assert "url(#f)" not in kept
    assert kept.count("url(#m)") == 500


def test_ordinary_masks_and_clip_paths_stay() -> None:
    clips = '<clipPath id="a"><rect/></clipPath><mask id="b"><rect clip-path="url(#a)"/></mask>'
    uses = '<rect clip-path="url(#a)"/>' * 1000 + '<rect mask="url(#b)"/>' * 50
    kept = safe_svg(svg(clips + uses), LIMITS, (1600, 1600), measure)
    assert kept.count("url(#a)") == 1001
    assert kept.count("url(#b)") == 50


def test_ordinary_filters_stay() -> None:
    shadows = filtered(40, "<feGaussianBlur/><feOffset/><feMerge/>")
    assert safe_svg(shadows, LIMITS, (1600, 1600), measure).count("url(#f)") == 40


def test_slow_pictures_of_a_map_share_a_time_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = ImageWorker(DiskCache(tmp_path, 1 << 24))
    clock = [0.0]
    calls: list[bytes] = []

    def slow(
        self: ConfinedChild, _: object, arguments: tuple[bytes, int], __: float
    ) -> tuple[bytes, float]:
        calls.append(arguments[0])
        clock[0] += 2.9
        return b"made", 2.9 if arguments[0] == b"slow" else 0.1  # of processor time

    monkeypatch.setattr(ConfinedChild, "call", slow)
    monkeypatch.setattr(image_worker, "monotonic", lambda: clock[0])

    def made(number: int, data: bytes, file_id: int) -> object:
        return worker.image(
            ImageRequest(f"{number:064d}", 320), data, file_id, ImageTime(600, quick=False)
        )

    assert [made(number, b"slow", 1) for number in range(6)] == [b"made"] * 3 + [None] * 3
    assert len(calls) == 3
    assert made(0, b"slow", 1) == b"made", "not taken from the cache"
    assert made(7, b"quick", 1) is None
    assert worker.may_be_shown_later(ImageRequest(f"{7:064d}", 320), 1)
    assert [made(number, b"quick", 2) for number in range(10, 210)] == [b"made"] * 200
    clock[0] += FORGIVEN_AFTER
    assert made(4, b"slow", 1) == b"made"
    worker.close()


def test_pictures_that_take_long_do_not_delay_quick_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = ImageWorker(DiskCache(tmp_path, 1 << 24))
    started, over = Event(), Event()

    def call(
        self: ConfinedChild, _: object, arguments: tuple[bytes, int], __: float
    ) -> tuple[bytes, float]:
        if arguments[0] == b"slow":
            started.set()
            assert over.wait(60)
        return arguments[0], 0.1

    monkeypatch.setattr(ConfinedChild, "call", call)

    def made(number: int, data: bytes, time: ImageTime) -> object:
        return worker.image(ImageRequest(f"{number:064d}", 320), data, number, time)

    with ThreadPoolExecutor(1) as threads:
        long = threads.submit(made, 1, b"slow", ImageTime(60, quick=False))
        assert started.wait(60)
        try:
            quick = ImageTime(60, quick=True)
            assert made(2, b"quick", quick) == b"quick"
            assert quick.spent == 0.1
            waited = ImageTime(0.01, quick=False)
            with pytest.raises(Overloaded):
                made(3, b"quick", waited)
            assert not waited.spent
        finally:
            over.set()
        assert long.result() == b"slow"
    worker.close()


def test_a_refusal_holds_for_every_width(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    worker = ImageWorker(DiskCache(tmp_path, 1 << 24))
    calls: list[int] = []

    def too_long(self: ConfinedChild, _: object, arguments: tuple[bytes, int], __: float) -> bytes:
        calls.append(arguments[1])
        raise TimeoutError

    monkeypatch.setattr(ConfinedChild, "call", too_long)
    for width in (320, 640, 1600):
        request = ImageRequest("d" * 64, width)
        assert worker.image(request, b"x", 1, ImageTime(600, quick=False)) is None
        assert worker.has_refused(request)
    assert calls == [320]
    assert worker.may_be_shown_later(
        ImageRequest("d" * 64, 320), 1
    )  # the machine may just have been busy
    worker.close()
