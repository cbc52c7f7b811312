"""``GET /maps/{ID}/drawing`` draws a whole map as SVG, PNG or PDF."""

import asyncio
import io
import os
import re
import signal
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx
import pytest
from PIL import Image as Pillow

from mapshelf.api import drawings as drawings_module
from mapshelf.api import map_detail, thumbnails
from mapshelf.api.context import DOCUMENTS_SIZE
from mapshelf.api.drawings import MEDIA_TYPES
from mapshelf.disk_cache import DiskCache
from mapshelf.formats.outline_codec import encode_outline
from mapshelf.model import (
    Boundary,
    Image,
    MapDraft,
    Outline,
    Relationship,
    Sheet,
    Style,
    Summary,
    Topic,
)
from mapshelf.render.formulas import drawings
from mapshelf.render.map_drawing import LONGEST_SIDE, MOST_PIXELS
from mapshelf.render.themes import DARK, LIGHT
from mapshelf.sandbox.pool import ConfinedChild
from tests.api import openapi
from tests.harness import PATIENCE, Service, outline_of, serve, shelf_with
from tests.readers.illustrated import picture

pytestmark = pytest.mark.process

ID = "Q7xK2mZp"
PICTURE = picture("red", (30, 20))
DIGEST = sha256(PICTURE).hexdigest()
BROKEN = PICTURE[:40]
LOST = sha256(BROKEN).hexdigest()
LONG = "word " * 100 + "end"
BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")
SHARED = "shared 10,000"
HOSTILE = '<script>alert(1)</script> & "quotes" #panic() $x$ \\ `code`'

FORMULA = r"\frac{a}{b}"
FORMULAS_OF_THE_HOSTILE = (
    r"\unknown{x}",
    r"\sqrt{" * 39 + "x" + "}" * 39,
    "{" * 10_000,
    r"\text{<script>alert(1)</script>}",
    "x\x00\ud7ff",
)


def outline() -> Outline:
    deep = Topic("deepest", "z", style=Style(text="#123456"))
    for number in range(12):
        deep = Topic(f"level {number}", f"l{number}", folded=True, children=[deep])
    branch = Topic(
        "Branch",
        "b",
        children=[Topic("one", "b1"), Topic("two", "b2"), Topic("three", "b3")],
    )
    shown = Topic("shown", "i", images=(Image(DIGEST, 30, 20, "red"), Image(LOST, 30, 20, "lost")))
    formulas = Topic(
        "Formulas",
        "m",
        children=[
            Topic("$$x^2$$", "m1", formula="x^2"),
            Topic("beside", "m2", formula=FORMULA),
            *(Topic("", f"m3-{n}", formula=one) for n, one in enumerate(FORMULAS_OF_THE_HOSTILE)),
        ],
    )
    more = [formulas, Topic(LONG, "w"), Topic(HOSTILE, "h")]
    root = Topic("Plan", "r", children=[deep, branch, shown, *more])
    first = Sheet(
        root,
        "First",
        floating=(Topic("aside", "f", position=(900.0, 900.0)),),
        relationships=(Relationship("b1", "b2", "within"), Relationship("b1", "l0", "between")),
        boundaries=(Boundary(("b1", "b2"), "around"),),
        summaries=(Summary(("b2", "b3"), Topic("in all", "s")),),
    )
    second = Sheet(
        Topic("שלום", "r2", children=[Topic("עולם", "c2"), Topic("plan", "p2")]), "Second"
    )
    return Outline((first, second))


WIDE = Outline((Sheet(Topic("r", "r", children=[Topic(SHARED, f"t{n}") for n in range(1500)])),))
DRAFTS = (
    MapDraft(
        id=ID,
        title=f"Plan {HOSTILE}",
        outline=encode_outline(outline()),
        images={DIGEST: PICTURE, LOST: BROKEN},
    ),
    MapDraft(id="Large000", title="Large", outline=encode_outline(WIDE)),
    MapDraft(id="Bare0000", title="Bare"),
)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with shelf_with(tmp_path_factory.mktemp("maps"), *DRAFTS) as shelf, serve(shelf) as running:
        yield running


def drawing(service: Service, suffix: str, query: str = "", public_id: str = ID) -> httpx.Response:
    response = service.request("GET", f"/maps/{public_id}/drawing.{suffix}{query}", signed=False)
    openapi.check(response)
    return response


def texts(response: httpx.Response) -> list[str]:
    root = ET.fromstring(response.text)  # our own
    found = root.iter("{http://www.w3.org/2000/svg}text")
    return [BIDI.sub("", "".join(text.itertext())) for text in found]


def pixels(response: httpx.Response) -> Pillow.Image:
    found = Pillow.open(io.BytesIO(response.content))
    found.load()
    return found


def test_a_drawing_has_every_topic_and_all_of_its_text(service: Service) -> None:
    found = texts(drawing(service, "svg"))
    whole = " ".join(found)
    for text in ("deepest", *(f"level {n}" for n in range(12)), "one", "two", "aside", "in all"):
        assert text in found
    assert " ".join(LONG.split()) in " ".join(whole.split())
    assert {"within", "between", "around"} <= set(found)
    assert not re.search(r"\+\d", whole)


def test_nothing_in_a_map_is_markup(service: Service) -> None:
    response = drawing(service, "svg")
    assert "<script" not in response.text
    assert "".join(HOSTILE.split()) in "".join("".join(texts(response)).split())


def test_formulas_are_drawn(service: Service) -> None:
    response = drawing(service, "svg", "?topic=m")
    found = texts(response)
    assert {"Formulas", "beside"} <= set(found)
    assert not {"$$x^2$$", "x^2", FORMULA} & set(found)
    for one in drawings(("x^2", FORMULA)).values():
        assert one.path in response.text
    # Formulas that cannot be drawn appear as their source.
    assert r"\unknown{x}" in found
    for suffix in ("png", "pdf"):
        assert drawing(service, suffix, "?topic=m").status_code == 200


def test_formulas_take_the_colour_of_the_words(service: Service) -> None:
    def colours(query: str) -> set[tuple[int, int, int]]:
        found = pixels(drawing(service, "png", query)).convert("RGB").getcolors(1 << 24)
        assert found is not None
        return {colour for _, colour in found}  # type: ignore[misc]

    for theme in (LIGHT, DARK):
        words = tuple(bytes.fromhex(theme.on_centre[1:]))
        assert words in colours(f"?topic=m1&theme={theme.name}")


def test_pictures_are_encoded_again(service: Service) -> None:
    response = drawing(service, "svg")
    assert response.text.count("<image") == 1
    assert "img-src data:" in response.headers["Content-Security-Policy"]
    colours = pixels(drawing(service, "png")).convert("RGB").getcolors(1 << 24)
    assert colours is not None
    assert (255, 0, 0) in {colour for _, colour in colours}


def test_a_branch_is_drawn_with_its_subtopics(service: Service) -> None:
    found = texts(drawing(service, "svg", "?topic=b"))
    assert sorted(found) == sorted(["Branch", "one", "two", "three", "in all", "within", "around"])
    assert texts(drawing(service, "svg", "?topic=b1")) == ["one"]


def test_a_sheet_is_chosen_by_its_number_or_its_topic(service: Service) -> None:
    second = texts(drawing(service, "svg", "?sheet=2"))
    assert "plan" in second
    assert "Branch" not in second
    assert texts(drawing(service, "svg", "?sheet=1")) == texts(drawing(service, "svg"))
    assert texts(drawing(service, "svg", "?topic=r2")) == second
    assert drawing(service, "svg", "?sheet=2&topic=b").status_code == 404


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("?sheet=0000000001", 200),
        ("?sheet=3", 404),
        ("?sheet=9999999999", 404),
        ("?topic=unknown", 404),
        ("?sheet=0", 400),
        ("?sheet=-1", 400),
        ("?sheet=x", 400),
        ("?sheet=" + "9" * 5000, 404),
        ("?theme=blue", 400),
        ("?topic=a&topic=b", 400),
        ("?topic=&sheet=&theme=", 200),
        ("?unknown=1", 200),
    ],
)
def test_wrong_values_get_a_clear_error(service: Service, query: str, status: int) -> None:
    assert drawing(service, "svg", query).status_code == status


def test_a_wrong_value_stays_wrong_when_the_drawing_is_cached(service: Service) -> None:
    assert drawing(service, "svg").status_code == 200
    assert drawing(service, "svg", "?topic=&sheet=0&theme=light").status_code == 400


def test_a_map_without_topics_has_no_drawing(service: Service) -> None:
    assert drawing(service, "svg", public_id="Bare0000").status_code == 404
    assert drawing(service, "png", public_id="Unknown0").status_code == 404


@pytest.mark.parametrize("suffix", MEDIA_TYPES)
def test_every_format_has_its_headers(service: Service, suffix: str) -> None:
    response = drawing(service, suffix)
    assert response.status_code == 200
    assert response.headers["Content-Type"].encode() == MEDIA_TYPES[suffix]
    assert response.headers["Content-Disposition"].startswith("inline; filename=")
    assert f".{suffix}" in response.headers["Content-Disposition"]
    assert response.headers["Cache-Control"].startswith("public")
    known = service.get(f"/maps/{ID}/drawing.{suffix}", If_None_Match=response.headers["ETag"])
    assert known.status_code == 304
    assert drawing(service, suffix).content == response.content


def test_both_themes_have_their_background(service: Service) -> None:
    for theme in (LIGHT, DARK):
        picture = pixels(drawing(service, "png", f"?topic=b&theme={theme.name}")).convert("RGB")
        assert picture.tobytes()[:3].hex() == theme.ground.removeprefix("#")


def test_a_pdf_has_text_and_its_fonts(service: Service) -> None:
    body = drawing(service, "pdf").content
    assert body.startswith(b"%PDF-")
    assert b"OpenSans" in body
    assert b"/FontFile2" in body
    assert b"/ToUnicode" in body
    assert b"/JavaScript" not in body


def test_a_large_map_is_drawn_smaller_as_png(service: Service) -> None:
    large = pixels(drawing(service, "png", public_id="Large000"))
    assert large.width * large.height <= 1.01 * MOST_PIXELS
    assert max(large.size) <= LONGEST_SIDE
    assert texts(drawing(service, "svg", public_id="Large000")).count(SHARED) == 1500
    pages = drawing(service, "pdf", public_id="Large000")
    sides = re.search(rb"/MediaBox\s*\[0 0 ([\d.]+) ([\d.]+)\]", pages.content)
    assert sides is not None
    assert max(map(float, sides.groups())) <= 14_400


def test_small_maps_do_not_wait_for_large_ones(tmp_path: Path) -> None:
    ids = [f"Small{number:03}" for number in range(24)]
    small = [MapDraft(id=one, title=one, outline=outline_of(one)) for one in ids]

    async def draw_all(service: Service) -> list[httpx.Response]:
        paths = [f"/maps/{one}/drawing.png" for one in ids]
        async with asyncio.timeout(PATIENCE):
            return await asyncio.gather(*(service.client.get(path) for path in paths))

    with (
        shelf_with(tmp_path, *small) as shelf,
        serve(shelf) as service,
        DiskCache(shelf.settings.documents, DOCUMENTS_SIZE).turn(),  # as if another worker held it
    ):
        answers = service.run(draw_all(service))
    assert [answer.status_code for answer in answers] == [200] * len(ids)


def killed(*_: object) -> bytes:
    """Die in the child process, as when the machine runs out of memory."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def out_of_time(*_: object) -> bytes:
    """Die in the child process, as at its limit of processor time."""
    os.kill(os.getpid(), signal.SIGPROF)
    raise AssertionError


def test_only_faults_of_the_map_are_remembered(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drawings_module, "draw_map", killed)
    busy = drawing(service, "png", "?theme=dark")
    assert (busy.status_code, busy.headers["Retry-After"]) == (503, "120")
    monkeypatch.setattr(drawings_module, "draw_map", out_of_time)
    assert drawing(service, "png", "?theme=dark").status_code == 404
    monkeypatch.undo()
    assert drawing(service, "png", "?theme=dark").status_code == 200


def test_a_drawing_that_timed_out_is_drawn_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = (f"/maps/{ID}/drawing.svg", f"/thumbnails/{ID}.svg?w=1280", f"/maps/{ID}/outline.xmind")
    with shelf_with(tmp_path, *DRAFTS) as shelf, serve(shelf) as service:
        with monkeypatch.context() as hurried:
            for module in (drawings_module, thumbnails, map_detail):
                hurried.setattr(module, "PICTURE_SECONDS", 0.0)
            incomplete = [service.get(path) for path in paths]
        for response in incomplete:
            assert response.status_code == 200
            assert response.headers["Cache-Control"] == "no-store"
            assert "ETag" not in response.headers
            openapi.check(response)
        complete = [service.get(path) for path in paths]
        for response, before in zip(complete, incomplete, strict=True):
            assert response.headers["Cache-Control"] != "no-store"
            assert response.content != before.content
            assert "ETag" in response.headers
            openapi.check(response)


def test_a_map_that_cannot_be_drawn_is_tried_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[object] = []
    call = ConfinedChild.call

    def counted(self: ConfinedChild, *arguments: Any) -> Any:
        calls.append(arguments)
        return call(self, *arguments)

    monkeypatch.setattr(ConfinedChild, "call", counted)
    # Frames of missing pictures, which take much space and little time.
    frames = (Image(DIGEST, 1600, 1600, "frame"),) * 4
    row = Topic("r", "r", children=[Topic("", f"t{n}", images=frames) for n in range(1500)])
    high = MapDraft(id=ID, title="High", outline=encode_outline(Outline((Sheet(row),))))
    with shelf_with(tmp_path, high) as shelf, serve(shelf) as service:
        for query in ("?topic=unknown", "?topic=wide", "?sheet=2", "?sheet=7"):
            assert drawing(service, "png", query).status_code == 404
        assert not calls
        answers = [drawing(service, "png") for _ in range(3)]
        assert {answer.status_code for answer in answers} == {404}
        (said,) = {answer.json()["error_description"] for answer in answers}
        assert "too large to be drawn as PNG" in said
        assert len(calls) == 1
