"""Permissions: every route in ``docs/permissions.md``, requested by every kind of caller.

A test fails if the table misses a route. Each request would succeed for a caller who has the
permission, so a cell fails both if the service allows too much and if it allows too little.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from io import BytesIO
from itertools import count
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlencode
from zipfile import ZipFile

import httpx
import pytest
from argon2 import PasswordHasher

from mapshelf.accounts import dynamic_registration, passwords
from mapshelf.accounts.one_time_links import new_password_link
from mapshelf.api import auth
from mapshelf.api.collection_editing import DETAILS
from mapshelf.api.csrf import FIELD, form_token
from mapshelf.api.map_fields import NAMES
from mapshelf.api.oauth import endpoints, oauth_routes
from mapshelf.api.operations import api_routes
from mapshelf.clock import milliseconds
from mapshelf.model import CollectionDetails, Program, Role, Visibility
from mapshelf.settings import Registration
from mapshelf.site import site_routes
from mapshelf.site.form_changes import PREFIX
from mapshelf.tokens import ACCESS_PREFIX, FEED_PREFIX, SCOPES, new_token
from tests.api.oauth_programs import SECRET, challenge_of, registered
from tests.api.publishing import plan
from tests.examples import share
from tests.harness import BASE_URL, Service, Shelf, shelf_with
from tests.person import PASSWORD, link_of
from tests.readers.samples import archive_of, as_file, drawn
from tests.site.people.openid_provider import small_provider

PAGE: Final = (Path(__file__).parents[2] / "docs" / "permissions.md").read_text("utf-8")

PICTURE: Final = as_file(drawn())
ROOT: Final = {"id": "r", "title": "Plan", "image": {"src": "xap:resources/a.png"}}
FILE: Final = archive_of(
    {
        "content.json": json.dumps([{"id": "s", "title": "Sheet", "rootTopic": ROOT}]),
        "resources/a.png": PICTURE,
    }
)
EVERYTHING: Final = frozenset(SCOPES)
VISIBILITIES: Final = ("published", "unlisted", "private")
FORM: Final = "application/x-www-form-urlencoded"
NUMBERS: Final = count(1)

AT: Final = "/mindmaps/{id}/{slug}"
COLLECTED: Final = "/collected/{id}/{slug}"
OWNER, OTHER, BOSS = "owner", "other", "boss"


@dataclass(frozen=True)
class Row:
    """A request in the table: the permission it needs, and the maps it works for."""

    method: str
    path: str
    takes: str
    which: str


@dataclass(frozen=True)
class Caller:
    """A kind of caller.

    ``user`` is empty for callers without an account. ``written`` tells whether forms come from a
    page of the service, not from another site.
    """

    name: str
    user: str = ""
    scopes: frozenset[str] = frozenset()
    token: str = ""
    session: str = ""
    written: bool = True
    elsewhere: bool = False

    @property
    def has_session(self) -> bool:
        return bool(self.user and self.session)


@dataclass(frozen=True)
class Asked:
    """A request that gets one of these statuses if the caller has the permission."""

    path: str
    fields: Mapping[str, str] = field(default_factory=dict)
    json: Any = None
    file: bytes = b""
    statuses: tuple[int, ...] = (200,)
    location: str = ""


def rows(*, private: bool) -> list[Row]:
    """Return the table of the docs."""
    found = []
    for line in PAGE.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) != 4 or not cells[0].startswith("`"):
            continue
        takes = (cells[2] if private and cells[2] else cells[1]).strip("`")
        requests = (
            cells[0]
            .replace("{ID}", "{id}")
            .replace("{N}", "{number}")
            .replace("{OTHER}", "{other}")
        )
        for methods, path in re.findall(r"`([A-Z, ]+) (\S+?)`", requests):
            found += [Row(method, path, takes, cells[3]) for method in methods.split(", ")]
    return found


def with_comment(content: bytes, comment: str) -> bytes:
    """Return a copy of an archive that differs in its comment only, so that it is another file."""
    file = BytesIO(content)
    with ZipFile(file, "a") as archive:
        archive.comment = comment.encode()
    return file.getvalue()


class World:
    """A catalogue with users, maps and OAuth programs, and a service for it."""

    def __init__(self, shelf: Shelf, service: Service) -> None:
        self.shelf, self.service = shelf, service
        for name, role in ((OWNER, Role.MEMBER), (OTHER, Role.MEMBER), (BOSS, Role.ADMINISTRATOR)):
            shelf.store.add_user(name, role)
        shelf.store.add_user("gone")
        self.ids = {user.name: user.id for user in shelf.store.users()}
        self.owner = shelf.token(OWNER, scopes=" ".join(SCOPES))
        self.maps = {one: self.upload(with_comment(FILE, one), one) for one in VISIBILITIES}
        self.searches = {
            name: shelf.store.save_search(self.ids[name], "Plans", "query=plan").id
            for name in (OWNER, OTHER)
        }
        self.collections = {one: self.collection(one) for one in VISIBILITIES}
        shelf.publish()
        self.web: Program = registered(shelf.store)
        self.feed = shelf.token(OTHER, scopes="feeds", prefix=FEED_PREFIX)
        docs = service.request("GET", "/docs", signed=False).text
        self.static = re.findall(r'"(/static/[^"]+\.css)"', docs)[0]
        for path in (link_of(shelf, "ann"),):
            self.choose(path)

    def upload(self, content: bytes, visibility: str = "published") -> str:
        """Publish a map of the owner; return its ID."""
        sending = self.service.client.post(
            "/maps",
            headers={"Authorization": f"Bearer {self.owner}", "Idempotency-Key": new_token()},
            data={"title": "Plan", "visibility": visibility},
            files={"map": ("plan.xmind", content)},
        )
        answer = self.service.run(sending)
        assert answer.status_code in (200, 201), answer.text
        return str(answer.json()["ID"])

    def collection(self, visibility: str) -> str:
        """Make a collection of the owner with the published map; return its ID."""
        details = CollectionDetails("Plans", "", Visibility(visibility))
        (found,) = self.shelf.store.maps_with_ids([self.maps["published"]])
        made = self.shelf.store.add_collection(self.ids[OWNER], details, [found.file_id])
        return made.id

    def choose(self, link: str) -> None:
        caller = Caller("somebody")
        asked = Asked(link, {"new": PASSWORD, "again": PASSWORD})
        assert self.send("POST", asked, caller).status_code == 303

    def callers(self) -> list[Caller]:
        """Return all kinds of callers, with new tokens and sessions."""
        shelf, store = self.shelf, self.shelf.store

        def token(user: str, *scopes: str, **more: Any) -> str:
            return shelf.token(user, scopes=" ".join(scopes), **more)

        revoked = token(OTHER, *SCOPES)
        store.revoke_token(store.tokens(OTHER)[-1].id)
        ended = shelf.session(OTHER)
        store.end_session(self.ids[OTHER], store.sessions(self.ids[OTHER])[0].id)
        store.enable_user("gone")
        disabled, disabled_session = token("gone", *SCOPES), shelf.session("gone")
        store.disable_user("gone")
        strangers = [
            Caller("nobody"),
            Caller("a bad token", token="msh_bad"),
            Caller("an invented token", token=new_token()),
            Caller("an expired token", token=token(OTHER, *SCOPES, expires=1)),
            Caller("a revoked token", token=revoked),
            Caller("a token of a disabled user", token=disabled),
            Caller("the secret of feeds as a token", token=self.feed),
            Caller("an ended session", session=ended),
            Caller("an expired session", session=shelf.session(OTHER, expires=1)),
            Caller("a session of a disabled user", session=disabled_session),
        ]
        scoped = [
            Caller(f"another member, {scope}", OTHER, frozenset({scope}), token(OTHER, scope))
            for scope in SCOPES
        ]
        access = token(OTHER, "maps", prefix=ACCESS_PREFIX)
        scoped.append(Caller("a program, maps", OTHER, frozenset({"maps"}), access))
        known = []
        for user in (OTHER, OWNER, BOSS):
            known += [
                Caller(f"{user}, token", user, EVERYTHING, token(user, *SCOPES)),
                Caller(f"{user}, session", user, EVERYTHING, session=shelf.session(user)),
                Caller(
                    f"{user}, session without the token of forms",
                    user,
                    EVERYTHING,
                    session=shelf.session(user),
                    written=False,
                ),
                Caller(
                    f"{user}, session, from another site",
                    user,
                    EVERYTHING,
                    session=shelf.session(user),
                    written=False,
                    elsewhere=True,
                ),
            ]
        return [*strangers, *scoped, *known]

    def send(self, method: str, asked: Asked, caller: Caller) -> httpx.Response:
        """Send a request as this caller."""
        secret = "form-secret"
        page = asked.path.partition("?")[0]
        open_form = page in ("/signin", "/signin/passkey", "/register") or page.startswith("/link/")
        written = form_token(secret if open_form else caller.session)
        cookies = [f"__Host-mapshelf_form={secret}"]
        if caller.session:
            cookies.append(f"__Host-mapshelf_session={caller.session}")
        headers = {"Cookie": "; ".join(cookies)}
        if caller.token:
            headers["Authorization"] = f"Bearer {caller.token}"
        site = "cross-site" if caller.elsewhere else "same-origin"
        headers |= {"Sec-Fetch-Site": site} if caller.session or caller.elsewhere else {}
        if method != "GET":
            headers["Origin"] = "https://evil.example" if caller.elsewhere else BASE_URL
        parts: dict[str, Any] = {}
        if asked.json is not None:
            parts["json"] = asked.json
        elif asked.file:
            parts["files"] = {"map": ("plan.mm", asked.file)}
            if not page.startswith("/maps") and (caller.written or caller.elsewhere):
                parts["data"] = {FIELD: written}
        elif page.endswith(("/edit", "/preview")) and method != "GET":
            token = {FIELD: written} if caller.written or caller.elsewhere else {}
            fields = {**asked.fields, **token}
            parts["files"] = {name: (None, text) for name, text in fields.items()}
        elif method != "GET":
            token = {FIELD: written} if caller.written or caller.elsewhere else {}
            parts["content"] = urlencode({**asked.fields, **token}).encode()
            headers["Content-Type"] = FORM
        if caller.session and (caller.written or caller.elsewhere):
            headers["X-CSRF-Token"] = form_token(caller.session)
        self.service.client.cookies.clear()
        asking = self.service.client.request(method, asked.path, headers=headers, **parts)
        return self.service.run(asking)

    def another(self) -> str:
        """Return the ID of a new map of the owner, with two versions."""
        number = next(NUMBERS)
        public_id = self.upload(plan(f"new {number}"))
        headers = {"Authorization": f"Bearer {self.owner}"}
        sending = self.service.client.put(
            f"/maps/{public_id}/file",
            headers=headers,
            files={"map": ("plan.mm", plan(f"newer {number}"))},
        )
        assert self.service.run(sending).status_code == 200
        return public_id

    def removed(self) -> str:
        """Return the ID of a map that its owner removed."""
        public_id = self.another()
        headers = {"Authorization": f"Bearer {self.owner}"}
        removing = self.service.client.delete(f"/maps/{public_id}", headers=headers)
        assert self.service.run(removing).status_code == 204
        return public_id

    def ask(self, row: Row, visibility: str) -> Asked:
        """Return a request that succeeds if the caller has the permission."""
        make = REQUESTS.get((row.method, row.path))
        if make is not None:
            return make(self, visibility)
        of = self.collections if row.path.startswith("/collect") else self.maps
        parts = {
            "id": of[visibility],
            "other": self.maps[visibility],
            "format": "md",
            "drawing": "svg",
            "digest": sha256(PICTURE).hexdigest(),
            "picture": "svg",
            "slug": "plans" if row.path.startswith("/collect") else "plan",
            "secret": self.feed,
            "map": self.maps["published"],
            "name": OWNER if row.path.startswith("/owners") else "1",
        }
        return Asked(re.sub(r"\{(\w+)\}", lambda part: parts[part[1]], row.path))


def program(world: World, **fields: str) -> dict[str, str]:
    return {"client_id": world.web.id, "client_secret": SECRET, **fields}


def consent(path: str) -> Callable[[World, str], Asked]:
    def asked(world: World, _: str) -> Asked:
        query = urlencode(
            {
                "response_type": "code",
                "client_id": world.web.id,
                "redirect_uri": world.web.redirect_uris[0],
                "code_challenge": challenge_of("v" * 50),
                "code_challenge_method": "S256",
            }
        )
        there = world.web.redirect_uris[0] + "?code="
        return Asked(f"{path}?{query}", {"decision": "allow"}, statuses=(200, 303), location=there)

    return asked


def device(world: World, _: str) -> Asked:
    form = urlencode(program(world, scope="maps")).encode()
    answer = world.service.request(
        "POST",
        "/oauth/device_authorization",
        headers={"Content-Type": FORM},
        signed=False,
        content=form,
    )
    fields = {"user_code": answer.json()["user_code"], "decision": "allow"}
    there = "/account/programs?done=device.allowed"
    return Asked("/oauth/device", fields, statuses=(303,), location=there)


def link(world: World, _: str) -> Asked:
    user = world.shelf.store.add_user(f"invited{next(NUMBERS)}")
    path = f"/link/{new_password_link(world.shelf.store, user, milliseconds())}"
    return Asked(path, {"new": PASSWORD, "again": PASSWORD}, statuses=(200, 303))


def done(path: str, location: str = "", **fields: str) -> Callable[[World, str], Asked]:
    return lambda _, __: Asked(path, fields, statuses=(303,), location=location)


def of_map(rest: str, **parts: Any) -> Callable[[World, str], Asked]:
    return lambda world, visibility: Asked(f"/maps/{world.maps[visibility]}{rest}", **parts)


def opened(names: Iterable[str]) -> dict[str, str]:
    """Return hidden fields of an edit form as if all its fields had been empty."""
    return {f"{PREFIX}{name}": "" for name in names}


def of_page(last: str, **fields: str) -> Callable[[World, str], Asked]:
    def asked(world: World, visibility: str) -> Asked:
        path = f"/mindmaps/{world.maps[visibility]}/plan/{last}"
        return Asked(path, fields, statuses=(303,), location="/mindmaps/")

    return asked


def guest(_: World, __: str) -> Asked:
    name = f"guest{next(NUMBERS)}"
    fields = {"name": name, "new": PASSWORD, "again": PASSWORD}
    return Asked("/register", fields, statuses=(303,))


def place(world: World, visibility: str) -> str:
    return quote(f"{BASE_URL}/mindmaps/{world.maps[visibility]}/plan", safe="")


def of_collection(rest: str = "", **parts: Any) -> Callable[[World, str], Asked]:
    def asked(world: World, visibility: str) -> Asked:
        return Asked(f"/collections/{world.collections[visibility]}{rest}", **parts)

    return asked


def of_collected(last: str, **fields: str) -> Callable[[World, str], Asked]:
    def asked(world: World, visibility: str) -> Asked:
        path = f"/collected/{world.collections[visibility]}/plans/{last}"
        return Asked(path, fields, statuses=(303,), location="/collected/")

    return asked


def new_search(world: World, _: str) -> Asked:
    """Save a search of the owner; return a request that deletes it."""
    made = world.shelf.store.save_search(world.ids[OWNER], "Gone", "")
    return Asked(f"/users/me/searches/{made.id}", statuses=(204,))


def forgotten(asked: Asked) -> Callable[[World, str], Asked]:
    """Return a function that deletes the searches of earlier requests, and returns this one."""

    def make(world: World, _: str) -> Asked:
        for user in world.ids.values():
            for one in world.shelf.store.saved_searches_of(user):
                if one.name in ("New", "Gone"):
                    world.shelf.store.remove_saved_search(user, one.id)
        return asked

    return make


def emptied(world: World, visibility: str) -> Asked:
    """Put the map into the collection; return a request that takes it out."""
    public_id = world.collections[visibility]
    (found,) = world.shelf.store.maps_with_ids([world.maps["published"]])
    world.shelf.store.collect(public_id, [found.file_id])
    return Asked(f"/collections/{public_id}/maps/{found.id}", statuses=(204,))


def new_collection(world: World, _: str) -> Asked:
    (user,) = (one for one in world.shelf.store.users() if one.name == OWNER)
    store = world.shelf.store
    for one in store.collections_of(user.id):
        if one.title == "Gone":
            store.remove_collection(one.id)
    details = CollectionDetails("Gone", "", Visibility.PUBLISHED)
    return Asked(f"/collections/{store.add_collection(user.id, details, []).id}", statuses=(204,))


def forgetful(asked: Asked) -> Callable[[World, str], Asked]:
    """Return a function that deletes the collections of earlier requests, and returns this one."""

    def make(world: World, _: str) -> Asked:
        for user in world.ids.values():
            for one in world.shelf.store.collections_of(user):
                if one.title == "New":
                    world.shelf.store.remove_collection(one.id)
        return asked

    return make


REQUESTS: Final[Mapping[tuple[str, str], Callable[[World, str], Asked]]] = {
    ("POST", "/maps"): lambda _, __: Asked(
        "/maps", file=plan(f"of {next(NUMBERS)}"), statuses=(201,)
    ),
    ("PATCH", "/maps/{id}"): of_map("", json={"description": "Other"}),
    ("DELETE", "/maps/{id}"): lambda world, _: Asked(f"/maps/{world.another()}", statuses=(204,)),
    ("PUT", "/maps/{id}/file"): lambda world, visibility: Asked(
        f"/maps/{world.maps[visibility]}/file", file=plan(f"of {next(NUMBERS)}")
    ),
    ("POST", "/maps/{id}/versions/{number}/restore"): lambda world, _: Asked(
        f"/maps/{world.another()}/versions/1/restore"
    ),
    ("PUT", "/maps/{id}/vote"): of_map("/vote", json={"vote": "up"}),
    ("POST", "/maps/{id}/reports"): of_map("/reports", json={"reason": "spam"}, statuses=(201,)),
    ("POST", "/collections"): forgetful(
        Asked("/collections", json={"title": "New"}, statuses=(201,))
    ),
    ("PATCH", "/collections/{id}"): of_collection(json={"text": "Other"}),
    ("DELETE", "/collections/{id}"): new_collection,
    ("PUT", "/collections/{id}/maps"): of_collection("/maps", json=[]),
    ("POST", "/collections/{id}/maps"): of_collection("/maps", json=[]),
    ("DELETE", "/collections/{id}/maps/{map}"): emptied,
    ("POST", "/users/me/searches"): forgotten(
        Asked("/users/me/searches", json={"name": "New", "parameters": {}}, statuses=(201,))
    ),
    ("PATCH", "/users/me/searches/{id}"): lambda world, _: Asked(
        f"/users/me/searches/{world.searches[OWNER]}", json={"name": "Plans"}
    ),
    ("DELETE", "/users/me/searches/{id}"): new_search,
    ("POST", "/account/searches"): forgotten(
        Asked(
            "/account/searches",
            {"name": "New", "search": "query=x"},
            statuses=(303,),
            location="/account/searches?done=saved",
        )
    ),
    ("GET", "/saved/{id}/feed.atom"): lambda world, _: Asked(
        f"/saved/{world.searches[OWNER]}/feed.atom"
    ),
    ("POST", "/collections/{id}/reports"): of_collection(
        "/reports", json={"reason": "spam"}, statuses=(201,)
    ),
    ("POST", f"{COLLECTED}/report"): of_collected("report", reason="spam"),
    ("GET", "/feeds/{secret}/collected/{id}.atom"): lambda world, _: Asked(
        f"/feeds/{world.feed}/collected/{world.collections['published']}.atom"
    ),
    ("GET", "/feeds/{secret}/saved/{id}.atom"): lambda world, _: Asked(
        f"/feeds/{world.feed}/saved/{world.searches[OTHER]}.atom"
    ),
    ("GET", "/collected/{id}"): lambda world, visibility: Asked(
        f"/collected/{world.collections[visibility]}", statuses=(308,)
    ),
    ("POST", f"{COLLECTED}/edit"): lambda world, visibility: of_collected(
        "edit", title="Plans", visibility=visibility, **opened(DETAILS)
    )(world, visibility),
    ("POST", f"{COLLECTED}/remove"): lambda world, visibility: Asked(
        f"/collected/{new_collection(world, visibility).path.split('/')[2]}/gone/remove",
        statuses=(303,),
        location="/account/collections?done=removed",
    ),
    ("POST", f"{COLLECTED}/pin"): of_collected("pin", pinned="false"),
    ("POST", "/account/collections"): forgetful(
        Asked("/account/collections", {"title": "New"}, statuses=(303,), location="/collected/")
    ),
    ("GET", "/collect"): lambda world, visibility: Asked(f"/collect?map={world.maps[visibility]}"),
    ("GET", "/download"): lambda world, visibility: Asked(
        f"/download?map={world.maps[visibility]}"
    ),
    ("GET", "/tag"): lambda world, visibility: Asked(f"/tag?map={world.maps[visibility]}"),
    ("POST", "/tag"): lambda world, visibility: Asked(
        "/tag",
        {"maps": world.maps[visibility], "add": "New"},
        statuses=(303,),
        location="/tag?map=",
    ),
    ("POST", "/collect"): lambda world, visibility: forgetful(
        Asked(
            "/collect",
            {"title": "New", "maps": world.maps["published"]},
            statuses=(303,),
            location="/collected/",
        )
    )(world, visibility),
    ("POST", "/report/{id}"): lambda world, visibility: Asked(
        f"/report/{world.maps[visibility]}",
        {"reason": "spam"},
        statuses=(303,),
        location="/report/",
    ),
    ("POST", "/account/imports"): done(
        "/account/imports", "/account/imports?done=one", dismiss="00"
    ),
    ("POST", "/account/tags"): done(
        "/account/tags", "/account/tags?done=renamed", tag="old", name="new"
    ),
    ("POST", "/account/reports"): done("/account/reports", "/account/reports", decide="dismiss:1"),
    ("POST", "/maps/{id}/restore"): lambda world, _: Asked(f"/maps/{world.removed()}/restore"),
    ("POST", "/account/maps"): lambda world, _: Asked(
        "/account/maps", {"restore": world.removed()}, statuses=(303, 404), location="/mindmaps/"
    ),
    ("GET", "/signin/passkey"): done("/signin/passkey", "/signin"),
    ("POST", "/signin/passkey"): lambda _, __: Asked("/signin/passkey"),
    ("POST", "/publish"): lambda _, __: Asked(
        "/publish",
        file=plan(f"of {next(NUMBERS)}"),
        statuses=(303,),
        location="/publish/preview?maps=",
    ),
    ("GET", "/publish/preview"): done("/publish/preview", "/publish"),
    ("POST", "/publish/preview"): done("/publish/preview", "/publish/published", maps="none"),
    ("GET", "/publish/published"): done("/publish/published", "/account/maps"),
    ("POST", f"{AT}/vote"): of_page("vote", vote="up"),
    ("POST", f"{AT}/edit"): lambda world, visibility: of_page(
        "edit", title="Plan", category="1", visibility=visibility, **opened(NAMES)
    )(world, visibility),
    ("POST", f"{AT}/versions"): lambda world, visibility: Asked(
        f"/mindmaps/{world.maps[visibility]}/plan/versions",
        file=plan(f"of {next(NUMBERS)}"),
        statuses=(303,),
        location="/mindmaps/",
    ),
    ("GET", f"{AT}/versions/{{number}}"): lambda world, _: Asked(
        f"/mindmaps/{world.another()}/plan/versions/1"
    ),
    ("POST", f"{AT}/versions/{{number}}"): lambda world, _: Asked(
        f"/mindmaps/{world.another()}/plan/versions/1", statuses=(303,), location="/mindmaps/"
    ),
    ("POST", f"{AT}/remove"): lambda world, _: Asked(
        f"/mindmaps/{world.another()}/plan/remove",
        statuses=(303,),
        location="/account/maps?done=removed",
    ),
    ("POST", "/account/delete"): lambda _, __: Asked(
        "/account/delete", {"present": "x", "maps": "x"}, statuses=(400,)
    ),
    ("GET", "/static/{edition}/{asset}"): lambda world, _: Asked(world.static),
    ("GET", "/mindmaps/{id}"): lambda world, visibility: Asked(
        f"/mindmaps/{world.maps[visibility]}", statuses=(308,)
    ),
    ("GET", "/oembed"): lambda world, visibility: Asked(f"/oembed?url={place(world, visibility)}"),
    ("GET", "/signin"): lambda _, __: Asked("/signin", statuses=(200, 303)),
    ("POST", "/signin"): done("/signin", name="ann", password=PASSWORD),
    ("GET", "/register"): lambda _, __: Asked("/register", statuses=(200, 303)),
    ("POST", "/register"): guest,
    ("GET", "/link/{secret}"): link,
    ("POST", "/link/{secret}"): link,
    ("POST", "/signout"): done("/signout", "/"),
    ("POST", "/account"): done("/account", "/account?done=session", session="0"),
    ("POST", "/account/password"): lambda _, __: Asked(
        "/account/password", {"present": "x", "new": "x", "again": "y"}, statuses=(400,)
    ),
    ("POST", "/account/tokens"): done("/account/tokens", "/account/tokens?done=", revoke="0"),
    ("POST", "/account/feeds"): done("/account/feeds", "/account/feeds?done=", withdraw="1"),
    ("POST", "/account/programs"): done(
        "/account/programs", "/account/programs?done=", withdraw="none"
    ),
    ("POST", "/account/invitations"): done(
        "/account/invitations", "/account/invitations?done=", withdraw="00"
    ),
    **{
        (method, path): consent(path)
        for method in ("GET", "POST")
        for path in ("/oauth/authorize", "/oauth/auth")
    },
    ("POST", "/oauth/device"): device,
    ("GET", "/signin/provider"): lambda _, __: Asked("/signin/provider", statuses=(303,)),
    ("GET", "/signin/callback"): lambda _, __: Asked("/signin/callback", statuses=(403,)),
    ("POST", "/oauth/register"): lambda _, __: Asked(
        "/oauth/register", json={"redirect_uris": ["https://p.example/"]}, statuses=(201,)
    ),
    ("POST", "/oauth/token"): lambda world, _: Asked(
        "/oauth/token",
        program(world, grant_type="refresh_token", refresh_token="msr_none"),
        statuses=(400,),
    ),
    ("POST", "/oauth/revoke"): lambda world, _: Asked(
        "/oauth/revoke", program(world, token="msr_none")
    ),
    ("POST", "/oauth/device_authorization"): lambda world, _: Asked(
        "/oauth/device_authorization", program(world)
    ),
}
"""Requests that need more than a path."""


SHOWN_AGAIN: Final = (f"{AT}/edit", f"{AT}/versions")
"""Pages that show a refused form again, but not for a map that the caller cannot see."""


def expected(row: Row, caller: Caller, visibility: str) -> int | str:
    """Return the status of the refusal, the target of the redirect, or ``"done"``."""
    refused: int | str | None = None
    if row.takes == "OAuth client":
        refused = 401 if caller.token else None
    elif row.takes == "form":
        refused = None if caller.written else 403
    elif "session" in row.takes:
        refused = without_session(row, caller)
    elif row.takes in SCOPES:
        refused = without_scope(row, caller)
    of_map = of_maps(row, caller, visibility)
    if refused is None or (row.path in SHOWN_AGAIN and (refused, of_map) == (403, 404)):
        return of_map
    return refused


def without_session(row: Row, caller: Caller) -> int | str | None:
    """Return how a request that needs a session is refused, or ``None`` if it is not."""
    if not caller.has_session:
        return 401 if row.takes.endswith("(401)") else "/signin"
    if row.takes.startswith("administrator") and caller.user != BOSS:
        return 404
    return 403 if row.method != "GET" and not caller.written else None


def without_scope(row: Row, caller: Caller) -> int | None:
    """Return how a request that needs a scope is refused, or ``None`` if it is not."""
    if not caller.user or caller.elsewhere:
        return 401
    forged = row.method != "GET" and not caller.written
    return 403 if forged or row.takes not in caller.scopes else None


FOR_ALL: Final = {"published": ("published",), "not private": ("published", "unlisted")}
"""Requests with the same answer for everybody, and the visibility of the maps they work for."""


def of_maps(row: Row, caller: Caller, visibility: str) -> int | str:
    """Return the result that the map of the request leads to."""
    if row.which in ("", "own only"):
        return "done" if not row.which or caller.user == OWNER else 404
    if row.which in FOR_ALL:
        return "done" if visibility in FOR_ALL[row.which] else 404
    # Where no token is needed, a token still counts if it has the scope to read maps.
    user = caller.user if "maps" in caller.scopes or row.takes in SCOPES else ""
    if (visibility == "private" or row.which == "removed") and user not in (OWNER, BOSS):
        return 404
    if row.which == "own" and user == OTHER:
        return 403
    if row.which == "not own" and user == OWNER:
        return 403
    return "done"


@pytest.fixture(scope="module", params=[False, True], ids=["public", "private"])
def world(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[World]:
    with (
        shelf_with(tmp_path_factory.mktemp("matrix")) as shelf,
        small_provider() as provider,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(auth, "REFUSALS_PER_SECOND", 1_000_000)
        patch.setattr(endpoints, "REFUSALS_PER_SECOND", 1_000_000)
        patch.setattr(dynamic_registration, "PROGRAMS_OF_ADDRESS", 1_000_000)
        least = replace(passwords.PARAMETERS, time_cost=1, memory_cost=8)
        patch.setattr(passwords, "HASHER", PasswordHasher.from_parameters(least))
        settings = replace(
            shelf.settings,
            private=bool(request.param),
            registration=Registration.OPEN,
            dynamic_registration=True,
            provider=provider.settings(),
            uploads_per_hour=1_000_000,
            quota_maps=1_000_000,
        )
        with Service(settings, "", site_routes) as service:
            yield World(shelf, service)


def is_private(world: World) -> bool:
    return world.service.application.application.context.settings.private


@pytest.mark.process
def test_the_table_names_every_route_and_no_other(world: World) -> None:
    context = world.service.application.application.context
    private = is_private(world)
    routes = {**api_routes(private=private), **oauth_routes(context), **site_routes(context)}
    served = {
        (method, path)
        for path, route in routes.items()
        for method in route.allowed
        if method not in ("HEAD", "OPTIONS")
    }
    table = [(row.method, row.path) for row in rows(private=private)]
    assert len(table) == len(set(table))
    assert set(table) == served


@pytest.mark.slow
def test_the_table_uses_only_known_permissions() -> None:
    for private in (False, True):
        taken = {row.takes for row in rows(private=private)}
        assert taken <= {
            *SCOPES,
            "nothing",
            "session",
            "administrator session",
            "session (401)",
            "form",
            "secret address",
            "OAuth client",
        }
    assert {row.which for row in rows(private=False)} == {
        "",
        "published",
        "not private",
        "removed",
        "visible",
        "own",
        "own only",
        "not own",
    }


def those_of_turn(callers: list[Caller], turn: int) -> list[Caller]:
    """Return all callers with different permissions, and a share of those without any.

    Other tests cover the rest for every route (``tests/api/test_permissions.py``) and for every
    form (``tests/site/people/test_forms.py``).
    """
    alike = [one for one in callers if one.elsewhere or not (one.written and one.user)]
    some = share(alike[1:], turn)
    return [one for one in callers if one not in alike[1:] or one in some]


@pytest.mark.slow
def test_every_cell_of_the_permission_table(world: World) -> None:
    cells, wrong = 0, []
    for turn, row in enumerate(rows(private=is_private(world)), int(is_private(world))):
        for visibility in VISIBILITIES if row.which else ("published",):
            if visibility != "published" and (row.method, row.path) in OF_NEW_MAPS:
                continue
            asked = None
            for caller in those_of_turn(world.callers(), turn):
                asked = asked or world.ask(row, visibility)
                answer = world.send(row.method, asked, caller)
                cells += 1
                right = expected(row, caller, visibility)
                if not fits(answer, asked, right, caller):
                    where = answer.headers.get("Location", "")
                    cell = (row.method, row.path, visibility, caller.name)
                    wrong.append((*cell, right, answer.status_code, where))
                if (
                    right == "done"
                ):  # it may have changed or deleted the map; a refused request changes nothing
                    asked = None
    assert not wrong, "\n".join(map(str, wrong))
    assert cells > 1500


OF_NEW_MAPS: Final = {
    ("DELETE", "/collections/{id}"),
    ("POST", f"{COLLECTED}/remove"),
    ("DELETE", "/maps/{id}"),
    ("POST", "/maps/{id}/restore"),
    ("POST", "/maps/{id}/versions/{number}/restore"),
    ("GET", f"{AT}/versions/{{number}}"),
    ("POST", f"{AT}/versions/{{number}}"),
    ("POST", f"{AT}/remove"),
}
"""Each of these requests needs its own published map."""


def fits(answer: httpx.Response, asked: Asked, right: int | str, caller: Caller) -> bool:
    """Tell whether a response is what the table says."""
    location = answer.headers.get("Location", "")
    if right == "done":
        there = answer.status_code != 303 or (
            location.startswith(asked.location)
            and (asked.location == "/signin" or not location.startswith("/signin"))
        )
        return answer.status_code in asked.statuses and there
    if isinstance(right, str):
        # Signing out without a session leads home, not to the sign-in page.
        home = asked.path == "/signout" and location == "/"
        return answer.status_code == 303 and (location.startswith(right) or home)
    return answer.status_code == right
