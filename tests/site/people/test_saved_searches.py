"""Saved searches on pages: saving, renaming, deleting, and reading their feeds."""

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from mapshelf.model import MapDetails, MapDraft, Visibility
from mapshelf.site.messages import say
from mapshelf.tokens import FEED_PREFIX
from tests.harness import BASE_URL, Service, Shelf, copied_shelf, outline_of
from tests.person import Form, Person, Start, forms, member, until, user_named
from tests.site.shelves import STRIKES
from tests.store.drafts import upload

OWN = "/account/searches"
ATOM = "{http://www.w3.org/2005/Atom}"


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    drafts = [
        MapDraft(id=f"map{word}", title=word, owner="zoe", outline=outline_of(word, "topic"))
        for word in ("beans", "beets", "apples")
    ]
    with copied_shelf(tmp_path, *drafts) as full:
        yield full


@pytest.fixture
def ann(site: Service, shelf: Shelf) -> Person:
    return member(site, shelf, "ann")


def saving(person: Person, query: str) -> Form:
    """Return the form that saves a search, filled in."""
    (form,) = (one for one in forms(person.get(f"{OWN}?{query}")) if "search" in one.fields)
    return form


def saved(person: Person, query: str, name: str = "") -> str:
    """Save a search; return its ID."""
    form = saving(person, query)
    if name:
        form.fields["name"] = name
    answer = person.send(form)
    assert answer.headers["Location"] == f"{OWN}?done=saved"
    page = person.get(answer.headers["Location"])
    assert say("done.search.saved") in page.text
    return str(re.findall(r'name="rename" value="(\w+)"', page.text)[0])


def entries(site: Service, path: str) -> list[str | None]:
    """Return the titles in a feed, as a feed reader gets them."""
    answer = site.request("GET", path, signed=False)
    assert answer.status_code == 200, (path, answer.status_code)
    assert answer.headers["Content-Type"].startswith("application/atom+xml")
    feed = ElementTree.fromstring(answer.text)
    return [entry.findtext(f"{ATOM}title") for entry in feed.iter(f"{ATOM}entry")]


def test_a_list_offers_to_save_it(site: Service, shelf: Shelf, ann: Person) -> None:
    assert OWN not in Person(site).get("/").text
    page = Person(site).get("/owners/zoe?query=be&order_by=alpha")
    (there,) = re.findall(rf'href="({OWN}[^"]*)"', page.text)
    there = there.replace("&amp;", "&")
    asks = Person(site).get(there, 303).headers["Location"]
    assert asks.startswith("/signin?next=")
    form = saving(ann, there.partition("?")[2])
    assert form.fields["name"] == "“be” · A to Z · zoe"
    assert ann.send(form).status_code == 303
    page = ann.get(OWN)
    assert 'href="/owners/zoe?query=be&amp;order_by=alpha"' in page.text
    assert f'href="{OWN}"' in ann.get("/account").text
    (found,) = shelf.store.saved_searches_of(user_named(shelf, "ann").id)
    assert found.name == "“be” · A to Z · zoe"


def test_a_saved_search_is_renamed_and_deleted(ann: Person) -> None:
    public_id = saved(ann, "query=be", "Vegetables <b>")
    assert "Vegetables &lt;b&gt;" in ann.get(OWN).text
    (form,) = (one for one in forms(ann.get(OWN)) if ("rename", public_id) in one.buttons)
    form.fields["name"] = "Roots"
    answer = ann.send(form, rename=public_id)
    assert answer.headers["Location"] == f"{OWN}?done=renamed"
    assert ">Roots</a>" in ann.get(OWN).text
    form.fields["name"] = " "
    refused = ann.send(form, rename=public_id)
    assert refused.status_code == 400
    assert say("failure.search") in refused.text
    (form,) = (one for one in forms(ann.get(OWN)) if ("remove", public_id) in one.buttons)
    answer = ann.send(form, remove=public_id)
    assert answer.headers["Location"] == f"{OWN}?done=removed"
    assert say("searches.none") in ann.get(answer.headers["Location"]).text
    assert ann.send(form, remove=public_id).status_code == 404


def test_errors_are_shown_above_the_form_of_a_search(
    ann: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    form = saving(ann, "tag=x")
    form.fields["name"] = "x" * 201
    refused = ann.send(form)
    assert refused.status_code == 400
    assert say("failure.search") in refused.text
    assert "x" * 201 in refused.text, "the typed text was lost"
    (again,) = (one for one in forms(refused) if "search" in one.fields)
    assert again.fields["search"] == "tag=x"
    form.fields |= {"name": "x", "search": "order_by=nonsense"}
    assert ann.send(form).status_code == 400
    monkeypatch.setattr("mapshelf.store.saved_searches.MOST_SEARCHES", 1)
    saved(ann, "tag=x")
    form.fields["search"] = "tag=y"
    refused = ann.send(form)
    assert refused.status_code == 409
    assert say("failure.searches", most="1") in refused.text
    assert ann.get(f"{OWN}?order_by=nonsense", 400)


def test_saved_searches_of_others_cannot_be_changed(
    site: Service, shelf: Shelf, ann: Person
) -> None:
    public_id = saved(ann, "query=be", "Mine")
    eve = member(site, shelf, "eve")
    saved(eve, "query=x")
    (form,) = (
        one for one in forms(eve.get(OWN)) if any(name == "rename" for name, _ in one.buttons)
    )
    for button in ("rename", "remove"):
        assert eve.send(form, **{button: public_id}).status_code == 404
    assert ">Mine</a>" in ann.get(OWN).text
    assert "Mine" not in eve.get(OWN).text


def test_the_feed_of_a_search_has_current_matches(site: Service, shelf: Shelf, ann: Person) -> None:
    public_id = saved(ann, "query=be&order_by=alpha", "Vegetables")
    path = f"/saved/{public_id}/feed.atom"
    assert entries(site, path) == ["beans", "beets"]
    assert entries(site, f"{path}?limit=1") == ["beans"]
    answer = site.request("GET", path, signed=False)
    assert "<title>Mapshelf: Vegetables</title>" in answer.text
    assert f"<id>{BASE_URL}{path}</id>" in answer.text
    assert answer.headers["X-Robots-Tag"] == "noindex"
    tag = {"If-None-Match": answer.headers["ETag"]}
    assert site.request("GET", path, headers=tag, signed=False).status_code == 304
    owner = user_named(shelf, "ann").id
    shelf.store.edit_saved_search(owner, public_id, None, "query=apples")
    assert entries(site, path) == ["apples"]
    (found,) = (one for one in shelf.store.maps(0, 9) if one.title == "apples")
    shelf.store.publish(
        upload("secret"), MapDetails(title="apples", visibility=Visibility.PRIVATE), owner, None
    )
    shelf.store.edit_map(found.file_id, MapDetails(visibility=Visibility.PRIVATE))
    shelf.publish()
    until(site, lambda: entries(site, path) == [])
    shelf.store.remove_saved_search(owner, public_id)
    for wrong in (path, "/saved/none/feed.atom", "/saved/%00/feed.atom"):
        assert site.request("GET", wrong, signed=False).status_code == 404


@pytest.mark.slow
def test_hostile_texts_are_escaped_in_saved_searches(
    site: Service, shelf: Shelf, ann: Person
) -> None:
    owner = user_named(shelf, "ann").id
    for strike in STRIKES:
        text = strike[:200].strip() or "x"
        found = shelf.store.save_search(owner, text, "")
        for page in (OWN, f"/saved/{found.id}/feed.atom"):
            shown = ann.get(page).text
            assert strike not in shown or not re.search("[<>]", strike), (page, strike)


def test_a_private_feed_opens_with_the_secret_of_its_owner(start: Start, shelf: Shelf) -> None:
    site = start(private=True)
    ann, eve = (member(site, shelf, name) for name in ("ann", "eve"))
    public_id = saved(ann, "query=be&order_by=alpha", "Vegetables")
    path = f"/saved/{public_id}/feed.atom"
    assert Person(site).status(path) == 401
    assert "private" in ann.get(path).headers["Cache-Control"]
    page = ann.get(OWN).text
    assert f"{BASE_URL}/feeds/…/saved/{public_id}.atom" in page
    secrets = [
        re.findall(rf"/feeds/({FEED_PREFIX}\w+)", one.made("/account/feeds").text)[0]
        for one in (ann, eve)
    ]
    own = f"/feeds/{secrets[0]}/saved/{public_id}.atom"
    assert entries(site, own) == ["beans", "beets"]
    text = site.request("GET", own, signed=False).text
    assert FEED_PREFIX not in text
    assert "/thumbnails/" not in text
    for wrong in (
        f"/feeds/{secrets[1]}/saved/{public_id}.atom",
        f"/feeds/{secrets[0]}/saved/none.atom",
        f"/feeds/none/saved/{public_id}.atom",
    ):
        assert site.request("GET", wrong, signed=False).status_code == 404


def test_a_name_equal_to_the_query_is_shown_once(ann: Person) -> None:
    saved(ann, "query=beans")
    assert ann.get(OWN).text.count("<bdi>“beans”</bdi>") == 0
    saved(ann, "query=beans", "My beans")
    assert ann.get(OWN).text.count("<bdi>“beans”</bdi>") == 1
