"""``python -m mapshelf`` is ``mapshelf``."""

import sys

if (
    __name__ == "__main__"
):  # processes that a command spawns import this module, and need no command
    from mapshelf.cli import main

    sys.exit(main())
