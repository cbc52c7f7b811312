"""Statistics for monitoring: the SQL statements that both databases share."""

from mapshelf.model import Figures
from mapshelf.store.shared_methods import SharedMethods


class FigureMethods(SharedMethods):
    """See ``contract.StoreFigures``."""

    def figures(self) -> Figures:
        """See ``Store``."""
        return Figures(
            sessions=self._count("tokens WHERE kind = 'session' AND expires > ?", self._now()),
            outdated=self._count("outdated"),
        )

    def _count(self, what: str, *parameters: int) -> int:
        ((found,),) = self._read(f"SELECT count(*) FROM {what}", parameters)
        return int(found)
