"""``python -m mapshelf`` is ``mapshelf``."""

import sys

from mapshelf.cli import main

sys.exit(main())
