"""End work that hostile texts could make last for seconds."""

from time import thread_time
from typing import Final

CHARACTERS_PER_LOOK: Final = 4096
"""Characters that are processed between two looks at the clock by ``was_over``: five milliseconds.
A look may take ten microseconds."""


class Deadline:
    """Ends some work after a number of seconds of processor time in the present thread.

    Processor time, unlike the time of a clock, does not pass while other threads work. So a busy
    service does as much for each response as an idle one.

    Attributes:
        has_ended_work: whether a caller has been told that the time is over, and so has left some
            of its work undone.
    """

    def __init__(self, seconds: float) -> None:
        """Begin; the deadline is in ``seconds``."""
        self._characters = 0
        self.restart(seconds)

    def restart(self, seconds: float) -> None:
        """Begin again, in the present thread; the deadline is in ``seconds``."""
        self._until = thread_time() + seconds
        self._over = seconds <= 0
        self.has_ended_work = False

    def is_over(self) -> bool:
        """Return whether the time is over."""
        self._over = thread_time() > self._until
        self.has_ended_work |= self._over
        return self._over

    def was_over(self, characters: int) -> bool:
        """Return whether the time was over recently, for loops with many short steps.

        Args:
            characters: the length of the text that the next step processes.
        """
        self._characters += characters
        if self._characters >= CHARACTERS_PER_LOOK:
            self._characters = 0
            return self.is_over()
        self.has_ended_work |= self._over
        return self._over
