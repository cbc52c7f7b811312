"""``GET /maps/{ID}/outline.mm`` and ``.xmind`` include the pictures of topics, encoded again."""

import io
import json
import zipfile
from collections.abc import Iterator
from hashlib import sha256
from typing import Any, Final

import pytest
from PIL import Image as Pillow

from mapshelf.api import map_detail
from mapshelf.formats.outline_codec import encode_outline
from mapshelf.model import Image, MapDraft, Outline, Topic, sheets_of
from mapshelf.readers import Limits, read_content
from mapshelf.readers.parsing.content import Content
from mapshelf.render.image_worker import LARGEST_SIDE, ImageWorker
from mapshelf.site import site_routes
from tests.api import openapi
from tests.harness import Service, Shelf, serve, shelf_with
from tests.readers.illustrated import picture

pytestmark = pytest.mark.process

ID: Final = "Q7xK2mZp"
PICTURES: Final = {
    "jpeg": picture("red", (30, 20), "JPEG"),
    "large": picture("blue", (3000, 1500)),
    "broken": picture("red", (30, 20))[:60],
}
DIGESTS: Final = {name: sha256(data).hexdigest() for name, data in PICTURES.items()}


def topic(text: str, *images: Image, **more: Any) -> Topic:
    return Topic(text, text, images=images, **more)


def image(name: str, width: float = 0.0, height: float = 0.0) -> Image:
    return Image(DIGESTS[name], width, height, f'"{name}" <1>\n')


ROOT: Final = topic(
    "plan",
    children=[
        topic("own size", image("jpeg", 30, 20)),
        topic("scaled", image("large", 400.4, 200)),
        topic("unknown size", image("large")),
        topic("nothing to show", image("broken", 9, 9), Image("", 1, 1, "gone")),
        topic("several", image("jpeg", 60, 40), image("large", 300, 150), note="a\nb"),
        topic("in HTML", image("jpeg", 3, 2), text_html="<b>in</b> HTML"),
        topic("noteless", image("jpeg", 60, 40), image("jpeg", 30, 20)),
    ],
)
SIZES: Final = {
    "own size": [(30, 20)],
    "scaled": [(400, 200)],
    "unknown size": [(LARGEST_SIDE, LARGEST_SIDE // 2)],
    "several": [(60, 40), (300, 150)],
    "in HTML": [(3, 2)],
    "noteless": [(60, 40), (30, 20)],
}


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    kept = {DIGESTS[name]: data for name, data in PICTURES.items()}
    outline = encode_outline(Outline(sheets_of((ROOT,))))
    draft = MapDraft(id=ID, title="Plan", outline=outline, images=kept)
    with shelf_with(tmp_path_factory.mktemp("maps"), draft) as shelf:
        yield shelf


@pytest.fixture(scope="module")
def service(shelf: Shelf) -> Iterator[Service]:
    with serve(shelf) as running:
        yield running


def exported(service: Service, suffix: str) -> bytes:
    response = service.get(f"/maps/{ID}/outline.{suffix}")
    assert response.status_code == 200, response.text
    content: bytes = response.content
    return content


def read_again(data: bytes) -> tuple[Outline, dict[str, bytes]]:
    content = Content(data, Limits())
    return read_content(content), content.images.found


@pytest.mark.parametrize("suffix", ["mm", "xmind"])
def test_pictures_keep_their_size(service: Service, suffix: str) -> None:
    outline, pictures = read_again(exported(service, suffix))
    found = {topic.text: topic for _, topic in outline.topics()}
    assert found.keys() == {"plan", "nothing to show", *SIZES}
    for text, topic in found.items():
        sizes = [(image.width, image.height) for image in topic.images]
        if suffix == "xmind" and len(sizes) > 1:  # a picture in a note keeps its own size
            assert sizes[0] == SIZES[text][0]
            assert len(sizes) == len(SIZES[text])
        else:
            assert sizes == SIZES.get(text, [])
        assert topic.note == ("a\nb" if text == "several" else "")
        assert "img" not in topic.text_html
        reds = [Pillow.open(io.BytesIO(pictures[i.digest])).getpixel((0, 0)) for i in topic.images]
        names = {
            "several": ["red", "blue"],
            "scaled": ["blue"],
            "unknown size": ["blue"],
            "noteless": ["red", "red"],
        }.get(text, ["red"] * len(sizes))
        assert [colour_of(pixel) for pixel in reds] == names


def colour_of(pixel: Any) -> str:
    return "red" if pixel[0] > 200 else "blue"


@pytest.mark.parametrize("suffix", ["mm", "xmind"])
def test_pictures_are_not_sent_as_they_are_in_the_map(service: Service, suffix: str) -> None:
    _, pictures = read_again(exported(service, suffix))
    assert len(pictures) == 2
    assert not pictures.keys() & DIGESTS.values()
    assert {Pillow.open(io.BytesIO(data)).format for data in pictures.values()} == {"PNG"}


def test_an_archive_lists_its_pictures_and_has_each_once(service: Service) -> None:
    with zipfile.ZipFile(io.BytesIO(exported(service, "xmind"))) as archive:
        names = archive.namelist()
        listed = json.loads(archive.read("manifest.json"))["file-entries"]
        content = json.loads(archive.read("content.json"))
    members = [f"resources/{DIGESTS[name]}.png" for name in ("jpeg", "large")]
    assert sorted(names) == sorted(["content.json", "metadata.json", "manifest.json", *members])
    assert listed.keys() == set(names) - {"manifest.json"}
    branches = content[0]["rootTopic"]["children"]["attached"]
    images = {branch["title"]: branch.get("image") for branch in branches}
    assert images["nothing to show"] is None
    assert images["own size"] == {"src": f"xap:{members[0]}"}
    assert images["scaled"] == {"src": f"xap:{members[1]}", "width": 400, "height": 200}


def test_a_text_stays_plain_beside_a_picture(service: Service) -> None:
    map_file = exported(service, "mm").decode("ascii")
    assert 'TEXT="own size"' in map_file


def test_other_formats_have_no_pictures(service: Service) -> None:
    for suffix in ("md", "opml", "mmd", "txt"):
        assert b"own size" in exported(service, suffix)


@pytest.mark.parametrize(
    ("name", "value"), [("MOST_PICTURES", 1), ("MOST_PICTURE_BYTES", 1000), ("MOST_PICTURES", 0)]
)
def test_pictures_in_exports_are_limited(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, name: str, value: int
) -> None:
    monkeypatch.setattr(map_detail, name, value)
    with serve(shelf) as service:
        for suffix in ("mm", "xmind"):
            outline, pictures = read_again(exported(service, suffix))
            assert len(pictures) <= 1
            assert outline.topic_count == 8


def test_the_pages_offer_the_same_files(shelf: Shelf, service: Service) -> None:
    with serve(shelf, site_routes) as pages:
        for suffix in ("mm", "xmind"):
            page = pages.get(f"/mindmaps/{ID}/plan.{suffix}")
            assert page.status_code == 200
            assert page.content == exported(service, suffix)


@pytest.mark.parametrize("suffix", ["mm", "xmind"])
def test_an_export_says_how_many_pictures_are_missing(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    path = f"/maps/{ID}/outline.{suffix}"
    with serve(shelf) as service:
        with monkeypatch.context() as hurried:
            hurried.setattr(map_detail, "PICTURE_SECONDS", 0.0)
            hurried.setattr(ImageWorker, "cached", lambda *_: None)  # other tests cached them
            first = service.get(path)
        assert first.headers["X-Missing-Pictures"] == "3"
        assert first.headers["Cache-Control"] == "no-store"
        whole = service.get(path)
        assert whole.headers["X-Missing-Pictures"] == "1", "one picture is broken"
        assert whole.headers["Cache-Control"] != "no-store"
        assert service.get(path).headers["X-Missing-Pictures"] == "1"
        assert "X-Missing-Pictures" not in service.get(f"/maps/{ID}/outline.md").headers
        openapi.check(first)
        openapi.check(whole)
    monkeypatch.setattr(map_detail, "MOST_PICTURES", 1)
    with serve(shelf) as service:
        assert int(service.get(path).headers["X-Missing-Pictures"]) >= 2
