"""Permissions: every route with every method for every kind of caller.

These tests check who is refused, also with unusual credentials and methods.
``tests/site/test_matrix.py`` checks what the others get.
"""

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import pytest

from mapshelf.accounts.permissions import PERMISSIONS
from mapshelf.api import auth
from mapshelf.api.context import Context
from mapshelf.api.csrf import form_token
from mapshelf.api.oauth import oauth_routes
from mapshelf.api.operations import api_routes
from mapshelf.api.routes import Route
from mapshelf.model import MapDraft
from mapshelf.site import site_routes
from mapshelf.tokens import SCOPES, SESSION_PREFIX, new_token
from tests.api.writing import writing_routes
from tests.examples import share
from tests.harness import BASE_URL, READER, Service, Shelf, outline_of, shelf_with

ID: Final = "Q7xK2mZp"
METHODS: Final = ("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "TRACE", "OTHER")
READING: Final = ("GET", "HEAD")
MAP: Final = "/maps/{id}"
COLLECTION: Final = "/collections/{id}"
SEARCH: Final = "/users/me/searches/{id}"

NEEDED: Final = {
    ("GET", "/users/me"): "account",
    **{("GET", path): "maps" for path in ("/maps", "/search", "/suggest", "/facets")},
    **{("GET", path): "maps" for path in ("/categories", "/software", "/maps/{id}")},
    **{("GET", path): "maps" for path in ("/folders", "/tags")},
    ("GET", "/maps/{id}/outline.{format}"): "maps",
    ("GET", "/maps/{id}/file"): "maps",
    ("GET", "/maps/{id}/diff/{other}"): "maps",
    ("GET", "/maps/{id}/links"): "maps",
    ("GET", "/maps/{id}/versions"): "maps",
    **{("POST", path): "maps:write" for path in ("/maps", f"{MAP}/versions/{{number}}/restore")},
    ("POST", f"{MAP}/restore"): "maps:write",
    **{("PUT", f"{MAP}/{last}"): "maps:write" for last in ("file", "vote")},
    ("POST", f"{MAP}/reports"): "maps:write",
    ("PATCH", MAP): "maps:write",
    ("DELETE", MAP): "maps:write",
    ("GET", "/users/me/maps"): "maps",
    **{("GET", path): "maps" for path in ("/collections", COLLECTION)},
    ("POST", "/collections"): "maps:write",
    **{(method, COLLECTION): "maps:write" for method in ("PATCH", "DELETE")},
    **{(method, f"{COLLECTION}/maps"): "maps:write" for method in ("PUT", "POST")},
    ("DELETE", f"{COLLECTION}/maps/{{map}}"): "maps:write",
    ("POST", f"{COLLECTION}/reports"): "maps:write",
    ("GET", "/users/me/searches"): "maps",
    ("POST", "/users/me/searches"): "maps:write",
    **{(method, SEARCH): "maps:write" for method in ("PATCH", "DELETE")},
    ("GET", "/test/notes"): "maps",
    ("POST", "/test/notes"): "maps:write",
    ("DELETE", "/test/notes"): "maps:write",
    ("PUT", "/test/file"): "maps:write",
    ("PUT", "/test/refused"): "maps:write",
    ("POST", "/test/upload"): "maps:write",
}
"""The scopes that operations need; all others need no token."""

OF_OWNERS: Final = {
    ("DELETE", MAP),
    ("GET", f"{MAP}/versions"),
    ("HEAD", f"{MAP}/versions"),
    ("POST", f"{MAP}/versions/{{number}}/restore"),
    *(
        (method, f"/mindmaps/{{id}}/{{slug}}/{last}")
        for method in ("GET", "HEAD", "POST")
        for last in ("edit", "versions", "versions/{number}", "remove")
    ),
}
"""What only its owner may do with a map; the map asked for belongs to nobody who asks."""

PARTS: Final = {
    "id": ID,
    "other": ID,
    "map": ID,
    "format": "md",
    "digest": "0" * 64,
    "number": "1",
    "picture": "svg",
    "drawing": "svg",
    "name": "1",
    "slug": "plan",
    "edition": "any",
    "asset": "site.css",
    "secret": "msl_none",
}

FORMS: Final = (
    "/test/checked",
    "/signin",
    "/signin/passkey",
    "/signout",
    "/link/{secret}",
    "/account",
    "/account/password",
    "/account/tokens",
    "/account/feeds",
    "/account/passkeys",
    "/account/invitations",
    "/account/programs",
    "/account/reports",
    "/account/imports",
    "/account/tags",
    "/account/delete",
    "/account/export",
    "/report/{id}",
    "/account/maps",
    "/publish",
    "/publish/preview",
    "/account/collections",
    "/account/searches",
    "/collect",
    "/tag",
    *(f"/collected/{{id}}/{{slug}}/{last}" for last in ("edit", "remove", "pin", "report")),
    *(
        f"/mindmaps/{{id}}/{{slug}}/{last}"
        for last in ("vote", "edit", "versions", "versions/{number}", "remove")
    ),
    "/oauth/auth",
    "/oauth/authorize",
    "/oauth/device",
)
"""Paths that take forms of pages. ``tests/site/people/test_forms.py`` says from whom."""

PROGRAMS: Final = ("/oauth/token", "/oauth/revoke", "/oauth/device_authorization")
"""Paths where programs say who they are; no token and no session of a user counts there."""

READ_ONLY: Final = frozenset({"account", "maps"})


@dataclass(frozen=True)
class Caller:
    """A kind of caller, with the headers of its requests and the scopes that these give.

    ``scopes`` is ``None`` for an unknown caller. ``forged`` means that requests that write do not
    prove that they come from one of our pages.
    """

    headers: Mapping[str, str]
    scopes: frozenset[str] | None = None
    forged: bool = False


def callers(shelf: Shelf) -> dict[str, Caller]:
    """Return all kinds of callers."""
    store, everything = shelf.store, " ".join(SCOPES)

    def bearer(token: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {token}"}

    def cookie(secret: str, **more: str) -> dict[str, str]:
        named = {name.replace("_", "-"): value for name, value in more.items()}
        return {"Cookie": f"a=b; __Host-mapshelf_session={secret}", **named}

    revoked = shelf.token(scopes=everything)
    ended = shelf.session()
    for token in store.tokens(READER):
        store.revoke_token(token.id)
    (reader,) = (one.id for one in store.users() if one.name == READER)
    store.end_sessions(reader, None)
    store.add_user("gone")
    disabled = shelf.token("gone", scopes=everything)
    store.disable_user("gone")
    session = shelf.session()
    narrow = shelf.token(scopes="account", prefix=SESSION_PREFIX)
    ours = {"Sec_Fetch_Site": "same-origin", "Origin": BASE_URL}
    right = form_token(session)
    combined = (" ".join(some) for size in (0, 1, 2, 3) for some in combinations(size))
    return {
        "nobody": Caller({}),
        "empty": Caller({"Authorization": ""}),
        "malformed": Caller(bearer("msh_wrong")),
        "invented": Caller(bearer(new_token())),
        "expired": Caller(bearer(shelf.token(scopes=everything, expires=1))),
        "revoked": Caller(bearer(revoked)),
        "disabled": Caller(bearer(disabled)),
        "secret of a session as a token": Caller(bearer(session)),
        "of before": Caller(bearer(shelf.token(scopes="read")), READ_ONLY),
        **{
            f"scopes {scopes!r}": Caller(
                bearer(shelf.token(scopes=scopes)), frozenset(scopes.split())
            )
            for scopes in combined
        },
        "session": Caller(cookie(session, **ours, X_CSRF_Token=right), frozenset(SCOPES)),
        "session in an old browser": Caller(cookie(session, X_CSRF_Token=right), frozenset(SCOPES)),
        "session with one scope": Caller(
            cookie(narrow, **ours, X_CSRF_Token=form_token(narrow)), frozenset({"account"})
        ),
        "session, no form token": Caller(cookie(session, **ours), frozenset(SCOPES), forged=True),
        "session, another's form token": Caller(
            cookie(session, **ours, X_CSRF_Token=form_token(narrow)), frozenset(SCOPES), forged=True
        ),
        "session, other origin": Caller(
            cookie(session, Origin="https://evil.example", X_CSRF_Token=right),
            frozenset(SCOPES),
            forged=True,
        ),
        "session, other site": Caller(
            cookie(session, Sec_Fetch_Site="cross-site", X_CSRF_Token=right)
        ),
        "session, same site": Caller(
            cookie(session, Sec_Fetch_Site="same-site", X_CSRF_Token=right)
        ),
        "ended session": Caller(cookie(ended, **ours, X_CSRF_Token=form_token(ended))),
        "token in a cookie": Caller(cookie(shelf.token(scopes=everything), **ours)),
        "session and a wrong token": Caller({**cookie(session, **ours), **bearer("wrong")}),
        "session and a token": Caller(
            {**cookie(session, **ours), **bearer(shelf.token(scopes="account"))},
            frozenset({"account"}),
        ),
    }


def combinations(size: int) -> Iterator[tuple[str, ...]]:
    return itertools.combinations(SCOPES, size)


def all_routes(context: Context) -> Mapping[str, Route]:
    return {**site_routes(context), **writing_routes(context)}


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    one = MapDraft(id=ID, title="Plan", outline=outline_of("a", "b"))
    with shelf_with(tmp_path_factory.mktemp("permissions"), one) as shelf:
        yield shelf


@pytest.fixture(scope="module")
def asked(shelf: Shelf) -> Iterator[Service]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(auth, "REFUSALS_PER_SECOND", 1_000_000)  # hundreds of wrong tokens come
        with Service(shelf.settings, "", all_routes) as running:
            yield running


@pytest.fixture(scope="module")
def everybody(shelf: Shelf, asked: Service) -> dict[str, Caller]:
    return callers(shelf)


def routes(service: Service) -> dict[str, Route]:
    context = service.application.application.context
    return {**api_routes(private=False), **oauth_routes(context), **all_routes(context)}


def path_of(template: str) -> str:
    return re.sub(r"\{(\w+)\}", lambda part: PARTS[part[1]], template)


def expected(method: str, template: str, route: Route, caller: Caller) -> int | None:
    """Return the status of the refusal, or ``None`` if this caller is not refused."""
    if method == "OPTIONS":
        return 204
    if method not in route.allowed:
        return 405
    needed = NEEDED.get(("GET" if method == "HEAD" else method, template))
    if needed is None:
        return None
    if caller.scopes is None:
        return 401
    forged = caller.forged and method not in READING
    return 403 if forged or needed not in caller.scopes else None


def is_asked(
    method: str, template: str, route: Route, name: str, some: Mapping[str, Caller]
) -> bool:
    """Return whether to test this caller: every caller where the response depends on it.

    Methods are checked before the caller, and public routes need no token: a few callers suffice.
    """
    if method not in route.allowed or method == "OPTIONS":
        return name in ("nobody", "session")
    reading = "GET" if method == "HEAD" else method
    return (reading, template) in NEEDED or name in some


@pytest.mark.slow
def test_every_route_with_every_method_for_everybody(
    asked: Service, everybody: dict[str, Caller]
) -> None:
    table = routes(asked)
    assert {path for _, path in NEEDED} <= set(table)
    for turn, (template, route) in enumerate(table.items()):
        path, some = path_of(template), dict(share(list(everybody.items()), turn))
        for method, (name, caller) in itertools.product(METHODS, everybody.items()):
            if not is_asked(method, template, route, name, some):
                continue
            answer = asked.request(
                method, f"{path}?limit=x&w=x", headers=caller.headers, signed=False
            )
            status, where = expected(method, template, route, caller), (method, template, name)
            if status is None and template in PROGRAMS:
                refused = 401 if caller.headers.get("Authorization") else 400
                assert answer.status_code == refused, where
                assert answer.json()["error"] == "invalid_client", where
                continue
            if status is None:
                # Anybody may send the form, but it may be refused for its contents.
                checked = template in FORMS and method == "POST"
                owned = (method, template) in OF_OWNERS
                assert answer.status_code != 403 or checked or owned, where
                assert answer.status_code not in (401, 405), where
                assert not checked or answer.status_code in (303, 403, 404), where
            else:
                assert answer.status_code == status, where
            if answer.status_code in (204, 405):
                assert answer.headers["Allow"] == ", ".join(route.allowed), where
            if answer.status_code == 401 and method != "HEAD":
                assert answer.json()["code"] == 0, where


def test_operations_need_the_documented_permissions() -> None:
    asked = {
        ("GET", "/maps"): "list maps",
        ("GET", "/search"): "search maps",
        ("GET", MAP): "read a map",
        ("GET", "/users/me"): "read the profile",
        ("GET", f"{MAP}/versions"): "list versions",
        ("GET", "/users/me/maps"): "list one's own maps",
        ("POST", "/maps"): "publish a map",
        ("PATCH", MAP): "change a map",
        ("DELETE", MAP): "remove a map",
        ("PUT", f"{MAP}/file"): "replace a file",
        ("PUT", f"{MAP}/vote"): "vote",
        ("POST", f"{MAP}/reports"): "report a map",
        ("POST", f"{MAP}/versions/{{number}}/restore"): "restore a version",
        ("POST", f"{MAP}/restore"): "undo a removal",
        ("GET", "/collections"): "list collections",
        ("GET", COLLECTION): "read a collection",
        ("POST", "/collections"): "make a collection",
        ("PATCH", COLLECTION): "change a collection",
        ("DELETE", COLLECTION): "remove a collection",
        ("POST", f"{COLLECTION}/reports"): "report a collection",
        ("GET", "/users/me/searches"): "list saved searches",
        ("POST", "/users/me/searches"): "save a search",
        ("PATCH", SEARCH): "save a search",
        ("DELETE", SEARCH): "save a search",
    }
    for operation, name in asked.items():
        assert NEEDED[operation] == PERMISSIONS[name].scope


def test_the_allow_header_lists_the_methods_that_work(asked: Service) -> None:
    allowed = {path: route.allowed for path, route in routes(asked).items()}
    reading = ("GET", "HEAD", "OPTIONS")
    others = {
        "/maps": ("GET", "HEAD", "POST", "OPTIONS"),
        MAP: ("GET", "HEAD", "PATCH", "DELETE", "OPTIONS"),
        f"{MAP}/file": ("GET", "HEAD", "PUT", "OPTIONS"),
        f"{MAP}/vote": ("PUT", "OPTIONS"),
        f"{MAP}/reports": ("POST", "OPTIONS"),
        f"{MAP}/versions/{{number}}/restore": ("POST", "OPTIONS"),
        f"{MAP}/restore": ("POST", "OPTIONS"),
        "/collections": ("GET", "HEAD", "POST", "OPTIONS"),
        COLLECTION: ("GET", "HEAD", "PATCH", "DELETE", "OPTIONS"),
        f"{COLLECTION}/maps": ("PUT", "POST", "OPTIONS"),
        f"{COLLECTION}/maps/{{map}}": ("DELETE", "OPTIONS"),
        f"{COLLECTION}/reports": ("POST", "OPTIONS"),
        "/users/me/searches": ("GET", "HEAD", "POST", "OPTIONS"),
        SEARCH: ("PATCH", "DELETE", "OPTIONS"),
        "/test/notes": ("GET", "HEAD", "POST", "DELETE", "OPTIONS"),
        "/test/file": ("PUT", "OPTIONS"),
        "/test/refused": ("PUT", "OPTIONS"),
        **dict.fromkeys(("/test/form", *FORMS), ("GET", "HEAD", "POST", "OPTIONS")),
        "/test/upload": ("POST", "OPTIONS"),
        **dict.fromkeys(PROGRAMS, ("POST", "OPTIONS")),
    }
    assert allowed == {path: others.get(path, reading) for path in allowed}


@pytest.mark.parametrize(
    ("path", "shared"),
    [
        ("/search", "GET, HEAD, OPTIONS"),
        ("/maps", "GET, HEAD, POST, OPTIONS"),
        ("/test/notes", "GET, HEAD, POST, DELETE, OPTIONS"),
        ("/test/form", "GET, HEAD, OPTIONS"),
    ],
)
def test_cors_allows_other_origins_the_operations_with_tokens(
    asked: Service, path: str, shared: str
) -> None:
    answer = asked.request("OPTIONS", path, signed=False)
    assert answer.headers["Access-Control-Allow-Methods"] == shared
    assert "Access-Control-Allow-Credentials" not in answer.headers
    takes_bodies = path != "/search"
    assert ("Content-Type" in answer.headers["Access-Control-Allow-Headers"]) == takes_bodies


def test_a_refusal_for_a_missing_scope_names_it(shelf: Shelf, asked: Service) -> None:
    asked.token = shelf.token(scopes="account")
    answer = asked.get("/maps?limit=51")
    assert answer.status_code == 403
    assert answer.json() == {
        "code": 403,
        "error": "insufficient_scope",
        "error_description": "The access token does not have the scope maps.",
    }
    assert answer.headers["WWW-Authenticate"] == (
        'Bearer realm="mapshelf", error="insufficient_scope", scope="maps"'
    )


def test_a_cached_response_is_only_for_those_who_may_see_it(shelf: Shelf, asked: Service) -> None:
    wide, narrow = shelf.token(scopes="maps"), shelf.token(scopes="account maps:write")
    for token, status in ((wide, 200), (wide, 200), (narrow, 403), (wide, 200), (narrow, 403)):
        asked.token = token
        answer = asked.get("/maps?limit=7")
        assert answer.status_code == status
        assert (ID in answer.text) == (status == 200)


def test_scopes_are_checked_without_asking_the_store(shelf: Shelf) -> None:
    with Service(shelf.settings, shelf.token(scopes="account"), all_routes) as service:
        assert service.get("/users/me").status_code == 200
        service.application.application.context.store.get().close()
        assert service.get("/maps").status_code == 403
        assert service.get("/users/me").status_code == 200
