"""nginx in front of the service, with the documented configuration, which limits requests.

The only changes are those that a measurement needs: no TLS, which the clients here do not support,
other ports and folders, and no limit for one address, because all clients here have the same. nginx
shares the core of the service.
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from benchmarks.http1 import ADDRESS
from benchmarks.machine import ROOT
from benchmarks.processes import free_port, running

DOCUMENTED: Final = ROOT / "docs" / "deployment" / "nginx.conf"
CONNECTIONS: Final = 20_000
BACKLOG: Final = 16_384


@contextmanager
def nginx_before(port: int, folder: Path, niceness: int) -> Iterator[int]:
    """Run nginx in front of the service at ``port``, with files in ``folder``; yield its port."""
    own = free_port()
    text = re.sub(r"(?m)^ *ssl_certificate.*\n", "", DOCUMENTED.read_text("utf-8"))
    for old, new in (
        ("listen 443 ssl;", f"listen {ADDRESS}:{own} backlog={BACKLOG};"),
        ("listen 80;", f"listen {ADDRESS}:{free_port()};"),
        ("/var/cache/nginx/mapshelf", f"{folder}/cache"),
        ("127.0.0.1:8000", f"{ADDRESS}:{port}"),
        ("limit_conn mapshelf_lists_of 32;", ""),
    ):
        assert old in text, f"{DOCUMENTED} does not contain {old}"
        text = text.replace(old, new)
    user = "user root;" if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(
        f"{user} daemon off; worker_processes 1; worker_rlimit_nofile {2 * CONNECTIONS};\n"
        f"pid {folder}/pid; error_log {folder}/error.log crit;\n"
        f"events {{ worker_connections {CONNECTIONS}; }}\nhttp {{\naccess_log off;\n{text}}}\n",
        "utf-8",
    )
    command = ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf")]
    first = ["nice", "-n", str(niceness), *command] if os.geteuid() == 0 else command
    with running(first, folder / "output.log"):
        yield own
