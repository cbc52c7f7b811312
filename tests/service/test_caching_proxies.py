"""What the documented proxies keep, and what else they pass on as it was asked for."""

import base64
import re
from collections.abc import Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urlsplit

import httpx
import pytest

from mapshelf.tokens import new_token, token_digest
from tests.cli.process import PATIENCE, Mapshelf, serving, status_of, wait_for
from tests.readers.samples import as_file, drawn
from tests.service.proxies import Proxy, documented_caddy, documented_nginx, trust
from tests.visits.browsers import FIREFOX

pytestmark = pytest.mark.process

PROXIES: Final[dict[str, Proxy]] = {"nginx": documented_nginx, "caddy": documented_caddy}
PICTURE: Final = as_file(drawn())
LATER: Final = 2**60
TEN_MINUTES: Final = 600


def illustrated(title: str) -> bytes:
    """Return a FreeMind file with a picture in its topic."""
    source = f"data:image/png;base64,{base64.b64encode(PICTURE).decode()}"
    rich = f'<html><body><p>{title}<img src="{source}"/></p></body></html>'
    return (
        f'<map version="1.0.1"><node ID="r"><richcontent TYPE="NODE">{rich}</richcontent>'
        '<node TEXT="a"/></node></map>'
    ).encode()


class World(NamedTuple):
    """A service with two published maps and a collection.

    Attributes:
        url: its address.
        token: may write.
        mapshelf: its catalogue.
        ids: the IDs of the maps.
        pages: the paths of their pages.
        collection: the ID of the collection.
    """

    url: str
    token: str
    mapshelf: Mapshelf
    ids: list[str]
    pages: list[str]
    collection: str

    def visits(self) -> list[int]:
        """Apply the counts to the maps; return the views and downloads of each."""
        with closing(self.mapshelf.store()) as store:
            store.apply_visit_counts(LATER)
            found = {one.id: (one.views, one.downloads) for one in store.maps(0, 9)}
        return [count for public_id in self.ids for count in found[public_id]]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("catalogue")
    mapshelf, token = Mapshelf(folder / "data"), new_token()
    with closing(mapshelf.store()) as store:
        store.add_user("ann")
        store.add_token(
            "ann", token_digest(token), label="", scopes="maps maps:write", expires=None
        )
    with (
        serving(mapshelf, "--trusted-proxy", "127.0.0.1", token=token) as service,
        httpx.Client(
            base_url=service.url,
            headers={"Authorization": f"Bearer {token}"},
            trust_env=False,
            timeout=PATIENCE,
        ) as client,
    ):
        wait_for(lambda: status_of(f"{service.url}/readyz") == 200)
        made = [
            client.post("/maps", files={"map": (f"{title}.mm", illustrated(title))}).json()
            for title in ("First", "Second")
        ]
        ids = [one["ID"] for one in made]
        wait_for(lambda: len(client.get("/maps").json()) == len(ids))
        body = {"title": "Plans", "maps": ids, "visibility": "published"}
        collection = client.post("/collections", json=body).json()["id"]
        pages = [urlsplit(one["URL"]).path for one in made]
        yield World(service.url, token, mapshelf, ids, pages, collection)


@pytest.fixture(scope="module", params=PROXIES)
def client(
    world: World, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[httpx.Client]:
    """Sends requests through a proxy, with the token."""
    folder = tmp_path_factory.mktemp("proxy")
    with (
        PROXIES[request.param](world.url, folder) as address,
        httpx.Client(
            base_url=address,
            headers={"Authorization": f"Bearer {world.token}"},
            verify=trust(),
            trust_env=False,
            timeout=PATIENCE,
        ) as through,
    ):
        yield through


def revalidated(world: World) -> list[str]:
    """Return paths of responses that no cache may use without asking again."""
    (public_id, other), page = world.ids, world.pages[0]
    of_map = ("", "/outline.json", "/outline.md", "/file", "/versions", f"/diff/{other}")
    return [
        *("/maps", "/maps?query=first", "/facets", "/collections", "/tags", "/openapi.json"),
        *(f"/maps/{public_id}{part}" for part in of_map),
        *("/", "/?view=table", "/browse/tags", "/collected", "/feed.atom", "/docs"),
        *(page, f"{page}?embed=1", f"{page}.md", f"{page}/original", f"{page}/compare/{other}"),
        *(f"/site/maps/{public_id}.json", f"/collected/{world.collection}/plans"),
    ]


def kept(world: World, client: httpx.Client) -> list[str]:
    """Return paths of responses that caches may keep."""
    public_id = world.ids[0]
    (style,) = re.findall(r'href="(/static/[^"]+\.css)"', client.get("/").text)
    return [
        style,
        *(f"/thumbnails/{public_id}.{kind}" for kind in ("png", "svg?w=640")),
        *(f"/maps/{public_id}/drawing.{kind}" for kind in ("svg", "png", "pdf")),
        f"/maps/{public_id}/images/{sha256(PICTURE).hexdigest()}.png",
        f"/collections/{world.collection}/picture.png",
    ]


def test_who_has_a_response_does_not_get_it_again(world: World, client: httpx.Client) -> None:
    """With a cache, nginx removes If-None-Match even for what may not be kept."""
    for path in (*revalidated(world), *kept(world, client)):
        answer = client.get(path)
        assert answer.status_code == 200, (path, answer.text[:200])
        if "etag" in answer.headers:
            again = client.get(path, headers={"If-None-Match": answer.headers["ETag"]})
            assert (again.status_code, again.content) == (304, b""), path
        else:
            assert path.startswith("/static/") or "no-store" in answer.headers["Cache-Control"], (
                path
            )


def test_what_does_not_show_a_page_is_no_visit(world: World, client: httpx.Client) -> None:
    """A proxy that may cache the page would ask for all of it."""
    other, seen = world.pages
    before = world.visits()
    named = {"User-Agent": f"{FIREFOX} {client.base_url.port}"}
    assert client.head(other, headers=named).status_code == 200
    client.get(f"{other}.md", headers={**named, "Range": "bytes=0-9"})
    client.get(seen, headers=named)
    wait_for(lambda: world.visits()[2] > before[2])
    assert world.visits() == [before[0], before[1], before[2] + 1, before[3]]


def test_nginx_keeps_all_that_caches_may_keep(world: World, tmp_path: Path) -> None:
    with (
        documented_nginx(world.url, tmp_path) as address,
        httpx.Client(
            base_url=address, verify=trust(), trust_env=False, timeout=PATIENCE
        ) as through,
    ):
        for path in kept(world, through):
            answers = [through.get(path) for _ in range(2)]
            assert "max-age" in answers[0].headers["Cache-Control"], path
            assert answers[0].content == answers[1].content
            # nginx sends what it keeps with the ID of the request for which it asked.
            assert len({answer.headers["X-Request-Id"] for answer in answers}) == 1, path


def test_pictures_of_hidden_maps_disappear_within_ten_minutes(
    world: World, client: httpx.Client
) -> None:
    """A browser may keep a picture as long again as the proxy had it before."""
    for path in kept(world, client)[1:]:
        (caching,) = re.findall(r"max-age=(\d+)", client.get(path).headers["Cache-Control"])
        assert 2 * int(caching) <= TEN_MINUTES, path
