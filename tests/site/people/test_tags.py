"""Tags on pages, and how administrators rename them."""

import pytest

from mapshelf.model import MapDraft, Role
from mapshelf.site.messages import say
from tests.harness import Service, Shelf
from tests.person import Person, forms, member

PAGE = "/account/tags"


@pytest.fixture
def root(site: Service, shelf: Shelf) -> Person:
    return member(site, shelf, "root", Role.ADMINISTRATOR)


@pytest.mark.slow
def test_a_tag_is_renamed_everywhere(site: Service, shelf: Shelf, root: Person) -> None:
    shelf.put(MapDraft(title="One", tags=("phys", "<b>")), MapDraft(title="Two", tags=("Physics",)))
    shelf.publish()
    site.wait_until(lambda: "phys" in site.get("/browse/tags").text)
    (form,) = [one for one in forms(root.get(PAGE)) if one.action.endswith(PAGE)]
    for tag, name in (("phys", "a, <b"), ("a,b", "c"), ("phys", " "), ("phys", "x" * 51)):
        refused = root.send(form, tag=tag, name=name)
        assert refused.status_code == 400
        assert say("failure.tag") in refused.text
        (again,) = [one for one in forms(refused) if one.action.endswith(PAGE)]
        assert (again.fields["tag"], again.fields["name"]) == (tag, name), "input lost"
    answer = root.send(form, tag="PHYS", name="Physics")
    assert answer.status_code == 303
    assert say("done.tags.renamed") in root.get(answer.headers["Location"]).text
    assert [one.tags for one in shelf.store.maps(0, 9) if one.tags] == [
        ("Physics", "<b>"),
        ("Physics",),
    ]
    shelf.publish()
    site.wait_until(lambda: ">phys<" not in site.get("/browse/tags").text)
    page = site.get("/browse/tags").text
    assert 'href="/?tag=Physics"><bdi>Physics</bdi> <span class="count">2</span>' in page
    assert "&lt;b&gt;" in page
    noted = [record.entry.target for record in shelf.store.audit_records(0, 0, 99)]
    assert "tag PHYS: Physics" in noted
