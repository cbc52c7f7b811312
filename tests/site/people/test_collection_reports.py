"""Reports of collections, what administrators decide on them, and feeds of private collections."""

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from mapshelf.model import (
    AuditEvent,
    CollectionDetails,
    DecisionKind,
    MapDetails,
    MapDraft,
    Reason,
    Role,
    Visibility,
)
from mapshelf.site.messages import say
from mapshelf.tokens import FEED_PREFIX
from tests.harness import BASE_URL, Service, Shelf, copied_shelf
from tests.person import Form, Person, Start, forms, member, user_named
from tests.site.shelves import STRIKES
from tests.store.drafts import upload

REPORTS = "/account/reports"
ATOM = "{http://www.w3.org/2005/Atom}"
PUBLISHED, PRIVATE, UNLISTED = Visibility.PUBLISHED, Visibility.PRIVATE, Visibility.UNLISTED


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    drafts = [MapDraft(id=f"map{name}", title=name, owner="zoe") for name in "ab"]
    with copied_shelf(tmp_path, *drafts) as full:
        yield full


@pytest.fixture
def ann(site: Service, shelf: Shelf) -> Person:
    return member(site, shelf, "ann")


@pytest.fixture
def root(site: Service, shelf: Shelf) -> Person:
    return member(site, shelf, "root", Role.ADMINISTRATOR)


def made(shelf: Shelf, owner: str, title: str = "Java", visibility: Visibility = PUBLISHED) -> str:
    """Create a collection of both maps; return its address."""
    record = shelf.store.password_of(owner)
    user = record.user if record else shelf.store.add_user(owner)
    file_ids = [one.file_id for one in shelf.store.maps(0, 2)]
    details = CollectionDetails(title, "", visibility)
    return f"/collected/{shelf.store.add_collection(user.id, details, file_ids).id}/java"


def press(person: Person, name: str) -> str:
    """Press the first button with this name and kind; return the text of the next page."""
    field, _, kind = name.partition(":")
    for form in forms(person.get(REPORTS)):
        for button, value in form.buttons:
            if button == field and value.startswith(kind):
                answer = person.send(form, **{button: value})
                assert answer.status_code == 303
                return person.get(answer.headers["Location"]).text
    raise AssertionError(f"there is no button {name}")


@pytest.mark.slow
def test_a_collection_is_reported_hidden_and_shown_again(
    site: Service, shelf: Shelf, ann: Person, root: Person
) -> None:
    page = made(shelf, "bob", "Java <b>")
    page = ann.get(page, 308).headers["Location"]
    assert f'href="{page}/report"' in ann.get(page).text
    asked = Person(site).get(f"{page}/report", 303).headers["Location"]
    assert asked.startswith("/signin?next=")
    answer = ann.fill(f"{page}/report", reason="spam", note="Buy <this>")
    assert answer.headers["Location"] == f"{page}/report?done=reported"
    assert say("done.reported") in ann.get(answer.headers["Location"]).text
    assert "1 collection" in root.get("/account").text
    shown = root.get(REPORTS).text
    assert "Java &lt;b&gt;" in shown
    assert "Buy &lt;this&gt;" in shown
    assert "Collection" in shown
    assert say("done.reports.collection.hide") in press(root, "collection:hide")
    assert say("reports.none") in root.get(REPORTS).text
    assert Person(site).status(page) == 404
    assert "<article" not in Person(site).get("/collected").text
    assert say("done.reports.undo") in press(root, "restored")
    assert Person(site).status(page) == 200
    assert say("done.reports.collection.dismiss") in press(root, "collection:dismiss")
    assert Person(site).status(page) == 200
    stale = Form(REPORTS, root.form("/account/delete").fields)
    answer = root.send(stale, collection=f"dismiss:{page.split('/')[2]}")
    assert answer.headers["Location"] == f"{REPORTS}?done=changed"
    assert root.send(stale, collection="delete:x").status_code == 400
    events = [one.entry.event for one in shelf.store.audit_records(0, 0, 100)][-4:]
    assert events == [
        AuditEvent.COLLECTION_REPORTED,
        AuditEvent.COLLECTION_HIDDEN,
        AuditEvent.DECISION_UNDONE,
        AuditEvent.REPORTS_DISMISSED,
    ]


def test_its_owner_cannot_show_a_hidden_collection(shelf: Shelf, ann: Person, root: Person) -> None:
    page = made(shelf, "ann")
    administrator = user_named(shelf, "root").id
    shelf.store.decide_about_collection(page.split("/")[2], DecisionKind.HIDE, administrator)
    edited = ann.get(f"{page}/edit")
    assert say("collection.hidden") in edited.text
    (form,) = (one for one in forms(edited) if "title" in one.fields)
    form.files = [""]
    answer = ann.upload(form, visibility="published")
    assert answer.status_code == 409
    assert say("failure.hidden.collection") in answer.text
    form.fields["title"] = "Other"
    assert ann.upload(form, visibility="private").status_code == 303


def test_invalid_reports_of_collections_are_refused(shelf: Shelf, ann: Person) -> None:
    page = made(shelf, "bob")
    for said in ({"reason": ""}, {"reason": "spam", "note": "x" * 1001}):
        refused = ann.fill(f"{page}/report", **said)
        assert refused.status_code == 400
        assert say("failure.report") in refused.text
    own, hers = made(shelf, "ann"), made(shelf, "bob", visibility=PRIVATE)
    assert say("report.own.collection") in ann.get(f"{own}/report").text
    form = ann.form(f"{page}/report")
    assert ann.send(Form(f"{own}/report", form.fields), reason="spam").status_code == 403
    for missing in (hers, "/collected/none/java"):
        assert ann.status(f"{missing}/report") == 404
        sent = Form(f"{missing}/report", form.fields)
        assert ann.send(sent, reason="spam").status_code == 404
    assert shelf.store.count_reported_collections() == 0


def test_hostile_texts_are_escaped_in_reports(shelf: Shelf, ann: Person, root: Person) -> None:
    reporter = user_named(shelf, "ann").id
    for strike in STRIKES[:15]:
        page = made(shelf, "bob", strike[:200])
        shelf.store.report_collection(page.split("/")[2], reporter, Reason.SPAM, strike)
    text = root.get(REPORTS).text
    for strike in STRIKES[:15]:
        assert strike not in text or not re.search("[<>]", strike), strike


def titles(site: Service, path: str) -> list[str | None]:
    """Return the titles in a feed, as a feed reader gets them."""
    answer = site.request("GET", path, signed=False)
    assert answer.status_code == 200, (path, answer.status_code)
    assert FEED_PREFIX not in answer.text
    assert "/thumbnails/" not in answer.text
    feed = ElementTree.fromstring(answer.text)
    return [entry.findtext(f"{ATOM}title") for entry in feed.iter(f"{ATOM}entry")]


def secret_of(person: Person) -> str:
    """Create a user's secret feed address; return its secret."""
    found = re.findall(rf"/feeds/({FEED_PREFIX}\w+)", person.made("/account/feeds").text)
    return str(found[0])


@pytest.mark.slow
@pytest.mark.parametrize("private", [False, True])
def test_a_private_collection_has_a_feed_for_its_readers(
    start: Start, shelf: Shelf, *, private: bool
) -> None:
    site = start(private=private)
    ann, eve = (member(site, shelf, name) for name in ("ann", "eve"))
    mine, open_to_all = made(shelf, "ann", visibility=PRIVATE), made(shelf, "ann")
    details = MapDetails(title="secret", visibility=PRIVATE)
    owner = user_named(shelf, "ann").id
    secret, _ = shelf.store.publish(upload("secret"), details, owner, None)
    shelf.store.collect(mine.split("/")[2], [secret.file_id])
    own, hers = secret_of(ann), secret_of(eve)

    def feed(of: str, whose: str) -> str:
        return f"/feeds/{whose}/collected/{of.split('/')[2]}.atom"

    assert f"{BASE_URL}{feed(mine, '…')}" in ann.get(mine).text
    assert (f"{BASE_URL}{feed(open_to_all, '…')}" in ann.get(open_to_all).text) is private
    assert titles(site, feed(mine, own)) == ["a", "b"], "not what everybody sees"
    assert titles(site, feed(open_to_all, hers)) == ["a", "b"]
    for wrong in (feed(mine, hers), feed(mine, "none"), f"/feeds/{own}/collected/none.atom"):
        assert site.request("GET", wrong, signed=False).status_code == 404
    answer = site.request("GET", feed(mine, own), signed=False)
    assert answer.headers["Cache-Control"] == "private, no-cache"
    assert answer.headers["Referrer-Policy"] == "no-referrer"
