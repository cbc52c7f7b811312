"""Creating and reading collections on pages, without JavaScript."""

import re

import httpx
import pytest

from mapshelf.errors import StoreUnavailable
from mapshelf.model import CollectionDetails, MapDraft, Role, Source, Visibility
from mapshelf.site import pinned
from tests.harness import Service, Shelf
from tests.person import Form, Person, Start, events, forms, member, user_named
from tests.site.shelves import STRIKES

OWN = "/account/collections"


@pytest.fixture
def bob(site: Service, shelf: Shelf) -> Person:
    shelf.put(*(MapDraft(id=f"map{name}", title=name, owner="zoe") for name in "abc"))
    shelf.publish()
    site.wait_until(lambda: "mapc" in site.request("GET", "/", signed=False).text)
    return member(site, shelf, "bob")


@pytest.fixture
def root(site: Service, shelf: Shelf) -> Person:
    return member(site, shelf, "root", Role.ADMINISTRATOR)


def sent(person: Person, form: Form, **values: str) -> str:
    """Send a form; return the target of the redirect."""
    if form.encoding:
        form.fields |= values
        form.files = [""]
        answer = person.upload(form)
    else:
        answer = person.send(form, **values)
    assert answer.status_code == 303, answer.text[-2000:]
    return answer.headers["Location"]


def with_field(person: Person, page: str, name: str) -> Form:
    (form,) = (one for one in forms(person.get(page)) if name in one.fields)
    return form


def press(person: Person, page: str, name: str, value: str) -> str:
    """Press a button of a page; return the target of the redirect."""
    for form in forms(person.get(page)):
        if (name, value) in form.buttons:
            return sent(person, form, **{name: value})
    raise AssertionError(f"there is no button {name}={value}")


def titles(page: httpx.Response) -> str:
    return "".join(re.findall(r'class="name"><a [^>]*dir="auto">(\w)</a>', page.text))


def published(shelf: Shelf, owner: str, maps: str = "", **said: str) -> str:
    """Create a published collection; return its ID."""
    details = CollectionDetails(
        said.get("title", "Java"), said.get("text", ""), Visibility.PUBLISHED
    )
    found = shelf.store.maps_with_ids([f"map{one}" for one in maps])
    owner_id = user_named(shelf, owner).id
    return shelf.store.add_collection(owner_id, details, [one.file_id for one in found]).id


@pytest.mark.slow
def test_a_collection_is_made_filled_and_put_in_order(
    site: Service, shelf: Shelf, bob: Person
) -> None:
    edit = sent(bob, bob.form(OWN), title="Java & more")
    assert edit.endswith("/java-more/edit")
    collection = edit.removesuffix("/edit")
    for one in ("mapa", "https://maps.example.org/mindmaps/mapb/b?x#t=1", "/mindmaps/mapc"):
        assert sent(bob, with_field(bob, edit, "map"), map=one) == f"{edit}#maps"
    assert titles(bob.get(collection)) == "abc"
    assert press(bob, edit, "move", "up:mapc") == f"{edit}#m-mapc"
    assert titles(bob.get(collection)) == "acb"
    for button, order in (("last:mapa", "cba"), ("first:mapb", "bca"), ("down:mapb", "cba")):
        press(bob, edit, "move", button)
        assert titles(bob.get(collection)) == order
    press(bob, edit, "out", "mapb")
    form = with_field(bob, edit, "title")
    there = sent(bob, form, title="Other", text="What <it> is", visibility="published")
    page = Person(site).get(there)
    assert titles(page) == "ca"
    assert "What &lt;it&gt; is" in page.text
    assert "/edit" not in page.text
    assert "/edit" in bob.get(there).text
    assert "private" in bob.get(there).headers["Cache-Control"]
    gone = sent(bob, bob.form(f"{there}/remove"))
    assert "The collection has been deleted." in bob.get(gone).text
    assert bob.status(there) == 404
    assert [one for one in events(shelf) if one.startswith("collection")] == [
        *("collection.made", "collection.changed", "collection.removed"),
    ]


@pytest.mark.slow
def test_maps_are_collected_from_their_pages(bob: Person) -> None:
    page = bob.get("/mindmaps/mapa/a").text
    assert '<a href="/collect?map=mapa" rel="nofollow">' in page
    there = sent(bob, bob.form("/collect?map=mapa&map=mapc&map=none"), title="New")
    assert titles(bob.get(there)) == "ac"
    form = forms(bob.get("/collect?map=mapb"))[0]
    form.fields["collection"] = there.split("/")[2]
    assert sent(bob, form) == there
    assert titles(bob.get(there)) == "acb"
    assert bob.status("/collect?map=none") == 404
    assert bob.status("/collect") == 400


def test_maps_with_the_same_title_are_told_apart_by_their_files(
    site: Service, shelf: Shelf, bob: Person
) -> None:
    shelf.put(
        *(
            MapDraft(
                id=f"java{name}",
                title="Java",
                owner="bob",
                source=Source(
                    f"/m/{name}/java.mm".encode(), f"{name}/java.mm", 1, 1, b"%d" % place
                ),
            )
            for place, name in enumerate(("coffee", "island"))
        )
    )
    shelf.publish()
    site.wait_until(lambda: "javaisland" in site.request("GET", "/", signed=False).text)
    chosen = "map=javacoffee&map=javaisland&map=mapa"
    there = sent(bob, bob.form(f"/collect?{chosen}"), title="New")
    for path in (there, f"{there}/edit", f"/collect?{chosen}", f"/tag?{chosen}"):
        page = bob.get(path).text.replace("<wbr>", "")
        assert "coffee/java.mm" in page, path
        assert "island/java.mm" in page, path


@pytest.mark.slow
def test_errors_are_shown_above_the_form_of_a_collection(bob: Person) -> None:
    edit = sent(bob, bob.form(OWN), title="Java")
    for page, name, value, message in (
        (OWN, "title", " ", "A collection needs a title"),
        (edit, "map", "nonsense!", "There is no such map."),
        (edit, "map", "none", "There is no such map."),
    ):
        form = with_field(bob, page, name)
        form.fields[name] = value
        form.files = [""]
        answer = bob.upload(form) if form.encoding else bob.send(form)
        assert answer.status_code == 400
        assert message in answer.text
    long = with_field(bob, edit, "title")
    long.fields["text"], long.files = "x" * 5001, [""]
    answer = bob.upload(long)
    assert (answer.status_code, "x" * 5001 in answer.text) == (400, True), "the typed text was lost"


def test_pinned_collections_are_not_shown_while_the_database_is_away(
    site: Service, shelf: Shelf, bob: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They may have been hidden."""

    def away(*_: object) -> None:
        raise StoreUnavailable("away")

    shelf.store.pin_collection(published(shelf, "bob", "a", title="First"), pinned=True)
    monkeypatch.setattr(pinned, "KEPT_FOR", 0.0)
    site.wait_until(lambda: "First" in site.request("GET", "/", signed=False).text)
    monkeypatch.setattr(type(shelf.store), "pinned_collections", away)
    page = site.request("GET", "/", signed=False)
    assert page.status_code == 200
    assert "First" not in page.text


@pytest.mark.slow
def test_administrators_pin_collections_to_the_first_page(
    site: Service, shelf: Shelf, bob: Person, root: Person
) -> None:
    first, second = (published(shelf, "bob", "a", title=one) for one in ("First", "Second"))

    def shown() -> list[str]:
        page = site.request("GET", "/", signed=False).text
        return re.findall(r'<h3 class="name"><a [^>]*>(\w+)</a>', page)

    assert shown() == []
    for public_id, title in ((second, "second"), (first, "first")):
        page = f"/collected/{public_id}/{title}"
        assert f"{page}/pin" in root.get(page).text
        assert f"{page}/pin" not in bob.get(page).text
        assert bob.status(f"{page}/pin") == 404
        assert press(root, f"{page}/pin", "pinned", "true") == page
    assert shown() == ["Second", "First"]
    assert "<h3" not in site.request("GET", "/?query=a", signed=False).text
    press(root, f"/collected/{second}/second/pin", "pinned", "false")
    assert shown() == ["First"]
    before = site.request("GET", "/", signed=False)
    again = {"If-None-Match": before.headers["ETag"]}
    assert site.request("GET", "/", signed=False, headers=again).status_code == 304
    sent(bob, bob.form(f"/collected/{first}/first/remove"))
    assert shown() == []
    assert site.request("GET", "/", signed=False, headers=again).status_code == 200


def test_feeds_frames_and_oembed_of_a_collection_follow_its_visibility(
    site: Service, shelf: Shelf, bob: Person
) -> None:
    public_id = published(shelf, "bob", "ba")
    path = f"/collected/{public_id}"
    feed = bob.get(f"{path}/feed.atom")
    assert feed.headers["Content-Type"].startswith("application/atom+xml")
    assert re.findall("<title>(.)</title>", feed.text) == ["b", "a"]
    frame = bob.get(f"{path}/java?embed=1")
    assert titles(frame) == "ba"
    assert "frame-ancestors *" in frame.headers["Content-Security-Policy"]
    described = bob.get(f"/oembed?url=https://maps.example.org{path}/java").json()
    assert (described["title"], described["author_name"]) == ("Java", "bob")
    assert f"{path}/java?embed=1" in described["html"]
    shelf.store.edit_collection(public_id, CollectionDetails(visibility=Visibility.UNLISTED))
    assert bob.status(f"/oembed?url=https://maps.example.org{path}/java") == 404
    assert bob.get(f"{path}/feed.atom").headers["X-Robots-Tag"] == "noindex"
    shelf.store.edit_collection(public_id, CollectionDetails(visibility=Visibility.PRIVATE))
    for page in (f"{path}/feed.atom", f"{path}/java?embed=1"):
        assert bob.status(page) == 404
    assert bob.get(f"{path}/java").headers["Cache-Control"] == "no-store"


@pytest.mark.slow
def test_the_list_of_collections(site: Service, shelf: Shelf, bob: Person) -> None:
    assert "Nobody has published a collection yet." in bob.get("/collected").text
    for number in range(26):
        published(shelf, "bob", title=f"c{number}")
    first = bob.get("/collected")
    assert first.text.count("<article") == 24
    assert 'rel="next" href="/collected?offset=24"' in first.text
    assert bob.get("/collected?offset=24").text.count("<article") == 2
    assert bob.get("/collected?owner=BOB").text.count("<article") == 24
    assert "<article" not in bob.get("/collected?owner=zoe").text


@pytest.mark.slow
def test_hostile_texts_are_escaped_in_collections(site: Service, shelf: Shelf, bob: Person) -> None:
    ids = [published(shelf, "bob", title=one, text=one) for one in STRIKES]
    for public_id in ids:
        if public_id in ids[:8]:
            shelf.store.pin_collection(public_id, pinned=True)
    pages = ["/", "/collected", "/collected?offset=24", OWN, "/collect?map=mapa"]
    for public_id in ids:
        there = bob.get(f"/collected/{public_id}", 308).headers["Location"]
        pages += [there, f"{there}?embed=1", f"{there}/edit", f"{there}/remove"]
        pages.append(f"/collected/{public_id}/feed.atom")
    for page in pages:
        text = bob.get(page).text
        for strike in STRIKES[:15]:
            assert strike not in text or not re.search("[<>]", strike), (page, strike)


@pytest.mark.slow
def test_collections_of_a_private_catalogue_need_a_session(start: Start, shelf: Shelf) -> None:
    site = start(private=True)
    bob = member(site, shelf, "bob")
    public_id = published(shelf, "bob")
    nobody = Person(site)
    for page in ("/collected", f"/collected/{public_id}/java"):
        assert nobody.get(page, 303).headers["Location"].startswith("/signin")
        assert "private" in bob.get(page).headers["Cache-Control"]
    for page in (f"/collected/{public_id}/feed.atom", f"/collections/{public_id}/picture.png"):
        assert nobody.status(page) == 401
        assert bob.status(page) == 200
