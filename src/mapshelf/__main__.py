"""Runs the ``mapshelf`` command as ``python -m mapshelf``."""

import sys

if __name__ == "__main__":  # spawned child processes import this module without running a command
    from mapshelf.cli import main

    sys.exit(main())
