"""Pictures in topics, as exports write them."""

import io
import zipfile

import pytest

from mapshelf.model import Image, Outline, Topic, sheets_of
from mapshelf.readers import Limits, read
from mapshelf.writers import freemind, xmind
from mapshelf.writers.pictures import MOST_PICTURE_BYTES
from tests.readers.illustrated import picture

PNG = picture("red", (40, 30))
LARGE = PNG + bytes(1 << 20)


def of_many(count: int) -> Outline:
    branches = [Topic(str(n), str(n), images=(Image("p", 40, 30),)) for n in range(count)]
    return Outline(sheets_of((Topic("r", "r", children=branches),)))


@pytest.mark.slow
def test_the_size_of_pictures_in_an_export_is_limited() -> None:
    outline = of_many(1000)
    export = freemind.write(outline, {"p": LARGE})
    assert export.count(b"<img") == MOST_PICTURE_BYTES // len(LARGE)
    assert len(export) < 2 * MOST_PICTURE_BYTES
    with zipfile.ZipFile(io.BytesIO(xmind.write(outline, {"p": LARGE}))) as archive:
        assert len(archive.namelist()) == 4
        assert archive.read("content.json").count(b"xap:resources/p.png") == 1000


def test_pictures_with_an_invalid_size_get_their_own() -> None:
    sizes = ((0, 0), (-1, 5), (1e9, 5), (float("inf"), 1), (float("nan"), 1), (0.4, 12.6))
    images = tuple(Image("p", *size) for size in sizes)
    export = freemind.write(Outline(sheets_of((Topic("r", "r", images=images),))), {"p": PNG})
    found = read(export, Limits()).roots[0].images
    assert [(image.width, image.height) for image in found] == [(40, 30)] * 5 + [(1, 13)]


def test_exports_without_pictures_do_not_change() -> None:
    outline = of_many(2)
    bare = Outline(sheets_of((Topic("r", "r", children=[Topic("0", "0"), Topic("1", "1")]),)))
    for writer in (freemind, xmind):
        assert writer.write(outline) == writer.write(outline, {}) == writer.write(bare)
