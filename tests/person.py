"""A user with a browser without JavaScript, which keeps cookies, and reads and sends forms."""

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any, Final
from urllib.parse import urlencode

import httpx

from mapshelf.accounts.one_time_links import new_password_link
from mapshelf.clock import milliseconds
from mapshelf.model import Role, User
from tests.harness import BASE_URL, Service, Shelf

PASSWORD: Final = "correct horse battery"
OTHER: Final = "staple for the horses"
FIREFOX: Final = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


PROMISE: Final = 2.0
"""Seconds until every worker refuses what has ended, and some more."""

Start = Callable[..., Service]
"""Called with settings, starts a service that has them."""


@dataclass
class Form:
    """A form of a page: its action, and its fields with their present values."""

    action: str
    fields: dict[str, str] = field(default_factory=dict)
    buttons: list[tuple[str, str]] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    encoding: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)


class Forms(HTMLParser):
    """Collects the forms of a page that are sent by POST."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[Form] = []
        self._open: Form | None = None
        self._select = ""
        self._text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form" and given.get("method") == "post":
            self._open = Form(given["action"], encoding=given.get("enctype", ""))
            self.found.append(self._open)
        if self._open is None:
            return
        if tag == "select":
            self._select = given["name"]
        if tag == "option" and "selected" in given:
            self._open.fields[self._select] = given["value"]
        if tag == "button" and "name" in given:
            self._open.buttons.append((given["name"], given["value"]))
        if tag == "textarea":
            self._text = given["name"]
            self._open.fields[self._text] = ""
        if tag != "input" or "name" not in given:
            return
        kind = given.get("type")
        if kind == "file":
            self._open.files.append(given["name"])
        elif kind != "checkbox" and (kind != "radio" or "checked" in given):
            self._open.fields[given["name"]] = given.get("value", "")

    def handle_data(self, data: str) -> None:
        if self._open and self._text:
            # Browsers leave out the line break after the tag.
            before = self._open.fields[self._text]
            self._open.fields[self._text] = before + (data if before else data.removeprefix("\n"))

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea":
            self._text = ""
        if tag == "form":
            self._open = None


def forms(page: httpx.Response) -> list[Form]:
    """Return the forms of a page that are sent by POST."""
    reading = Forms()
    reading.feed(page.text)
    return reading.found


class Person:
    """A user with a browser."""

    def __init__(self, service: Service, address: str = "192.0.2.1", agent: str = FIREFOX) -> None:
        self._service = service
        transport = httpx.ASGITransport(service.application, client=(address, 1234))
        self.client = httpx.AsyncClient(
            transport=transport, base_url=BASE_URL, headers={"User-Agent": agent}
        )

    def run(self, work: Coroutine[Any, Any, httpx.Response]) -> httpx.Response:
        """Send a request through ``client``, for requests that no other method sends."""
        return self._service.run(work)

    def get(self, path: str, status: int = 200, **headers: str) -> httpx.Response:
        """Open a page."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        answer = self.run(self.client.get(path, headers=named))
        assert answer.status_code == status, (path, answer.status_code, answer.text[:300])
        return answer

    def post(
        self, path: str, fields: Mapping[str, str | list[str]], **headers: str
    ) -> httpx.Response:
        """Send fields, as browsers send forms."""
        sent = {"Origin": BASE_URL, "Sec-Fetch-Site": "same-origin"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        sent["Content-Type"] = "application/x-www-form-urlencoded"
        body = urlencode(fields, doseq=True).encode("utf-8", "surrogateescape")
        return self.run(self.client.post(path, content=body, headers=sent))

    def fill(self, path: str, /, **values: str | list[str]) -> httpx.Response:
        """Open a page, fill in its own form, and send it."""
        return self.send(self.form(path), **values)

    def made(self, path: str, /, **values: str | list[str]) -> httpx.Response:
        """Fill in a form that creates a secret; return the page that shows it once."""
        answer = self.fill(path, **values)
        assert (answer.status_code, answer.headers["Location"]) == (303, path), answer.text[:300]
        return self.get(path)

    def form(self, path: str) -> Form:
        """Open a page, and return its own form: the last one that has no choice of buttons."""
        return [form for form in forms(self.get(path)) if not form.buttons][-1]

    def status(self, path: str) -> int:
        """Return the status of a page."""
        return self.run(self.client.get(path)).status_code

    def upload(
        self,
        form: Form,
        *files: tuple[str, bytes],
        **values: str,
    ) -> httpx.Response:
        """Send a multipart form with these files, as browsers do."""
        assert form.encoding == "multipart/form-data"
        parts: list[tuple[str, tuple[str | None, str | bytes]]] = [
            (name, (None, value)) for name, value in {**form.fields, **values}.items()
        ]
        parts += [(form.files[0], one) for one in files]
        sent = {"Origin": BASE_URL, "Sec-Fetch-Site": "same-origin", **form.headers}
        return self.run(self.client.post(form.action, files=parts, headers=sent))

    def send(self, form: Form, /, **values: str | list[str]) -> httpx.Response:
        """Send a form with these values in it."""
        return self.post(form.action, {**form.fields, **values})

    def choose(self, path: str, password: str = PASSWORD) -> httpx.Response:
        """Choose a password with a link."""
        return self.fill(path, new=password, again=password)

    def sign_in(self, name: str, password: str = PASSWORD, path: str = "/signin") -> httpx.Response:
        """Sign in."""
        return self.fill(path, name=name, password=password)

    @property
    def session(self) -> str:
        """The secret of the session, empty if there is none."""
        return self.client.cookies.get("__Host-mapshelf_session") or ""


def link_of(shelf: Shelf, name: str, role: Role = Role.MEMBER) -> str:
    """Return the path of a new link for the user with this name, who is added if need be."""
    record = shelf.store.password_of(name)
    user = record.user if record else shelf.store.add_user(name, role)
    return f"/link/{new_password_link(shelf.store, user, milliseconds())}"


def member(service: Service, shelf: Shelf, name: str, role: Role = Role.MEMBER) -> Person:
    """Return a signed-in user who has an account with ``PASSWORD``."""
    person = Person(service)
    assert person.choose(link_of(shelf, name, role)).status_code == 303
    return person


def user_named(shelf: Shelf, name: str) -> User:
    """Return the user with this name."""
    (user,) = (one for one in shelf.store.users() if one.name == name)
    return user


def until(site: Service, condition: Callable[[], bool]) -> None:
    """Wait until a worker has noticed a change."""
    site.wait_until(condition, PROMISE)


def is_signed_in(person: Person) -> bool:
    """Return whether the browser has a valid session."""
    return person.status("/account") == 200


def events(shelf: Shelf) -> list[str]:
    """Return the events in the audit log, oldest first."""
    return [one.entry.event for one in shelf.store.audit_records(0, 0, 10_000)]
