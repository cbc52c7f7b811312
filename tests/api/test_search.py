"""Searching: matches, topics of hits, suggestions, corrections, facets and orders."""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from html import unescape
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mapshelf.api import search
from mapshelf.formats.outline_codec import encode_outline
from mapshelf.model import (
    Attachment,
    MapDraft,
    Outline,
    Relationship,
    Sheet,
    Source,
    Topic,
    Visibility,
    sheets_of,
)
from mapshelf.query import ORDERS
from mapshelf.search.snippets import API_BUDGET
from mapshelf.snapshot.read import spelling
from mapshelf.store import seed
from tests.conftest import Serving
from tests.examples import examples
from tests.harness import Service, outline_of, serve, shelf_with


def ask(service: Service, path: str, **parameters: object) -> httpx.Response:
    query = httpx.QueryParams({name: str(value) for name, value in parameters.items()})
    return service.get(f"{path}?{query}")


def hits(service: Service, query: str, **parameters: object) -> list[dict[str, Any]]:
    response = ask(service, "/search", query=query, **parameters)
    assert response.status_code == 200, response.text
    found: list[dict[str, Any]] = response.json()
    return found


def topics(service: Service, query: str) -> list[dict[str, Any]]:
    """Return the topics of the only hit."""
    (hit,) = hits(service, query)
    found: list[dict[str, Any]] = hit["topics"]
    return found


def corrected(response: httpx.Response) -> str | None:
    """Return the corrected search text, if there is one."""
    sent = response.headers.get("X-Corrected-Query")
    assert sent is None or re.fullmatch(r"[A-Za-z0-9._~/-]*(%[0-9A-F]{2}[A-Za-z0-9._~/-]*)*", sent)
    return None if sent is None else unquote(sent, errors="strict")


def mapped(title: str, *roots: Topic) -> MapDraft:
    return MapDraft(title=title, outline=encode_outline(Outline(sheets=sheets_of(roots))))


# -- topics of hits ----------------------------------------------------------------------------


def test_details_of_topics_are_found_and_shown(serving: Serving) -> None:
    first = Topic("Plan", id="a", tags=("urgent",), attributes=(("cost", "fifty"),))
    second = Topic("Do", id="b", attachments=(Attachment("blueprint.pdf"),))
    root = Topic("Root", id="r", children=[first, second])
    sheet = Sheet(root, "Canvas", relationships=(Relationship("a", "b", "precedes"),))
    service = serving(MapDraft(title="m", outline=encode_outline(Outline((sheet,)))))
    for word, topic, note in (
        ("urgent", "Plan", "<mark>urgent</mark>\ncost: fifty\nprecedes"),
        ("fifty", "Plan", "urgent\ncost: <mark>fifty</mark>\nprecedes"),
        ("precedes", "Plan", "urgent\ncost: fifty\n<mark>precedes</mark>"),
        ("blueprint", "Do", "<mark>blueprint</mark>.pdf"),
        ("canvas", "Root", "<mark>Canvas</mark>"),
    ):
        (found,) = topics(service, word)
        assert (found["text"], found["note"]) == (topic, note)


def test_topics_have_their_path_from_the_root(serving: Serving) -> None:
    deep = Topic("Roots drink water", id="t3")
    plants = Topic("Plants", id="t1", children=[Topic("Below ground", id="t2", children=[deep])])
    assert topics(serving(mapped("Plants", plants)), "water") == [
        {
            "id": "t3",
            "path": ["Plants", "Below ground"],
            "text": "Roots drink water",
            "marked": "Roots drink <mark>water</mark>",
            "note": "",
        }
    ]


def test_a_map_is_the_object_that_lists_have(serving: Serving) -> None:
    service = serving(MapDraft(title="Tea", outline=outline_of("Tea", "green tea")))
    (hit,) = hits(service, "tea")
    assert [hit["map"]] == service.maps(query="tea").json()
    assert list(hit) == ["map", "topics", "file"]


def test_a_hit_in_the_name_of_file_or_folder_says_so(serving: Serving) -> None:
    source = Source(b"/x", "Curso <1>/Tea-Party.mm", 1, 1, b"")
    service = serving(MapDraft(title="Plan", source=source), MapDraft(title="Party"))
    found = {hit["map"]["Title"]: hit["file"] for hit in hits(service, "party")}
    path, marked = "Curso <1>/Tea-Party.mm", "Curso &lt;1&gt;/Tea-<mark>Party</mark>.mm"
    assert found == {"Plan": {"path": path, "marked": marked}, "Party": {"path": "", "marked": ""}}
    (hit,) = hits(service, "curso plan")
    assert hit["file"]["marked"] == "<mark>Curso</mark> &lt;1&gt;/Tea-Party.mm"


def test_searches_can_be_limited_to_titles(serving: Serving) -> None:
    service = serving(
        MapDraft(title="Green tea", outline=outline_of("Green tea", "leaf")),
        MapDraft(title="Plan", description="tea", outline=outline_of("Plan", "green leaf")),
        MapDraft(title="Black tea"),
    )
    only = {"title_only": "true"}
    assert set(service.titles(query="tea")) == {"Green tea", "Plan", "Black tea"}
    for query, found in (
        ("tea", {"Green tea", "Black tea"}),
        ("tea -green", {"Black tea"}),
        ('"green tea"', {"Green tea"}),
        ("leaf", set()),
        ("gree", {"Green tea"}),
        ("", {"Green tea", "Plan", "Black tea"}),
    ):
        assert set(service.titles(query=query, **only)) == found, query
        assert {hit["map"]["Title"] for hit in hits(service, query, **only)} == found
        titled = " ".join(f"title:{one}" for one in query.split() if "-" not in one)
        if '"' not in query and "-" not in query and query:
            assert set(service.titles(query=titled)) == found
    assert corrected(ask(service, "/maps", query="grene", **only)) == "green"
    assert service.titles(query="tea", title_only="0") == service.titles(query="tea")
    counts = ask(service, "/facets", query="tea", **only).json()["year"]
    assert [one["count"] for one in counts] == [2]
    kinds = [one["kind"] for one in ask(service, "/suggest", query="lea", **only).json()]
    assert kinds == []
    assert ask(service, "/maps", title_only="yes").status_code == 400


def test_folders_and_tags_have_counts(serving: Serving) -> None:
    places = ("a.mm", "A/b.mm", "A/B c/c.mm", "A/B c/D/d.mm", "é/Doc.mindnode/contents.xml")
    tags = (("Tea", "é"), ("tea",), (), ("é",), ("tea",))
    service = serving(
        *(
            MapDraft(title="m", source=Source(name.encode(), name, 1, 1, b""), tags=tag)
            for name, tag in zip(places, tags, strict=True)
        )
    )

    def folders(below: str) -> list[tuple[Any, ...]]:
        return [tuple(one.values()) for one in service.get(f"/folders{below}").json()]

    assert folders("") == folders("?below=") == [("A", 3, "A"), ("é", 1, "é")]
    assert folders("?below=A") == folders("?below=/A//") == [("B c", 2, "A/B c")]
    assert folders("?below=A/B%20c") == [("D", 1, "A/B c/D")]
    for none in ("A/B%20c/D", "a", "nowhere", ".", "%C3%A9"):
        assert folders(f"?below={none}") == []
    assert service.get("/folders?below=%00").status_code == 400
    assert service.get("/tags").json() == [{"name": "tea", "count": 3}, {"name": "é", "count": 2}]


def test_hostile_texts_are_escaped(serving: Serving) -> None:
    text = "<script>alert('tea')</script> & <mark>tea</mark> \"tea\""
    root = Topic("root", children=[Topic(text, note="<img src=x onerror=tea()> & tea")])
    (topic,) = topics(serving(mapped("t", root)), "tea")
    assert topic["text"] == text
    for html in (topic["marked"], topic["note"]):
        assert set(re.findall("<[^>]*>", html)) == {"<mark>", "</mark>"}
        assert not re.search("&(?!(amp|lt|gt|quot|#x27);)", html)
    assert unescape(re.sub("</?mark>", "", topic["marked"])) == text
    assert topic["note"] == "&lt;img src=x onerror=<mark>tea</mark>()&gt; &amp; <mark>tea</mark>"


def test_a_note_is_shown_only_if_it_matches(serving: Serving) -> None:
    root = Topic(
        "Drinks",
        note="tea is older than the map",
        children=[Topic("Green tea", note="hot"), Topic("Coffee", note="no Tea here")],
    )
    found = topics(serving(mapped("Drinks", root)), "tea")
    assert [(one["text"], one["note"]) for one in found] == [
        ("Green tea", ""),
        ("Drinks", "<mark>tea</mark> is older than the map"),
        ("Coffee", "no <mark>Tea</mark> here"),
    ]


def test_at_most_three_topics_with_the_best_and_shallowest_first(serving: Serving) -> None:
    leaf = Topic("green tea", id="both")
    children = [
        Topic("a", children=[Topic("b", children=[leaf])]),
        *(Topic(f"tea {n}", id=str(n)) for n in range(5)),
        Topic("green", id="green"),
        Topic("tea 0", id="again"),
    ]
    found = topics(serving(mapped("x", Topic("x", children=children))), "green tea")
    assert [one["id"] for one in found] == ["both", "0", "1"]


def test_a_root_topic_like_the_title_is_not_repeated(serving: Serving) -> None:
    service = serving(MapDraft(title="Tea", outline=outline_of("Tea", "Tea", "more tea")))
    assert [one["text"] for one in topics(service, "tea")] == ["more tea"]


def test_long_texts_are_cut_around_the_first_hit(serving: Serving) -> None:
    long = Topic("x " * 500 + "tea " + "y " * 500, note="n " * 900 + "tea")
    root = Topic("r" * 500, children=[long])
    (topic,) = topics(serving(mapped("t", root)), "tea")
    assert topic["path"] == ["r" * 99 + "…"]
    assert len(topic["text"]) == 302
    assert topic["text"].startswith("…x x")
    assert topic["text"].endswith(" y …")
    assert topic["marked"].count("<mark>tea</mark>") == 1
    assert topic["note"].startswith("…")
    assert topic["note"].endswith("<mark>tea</mark>")


def test_all_sheets_are_searched(serving: Serving) -> None:
    service = serving(mapped("t", Topic("One"), Topic("Two", children=[Topic("green tea")])))
    (topic,) = topics(service, "tea")
    assert topic["path"] == ["Two"]


def test_maps_without_outline_or_search_have_no_topics(serving: Serving) -> None:
    service = serving(MapDraft(title="Tea"), MapDraft(title="x", outline=outline_of("green tea")))
    assert {hit["map"]["Title"]: len(hit["topics"]) for hit in hits(service, "tea")} == {
        "Tea": 0,
        "x": 1,
    }
    for query in ("", "-coffee", "!"):
        assert not any(hit["topics"] for hit in hits(service, query))


def test_a_damaged_outline_does_not_affect_other_hits(serving: Serving) -> None:
    service = serving(
        MapDraft(title="bad tea", outline=b"no outline"),
        MapDraft(title="good tea", outline=outline_of("green tea")),
    )
    found = {hit["map"]["Title"]: len(hit["topics"]) for hit in hits(service, "tea")}
    assert found == {"bad tea": 0, "good tea": 1}
    assert ask(service, "/suggest", query="tea").status_code == 200


def test_pages_orders_and_headers_are_those_of_maps(serving: Serving) -> None:
    service = serving(*(MapDraft(title=f"tea {n}", views=n % 3, owner="ann") for n in range(7)))
    for order in (*ORDERS, None):
        for offset in (0, 2, 6, 9):
            asked = {"query": "tea", "limit": 2, "offset": offset, "owner": "ANN"}
            asked |= {"order_by": order} if order else {}
            maps, found = ask(service, "/maps", **asked), ask(service, "/search", **asked)
            assert [hit["map"] for hit in found.json()] == maps.json()
            assert found.headers["X-Total-Count"] == maps.headers["X-Total-Count"] == "7"
            assert found.headers["Link"] == maps.headers["Link"].replace("/maps?", "/search?")


PATHS: Final = ("/search", "/suggest", "/facets", "/categories", "/software")


@pytest.mark.slow
@pytest.mark.parametrize("path", PATHS)
def test_checks_and_validators_are_those_of_lists(serving: Serving, path: str) -> None:
    service = serving(MapDraft(title="Tea"))
    response = ask(service, path, query="tea")
    assert response.headers["Cache-Control"] == "private, no-cache"
    assert service.get(f"{path}?query=tea", If_None_Match=response.headers["ETag"]).status_code == (
        304
    )
    assert service.request("GET", f"{path}?limit=51", signed=False).status_code == 401
    taken = path in ("/categories", "/software")
    for wrong in ("limit=51", "order_by=x", "category=x", "owner=a&owner=b", "query=" + "x" * 501):
        assert service.get(f"{path}?{wrong}").status_code == (200 if taken else 400)


# -- suggestions -------------------------------------------------------------------------------


def suggested(service: Service, query: str, **parameters: object) -> list[tuple[str, str]]:
    response = ask(service, "/suggest", query=query, **parameters)
    assert response.status_code == 200, response.text
    return [(one["text"], one["kind"]) for one in response.json()]


def test_suggestions_are_titles_and_then_topics(serving: Serving) -> None:
    service = serving(
        MapDraft(title="Tea house", category_id=4, outline=outline_of("r", "TEA HOUSE", "teapot")),
        MapDraft(title="Drinks", outline=outline_of("Drinks", "green\n tea", "x" * 121 + " tea")),
        MapDraft(title="TÉA house", owner="ann"),
    )
    titles = [text for text, kind in suggested(service, "te") if kind == "title"]
    assert [text.lower().replace("é", "e") for text in titles] == ["tea house"]
    assert suggested(service, "te")[1:] == [("teapot", "topic"), ("green tea", "topic")]
    assert suggested(service, "te", limit=1) == suggested(service, "te")[:1]
    for query, limit in (("te", 0), ("", 20), ("!", 20)):
        assert suggested(service, query, limit=limit) == []
    assert suggested(service, "green te") == [("green tea", "topic")]
    assert suggested(service, "te", owner="ann") == [("TÉA house", "title")]
    assert suggested(service, "te", category=4) == [("Tea house", "title"), ("teapot", "topic")]
    assert suggested(service, "tea -house") == [("green tea", "topic")]
    assert suggested(service, "nothing") == []


def test_finding_topics_to_suggest_has_a_limit(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = serving(MapDraft(title="Tea", outline=outline_of("r", *["teapot " * 9] * 99)))
    assert len(suggested(service, "te")) == 2
    monkeypatch.setattr(search, "SUGGEST_SECONDS", 0.0)
    assert suggested(service, "tea") == [("Tea", "title")]


# -- corrections -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def plants(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    drafts = [
        MapDraft(title="Photosynthesis and light", views=3, downloads=1, category_id=4),
        MapDraft(title="Photosynthesis at night", views=5, thumbs_up=2, category_id=4),
        MapDraft(title="東京都 観光", category_id=6),
    ]
    with (
        shelf_with(tmp_path_factory.mktemp("plants"), *drafts) as shelf,
        serve(shelf) as running,
    ):
        yield running


@pytest.mark.parametrize("path", ["/maps", "/search"])
@pytest.mark.parametrize("order", [*ORDERS, ""])
def test_a_correction_is_reported_and_searched_for(plants: Service, path: str, order: str) -> None:
    right = ask(plants, path, query="photosynthesis", order_by=order)
    wrong = ask(plants, path, query="fotosynthesis", order_by=order, limit=1)
    assert (corrected(right), corrected(wrong)) == (None, "photosynthesis")
    assert right.json()[:1] == wrong.json()
    assert wrong.headers["X-Total-Count"] == "2"
    assert "query=fotosynthesis" in wrong.links["next"]["url"]
    following = plants.get(wrong.links["next"]["url"])
    assert following.json() == right.json()[1:]
    assert corrected(following) == "photosynthesis"


@pytest.mark.parametrize(
    ("query", "meant"),
    [
        ("Night fotosynthesis", "Night photosynthesis"),
        ("fotosynthesis -ligth", 'photosynthesis -"ligth"'),
        ('fotosynthesis "at night"', 'photosynthesis "at night"'),
        ("東京都 photosynthesis", None),  # all words occur in maps, and none is a typo of another
        ("東京都観光", None),
        ("lihgt", "light"),
        ("lit", None),  # too short
        ("nihgt photosynthesus", "night photosynthesis"),
        ("qqqqqqqq photosynthesus", None),
        ('"fotosynthesis"', None),
        ("photosynthesis", None),
        ("photosynth", None),
    ],
)
def test_typos_are_corrected(plants: Service, query: str, meant: str | None) -> None:
    response = ask(plants, "/maps", query=query)
    assert corrected(response) == meant
    if meant:
        again = ask(plants, "/maps", query=meant)
        assert again.json() == response.json()
        assert corrected(again) is None


@pytest.fixture(scope="module")
def polyglot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Maps in several languages, and one too short to detect its language."""
    texts = [
        ("en", "Projects of the year", "The questionnaire"),
        ("it", "Apollo", "Un project manager"),
        ("de", "Anfang", "Das Meeting am Montag"),
        ("fr", "La ferme", "Les oies et les canards"),
        ("", "Cheval", "Galop"),
        ("en", "Any questions"),
    ]
    drafts = [
        MapDraft(title=title, outline=outline_of(title, *others, language=language))
        for language, title, *others in texts
    ]
    with (
        shelf_with(tmp_path_factory.mktemp("polyglot"), *drafts) as shelf,
        serve(shelf) as running,
    ):
        yield running


@pytest.mark.parametrize("order", ["alpha", ""])
@pytest.mark.parametrize(
    ("query", "found", "meant"),
    [
        ("projects", {"Apollo", "Projects of the year"}, None),
        ("projects apollo", {"Apollo"}, None),
        ("meetings", {"Anfang"}, None),
        ("galops", {"Cheval"}, None),
        ("canard", {"La ferme"}, None),
        # A French plural that no French map has.
        ("chevaux", {"Cheval"}, "cheval"),
        # A form of "question" in Italian, which must not match that word here.
        ("questionaire", {"Projects of the year"}, "questionnaire"),
    ],
)
def test_inflected_forms_match_in_their_own_language(
    polyglot: Service, query: str, found: set[str], meant: str | None, order: str
) -> None:
    response = ask(polyglot, "/maps", query=query, order_by=order)
    assert ({one["Title"] for one in response.json()}, corrected(response)) == (found, meant)
    for hit in hits(polyglot, query, order_by=order):
        in_title = re.search(r"(?i)project|cheval", hit["map"]["Title"])
        assert in_title or any("<mark>" in topic["marked"] for topic in hit["topics"])


def test_filters_that_exclude_are_no_reason_to_correct(plants: Service) -> None:
    for order in (*ORDERS, ""):
        response = ask(plants, "/maps", query="photosynthesis", category=6, order_by=order)
        assert (response.json(), corrected(response)) == ([], None)


def test_a_correction_is_percent_encoded(serving: Serving) -> None:
    service = serving(MapDraft(title="Überraschung 50% / größer, 東京"))
    response = ask(service, "/maps", query="uberrashung 東京")
    assert corrected(response) == "uberraschung 東京"
    assert response.headers["X-Corrected-Query"].endswith("%20%E6%9D%B1%E4%BA%AC")


# -- what matches ------------------------------------------------------------------------------

MATCHES: Final = [
    ("plan", "Plans", True),
    ("plans", "planning", True),
    ("Planung", "neue Planungen", True),
    ("planen", "Plankton", False),
    ("house", "houses", True),
    ("résumé", "RESUMES", True),
    ("map tool", "MindMap tools", True),
    ("mindmap", "MindMaps", True),
    ("mind map", "a MindMap", True),
    ("MindMap", "a mind map", True),
    ("MindMap", "a map of the mind", False),
    ("e-mail", "Email", True),
    ("email", "E-Mail", True),
    ("mail", "E-Mail", True),
    ("e-mail", "mail e", False),
    ("ann@example.org", "write to ann@example.org", True),
    ("example", "write to ann@example.org", True),
    ("ann@example.com", "write to ann@example.org", False),
    ("budget_2024.mm", "budget_2024.mm", True),
    ("2024", "budget_2024.mm", True),
    ("well-known", "wellknown", True),
    ("well known", "well-known", True),
    ("管理", "项目管理者", True),
    ("理", "项目管理者", True),
    ('"理"', "项目管理者", True),
    ("理管", "项目管理者", False),
    ("管目", "项目管理者", False),
    ("東京2020計画", "大東京2020計画", True),
    ("ความคิด", "แผนที่ความคิด", True),
    ("データ", "ﾃﾞｰﾀ", True),
    ('"plans"', "plan", False),
    ('"plan"', "plans", False),
    ('"green tea"', "tea, green", False),
    ('"green tea"', "Green-Tea!", True),
    ("x -plan", "x plans", True),
    ("x -plans", "x plans", False),
    ("x -理", "x 项目管理者", False),
    ('x -"green tea"', "x tea green", True),
    ('x -"green tea"', "x green tea", False),
    ("gree", "green", True),
    ("gree tea", "green tea", False),
    ("ＧＲＥＥＮ", "green", True),
]


@pytest.fixture(scope="module")
def matching(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Maps with each text as title, as description, and as a deeply nested topic."""
    drafts = []
    for number, text in enumerate(sorted({text for _, text, _ in MATCHES})):
        inner = Topic("1", children=[Topic("2", children=[Topic(text)])])
        outline = encode_outline(Outline(sheets=sheets_of((inner,))))
        drafts += [
            MapDraft(id=f"t{number}", title=text, date_added=0),
            MapDraft(id=f"d{number}", title="0", description=text, date_added=0),
            MapDraft(id=f"o{number}", title="0", outline=outline, date_added=0),
        ]
    with (
        shelf_with(tmp_path_factory.mktemp("matching"), *drafts) as shelf,
        serve(shelf) as running,
    ):
        yield running


@pytest.mark.parametrize(("query", "text", "found"), MATCHES)
def test_words_and_phrases_match(matching: Service, query: str, text: str, found: bool) -> None:
    number = sorted({text for _, text, _ in MATCHES}).index(text)
    for order in ("alpha", ""):
        response = ask(matching, "/maps", query=query, order_by=order, limit=50)
        ids = {one["ID"] for one in response.json()} if corrected(response) is None else set()
        assert int(response.headers["X-Total-Count"]) <= 50
        assert {f"{kind}{number}" in ids for kind in "tdo"} == {found}


def test_a_phrase_does_not_span_several_texts(serving: Serving) -> None:
    service = serving(
        MapDraft(
            title="ends in green",
            description="tea begins",
            owner="green",
            category="tea",
            outline=outline_of("root green", "tea green", "tea"),
        )
    )
    assert service.titles(query='"green tea"') == []
    assert service.titles(query='"tea green"') == ["ends in green"]
    assert service.titles(query="green-tea", order_by="alpha") == []


def test_files_are_found_by_their_names_and_folders(serving: Serving) -> None:
    source = Source(
        b"/maps/School/Biology/Cell-Division_v2.mm",
        "School/Biology/Cell-Division_v2.mm",
        1,
        1,
        b"d" * 32,
    )
    service = serving(MapDraft(title="x", source=source))
    for query in ("school", "cell-division_v2.mm", "Division biology", "celldivision", "v2"):
        assert service.titles(query=query) == ["x"], query


# -- facets ------------------------------------------------------------------------------------

OWNERS: Final = ("ann", "Bob", "çelik")
SOFTWARE: Final = {"FreeMind": 1, "XMind": 3, "": None}
WORDS: Final = ("tea", "green", "house")


@pytest.fixture(scope="module")
def drafts() -> list[MapDraft]:
    chance = random.Random(4)
    return [
        MapDraft(
            title=" ".join(chance.sample(WORDS, chance.randrange(1, 4))),
            category_id=chance.choice((4, 6)),
            software=chance.choice(list(SOFTWARE)),
            owner=chance.choice(OWNERS),
            licence_type_id=chance.choice((None, 1, 3)),
            date_added=chance.randrange(-(10**12), 5 * 10**11),
            template=chance.random() < 0.5,
        )
        for _ in range(300)
    ]


@pytest.fixture(scope="module")
def library(drafts: list[MapDraft], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("library")
    with shelf_with(folder, *drafts) as shelf, serve(shelf) as running:
        yield running


def passes(draft: MapDraft, asked: dict[str, Any]) -> bool:
    return (
        set(asked.get("query", "").split()) <= set((draft.title or "").split())
        and asked.get("category") in (None, draft.category_id)
        and asked.get("software") in (None, SOFTWARE[draft.software or ""])
        and asked.get("owner", draft.owner) == draft.owner
        and (asked.get("only_templates") != "true" or bool(draft.template))
    )


def year_of(draft: MapDraft) -> str:
    return f"{datetime.fromtimestamp((draft.date_added or 0) / 1000, UTC).year:04d}"


ASKED: Final = st.fixed_dictionaries(
    {},
    optional={
        "query": st.sets(st.sampled_from(WORDS), min_size=1).map(" ".join),
        "category": st.sampled_from([4, 6, 7]),
        "software": st.sampled_from([1, 3]),
        "owner": st.sampled_from(OWNERS),
        "only_templates": st.sampled_from(["true", "false"]),
        "limit": st.integers(0, 3),
        "offset": st.integers(0, 400),
        "order_by": st.sampled_from(ORDERS),
    },
)


@pytest.mark.slow
@settings(max_examples=examples(100))
@given(asked=ASKED)
def test_facets_count_all_that_match(
    library: Service, drafts: list[MapDraft], asked: dict[str, Any]
) -> None:
    kept = [draft for draft in drafts if passes(draft, asked)]
    facets = ask(library, "/facets", **asked).json()
    assert facets["total"] == len(kept)
    assert facets["total"] == int(ask(library, "/maps", **asked).headers["X-Total-Count"])

    def counted(kind: str, key: str) -> dict[Any, int]:
        return {one[key]: one["count"] for one in facets[kind]}

    def expected(value: Callable[[MapDraft], Any]) -> dict[Any, int]:
        return {key: count for key, count in Counter(map(value, kept)).items() if key is not None}

    assert counted("category", "id") == expected(lambda draft: draft.category_id)
    assert counted("software", "id") == expected(lambda draft: SOFTWARE[draft.software or ""])
    assert counted("owner", "name") == expected(lambda draft: draft.owner)
    assert counted("licence", "id") == expected(lambda draft: draft.licence_type_id)
    assert counted("year", "name") == expected(year_of)
    assert list(counted("year", "name")) == sorted(counted("year", "name"), reverse=True)
    for kind in ("category", "software", "owner", "licence"):
        counts = [one["count"] for one in facets[kind]]
        assert counts == sorted(counts, reverse=True)


@pytest.mark.slow
def test_facets_follow_changes(tmp_path: Path, drafts: list[MapDraft]) -> None:
    """Each snapshot is built from the previous one, sometimes by another builder."""
    chance, states = random.Random(5), {f"m{n}": drafts[n] for n in range(100)}
    first = [replace(one, id=key) for key, one in states.items()]
    with shelf_with(tmp_path, *first) as shelf, serve(shelf) as service:
        for step in range(8):
            changed = {f"m{chance.randrange(120)}": chance.choice(drafts) for _ in range(30)}
            gone = chance.sample(sorted(states.keys() - changed.keys()), 10)
            shelf.put(*(replace(one, id=key) for key, one in changed.items()))
            shelf.store.delete_maps(gone)
            states = {key: one for key, one in (states | changed).items() if key not in gone}
            if step % 3 == 2:
                shelf.end_building()
            shelf.publish()
            service.wait_until(partial(_shows, service, shelf.store.revision()))
            for asked in ({}, {"category": 4}, {"query": "tea"}, {"owner": "ann"}):
                kept = [draft for draft in states.values() if passes(draft, asked)]
                facets = ask(service, "/facets", **asked).json()
                assert facets["total"] == len(kept)
                owners = Counter(draft.owner for draft in kept)
                assert {one["name"]: one["count"] for one in facets["owner"]} == owners
                years = Counter(map(year_of, kept))
                assert {one["name"]: one["count"] for one in facets["year"]} == years
                categories = Counter(draft.category_id for draft in kept)
                assert {one["id"]: one["count"] for one in facets["category"]} == categories


def _shows(service: Service, revision: int) -> bool:
    shown: int = service.get("/readyz").json()["snapshot"]["revision"]
    return shown == revision


def test_facets_follow_a_correction_and_tell_fifty_values(serving: Serving) -> None:
    service = serving(
        *(MapDraft(title="photosynthesis", owner=f"o{n}", software=f"s{n}") for n in range(60)),
        *(MapDraft(title="photosynthesis", owner="o7", software="") for _ in range(3)),
    )
    facets = ask(service, "/facets", query="fotosynthesis").json()
    assert facets["total"] == 63
    assert len(facets["owner"]) == len(facets["software"]) == 50
    assert facets["owner"][0] == {"name": "o7", "count": 4}


def test_programs_of_private_maps_only_are_not_named(serving: Serving) -> None:
    service = serving(
        MapDraft(title="a", software="Shown"),
        MapDraft(title="b", software="Secret", visibility=Visibility.PRIVATE),
    )
    names = [one["name"] for one in service.get("/software").json()]
    assert names == [*(one.name for one in seed.SOFTWARE), "Shown"]


@pytest.mark.slow
def test_names_are_those_of_the_catalogue(library: Service) -> None:
    facets = ask(library, "/facets").json()
    for kind, path in (("category", "/categories"), ("software", "/software")):
        listed = library.get(path).json()
        assert [one["id"] for one in listed] == sorted(one["id"] for one in listed)
        assert sorted(facets[kind], key=lambda one: int(one["id"])) == [
            one for one in listed if one["count"]
        ]
        assert any(not one["count"] for one in listed)
        for one in listed:
            parameter = "category" if kind == "category" else "software"
            response = ask(library, "/maps", limit=0, **{parameter: one["id"]})
            assert int(response.headers["X-Total-Count"]) == one["count"]
    licences = {one["id"]: one["name"] for one in facets["licence"]}
    assert licences == {row.id: row.name for row in seed.LICENCE_TYPES if row.id in (1, 3)}


# -- orders ------------------------------------------------------------------------------------

NUMBERS: Final = (0, 1, 2**32 - 1, 2**32, 2**32 + 1, 2**40, 2**62)
TITLES: Final = ("tea house 1", "tea house 10", "tea hous", "Téa", "tea", "teapot", "a tea")


@pytest.fixture(scope="module")
def ties(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Maps whose coarse sort keys tie or nearly tie."""
    chance = random.Random(5)
    drafts = [
        MapDraft(
            file_id=file_id,
            title=chance.choice(TITLES),
            description="tea",
            views=chance.choice(NUMBERS),
            downloads=chance.choice(NUMBERS[2:5]),
            thumbs_up=chance.choice((0, 0, 1, 2, 100)),
            thumbs_down=chance.choice((0, 1, 2**62)),
            date_added=chance.choice((-62_135_596_800_000, -1, 0, 1, 10**12)),
        )
        for file_id in chance.sample([*range(1, 300), *range(2**32 - 50, 2**32 + 50)], 350)
    ]
    folder = tmp_path_factory.mktemp("ties")
    with shelf_with(folder, *drafts) as shelf, serve(shelf) as running:
        yield running


@pytest.mark.slow
@pytest.mark.parametrize("order", ORDERS)
def test_a_search_is_in_the_order_of_the_list(ties: Service, order: str) -> None:
    """Every map matches here. ``test_every_combination.py`` compares lists with an oracle."""
    chance = random.Random(order)
    for _ in range(60):
        offset, limit = chance.choice((0, 1, chance.randrange(360))), chance.choice((1, 2, 7, 50))
        asked = {"order_by": order, "offset": offset, "limit": limit}
        listed, searched = ties.maps(**asked), ties.maps(query="tea", **asked)
        assert searched.json() == listed.json(), asked
        assert searched.headers["X-Total-Count"] == listed.headers["X-Total-Count"] == "350"


# -- arbitrary texts ---------------------------------------------------------------------------

SYNTAX: Final = st.sampled_from(
    [
        *'"-*~^:()[]{}\\/+!?|&.\n\u201c\u201d\u00ab\u2212',
        *("AND", "OR", "NOT", "NEAR(", '-"', "a*", "日", "ก", "x"),
        *("title:", "-title:", "folder:", "tag:", "-tag:", 'folder:"', "Folder:/", "tag:\t"),
    ]
)
ANY_TEXT: Final = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=500),
    st.lists(SYNTAX, max_size=100).map("".join),
    st.lists(SYNTAX, max_size=100).map(" ".join),
)


@pytest.mark.slow
@settings(max_examples=examples(150))
@given(
    text=ANY_TEXT,
    order=st.sampled_from([*ORDERS, ""]),
    title_only=st.sampled_from(["true", "0", ""]),
)
def test_any_text_is_safe_to_send(
    matching: Service, text: str, order: str, title_only: str
) -> None:
    further = {"order_by": order, "title_only": title_only, "limit": 5}
    for path in ("/maps", "/search", "/suggest", "/facets"):
        response = ask(matching, path, query=text[:500], **further)
        assert response.status_code == 200, (path, text)


# -- found by reviewers ----------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/search", "/facets", "/suggest"])
def test_no_cached_response_is_sent_for_another_address(serving: Serving, path: str) -> None:
    """Responses are cached, and a query string may look like another address."""
    service = serving(MapDraft(title="Water"), MapDraft(title="Other"))
    expected = service.get(f"{path}?query=water&n=1").text
    for other in ("/maps", "/search", "/facets", "/suggest"):
        service.get(f"{other}?{path}?query=water")
    assert service.get(f"{path}?query=water").text == expected


def test_words_of_deleted_maps_are_no_corrections(tmp_path: Path) -> None:
    others = [MapDraft(title=f"filler {n}") for n in range(20)]
    kitten = MapDraft(id="k", title="kitten kitten")
    with shelf_with(tmp_path, kitten, MapDraft(title="mitten"), *others) as shelf:
        shelf.store.delete_maps(["k"])
        shelf.publish()
        with serve(shelf) as service:
            assert service.maps(query="bitten").headers["X-Corrected-Query"] == "mitten"


@pytest.mark.slow
def test_topics_of_large_maps_are_searched_up_to_a_limit(serving: Serving) -> None:
    """At most ten thousand topics are searched for one response."""
    topics_of = [[f"topic {n}" for n in range(count)] for count in (6_000, 6_000, 12_000)]
    service = serving(
        *(
            MapDraft(title="Huge", outline=outline_of("Root", *texts, "the wanted one"))
            for texts in topics_of
        )
    )
    shown = [[topic["text"] for topic in hit["topics"]] for hit in hits(service, "wanted")]
    assert sorted(shown) == [[], [], ["the wanted one"]]


@pytest.mark.slow
def test_topics_of_repetitive_texts_are_not_searched(serving: Serving) -> None:
    """Compressed, such a map is as small as others, but to search its topics would take minutes."""
    repeated = "wanted words " * 5_000
    bomb = MapDraft(title="Huge", outline=outline_of("Root", *[repeated] * 40), id="bomb")
    assert bomb.outline is not None
    assert len(bomb.outline) < 16_384
    service = serving(bomb, MapDraft(title="Small", outline=outline_of("Root", "wanted words")))
    (huge,) = hits(service, '"wanted words wanted words"')
    assert huge["topics"] == []
    shown = {hit["map"]["Title"]: hit["topics"] for hit in hits(service, "wanted")}
    assert shown["Huge"] == []
    assert [topic["text"] for topic in shown["Small"]] == ["wanted words"]
    assert ask(service, "/suggest", query="wanted wo").json() == [
        {"text": "wanted words", "kind": "topic"}
    ]


def test_searching_hostile_texts_has_a_limit(
    serving: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some texts take a hundred times as long to search as others."""
    service = serving(MapDraft(title="Map", outline=outline_of("Root", "wanted words")))
    monkeypatch.setattr(search, "API_BUDGET", API_BUDGET._replace(seconds=0.0))
    assert topics(service, "wanted") == []


def test_correcting_a_search_has_a_limit(serving: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some words resemble thousands of others."""
    service = serving(MapDraft(title="Photosynthesis"))
    monkeypatch.setattr(spelling, "LONGEST_CORRECTION", 0.0)
    assert corrected(ask(service, "/maps", query="fotosynthesis")) is None
    monkeypatch.undo()
    assert corrected(ask(service, "/maps", query="photosinthesis")) == "photosynthesis"


@pytest.mark.parametrize("query", ["\u201csolar power\u201d", "\u00absolar power\u00bb"])
def test_typographic_quotes_mark_phrases(serving: Serving, query: str) -> None:
    service = serving(MapDraft(title="Solar power"), MapDraft(title="Power from solar cells"))
    assert service.titles(query=query) == ["Solar power"]


def test_a_hindi_full_stop_ends_a_word(serving: Serving) -> None:
    service = serving(MapDraft(title="यह पानी है।"), MapDraft(title="पानी"))
    assert service.titles(query='"है" पानी') == ["यह पानी है।"]
