"""Publishing, rating, editing and removing maps on pages, without JavaScript."""

import html
import re
from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from typing import Any, Final
from urllib.parse import quote

import httpx
import pytest

from mapshelf.accounts.one_time_links import new_invitation
from mapshelf.api import bodies
from mapshelf.api.uploads import LARGEST_FILE
from mapshelf.clock import milliseconds
from mapshelf.model import DecisionKind, MapDetails, MapDraft, Role, Visibility
from mapshelf.settings import Registration
from mapshelf.site.map_forms import MOST_MAPS
from mapshelf.site.messages import say
from mapshelf.site.publishing import FILES_BODY
from mapshelf.site.signed_in import LARGE
from tests.harness import BASE_URL, Service, Shelf
from tests.person import PASSWORD, Form, Person, Start, forms, member, user_named
from tests.site.shelves import GARDEN

pytestmark = pytest.mark.process

HOSTILE: Final = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "{{ 7 * 7 }}",
    "<!--publish--> <!--personal-->",
    "-->'\"&amp;",
    "</title></textarea>",
)

PERSONAL: Final = ("<!--personal-->", "<!--/personal-->")


def plan(title: str = "Plan", *topics: str) -> bytes:
    """Return a FreeMind file."""
    nodes = "".join(f'<node TEXT="{html.escape(topic)}"/>' for topic in topics)
    return f'<map version="1.0.1"><node TEXT="{html.escape(title)}">{nodes}</node></map>'.encode()


@pytest.fixture
def ann(site: Service, shelf: Shelf) -> Person:
    return member(site, shelf, "ann")


@pytest.fixture
def bob(site: Service, shelf: Shelf) -> Person:
    return member(site, shelf, "bob")


@pytest.fixture
def root(site: Service, shelf: Shelf) -> Person:
    shelf.store.add_user("root", Role.ADMINISTRATOR)
    return member(site, shelf, "root", Role.ADMINISTRATOR)


def choose(
    person: Person, *files: tuple[str, bytes], headers: Mapping[str, str] | None = None
) -> httpx.Response:
    """Choose files on the page ``/publish``, and send them."""
    form = file_form(person.get("/publish"))
    return person.upload(replace(form, headers=headers or {}), *files)


def test_a_large_page_does_not_delay_signing_in(site: Service, ann: Person) -> None:
    """Personalising a large page takes a third of a second."""
    choose(ann, ("large.mm", plan("Large", *["words " * 10_000] * 8)))
    (path,) = set(re.findall(r"/mindmaps/\w+/large", ann.get("/account/maps").text))
    queues = site.application.application.context.queues
    ann.get(path)
    before, large = queues.accounts.counts.done, queues.files.counts.done
    page = ann.get(path)
    assert len(page.content) > LARGE
    assert f"{path}/edit" in page.text
    assert queues.files.counts.done == large + 1
    assert (
        queues.accounts.counts.done == before + 2
    )  # the permissions, and the part that depends on them


def file_form(page: httpx.Response) -> Form:
    (found,) = (form for form in forms(page) if form.files)
    return found


def map_form(page: httpx.Response) -> Form:
    (found,) = (form for form in forms(page) if any("title" in name for name in form.fields))
    return found


def ids_of(answer: httpx.Response) -> list[str]:
    """Return the IDs of the maps in the redirect to the next page."""
    assert answer.status_code == 303, answer.text[:500]
    return answer.headers["Location"].rpartition("maps=")[2].split(",")


def published(person: Person, title: str = "Plan", **values: str) -> str:
    """Publish a map, and return the address of its page."""
    answer = choose(person, ("plan.mm", plan(title, *values.values())))
    (public_id,) = ids_of(answer)
    form = map_form(person.get(answer.headers["Location"]))
    said = {f"{public_id}-{name}": value for name, value in values.items()}
    after = person.upload(form, **said)
    assert after.status_code == 303, after.text
    return page_in(after)


def page_in(done: httpx.Response) -> str:
    """Return the address of the page that confirms that a map is published."""
    address, _, told = done.headers["Location"].partition("?")
    assert told == "done=published"
    return str(address)


def id_in(address: str) -> str:
    return address.split("/")[2]


def alert(page: httpx.Response) -> str:
    (found,) = re.findall(r'role="alert">(.*?)</(?:p|section)>', page.text, re.DOTALL)
    return html.unescape(re.sub(r"\s*<[^>]*>\s*", "\n", found)).strip()


def test_each_file_of_a_form_takes_its_part_of_the_disk(
    ann: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Small files of forms that wait take descriptors, of which a worker has few."""
    monkeypatch.setattr(bodies, "LEAST_ARRIVED", bodies.MOST_ARRIVED // 2)
    files = [(f"{number}.mm", plan(f"Disk {number}")) for number in range(3)]
    assert choose(ann, *files).status_code == 503
    assert choose(ann, *files[:2]).status_code == 303


def test_uploads_are_queued_by_owner(
    site: Service, shelf: Shelf, ann: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The queue knows the owner of each file."""
    owners: list[object] = []
    queue = site.application.application.context.queues.uploads
    result = queue.result

    async def noted(key: Hashable, make: Callable[[], Any], **more: Any) -> Any:
        owners.append(more["owner"]())
        return await result(key, make, **more)

    monkeypatch.setattr(queue, "result", noted)
    address = published(ann)
    form = file_form(ann.get(f"{address}/versions"))
    assert ann.upload(form, ("plan.mm", plan("Other"))).status_code == 303
    assert owners == [user_named(shelf, "ann").id] * 2


def test_a_new_user_goes_from_an_invitation_to_a_published_map(shelf: Shelf, start: Start) -> None:
    site = start(registration=Registration.INVITE)
    guest = Person(site)
    invitation = f"/link/{new_invitation(shelf.store, milliseconds())}"
    registered = guest.fill(invitation, name="newcomer", new=PASSWORD, again=PASSWORD)
    account = guest.get(registered.headers["Location"])
    assert say("done.registered") in account.text
    assert 'href="/publish"' in account.text
    sent = choose(guest, ("holidays.mm", plan("Holidays", "Sea", "Mountains")))
    (public_id,) = ids_of(sent)
    preview = guest.get(sent.headers["Location"])
    assert "3 topics, 2 levels" in preview.text
    assert f"/thumbnails/{public_id}.png" in preview.text
    picture = guest.get(f"/thumbnails/{public_id}.png?w=640")
    assert picture.headers["Content-Type"] == "image/png"
    form = map_form(preview)
    assert form.fields[f"{public_id}-title"] == "Holidays"
    assert form.fields[f"{public_id}-visibility"] == "published"
    assert Person(site).status(f"/mindmaps/{public_id}/holidays") == 404
    science = next(one for one in shelf.store.categories() if one.name == "Science")
    values = {
        "title": "Holidays by train",
        "description": "Where to go\nwithout a car",
        "category": str(science.id),
        "licence": "3",
        "tags": "train, summer",
        "template": "true",
    }
    done = guest.upload(form, **{f"{public_id}-{name}": text for name, text in values.items()})
    assert page_in(done) == f"/mindmaps/{public_id}/holidays-by-train"
    page = Person(site).get(done.headers["Location"])
    assert "Holidays by train" in page.text
    told = say("done.published.published")
    assert told in guest.get(done.headers["Location"]).text
    assert told not in page.text + guest.get(page_in(done)).text, "others see the confirmation"
    found = shelf.store.find_map(public_id)
    assert found is not None
    assert (found.title, found.description) == ("Holidays by train", "Where to go\nwithout a car")
    assert (found.category, found.licence_type_id) == ("Science", 3)
    assert (found.tags, found.template) == (("train", "summer"), True)
    assert (found.visibility, found.owner) == (Visibility.PUBLISHED, "newcomer")
    shelf.publish()
    site.wait_until(lambda: "Holidays by train" in Person(site).get("/").text)


def test_publishing_redirects_to_sign_in_and_back(site: Service, shelf: Shelf) -> None:
    member(site, shelf, "ann")
    person = Person(site)
    asked = person.get("/publish", 303)
    assert asked.headers["Location"] == "/signin?next=%2Fpublish"
    after = person.sign_in("ann", path=asked.headers["Location"])
    assert after.headers["Location"] == "/publish"
    assert person.get("/publish").text.count('href="/publish"') == 1


# -- several files, and refused ones -----------------------------------------------------------


def test_accepted_files_are_shown_and_refused_ones_explained(ann: Person) -> None:
    answer = choose(
        ann,
        ("a.mm", plan("First")),
        ("holiday.jpg", b"\xff\xd8\xff\xe0" + bytes(100)),
        ("broken.mm", b"<map><node TEXT='x'>"),
        ("b.mm", plan("Second")),
    )
    assert answer.status_code == 200
    told = alert(answer)
    assert "2 files were refused" in told
    assert "holiday.jpg" in told
    assert "broken.mm" in told
    assert "This is not a mind map" in told
    form = map_form(answer)
    first, second = form.fields["maps"].split(",")
    done = ann.upload(form, **{f"{second}-visibility": "unlisted"})
    assert done.headers["Location"] == f"/publish/published?maps={first},{second}"
    page = ann.get(done.headers["Location"])
    assert "First" in page.text
    assert "Unlisted" in page.text


@pytest.mark.parametrize(
    ("content", "status", "said"),
    [
        (b"\xff\xd8\xff\xe0" + bytes(100), 415, "This is not a mind map"),
        (b"<map><node TEXT='x'>", 422, "This file cannot be read."),
        (b"", 415, ""),
        (plan("x" * 10).replace(b"<map", b'<!DOCTYPE map [<!ENTITY a "a">]><map'), 422, "DOCTYPE"),
        (bytes(LARGEST_FILE + 1), 413, "This is too large."),
    ],
)
def test_a_refused_file_says_why(
    ann: Person, shelf: Shelf, content: bytes, status: int, said: str
) -> None:
    answer = choose(ann, ("plan.mm", content))
    assert answer.status_code == status, answer.text
    assert said in alert(answer)
    assert file_form(answer).action == "/publish"
    assert "Traceback" not in answer.text
    (ann_id,) = (one.id for one in shelf.store.users() if one.name == "ann")
    assert not shelf.store.unpublished_maps(ann_id)


def test_a_form_without_a_file_or_with_too_many_says_so(ann: Person) -> None:
    answer = choose(ann)
    assert answer.status_code == 400
    assert alert(answer) == "Choose at least one file, and no more than are allowed."
    files = [(f"{number}.mm", plan(f"Plan {number}")) for number in range(MOST_MAPS + 10)]
    answer = choose(ann, *files)
    assert answer.status_code == 400
    assert alert(answer) == "Choose at least one file, and no more than are allowed."


@pytest.mark.parametrize(
    ("media_type", "content", "status"),
    [
        ("application/json", b"{}", 415),
        ("application/x-www-form-urlencoded", b"csrf_token=x", 415),
        ("multipart/form-data", b"--x--\r\n", 400),
        ("multipart/form-data; boundary=x", b"--x\r\n", 400),
        ("multipart/form-data; boundary=x", b"--x--\r\n", 403),
    ],
)
@pytest.mark.parametrize("path", ["/publish", "edit", "versions"])
def test_invalid_upload_bodies_are_refused_on_the_page(
    ann: Person, path: str, media_type: str, content: bytes, status: int
) -> None:
    address = path if path[0] == "/" else f"{published(ann)}/{path}"
    answer = ann.post(address, {}, Content_Type=media_type)
    answer = ann.run(
        ann.client.post(
            address, content=content, headers={"Content-Type": media_type, "Origin": BASE_URL}
        )
    )
    assert answer.status_code == status
    assert alert(answer)
    assert any(form.encoding for form in forms(answer))
    assert answer.headers["Cache-Control"] == "no-store"


def test_a_body_that_says_it_is_too_large_is_refused_before_it_is_read(ann: Person) -> None:
    headers = {
        "Content-Type": "multipart/form-data; boundary=x",
        "Content-Length": str(FILES_BODY.most + 1),
    }
    answer = ann.run(ann.client.post("/publish", content=b"--x", headers=headers))
    assert (answer.status_code, alert(answer)) == (413, "This is too large.")


def test_quota_errors_say_what_to_do(start: Start, shelf: Shelf) -> None:
    site = start(uploads_per_hour=2, quota_maps=1)
    ann = member(site, shelf, "ann")
    published(ann, "One")
    answer = choose(ann, ("two.mm", plan("Two")))
    assert answer.status_code == 403
    assert "You have reached your limit of uploaded maps, 1." in alert(answer)
    site = start(uploads_per_hour=1)
    bob = member(site, shelf, "bob")
    published(bob, "One of Bob")
    answer = choose(bob, ("two.mm", plan("Two")))
    assert answer.status_code == 429
    assert "within an hour. Try again in 60 minutes." in alert(answer)
    assert 3500 < int(answer.headers["Retry-After"]) <= 3600


def test_publishing_several_maps_says_which_one_is_hidden(
    ann: Person, root: Person, shelf: Shelf
) -> None:
    first, second = ids_of(choose(ann, ("a.mm", plan("A")), ("b.mm", plan("B"))))
    form = map_form(ann.get(f"/publish/preview?maps={first},{second}"))
    found = shelf.store.find_map(first)
    assert found is not None
    shelf.store.decide(found.file_id, DecisionKind.HIDE, user_named(shelf, "root").id)
    answer = ann.upload(form)
    assert answer.status_code == 400
    assert say("failure.hidden") in html.unescape(answer.text)
    assert f'id="{first}-visibility-wrong"' in answer.text
    other = shelf.store.find_map(second)
    assert other is not None
    assert other.visibility is Visibility.PUBLISHED


def test_maps_that_were_saved_with_one_that_is_hidden_are_not_outdated(
    ann: Person, root: Person, shelf: Shelf
) -> None:
    first, second = ids_of(choose(ann, ("a.mm", plan("A")), ("b.mm", plan("B"))))
    form = map_form(ann.get(f"/publish/preview?maps={first},{second}"))
    found = shelf.store.find_map(second)
    assert found is not None
    shelf.store.decide(found.file_id, DecisionKind.HIDE, user_named(shelf, "root").id)
    answer = ann.upload(form, **{f"{first}-visibility": "private", f"{first}-title": "Mine"})
    assert answer.status_code == 400
    again = map_form(answer)
    answer = ann.upload(again, **{f"{second}-visibility": "private"})
    assert answer.status_code == 303, answer.text
    saved = shelf.store.find_map(first)
    assert saved is not None
    assert (saved.title, saved.visibility) == ("Mine", Visibility.PRIVATE)


def test_as_many_maps_as_allowed_are_published_with_all_their_fields(
    ann: Person, shelf: Shelf
) -> None:
    files = [(f"{number}.mm", plan(f"Plan {number}")) for number in range(MOST_MAPS)]
    drafts = ids_of(choose(ann, *files))
    form = map_form(ann.get(f"/publish/preview?maps={','.join(drafts)}"))
    ann.upload(form, **{f"{draft}-template": "true" for draft in drafts})
    maps = [shelf.store.find_map(draft) for draft in drafts]
    assert [one and (one.template, one.visibility) for one in maps] == [
        (True, Visibility.PUBLISHED)
    ] * MOST_MAPS


def test_a_form_that_was_sent_before_publishes_nothing_again(ann: Person, shelf: Shelf) -> None:
    """Its map may have been made private meanwhile."""
    (draft,) = ids_of(choose(ann, ("a.mm", plan("A"))))
    form = map_form(ann.get(f"/publish/preview?maps={draft}"))
    ann.upload(form)
    found = shelf.store.find_map(draft)
    assert found is not None
    assert found.visibility is Visibility.PUBLISHED
    private = shelf.store.edit_map(
        found.file_id, MapDetails(visibility=Visibility.PRIVATE, title="Mine")
    )
    for old in (ann.upload(form), ann.upload(form, discard=draft)):
        assert say("failure.outdated") in html.unescape(old.text)
        assert shelf.store.find_map(draft) == private
    again = map_form(old)
    assert (again.fields[f"{draft}-title"], again.fields[f"{draft}-visibility"]) == ("A", "private")
    ann.upload(again, **{f"{draft}-title": "Ours", f"{draft}-visibility": "published"})
    found = shelf.store.find_map(draft)
    assert found is not None
    assert (found.title, found.visibility) == ("Ours", Visibility.PUBLISHED)
    assert ann.upload(again).status_code == 303, "sent twice"
    assert shelf.store.find_map(draft) == found


def test_an_old_form_does_not_publish_what_was_made_private_elsewhere(
    ann: Person, shelf: Shelf
) -> None:
    (draft,) = ids_of(choose(ann, ("a.mm", plan("A"))))
    form = map_form(ann.get(f"/publish/preview?maps={draft}"))
    found = shelf.store.find_map(draft)
    assert found is not None
    for visibility in (Visibility.PUBLISHED, Visibility.PRIVATE):
        shelf.store.edit_map(found.file_id, MapDetails(visibility=visibility))
    assert shelf.store.find_map(draft) == found
    for old in (ann.upload(form), ann.upload(form, discard=draft)):
        assert say("failure.outdated") in html.unescape(old.text)
        assert shelf.store.find_map(draft) == found


def test_a_catalogue_without_uploads_says_so(start: Start, shelf: Shelf) -> None:
    ann = member(start(uploads=False), shelf, "ann")
    page = ann.get("/publish")
    assert "Files cannot be uploaded" in page.text
    assert not any(form.files for form in forms(page))


def test_uploading_the_same_file_again_finds_the_existing_map(ann: Person, shelf: Shelf) -> None:
    first = ids_of(choose(ann, ("plan.mm", plan())))
    assert ids_of(choose(ann, ("plan.mm", plan()))) == first
    assert ids_of(choose(ann, ("plan.mm", plan()), ("other.mm", plan()))) == first
    address = published(ann)
    assert id_in(address) == first[0]
    again = choose(ann, ("plan.mm", plan()))
    page = ann.get(again.headers["Location"])
    assert "You have already published these files" in page.text
    assert address in page.text


def test_scripts_get_the_result_of_each_file(ann: Person) -> None:
    files = (("a.mm", plan()), ("b.jpg", b"\xff\xd8\xff"))
    answer = choose(ann, *files, headers={"Accept": "application/json"})
    assert answer.status_code == 200
    assert answer.headers["Cache-Control"] == "no-store"
    told = answer.json()
    assert len(told["maps"]) == 1
    assert [one["name"] for one in told["refused"]] == ["b.jpg"]
    answer = choose(ann, headers={"Accept": "application/json"})
    assert (answer.status_code, answer.json()["maps"]) == (200, [])
    assert answer.json()["refused"][0]["reason"]


# -- typed text --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("title", "", "A title must have 1 to 500 characters."),
        ("title", "x" * 501, "A title must have 1 to 500 characters."),
        ("description", "x" * 10_001, "A description can have at most 10,000 characters."),
        ("category", "99999", "There is no such category."),
        ("licence", "nothing", "There is no such licence."),
        ("tags", ",".join("abcdefghijklmnopqrstuvwxyz"), "at most 20 tags"),
        ("visibility", "removed", "Choose who can see the map."),
        ("template", "perhaps", "A map is either a template or not."),
    ],
)
def test_errors_are_shown_beside_fields_and_input_is_kept(
    ann: Person, shelf: Shelf, field: str, value: str, said: str
) -> None:
    first, second = ids_of(choose(ann, ("a.mm", plan("A")), ("b.mm", plan("B"))))
    form = map_form(ann.get(f"/publish/preview?maps={first},{second}"))
    typed = {f"{first}-title": "Typed & kept", f"{first}-description": "<b>\n two"}
    answer = ann.upload(form, **{**typed, f"{second}-{field}": value})
    assert answer.status_code == 400
    assert said in html.unescape(answer.text)
    assert alert(answer).startswith("Not everything could be saved.")
    again = map_form(answer)
    assert again.fields[f"{first}-title"] == "Typed & kept"
    assert again.fields[f"{first}-description"] == "<b>\n two"
    assert f'id="{second}-{field}-wrong"' in answer.text
    if field in ("title", "description", "tags"):
        assert again.fields[f"{second}-{field}"] == value
    for public_id in (first, second):
        found = shelf.store.find_map(public_id)
        assert found is not None
        assert found.visibility is Visibility.PRIVATE


def test_leaving_out_a_map_keeps_the_input_of_the_others(ann: Person, shelf: Shelf) -> None:
    first, second = ids_of(choose(ann, ("a.mm", plan("A")), ("b.mm", plan("B"))))
    form = map_form(ann.get(f"/publish/preview?maps={first},{second}"))
    assert form.buttons == [("discard", first), ("discard", second)]
    answer = ann.upload(form, discard=first, **{f"{second}-title": "Typed"})
    assert answer.status_code == 200
    assert map_form(answer).fields[f"{second}-title"] == "Typed"
    assert shelf.store.find_map(first) is None
    answer = ann.upload(map_form(answer), discard=second)
    assert answer.headers["Location"] == "/publish"


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_and_texts_are_escaped(site: Service, shelf: Shelf, text: str) -> None:
    ann = member(site, shelf, text[:100])
    answer = choose(ann, (text, b"\xff\xd8\xff"), (f"{text}.mm", plan(text, text)))
    pages = [answer]
    form = map_form(answer)
    public_id = form.fields["maps"]
    said = {f"{public_id}-{name}": text for name in ("title", "description", "tags")}
    pages.append(ann.upload(form, **said, **{f"{public_id}-category": "0"}))
    done = ann.upload(map_form(pages[-1]), **said, **{f"{public_id}-category": "1"})
    address = page_in(done)
    pages += [ann.get(address), ann.get("/account/maps"), ann.get("/publish")]
    pages += [ann.get(f"{address}/{last}") for last in ("edit", "versions", "remove", "vote")]
    pages.append(member(site, shelf, "reading").get(address))
    ann.fill(f"{address}/remove")
    pages.append(ann.get("/account/maps"))
    found = ann.get(f"{address}/edit", 404)
    pages.append(found)
    for page in pages:
        whole = page.text
        assert text not in whole or text == "{{ 7 * 7 }}", page.url
        assert "49" not in re.findall(r"<h[12][^>]*>([^<]*)<", whole)
        assert whole.count("<!--") <= 3
        assert "<script>alert" not in whole
        assert "onerror=alert(1)>" not in whole


# -- rating ------------------------------------------------------------------------------------


def standing(page: httpx.Response) -> str:
    (found,) = re.findall(r'<div class="standing[^>]*>(.*?)</div>', page.text, re.DOTALL)
    return str(found)


def pressed(page: httpx.Response) -> list[str]:
    return re.findall(r'value="(\w+)" aria-pressed="true"', standing(page))


def rate(person: Person, address: str, vote: str) -> httpx.Response:
    (form,) = (one for one in forms(person.get(address)) if one.action.endswith("/vote"))
    return person.send(form, vote=vote)


def test_a_map_is_rated_once_a_person(ann: Person, bob: Person, root: Person) -> None:
    address = published(ann)
    for vote, counts in (("up", "1 0"), ("up", "1 0"), ("down", "0 1"), ("none", "0 0")):
        assert rate(bob, address, vote).headers["Location"] == address
        page = bob.get(address)
        assert pressed(page) == ([] if vote == "none" else [vote])
        found = re.findall(r"</span> (\d+)</button>", standing(page))
        assert " ".join(found) == counts
    rate(bob, address, "up")
    rate(root, address, "up")
    assert "2 thumbs up" in standing(ann.get(address))


def test_users_cannot_rate_their_own_maps(ann: Person) -> None:
    address = published(ann)
    page = ann.get(address)
    assert "<button" not in standing(page)
    token = forms(ann.get("/account"))[0].fields["csrf_token"]
    answer = ann.post(f"{address}/vote", {"vote": "up", "csrf_token": token})
    assert answer.status_code == 403
    assert say("forbidden.vote") in answer.text
    assert ann.post(f"{address}/vote", {"vote": "much", "csrf_token": token}).status_code == 400


def test_rating_redirects_to_sign_in_and_back(ann: Person, site: Service) -> None:
    address = published(ann)
    stranger = Person(site)
    page = stranger.get(address)
    assert f'href="{address}/vote"' in page.text
    asked = stranger.get(f"{address}/vote", 303)
    assert asked.headers["Location"] == f"/signin?next={quote(address + '/vote', safe='')}"
    stranger.sign_in("ann", path=asked.headers["Location"])
    page = stranger.get(f"{address}/vote")
    assert "You cannot rate your own map." in page.text
    assert "Thumbs" not in standing(page)


# -- editing, files, removing ------------------------------------------------------------------


def test_who_may_do_what_with_a_map(ann: Person, bob: Person, root: Person, site: Service) -> None:
    address = published(ann)
    for person in (ann, root):
        page = person.get(address)
        assert all(f'href="{address}/{last}"' in page.text for last in ("edit", "remove"))
        person.get(f"{address}/edit")
    assert f'href="{address}/edit"' not in bob.get(address).text
    token = forms(bob.get("/account"))[0].fields["csrf_token"]
    for last in ("edit", "versions", "versions/1", "remove"):
        bob.get(f"{address}/{last}", 403)
        Person(site).get(f"{address}/{last}", 303)
    assert bob.post(f"{address}/remove", {"csrf_token": token}).status_code == 403
    assert bob.post(f"{address}/versions/1", {"csrf_token": token}).status_code == 403
    assert ann.status(address) == 200


def test_a_map_is_edited(ann: Person, shelf: Shelf) -> None:
    address = published(ann, "Plan", description="Before", tags="one")
    form = map_form(ann.get(f"{address}/edit"))
    assert (form.fields["description"], form.fields["tags"]) == ("Before", "one")
    wrong = ann.upload(form, title="", tags="two, three")
    assert wrong.status_code == 400
    assert "A title must have 1 to 500 characters." in wrong.text
    form = map_form(wrong)
    assert form.fields["tags"] == "two, three"
    done = ann.upload(form, title="Better plan", visibility="unlisted", licence="3")
    assert done.headers["Location"] == f"/mindmaps/{id_in(address)}/better-plan"
    found = shelf.store.find_map(id_in(address))
    assert found is not None
    assert found.licence_type_id == 3
    assert (found.title, found.tags, found.visibility) == (
        "Better plan",
        ("two", "three"),
        Visibility.UNLISTED,
    )
    form = map_form(ann.get(f"{address}/edit"))
    assert form.fields["licence"] == "3"
    assert ann.upload(form, licence="").status_code == 303
    found = shelf.store.find_map(id_in(address))
    assert found is not None
    assert found.licence_type_id is None


def test_a_map_of_a_folder_keeps_its_title(root: Person, shelf: Shelf) -> None:
    address = "/mindmaps/Garden01/a-kitchen-garden"
    page = root.get(f"{address}/edit")
    assert "comes from its file" in page.text
    (form,) = (one for one in forms(page) if "description" in one.fields)
    assert "title" not in form.fields
    assert root.upload(form, description="Mine now").status_code == 303
    found = shelf.store.find_map("Garden01")
    assert found is not None
    assert (found.title, found.description) == (GARDEN.title, "Mine now")
    assert "is in a folder" in root.get(f"{address}/versions").text


def test_files_are_replaced_downloaded_and_restored(ann: Person, shelf: Shelf) -> None:
    address = published(ann)
    form = file_form(ann.get(f"{address}/versions"))
    refused = ann.upload(form, ("photo.jpg", b"\xff\xd8\xff"))
    assert (refused.status_code, "This is not a mind map" in alert(refused)) == (415, True)
    assert ann.upload(form).status_code == 400
    assert ann.upload(form, ("new.mm", plan("Plan", "new"))).headers["Location"] == address
    page = ann.get(f"{address}/versions")
    assert page.text.index("Version 2") < page.text.index("Version 1")
    one = ann.get(f"{address}/versions/1")
    assert one.content == plan("Plan")
    assert one.headers["Cache-Control"] == "no-store"
    assert 'filename="plan (1).mm"' in one.headers["Content-Disposition"]
    assert ann.get(f"{address}/versions/2").content == plan("Plan", "new")
    ann.get(f"{address}/versions/3", 404)
    (restore,) = (form for form in forms(page) if form.buttons)
    assert restore.buttons == [("restore", "1")]
    assert ann.send(restore, restore="1").status_code == 303
    assert ann.get(f"{address}/versions/3").content == plan("Plan")
    assert len(shelf.store.versions(shelf.store.find_map(id_in(address)).file_id)) == 3  # type: ignore[union-attr]


def test_a_removed_map_is_brought_back(ann: Person, bob: Person) -> None:
    address = published(ann, visibility="unlisted")
    assert "Remove this map?" in ann.get(f"{address}/remove").text
    done = ann.fill(f"{address}/remove")
    page = ann.get(done.headers["Location"])
    assert "The map has been removed." in page.text
    assert ann.status(address) == 404
    (form,) = (one for one in forms(page) if ("restore", id_in(address)) in one.buttons)
    foreign = forms(bob.get("/account"))[0].fields["csrf_token"]
    refused = bob.post(form.action, {"csrf_token": foreign, "restore": id_in(address)})
    assert refused.status_code == 404
    assert ann.send(form, restore=id_in(address)).headers["Location"] == address
    assert "This map is unlisted" in ann.get(address).text
    assert ann.send(form, restore=id_in(address)).status_code == 404


def test_what_an_administrator_removed_stays_removed(
    ann: Person, root: Person, shelf: Shelf, site: Service
) -> None:
    address = published(ann)
    root.fill(f"{address}/remove")
    page = ann.get("/account/maps")
    assert "Removed by root" in page.text
    assert not any(one.buttons for one in forms(page))
    token = forms(ann.get("/account"))[0].fields["csrf_token"]
    body = {"csrf_token": token, "restore": id_in(address)}
    assert ann.post("/account/maps", body).status_code == 403
    token = forms(root.get("/account"))[0].fields["csrf_token"]
    assert root.post("/account/maps", {**body, "csrf_token": token}).status_code == 303
    assert ann.status(address) == 200


# -- maps of the user --------------------------------------------------------------------------


def test_own_maps_are_listed_on_numbered_pages(site: Service, shelf: Shelf, ann: Person) -> None:
    (user,) = (one for one in shelf.store.users() if one.name == "ann")
    shelf.put(*(MapDraft(id=f"Ann{n:05}", title=f"Plan {n}", owner="ann") for n in range(30)))
    shelf.publish()
    published(ann, "Hidden", visibility="private")
    published(ann, "Half hidden", visibility="unlisted")
    site.wait_until(lambda: "32 maps" in ann.get("/account/maps").text)
    page = ann.get("/account/maps")
    assert page.text.count("<article") == 24
    assert "Page 1 of 2" in page.text
    (following,) = re.findall(r'rel="next" href="([^"]*)"', page.text)
    other = ann.get(html.unescape(following))
    assert other.text.count("<article") == 8
    titles = re.findall(r'<h2 class="name"><a href="([^"]*)"', page.text + other.text)
    assert len(set(titles)) == 32
    private = ann.get("/account/maps?visibility=private")
    assert "Hidden" in private.text
    assert private.text.count("<article") == 1
    assert ann.get("/account/maps?visibility=published").text.count("<article") == 24
    ann.get("/account/maps?visibility=nonsense", 400)
    assert len(shelf.store.unpublished_maps(user.id)) == 2
    assert "/account/maps" in ann.get("/account").text


# -- visibility of maps ------------------------------------------------------------------------


@pytest.mark.parametrize("visibility", ["unlisted", "private"])
def test_an_unpublished_map_is_marked_and_does_not_leak(
    site: Service, ann: Person, bob: Person, visibility: str
) -> None:
    address = published(ann, "Secret garden", visibility=visibility)
    page = ann.get(address)
    assert f"This map is {visibility}" in page.text
    readers = {"ann": page}
    if visibility == "unlisted":
        readers |= {"bob": bob.get(address), "nobody": Person(site).get(address)}
    else:
        assert bob.status(address) == Person(site).status(address) == 404
    for answer in readers.values():
        assert {"public", "s-maxage"}.isdisjoint(answer.headers["Cache-Control"].split(", "))
        assert re.search("private|no-store", answer.headers["Cache-Control"])
        assert answer.headers["X-Robots-Tag"] == "noindex"
        assert 'name="robots" content="noindex"' in answer.text
        for told in ("oembed", "ld+json", "og:", "canonical", "&lt;iframe"):
            assert told not in answer.text, told
    if visibility == "private":
        assert page.headers["Cache-Control"] == "no-store"
        assert "ETag" not in page.headers
    query = quote(f"{BASE_URL}{address}", safe="")
    for person in (ann, bob, Person(site)):
        person.get(f"/oembed?url={query}", 404)
        for path in (
            "/",
            "/feed.atom",
            "/owners/ann",
            "/?query=secret",
            "/site/search?query=secret",
        ):
            assert "Secret garden" not in person.get(path).text


def test_a_page_with_buttons_is_not_cached_for_others(
    site: Service, ann: Person, bob: Person
) -> None:
    address = published(ann)
    for person in (ann, bob):
        answer = person.get(address)
        assert answer.headers["Cache-Control"] == "private, no-cache"
        assert "Cookie" in answer.headers["Vary"]
        assert "csrf_token" not in Person(site).get(address).text
        person.get(address, 304, If_None_Match=answer.headers["ETag"])
    before = bob.get(address).headers["ETag"]
    rate(bob, address, "up")
    bob.get(address, 200, If_None_Match=before)


def test_maps_are_readable_while_the_database_is_unavailable(
    site: Service, ann: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = "/mindmaps/Garden01/a-kitchen-garden"
    ann.get(address)

    def away(*_: object) -> None:
        from mapshelf.errors import StoreUnavailable  # noqa: PLC0415

        raise StoreUnavailable("away")

    store = site.application.application.context.store.get()
    monkeypatch.setattr(type(store), "find_map", away)
    page = ann.get(address)
    assert str(GARDEN.title) in page.text
    assert 'class="standing' in page.text


# -- forms -------------------------------------------------------------------------------------

FOREIGN: Final = {
    "another site": {"Origin": "https://evil.example"},
    "a sister site": {"Origin": BASE_URL, "Sec-Fetch-Site": "same-site"},
    "a hidden page of another site": {"Origin": "null", "Sec-Fetch-Site": "cross-site"},
}


@pytest.mark.parametrize("who", [*FOREIGN, "no token"])
def test_publishing_forms_from_other_sites_are_refused(
    ann: Person, bob: Person, shelf: Shelf, who: str
) -> None:
    headers = FOREIGN.get(who, {})
    token = {"csrf_token": ""} if who == "no token" else {}
    mine, other = published(ann, "Mine"), published(bob, "Another's")
    ann.fill(f"{published(ann, 'Gone')}/remove")
    choice = replace(file_form(ann.get("/publish")), headers=headers)
    (draft,) = ids_of(choose(ann, ("draft.mm", plan("Draft"))))
    preview = replace(map_form(ann.get(f"/publish/preview?maps={draft}")), headers=headers)
    edit = replace(map_form(ann.get(f"{mine}/edit")), headers=headers)
    versions = replace(file_form(ann.get(f"{mine}/versions")), headers=headers)
    (user,) = (one for one in shelf.store.users() if one.name == "ann")

    def everything() -> object:
        store = shelf.store
        maps = [store.find_map(id_in(one)) for one in (mine, other)]
        return (
            maps,
            store.unpublished_maps(user.id),
            store.removed_maps(None),
            [store.versions(one.file_id) for one in maps if one],
        )

    before = everything()
    answers = [
        ann.upload(choice, ("new.mm", plan("New")), **token),
        ann.upload(preview, **token),
        ann.upload(preview, discard=draft, **token),
        ann.upload(edit, title="Changed", **token),
        ann.upload(versions, ("new.mm", plan("New")), **token),
    ]
    named = {name.replace("-", "_"): value for name, value in headers.items()}
    gone = shelf.store.removed_maps(user.id)[0].map.id
    for path, values in (
        (f"{other}/vote", {"vote": "up"}),
        (f"{mine}/remove", {}),
        (f"{mine}/versions/1", {"restore": "1"}),
        ("/account/maps", {"restore": gone}),
    ):
        fields = {**preview.fields, **values, **token}
        answers.append(ann.post(path, {k: fields[k] for k in ("csrf_token", *values)}, **named))
    assert [one.status_code for one in answers] == [403] * len(answers)
    assert all(one.headers["Content-Type"].startswith("text/html") for one in answers)
    assert everything() == before


def test_publishing_pages_have_strict_headers(ann: Person) -> None:
    address = published(ann)
    (draft,) = ids_of(choose(ann, ("draft.mm", plan("Draft"))))
    paths = ["/publish", f"/publish/preview?maps={draft}", f"/publish/published?maps={draft}"]
    paths += ["/account/maps", *(f"{address}/{last}" for last in ("vote", "edit", "versions"))]
    for path in (*paths, f"{address}/remove"):
        answer = ann.get(path)
        assert answer.headers["Cache-Control"] == "no-store"
        assert "ETag" not in answer.headers
        policy = answer.headers["Content-Security-Policy"]
        assert "script-src 'self'; style-src 'self'" in policy
        assert "form-action 'self'" in policy
        assert 'name="robots" content="noindex"' in answer.text
        assert len(answer.content) == int(answer.headers["Content-Length"])


def test_drafts_of_others_are_not_found(ann: Person, bob: Person, root: Person) -> None:
    (draft,) = ids_of(choose(ann, ("draft.mm", plan("Draft"))))
    for path in ("preview", "published"):
        shown = bob.get(f"/publish/{path}?maps={draft}", 303)
        assert "Draft" not in shown.text
    assert "Draft" in root.get(f"/publish/preview?maps={draft}").text
    form = map_form(ann.get(f"/publish/preview?maps={draft}"))
    token = forms(bob.get("/account"))[0].fields["csrf_token"]
    bob.upload(form, csrf_token=token, discard=draft)
    bob.upload(form, csrf_token=token)
    page = ann.get(f"/publish/preview?maps={draft}")
    assert map_form(page).fields["maps"] == draft


@pytest.mark.parametrize(
    "maps", ["", "%00", "../..", "a" * 500, ",,,", "Garden01", "%FF", "a&maps=b"]
)
def test_a_preview_without_files_redirects_to_publishing(ann: Person, maps: str) -> None:
    answer = ann.client.get(f"/publish/preview?maps={maps}")
    status = ann.run(answer).status_code
    assert status in (303, 400)


def test_publishing_actions_are_logged(ann: Person, root: Person, shelf: Shelf) -> None:
    before = len(shelf.store.audit_records(0, 0, 1000))
    address = published(ann)
    ann.upload(file_form(ann.get(f"{address}/versions")), ("new.mm", plan("Plan", "new")))
    ann.fill(f"{address}/remove")
    (form,) = (one for one in forms(ann.get("/account/maps")) if one.buttons)
    ann.send(form, restore=id_in(address))
    noted = [one.entry for one in shelf.store.audit_records(0, 0, 1000)[before:]]
    events = ["published", "changed", "replaced", "removed", "restored"]
    assert [one.event.value for one in noted] == [f"map.{event}" for event in events]
    assert {(one.target, one.user, one.address) for one in noted} == {
        (f"map {id_in(address)}", "ann", "192.0.2.1")
    }
