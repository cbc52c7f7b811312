"""A backup is the whole catalogue of one moment, and a restore brings it back, or changes nothing.

``MAPSHELF_BACKUP_ROUNDS=100 pytest tests/cli/test_backup.py -k under_writes -s`` makes more backups
under writes than the few of every day, and prints what they held.
"""

import fcntl
import os
import random
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import apsw
import pytest

from mapshelf.cli import main
from mapshelf.model import MapDraft
from mapshelf.settings import snapshots_folder, sqlite_url
from mapshelf.snapshot import SnapshotDirectory
from mapshelf.snapshot.build import Builder
from mapshelf.snapshot.read import Snapshot
