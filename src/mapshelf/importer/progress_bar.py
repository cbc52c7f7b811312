"""The progress bar of long-running commands.

Outside a terminal nothing is drawn, and the progress bar library is not loaded, which would slow
down the start of every import.
"""

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class ProgressBar:
    """Context manager for a progress bar on standard error, if that is a terminal."""

    def __init__(self) -> None:
        # In a file, a bar would leave an empty line.
        self._drawn = _drawn() if sys.stderr.isatty() else None
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        if self._drawn:
            self._drawn.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._drawn:
            self._drawn.stop()

    def begin(self, description: str) -> None:
        """Begin a task of unknown length, on a line of its own."""
        if self._drawn:
            self._task = self._drawn.add_task(description, total=None)

    def expect(self, description: str, total: int) -> None:
        """Set the number of steps of the task and its description."""
        if self._drawn and self._task is not None:
            self._drawn.update(self._task, description=description, total=total)

    def advance(self, steps: int = 1) -> None:
        """Advance the bar by completed steps."""
        if self._drawn and self._task is not None:
            self._drawn.advance(self._task, steps)


def _drawn() -> "Progress":
    """Return a bar that disappears at the end."""
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
