"""The small tasks of the builder process besides building, which it does while it waits."""

from collections.abc import Callable
from typing import Final

from mapshelf.service.cleanup_scheduler import CleanupScheduler
from mapshelf.service.clock_check import ClockCheck
from mapshelf.service.free_space import FreeSpaceKeeper
from mapshelf.service.heap import HeapTrimmer
from mapshelf.service.removal_scheduler import RemovalScheduler
from mapshelf.service.visit_count_scheduler import VisitCountScheduler
from mapshelf.settings import Settings
from mapshelf.store.contract import Store


class Upkeep:
    """The tasks for one installation; each knows when it is due.

    Attributes:
        visit_counts: the task that applies visit counts, which depends on how long a build takes.
    """

    def __init__(self, store: Store, settings: Settings) -> None:
        self.visit_counts: Final = VisitCountScheduler(store)
        clock_check = ClockCheck(store)
        self._tasks: tuple[Callable[[], None], ...] = (
            FreeSpaceKeeper(settings).check_due,  # others may need the space
            self.visit_counts.apply_due,
            RemovalScheduler(store).purge_due,
            CleanupScheduler(store).do_due,
            clock_check.compare_due,
            HeapTrimmer().trim_due,
        )
        clock_check.compare_due()  # a first build may take long

    def do_due(self) -> None:
        """Do what is due."""
        for task in self._tasks:
            task()
