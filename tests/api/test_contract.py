"""The HTTP interface point by point: one section for each decision, in the order of the design.

Each test makes the few maps that it needs, so that you can read it alone.
"""

import time
import unicodedata
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

from mapshelf.model import MapDraft
from mapshelf.tokens import new_token
from tests.conftest import Serving
from tests.databases import FAULT, break_tokens
from tests.harness import BASE_URL, READER, Service, Shelf, outline_of, serve, shelf_with

Error = tuple[int, int, str]

BAD_REQUEST: Error = (400, 400, "error")
UNAUTHORIZED: Error = (401, 0, "invalid_request")
NOT_FOUND: Error = (404, 404, "not_found")
METHOD_NOT_ALLOWED: Error = (405, 405, "method_not_allowed")


def refused(response: httpx.Response) -> Error:
    """Return status, code and name of an error."""
    body = response.json()
    return response.status_code, body["code"], body["error"]


def titled(*titles: str) -> list[MapDraft]:
    return [MapDraft(title=title) for title in titles]


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A shared service with the maps One and Two: do not change them."""
    folder = tmp_path_factory.mktemp("two")
    with shelf_with(folder, *titled("One", "Two")) as shelf, serve(shelf) as running:
        yield running


def milliseconds(*moment: int) -> int:
    return round(datetime(*moment, tzinfo=UTC).timestamp() * 1000)  # type: ignore[arg-type, misc]


# -- order of checks -------------------------------------------------------------------------


def test_order_of_checks_an_unknown_address_comes_before_the_token(service: Service) -> None:
    assert refused(service.request("GET", "/nothing?limit=x", signed=False)) == NOT_FOUND


def test_order_of_checks_the_method_comes_before_the_token(service: Service) -> None:
    response = service.request("DELETE", "/maps?limit=x", signed=False)
    assert refused(response) == METHOD_NOT_ALLOWED


def test_order_of_checks_the_token_comes_before_the_parameters(service: Service) -> None:
    assert refused(service.request("GET", "/maps?limit=x", signed=False)) == UNAUTHORIZED
    assert refused(service.get("/maps?limit=x")) == BAD_REQUEST


@pytest.mark.parametrize("path", ["/maps/", "//maps", "/MAPS", "/users", "/users/me/", "/", ""])
def test_order_of_checks_an_address_is_exact(service: Service, path: str) -> None:
    assert refused(service.get(path)) == NOT_FOUND


# -- token -----------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["Bearer {}", "bearer {}", "BEARER {}", "Bearer   {}", "{}"])
def test_token_may_come_with_the_scheme_in_any_case_or_without(service: Service, form: str) -> None:
    header = {"Authorization": form.format(service.token)}
    response = service.request("GET", "/users/me", headers=header)
    assert response.json()["UserName"] == READER


@pytest.mark.parametrize("name", ["access_token", "token", "Authorization"])
def test_token_is_not_taken_from_the_address(service: Service, name: str) -> None:
    response = service.request("GET", f"/maps?{name}={service.token}", signed=False)
    assert refused(response) == UNAUTHORIZED


@pytest.mark.parametrize(
    "header",
    [
        "Bearer",
        "Bearer msh_",
        "Bearer {}x",
        "Bearer x{}",
        "Bearer {} {}",
        "Basic {}",
        "Token {}",
        "Bearer:{}",
        "Bearer \xe9",
        "{} Bearer",
    ],
)
def test_token_in_any_other_form_is_refused(service: Service, header: str) -> None:
    sent = header.replace("{}", service.token).encode("latin-1")
    response = service.run(service.client.get("/maps", headers=[(b"Authorization", sent)]))
    assert refused(response) == UNAUTHORIZED


def test_token_with_another_checksum_is_refused(service: Service) -> None:
    last = "0" if service.token[-1] != "0" else "1"
    header = {"Authorization": f"Bearer {service.token[:-1]}{last}"}
    assert refused(service.request("GET", "/maps", headers=header)) == UNAUTHORIZED


def test_token_header_given_twice_is_refused(service: Service) -> None:
    header = (b"Authorization", f"Bearer {service.token}".encode())
    response = service.run(service.client.get("/maps", headers=[header, header]))
    assert refused(response) == (401, 0, "invalid_request")


# -- 401 -------------------------------------------------------------------------------------


def test_401_says_how_to_authenticate(service: Service) -> None:
    response = service.request("GET", "/users/me", signed=False)
    assert response.content == (
        b'{"code":0,"error":"invalid_request","error_description":"The access token is not valid."}'
    )
    assert response.headers["WWW-Authenticate"] == 'Bearer realm="mapshelf"'


def test_401_says_so_when_a_token_was_sent(service: Service) -> None:
    challenges = {
        header: service.request("GET", "/maps", headers={"Authorization": header}).headers[
            "WWW-Authenticate"
        ]
        for header in ("Bearer wrong", "wrong", "", "Bearer", "Bearer ")
    }
    sent, none = 'Bearer realm="mapshelf", error="invalid_token"', 'Bearer realm="mapshelf"'
    assert challenges == {
        "Bearer wrong": sent,
        "wrong": sent,
        "": none,
        "Bearer": none,
        "Bearer ": none,
    }


def test_401_says_so_for_tokens_that_are_no_longer_valid(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with shelf_with(tmp_path_factory.mktemp("tokens")) as shelf, serve(shelf) as service:
        expired, revoked = shelf.token(expires=1), shelf.token()
        newest = max(shelf.store.tokens(READER), key=lambda one: one.id)
        shelf.store.revoke_token(newest.id)
        for secret in (new_token(), revoked, expired):
            header = {"Authorization": f"Bearer {secret}"}
            response = service.request("GET", "/maps", headers=header)
            assert response.status_code == 401
            assert response.headers["WWW-Authenticate"].endswith(', error="invalid_token"')


# -- values that are empty, given twice, or no text; unknown parameters ----------------------


@pytest.mark.parametrize(
    "name",
    ["query", "limit", "offset", "order_by", "category", "software", "owner", "only_templates"],
)
def test_empty_value_is_ignored(two: Service, name: str) -> None:
    everything = two.get("/maps")
    for query_string in (f"{name}=", name, f"&{name}=&"):
        response = two.get(f"/maps?{query_string}")
        assert (response.status_code, response.content) == (200, everything.content)
        assert response.headers["Link"] == everything.headers["Link"]


@pytest.mark.parametrize(
    "query_string",
    ["limit=1&limit=1", "owner=a&owner=b", "query=&query=a", "order_by=date&order_by="],
)
def test_parameter_given_twice_is_refused(service: Service, query_string: str) -> None:
    assert refused(service.get(f"/maps?{query_string}")) == BAD_REQUEST


@pytest.mark.parametrize("name", ["query", "owner", "limit", "category"])
@pytest.mark.parametrize("value", ["%FF", "%C3%28", "%ED%A0%80", "%F4%90%80%80", "a%00b", "%00"])
def test_value_that_is_no_text_is_refused(service: Service, name: str, value: str) -> None:
    assert refused(service.get(f"/maps?{name}={value}")) == BAD_REQUEST


def test_unknown_parameter_is_ignored(two: Service) -> None:
    response = two.get("/maps?limit=1&page=7&sort=x&sort=y&Limit=0")
    assert len(response.json()) == 1
    assert "page" not in response.headers["Link"]


# -- limit and offset ------------------------------------------------------------------------

NUMBERS_REFUSED = [
    "-1", "+1", "%2B1", "1.0", "1e1", "0x1", "abc", "%201", "1%20", "1_0", "%D9%A1", "%C2%B2",
    "9" * 5000, "-0", "null", "true", "1,2",
]  # fmt: skip


@pytest.mark.parametrize("value", ["51", "100", "00051", *NUMBERS_REFUSED])
def test_limit_refuses_anything_but_0_to_50(service: Service, value: str) -> None:
    response = service.get(f"/maps?limit={value}")
    assert refused(response) == BAD_REQUEST
    assert response.json()["error_description"] == "The limit value must be between 0-50."


def test_limit_goes_from_0_to_50_and_is_20_by_default(serving: Serving) -> None:
    service = serving(*titled(*(f"Map {number}" for number in range(60))))
    assert len(service.titles()) == 20
    for text, count in (("1", 1), ("50", 50), ("0007", 7)):
        assert len(service.titles(limit=text)) == count


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A shared service with three maps: do not change them."""
    drafts = titled("Map 1", "Map 2", "Map 3")
    with shelf_with(tmp_path_factory.mktemp("three"), *drafts) as shelf, serve(shelf) as running:
        yield running


def test_limit_of_0_answers_with_the_total_alone(three: Service) -> None:
    response = three.maps(limit=0)
    assert response.content == b"[]"
    assert response.headers["X-Total-Count"] == "3"
    assert "Link" not in response.headers


@pytest.mark.parametrize("value", [str(2**53 + 1), str(2**64), *NUMBERS_REFUSED])
def test_offset_refuses_anything_but_digits_up_to_2_53(service: Service, value: str) -> None:
    assert refused(service.get(f"/maps?offset={value}")) == BAD_REQUEST


@pytest.mark.parametrize("offset", ["3", "4", "1000000", str(2**53), "00000000000000000000003"])
@pytest.mark.parametrize("search", [{}, {"query": "map"}, {"query": "map", "order_by": "alpha"}])
def test_offset_past_the_end_answers_an_empty_list(
    three: Service, offset: str, search: dict[str, str]
) -> None:
    response = three.maps(offset=offset, **search)
    assert (response.status_code, response.content) == (200, b"[]")
    assert response.headers["X-Total-Count"] == "3"


def test_offset_skips_and_is_0_by_default(serving: Serving) -> None:
    service = serving(*titled("A", "B", "C"))
    assert service.titles(order_by="alpha", offset=1) == ["B", "C"]
    assert service.titles(order_by="alpha", offset=0) == service.titles(order_by="alpha")


# -- order_by --------------------------------------------------------------------------------


@pytest.mark.parametrize("value", ["Alpha", "DATE", "title", "date%20", "rating,date", "-date"])
def test_order_by_refuses_anything_but_the_five_orders(service: Service, value: str) -> None:
    assert refused(service.get(f"/maps?order_by={value}")) == BAD_REQUEST


@pytest.mark.parametrize("order", ["downloads", "views"])
def test_order_by_counters_puts_the_highest_first(serving: Serving, order: str) -> None:
    counts = {"few": 9, "none": 0, "most": 2**62, "some": 10, "more": 100}
    service = serving(*(MapDraft(title=title, **{order: n}) for title, n in counts.items()))  # type: ignore[arg-type]
    assert service.titles(order_by=order) == ["most", "more", "some", "few", "none"]


def test_order_by_date_puts_the_newest_first(serving: Serving) -> None:
    dates = {
        "middle": milliseconds(2020, 1, 1),
        "a moment later": milliseconds(2020, 1, 1) + 1,
        "oldest": milliseconds(1969, 12, 31),
        "newest": milliseconds(2024, 2, 29),
    }
    service = serving(*(MapDraft(title=title, date_added=at) for title, at in dates.items()))
    assert service.titles(order_by="date") == ["newest", "a moment later", "middle", "oldest"]


def test_order_by_rating_does_not_let_few_votes_outrank_many(serving: Serving) -> None:
    # Lower ends of the interval: 0.947, 0.826, 0.566, 0.342, 0.207, 0.
    votes = {
        "one of one": (1, 0),
        "980 of 1020": (980, 40),
        "two of two": (2, 0),
        "five of five": (5, 0),
        "90 of 100": (90, 10),
        "no votes": (0, 0),
    }
    service = serving(
        *(MapDraft(title=t, thumbs_up=up, thumbs_down=down) for t, (up, down) in votes.items())
    )
    assert service.titles(order_by="rating") == [
        "980 of 1020", "90 of 100", "five of five", "two of two", "one of one", "no votes",
    ]  # fmt: skip


def test_order_by_rating_treats_only_bad_votes_as_no_votes(serving: Serving) -> None:
    service = serving(
        MapDraft(title="older", thumbs_down=0),
        MapDraft(title="hated", thumbs_down=1000),
        MapDraft(title="newer", thumbs_down=3),
    )
    assert service.titles(order_by="rating") == ["newer", "hated", "older"]


def test_order_by_alpha_ignores_case_accents_and_width(serving: Serving) -> None:
    inputs = [
        "Zoo",
        "élan",
        "Elbow",
        "eland",
        "STRASSE 2",
        "Straße 1",
        "ｆｕｌｌ",
        "fun",
        "ﬁne",
        "",
    ]
    ordered = [
        "",
        "élan",
        "eland",
        "Elbow",
        "ﬁne",
        "ｆｕｌｌ",
        "fun",
        "Straße 1",
        "STRASSE 2",
        "Zoo",
    ]
    assert serving(*titled(*inputs)).titles(order_by="alpha") == ordered


def test_order_by_alpha_puts_equal_letters_by_code_point(serving: Serving) -> None:
    decomposed = unicodedata.normalize("NFD", "é")
    inputs = ["é", "E", "e", decomposed, "É"]
    assert serving(*titled(*inputs)).titles(order_by="alpha") == ["E", "e", decomposed, "É", "é"]


@pytest.mark.slow
@pytest.mark.parametrize("order", ["downloads", "views", "date", "rating"])
def test_order_by_leaves_ties_to_the_newest_map(serving: Serving, order: str) -> None:
    same = {"downloads": 5, "views": 5, "date_added": 0, "thumbs_up": 3}
    drafts = (MapDraft(title=f"{n}", file_id=n, **same) for n in (30, 4, 100, 7))  # type: ignore[arg-type]
    assert serving(*drafts).titles(order_by=order) == ["100", "30", "7", "4"]


def test_order_by_alpha_leaves_ties_to_the_oldest_map(serving: Serving) -> None:
    service = serving(*(MapDraft(title="Same", file_id=n) for n in (30, 4, 100, 7)))
    found = [one["File_ID"] for one in service.maps(order_by="alpha").json()]
    assert found == ["4", "7", "30", "100"]


def test_no_order_by_lists_by_date_and_searches_by_relevance(serving: Serving) -> None:
    service = serving(
        MapDraft(title="Rivers", date_added=1),
        MapDraft(title="Lakes", description="and rivers", date_added=3),
        MapDraft(title="Seas", date_added=2),
    )
    assert service.titles() == service.titles(order_by="date") == ["Lakes", "Seas", "Rivers"]
    assert service.titles(query="rivers") == ["Rivers", "Lakes"]
    assert service.titles(query="rivers", order_by="date") == ["Lakes", "Rivers"]
    assert service.titles(query=" ") == ["Lakes", "Seas", "Rivers"]


# -- category, software, owner, only_templates -----------------------------------------------


@pytest.mark.parametrize("name", ["category", "software"])
@pytest.mark.parametrize("value", ["-1", "+1", "1.0", "abc", "%201", "%D9%A1", "1,2", "Business"])
def test_ids_refuse_anything_but_digits(service: Service, name: str, value: str) -> None:
    assert refused(service.get(f"/maps?{name}={value}")) == BAD_REQUEST


@pytest.mark.parametrize("name", ["category", "software"])
@pytest.mark.parametrize(
    "value", ["0", "999", *(str(2**bits + n) for bits in (63, 64) for n in (-1, 0, 1)), "9" * 4000]
)
@pytest.mark.parametrize("search", ["", "&query=bare"])
def test_ids_that_no_map_has_answer_an_empty_list(
    service: Service, name: str, value: str, search: str
) -> None:
    response = service.get(f"/maps?{name}={value}{search}")
    assert (response.status_code, response.content) == (200, b"[]")


def test_category_keeps_the_maps_of_one(serving: Serving) -> None:
    service = serving(
        MapDraft(title="Hamlet", category="Books and Literature"),
        MapDraft(title="Sums", category="Mathematics"),
        MapDraft(title="Proofs", category="mathematics"),
        MapDraft(title="Own", category_id=4711, category="Of my own"),
    )
    categories = {one["Title"]: one["CategoryID"] for one in service.maps().json()}
    assert service.titles(category=categories["Sums"]) == ["Proofs", "Sums"]
    assert service.titles(category="0004711") == ["Own"]


def test_software_keeps_the_maps_made_with_one(serving: Serving) -> None:
    service = serving(
        MapDraft(title="One", software="FreeMind"),
        MapDraft(title="Two", software="Freeplane"),
        MapDraft(title="Three"),
    )
    assert service.titles(software=1) == ["One"]
    assert service.titles(software=2) == ["Two"]


def test_owner_is_the_whole_name_in_any_case(serving: Serving) -> None:
    service = serving(
        MapDraft(title="One", owner="Ada"),
        MapDraft(title="Two", owner="Adam"),
        MapDraft(title="Three", owner="Jürgen Groß"),
    )
    assert service.titles(owner="Ada") == service.titles(owner="aDA") == ["One"]
    assert service.titles(owner="JÜRGEN GROSS") == ["Three"]
    for unknown in ("Ad", "Adam Smith", "*", "' OR 1=1", "x" * 3000):
        assert service.titles(owner=unknown) == []


def test_only_templates_keeps_templates_when_true(serving: Serving) -> None:
    service = serving(MapDraft(title="Form", template=True), MapDraft(title="Map", template=False))
    for yes in ("true", "True", "TRUE", "1"):
        assert service.titles(only_templates=yes) == ["Form"]
    for no in ("false", "False", "0"):
        assert service.titles(only_templates=no) == ["Map", "Form"]


@pytest.mark.parametrize("value", ["yes", "on", "2", "-1", "01", "t", "truе", " true", "null"])
def test_only_templates_refuses_anything_else(service: Service, value: str) -> None:
    assert refused(service.maps(only_templates=value)) == BAD_REQUEST


def test_filters_combine_with_each_other_and_with_query(serving: Serving) -> None:
    wanted = {"category_id": 4, "software": "XMind", "owner": "ada", "template": True}
    others = {"category_id": 5, "software": "VYM", "owner": "bob", "template": False}
    drafts = [MapDraft(title="Plan wanted", **wanted)]  # type: ignore[arg-type]
    drafts += [MapDraft(title=f"Plan {key}", **{**wanted, key: others[key]}) for key in wanted]  # type: ignore[arg-type]
    service = serving(*drafts, MapDraft(title="Other", **wanted))  # type: ignore[arg-type]
    asked = {"category": "4", "software": "3", "owner": "ada", "only_templates": "true"}
    keys = dict(zip(asked, wanted, strict=True))
    for search in ({"query": "plan"}, {"query": "plan", "order_by": "views"}):
        assert service.titles(**asked, **search) == ["Plan wanted"]
        for left_out in asked:
            some = {name: value for name, value in asked.items() if name != left_out}
            expected = {"Plan wanted", f"Plan {keys[left_out]}"}
            assert set(service.titles(**some, **search)) == expected
    assert service.titles(**asked) == ["Other", "Plan wanted"]


# -- query -----------------------------------------------------------------------------------


def test_query_words_must_all_occur_in_any_order_and_field(serving: Serving) -> None:
    service = serving(
        MapDraft(title="Garden plan", description="for spring"),
        MapDraft(title="Garden", description="in autumn"),
        MapDraft(title="Calendar", outline=outline_of("Year", "spring: plan the garden")),
    )
    assert set(service.titles(query="spring garden")) == {"Garden plan", "Calendar"}
    assert set(service.titles(query="plan SPRING gardén")) == {"Garden plan", "Calendar"}
    assert service.titles(query="spring winter") == []


def test_query_finds_owner_category_and_every_topic(serving: Serving) -> None:
    service = serving(
        MapDraft(title="One", owner="margaret", category="Travel and Places"),
        MapDraft(title="Two", outline=outline_of("Root", "zebra", "okapi")),
    )
    assert service.titles(query="margaret") == service.titles(query="travel") == ["One"]
    assert service.titles(query="zebra okapi root") == ["Two"]


def test_query_takes_quoted_words_for_a_phrase(serving: Serving) -> None:
    service = serving(*titled("Red hot chilli", "Hot red pepper", "Red and hot"))
    assert service.titles(query='"red hot"') == ["Red hot chilli"]
    assert service.titles(query='"hot red" pepper') == ["Hot red pepper"]
    assert service.titles(query='"red hot') == ["Red hot chilli"]
    assert service.titles(query='"red ho"') == []


def test_query_takes_a_leading_minus_for_an_exclusion(serving: Serving) -> None:
    service = serving(*titled("Red apple", "Green apple", "Red hot pepper", "Well-known"))
    assert service.titles(query="apple -green") == ["Red apple"]
    assert service.titles(query='red -"hot pepper"') == ["Red apple"]
    assert service.titles(query="-red -well", order_by="alpha") == ["Green apple"]
    assert service.titles(query="well-known") == ["Well-known"]
    assert set(service.titles(query="red -gre")) == {"Red apple", "Red hot pepper"}


def test_query_matches_the_last_word_as_a_prefix_too(serving: Serving) -> None:
    service = serving(*titled("Programming languages", "Program", "Language of programs"))
    assert len(service.titles(query="program")) == 3
    assert service.titles(query="program")[0] == "Program"
    for query in ("languages prog", "language prog"):
        assert set(service.titles(query=query)) == {"Programming languages", "Language of programs"}
    assert service.titles(query="lang program") == []


def test_query_finds_scripts_without_spaces(serving: Serving) -> None:
    service = serving(*titled("東京都の地図", "京都の旅", "mind map"))
    assert set(service.titles(query="京都")) == {"東京都の地図", "京都の旅"}
    assert service.titles(query="地図") == ["東京都の地図"]
    assert service.titles(query="旅") == ["京都の旅"]


def test_query_weighs_title_over_description_over_topics(serving: Serving) -> None:
    service = serving(
        MapDraft(title="Volcano", description="about lava", outline=outline_of("fire")),
        MapDraft(title="Island", description="one volcano", outline=outline_of("fire")),
        MapDraft(title="Island", description="about lava", outline=outline_of("volcano")),
    )
    found = service.maps(query="volcano").json()
    assert [(one["Title"], one["Description"]) for one in found] == [
        ("Volcano", "about lava"),
        ("Island", "one volcano"),
        ("Island", "about lava"),
    ]


@pytest.mark.parametrize("character", ["x", "é", "日", "\U0001f600"])
def test_query_goes_up_to_500_characters(service: Service, character: str) -> None:
    assert service.maps(query=character * 500).status_code == 200
    assert refused(service.maps(query=character * 501)) == BAD_REQUEST


@pytest.mark.parametrize(
    "text",
    [
        '"', '""', '"""', "-", "--", "-\"", "- -a", "*", "(", "a AND", "OR", "title:x", "a^2", "~1",
        "[a TO b]", "\\", "/.*/", "'", "%", "_", "a\tb\nc", "\x01\x7f", "\u200b", "\ufeff", "́",
        "।", "...", "🎈", "\U0010ffff", "NOT -a", "+a", "a" * 500, "a " * 250, "- " * 250,
        "x-" * 250, '"a' * 166, "日本" * 250, "ͅ" * 500, "ﷺ" * 500,
    ],
)  # fmt: skip
@pytest.mark.parametrize("order", ["", "alpha"])
def test_query_has_no_syntax_errors(service: Service, text: str, order: str) -> None:
    assert service.maps(query=text, order_by=order).status_code == 200


@pytest.mark.slow
def test_query_with_a_prefix_of_very_many_words_is_answered(serving: Serving) -> None:
    words = " ".join(f"abc{number}" for number in range(17_000))
    service = serving(MapDraft(title="Numbers", description=words), *titled("abc1 abcd"))
    for order in ("", "views"):
        for text in ("abc1-a", "abc1-abc"):
            assert set(service.titles(query=text, order_by=order)) == {"Numbers", "abc1 abcd"}


def test_query_joined_by_signs_is_a_phrase_ending_in_a_prefix(serving: Serving) -> None:
    service = serving(*titled("Well-known facts", "Known well", "e-mail", "mail, e-ink"))
    assert (
        service.titles(query="well-kno")
        == service.titles(query="well/known")
        == ["Well-known facts"]
    )
    assert service.titles(query="e-mai") == ["e-mail"]
    assert "e-mail" in service.titles(query="e-m")


# -- Size, dates, URLs, identifiers ----------------------------------------------------------


@pytest.mark.parametrize(
    ("hundredths", "text"),
    [(None, ""), (0, "0.00"), (7, "0.07"), (150, "1.50"), (123456, "1234.56")],
)
def test_size_is_in_kilobytes_with_two_decimals(
    serving: Serving, hundredths: int | None, text: str
) -> None:
    (found,) = serving(MapDraft(title="One", size=hundredths)).maps().json()
    assert found["Size"] == text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (0, "1970-01-01 00:00:00.000"),
        (-1, "1969-12-31 23:59:59.999"),
        (milliseconds(2024, 2, 29, 23, 59, 59) + 7, "2024-02-29 23:59:59.007"),
    ],
)
def test_dates_are_utc(
    serving: Serving, monkeypatch: pytest.MonkeyPatch, moment: int, text: str
) -> None:
    monkeypatch.setenv("TZ", "Pacific/Kiritimati")
    time.tzset()
    try:
        (found,) = serving(MapDraft(title="One", date_added=moment)).maps().json()
        assert found["DateAdded"] == text
    finally:
        monkeypatch.undo()
        time.tzset()


def test_thumbnail_and_url_come_from_the_base_url(serving: Serving) -> None:
    service = serving(MapDraft(title="Über uns & Co.", id="Ab3dE6gH"))
    (found,) = service.maps().json()
    assert found["Thumbnail"] == f"{BASE_URL}/thumbnails/Ab3dE6gH.png"
    assert found["URL"] == f"{BASE_URL}/mindmaps/Ab3dE6gH/uber-uns-co"


def test_thumbnail_and_url_of_a_record_stay_as_they_came(serving: Serving) -> None:
    own = {"thumbnail": 'http://old.example/t?a=1&b="2', "url": "https://old.example/m/1"}
    (found,) = serving(MapDraft(title="One", **own)).maps().json()  # type: ignore[arg-type]
    assert (found["Thumbnail"], found["URL"]) == (own["thumbnail"], own["url"])


def test_id_is_8_letters_and_digits_and_file_id_increases(serving: Serving) -> None:
    found = serving(*titled(*"abcdefghij")).maps(order_by="alpha").json()
    assert all(len(one["ID"]) == 8 and one["ID"].isascii() for one in found)
    assert all(one["ID"].isalnum() for one in found)
    assert len({one["ID"] for one in found}) == 10
    numbers = [int(one["File_ID"]) for one in found]
    assert numbers == sorted(set(numbers))


def test_id_of_a_deleted_map_is_never_reused(shelf: Shelf, live: Service) -> None:
    first, second = shelf.put(*titled("One", "Two"))
    shelf.store.delete_maps([second])
    shelf.put(*titled("Three"))
    shelf.publish()
    live.wait_until(lambda: len(live.titles()) == 2)
    found = {one["Title"]: one for one in live.maps().json()}
    assert found["One"]["ID"] == first
    assert int(found["Three"]["File_ID"]) > int(found["One"]["File_ID"]) + 1


# -- other errors ----------------------------------------------------------------------------


ALLOWED = {"/maps": "GET, HEAD, POST, OPTIONS", "/search": "GET, HEAD, OPTIONS"}


def test_405_lists_the_methods_that_are_taken(service: Service) -> None:
    for method in ("PUT", "PATCH", "DELETE", "TRACE", "PROPFIND"):
        for path, allowed in ALLOWED.items():
            response = service.request(method, path)
            assert refused(response) == METHOD_NOT_ALLOWED
            assert response.headers["Allow"] == allowed


def test_413_for_a_large_body_and_none_for_a_small_one(service: Service) -> None:
    assert service.request("GET", "/maps", content=b"x" * 65_536).status_code == 200
    large = service.request("GET", "/maps", content=b"x" * 65_537)
    assert refused(large) == (413, 413, "content_too_large")


@pytest.mark.parametrize("length", ["-1", "x", "9" * 30])
def test_413_for_a_length_that_is_not_a_number(service: Service, length: str) -> None:
    response = service.request("GET", "/maps", headers={"Content-Length": length})
    assert refused(response) == (413, 413, "content_too_large")


def test_414_for_a_long_query_string(service: Service) -> None:
    assert service.get("/maps?x=" + "y" * 8190).status_code == 200
    assert refused(service.get("/maps?x=" + "y" * 8191)) == (414, 414, "uri_too_long")


def test_500_hides_the_fault_and_the_log_has_it(
    shelf: Shelf, live: Service, caplog: pytest.LogCaptureFixture
) -> None:
    break_tokens(shelf.settings.data)
    response = live.get("/maps")
    assert response.status_code == 500
    assert response.json() == {
        "code": 500,
        "error": "server_error",
        "error_description": "Something went wrong on our side.",
    }
    assert response.headers["X-Request-Id"] in caplog.text
    assert FAULT in caplog.text
    assert "Traceback" in caplog.text


def test_503_and_not_401_when_the_store_is_unreachable(live: Service) -> None:
    live.stop()
    response = live.get("/maps")
    assert refused(response) == (503, 503, "temporarily_unavailable")
    assert int(response.headers["Retry-After"]) >= 1
    assert "closed" not in response.text
    # Requests that can be refused without the store still are.
    assert refused(live.request("GET", "/maps", signed=False)) == UNAUTHORIZED


def test_503_while_there_is_no_snapshot(tmp_path_factory: pytest.TempPathFactory) -> None:
    bare = Shelf(tmp_path_factory.mktemp("bare"))
    try:
        with serve(bare) as service:
            for path in ("/maps", "/users/me"):
                response = service.get(path)
                assert refused(response) == (503, 503, "temporarily_unavailable")
                assert "Retry-After" in response.headers
            bare.put(*titled("One"))
            bare.publish()
            # At once: a client that got a response from another worker assumes that all are ready.
            assert service.maps().status_code == 200
    finally:
        bare.close()


def test_503_and_not_500_while_the_first_snapshot_cannot_be_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("mapshelf.api.current_snapshot.Snapshot", fail)
    with shelf_with(tmp_path, *titled("One")) as shelf, serve(shelf) as service:
        assert refused(service.get("/maps")) == (503, 503, "temporarily_unavailable")
        assert "MemoryError" in caplog.text
        monkeypatch.undo()
        assert service.maps().status_code == 200


def test_malformed_request_without_a_host_is_refused(service: Service) -> None:
    request = service.client.build_request("GET", "/maps", headers=service.authorization())
    del request.headers["Host"]
    assert refused(service.run(service.client.send(request))) == BAD_REQUEST


# -- HEAD, OPTIONS, CORS ---------------------------------------------------------------------

PATHS = ["/maps", "/maps?limit=1", "/maps?limit=51", "/users/me", "/openapi.json", "/nothing"]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("signed", [True, False])
def test_head_is_get_without_the_body(service: Service, path: str, signed: bool) -> None:
    get = service.request("GET", path, signed=signed)
    head = service.request("HEAD", path, signed=signed)
    assert head.content == b""
    assert head.status_code == get.status_code
    assert without_request_id(head) == without_request_id(get)
    assert head.headers["Content-Length"] == str(len(get.content))


def without_request_id(response: httpx.Response) -> dict[str, str]:
    headers = dict(response.headers)
    assert headers.pop("x-request-id")
    return headers


@pytest.mark.parametrize("path", ["/maps", "/users/me", "/openapi.json"])
def test_options_needs_no_token_and_answers_preflights(service: Service, path: str) -> None:
    response = service.request(
        "OPTIONS",
        path,
        signed=False,
        headers={
            "Origin": "https://editor.example",
            "Access-Control-Request-Method": "GET",
            "Access-Control-Request-Headers": "authorization",
        },
    )
    assert (response.status_code, response.content) == (204, b"")
    assert response.headers["Allow"] == ALLOWED.get(path, "GET, HEAD, OPTIONS")
    assert "GET" in response.headers["Access-Control-Allow-Methods"]
    assert "Authorization" in response.headers["Access-Control-Allow-Headers"]


def test_options_of_an_unknown_address_is_404(service: Service) -> None:
    assert refused(service.request("OPTIONS", "/nothing")) == NOT_FOUND


@pytest.mark.parametrize("path", PATHS)
def test_cors_lets_any_origin_read_every_answer_and_its_headers(
    service: Service, path: str
) -> None:
    headers = service.get(path, Origin="https://editor.example").headers
    assert headers["Access-Control-Allow-Origin"] == "*"
    assert "Access-Control-Allow-Credentials" not in headers
    assert "Set-Cookie" not in headers
    exposed = {name.strip() for name in headers["Access-Control-Expose-Headers"].split(",")}
    assert exposed == {
        "Content-Disposition", "ETag", "Link", "Location", "Retry-After", "WWW-Authenticate",
        "X-Corrected-Query", "X-Missing-Pictures", "X-Request-Id", "X-Total-Count",
    }  # fmt: skip


# -- headers ---------------------------------------------------------------------------------


def test_list_headers(serving: Serving) -> None:
    response = serving(*titled("One", "Two", "Three")).maps(limit=1, query="t")
    assert response.headers["X-Total-Count"] == "2"
    assert response.headers["Cache-Control"] == "private, no-cache"
    assert response.headers["Vary"] == "Authorization, Accept-Encoding"
    assert response.headers["Content-Type"] == "application/json"


def links_of(response: httpx.Response) -> dict[str, tuple[str, str]]:
    """Return limit and offset of the linked pages by relation."""
    found = {}
    for relation, link in response.links.items():
        parameters = httpx.URL(link["url"]).params
        found[str(relation)] = (parameters["limit"], parameters["offset"])
    return found


def test_link_leads_to_the_first_previous_next_and_last_page(serving: Serving) -> None:
    service = serving(*titled(*"abcdefghij"))
    expected = {
        (3, 0): {"first": ("3", "0"), "next": ("3", "3"), "last": ("3", "9")},
        (3, 4): {
            "first": ("3", "0"), "prev": ("3", "1"), "next": ("3", "7"), "last": ("3", "9"),
        },
        (3, 1): {
            "first": ("3", "0"), "prev": ("3", "0"), "next": ("3", "4"), "last": ("3", "9"),
        },
        (3, 9): {"first": ("3", "0"), "prev": ("3", "6"), "last": ("3", "9")},
        (5, 5): {"first": ("5", "0"), "prev": ("5", "0"), "last": ("5", "5")},
        (5, 500): {"first": ("5", "0"), "prev": ("5", "5"), "last": ("5", "5")},
        (50, 0): {"first": ("50", "0"), "last": ("50", "0")},
    }  # fmt: skip
    for (limit, offset), links in expected.items():
        assert links_of(service.maps(limit=limit, offset=offset)) == links


def test_link_is_absolute_and_keeps_every_filter(serving: Serving) -> None:
    service = serving(*(MapDraft(title=f"R & D {n}", owner="a+b=c é", template=True) for n in "12"))
    asked = {
        "query": '"r & d" -x', "owner": "A+B=C é", "only_templates": "TRUE", "order_by": "alpha",
        "category": "1",
    }  # fmt: skip
    response = service.maps(limit=1, **asked)
    following = httpx.URL(response.links["next"]["url"])
    assert str(following).startswith(f"{BASE_URL}/maps?")
    assert dict(following.params) == {**asked, "limit": "1", "offset": "1"}
    (second,) = service.get(str(following)).json()
    assert second["Title"] == "R & D 2"


def test_link_and_total_of_an_empty_list(serving: Serving) -> None:
    response = serving().maps()
    assert response.headers["X-Total-Count"] == "0"
    assert links_of(response) == {"first": ("20", "0"), "last": ("20", "0")}


@pytest.mark.parametrize("form", ["{}", "W/{}", '"other", {}', '"other" ,W/{},"x"', "*"])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_etag_sent_back_gives_304(two: Service, form: str, method: str) -> None:
    full = two.get("/maps")
    known = form.replace("{}", full.headers["ETag"])
    response = two.request(method, "/maps", headers={"If-None-Match": known})
    assert (response.status_code, response.content) == (304, b"")
    for name in ("ETag", "Cache-Control", "Vary", "X-Total-Count", "Link"):
        assert response.headers[name] == full.headers[name]
    assert "Content-Type" not in response.headers


def test_etag_of_another_answer_gives_200(two: Service) -> None:
    other = two.maps(limit=1).headers["ETag"]
    assert two.get("/maps", If_None_Match=other).status_code == 200
    assert two.get("/maps", If_None_Match=other.strip('"')).status_code == 200
    assert two.get("/maps?limit=51", If_None_Match="*").status_code == 400
    assert two.request("GET", "/maps", headers={"If-None-Match": "*"}, signed=False).is_error


@pytest.mark.slow
def test_etag_changes_with_the_list_and_with_its_total(shelf: Shelf, live: Service) -> None:
    def etag(**parameters: object) -> str:
        return str(live.maps(**parameters).headers["ETag"])

    shelf.put(MapDraft(title="One", id="one", date_added=5))
    shelf.publish()
    live.wait_until(lambda: len(live.titles()) == 1)
    before, page_before = etag(), etag(limit=1)
    assert etag() == before
    shelf.put(MapDraft(title="Two", date_added=1))
    shelf.publish()
    live.wait_until(lambda: len(live.titles()) == 2)
    assert live.titles(limit=1) == ["One"]
    assert len({before, etag(), page_before, etag(limit=1)}) == 3 + (before != page_before)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "POST"])
def test_every_response_has_these_headers(service: Service, path: str, method: str) -> None:
    responses = [service.request(method, path) for _ in range(2)]
    assert all(one.headers["X-Content-Type-Options"] == "nosniff" for one in responses)
    assert len({one.headers["X-Request-Id"] for one in responses}) == 2


def test_users_me_shows_the_token_owner_and_is_not_stored(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    drafts = [MapDraft(title="Mine", owner="Zoë"), MapDraft(title="Other", owner="bob")]
    with shelf_with(tmp_path_factory.mktemp("zoe"), *drafts) as shelf, serve(shelf) as service:
        header = {"Authorization": f"Bearer {shelf.token('zoë')}"}
        response = service.request("GET", "/users/me", headers=header)
        today = datetime.now(UTC).date().isoformat()
        assert response.content.decode() == (
            f'{{"UserName":"Zoë","TotalMaps":"1","DateRegistered":"{today}"}}'
        )
        assert response.headers["Cache-Control"] == "no-store"
        assert "ETag" not in response.headers
        assert service.get("/users/me").json()["TotalMaps"] == "0"


@pytest.mark.parametrize("zone", ["Etc/GMT-14", "Etc/GMT+12"])
def test_the_date_of_registration_is_that_in_utc(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, zone: str
) -> None:
    """At any time of day, one of these time zones has another date than UTC."""
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        before = datetime.now(UTC)
        with shelf_with(tmp_path_factory.mktemp("zone")) as shelf, serve(shelf) as service:
            registered = service.get("/users/me").json()["DateRegistered"]
    finally:
        monkeypatch.undo()
        time.tzset()
    assert registered in {f"{one:%Y-%m-%d}" for one in (before, datetime.now(UTC))}


def test_path_may_be_percent_encoded(service: Service) -> None:
    assert service.get(f"/{quote('m')}%61ps").status_code == 200
