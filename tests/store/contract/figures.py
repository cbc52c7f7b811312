"""Tests of ``contract.StoreFigures``."""

from mapshelf.model import Figures
from mapshelf.store import Store
from tests.store.clock import Clock
from tests.store.contract.sign_in import begin
from tests.store.contract.suite import Suite


class FiguresContract(Suite):
    """Counts of what is in the store."""

    def test_sessions_that_have_ended_and_tokens_are_not_counted(
        self, store: Store, clock: Clock
    ) -> None:
        assert store.figures() == Figures(sessions=0, outdated=0)
        bob = store.add_user("Bob")
        store.add_token("Bob", bytes(32), label="", scopes="maps", expires=None)
        begin(store, bob, 1)
        begin(store, bob, 2, expires=clock.now + 1)
        assert store.figures().sessions == 2
        clock.now += 1
        assert store.figures().sessions == 1
