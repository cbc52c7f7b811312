"""Runs nginx and Caddy as ``docs/deployment`` configures them, with certificates of the tests.

The servers are Debian's. They run on free ports, in a folder of the test. If one is not installed,
its tests are skipped.
"""

import getpass
import os
import ssl
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from pathlib import Path

import httpx
import trustme

from tests.cli.process import PATIENCE, REPOSITORY, free_port, wait_for
from tests.programs import installed

DEPLOYMENT = REPOSITORY / "docs" / "deployment"

Proxy = Callable[[str, Path], AbstractContextManager[str]]
"""Runs a proxy before the service at an address, with its files in a folder; gives its own."""


def put(text: str, *changes: tuple[str, str]) -> str:
    """Replace strings in ``text``; each must occur in it."""
    for old, new in changes:
        assert old in text, f"the documents do not contain {old}"
        text = text.replace(old, new)
    return text


@cache
def _authority() -> trustme.CA:
    return trustme.CA()


def trust() -> ssl.SSLContext:
    """Return an SSL context that trusts the certificates of the proxies."""
    context = ssl.create_default_context()
    _authority().configure_trust(context)
    return context


def certificate(folder: Path) -> tuple[Path, Path]:
    """Write a certificate for this machine, and its key; return their paths."""
    made = _authority().issue_cert("127.0.0.1", "localhost")
    chain, key = folder / "chain.pem", folder / "key.pem"
    chain.write_bytes(b"".join(one.bytes() for one in made.cert_chain_pems))
    key.write_bytes(made.private_key_pem.bytes())
    return chain, key


@contextmanager
def running(words: list[str], address: str, folder: Path) -> Iterator[str]:
    """Run a proxy in this context, and yield its address. End all its processes afterwards."""
    environment = {**os.environ, "HOME": str(folder), "XDG_DATA_HOME": str(folder)}
    environment["XDG_CONFIG_HOME"] = str(folder)
    log, trusting = folder / "log", trust()

    def answers() -> bool:
        assert process.poll() is None, log.read_text()
        try:
            httpx.get(f"{address}/healthz", trust_env=False, verify=trusting)
        except httpx.TransportError:
            return False
        return True

    with log.open("wb") as output:
        process = subprocess.Popen(words, stdout=output, stderr=output, env=environment)
    try:
        wait_for(answers)
        yield address
    finally:
        process.terminate()
        process.wait(PATIENCE)


def nginx(server: str, address: str, folder: Path) -> AbstractContextManager[str]:
    """Run nginx with this content in its ``http`` block."""
    program = installed("nginx")
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    places = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in kinds)
    user = f"user {getpass.getuser()};" if os.geteuid() == 0 else ""
    configuration = folder / "nginx.conf"
    configuration.write_text(
        f"{user} daemon off; pid {folder}/pid; error_log stderr;\n"
        f"events {{}}\nhttp {{\naccess_log off;\n{places}{server}}}\n"
    )
    words = [program, "-e", "stderr", "-p", str(folder), "-c", str(configuration)]
    return running(words, address, folder)


def documented_nginx(
    url: str, folder: Path, *changes: tuple[str, str]
) -> AbstractContextManager[str]:
    """Run nginx as documented, except for ``changes``.

    The file ``plain`` has its other port, without TLS.
    """
    port, plain = free_port(), free_port()
    chain, key = certificate(folder)
    (folder / "plain").write_text(str(plain))
    server = put(
        (DEPLOYMENT / "nginx.conf").read_text("utf-8"),
        ("listen 443 ssl;", f"listen 127.0.0.1:{port} ssl;"),
        ("listen 80;", f"listen 127.0.0.1:{plain};"),
        ("/etc/ssl/maps.example.org.pem", str(chain)),
        ("/etc/ssl/maps.example.org.key", str(key)),
        ("/var/cache/nginx/mapshelf", f"{folder}/cache"),
        ("127.0.0.1:8000", url.removeprefix("http://")),
        *changes,
    )
    return nginx(server, f"https://127.0.0.1:{port}", folder)


def documented_caddy(url: str, folder: Path) -> AbstractContextManager[str]:
    """Run Caddy as documented, except with a certificate of the tests."""
    program, port = installed("caddy"), free_port()
    chain, key = certificate(folder)
    address = f"https://127.0.0.1:{port}"
    site = put(
        (DEPLOYMENT / "Caddyfile").read_text("utf-8"),
        ("\nmaps.example.org {", f"\n{address} {{\n\ttls {chain} {key}"),
        ("127.0.0.1:8000", url.removeprefix("http://")),
    )
    configuration = folder / "Caddyfile"
    # Tests may not use port 80, from which Caddy redirects to HTTPS.
    configuration.write_text(f"{{\n\tadmin off\n\tauto_https disable_redirects\n}}\n{site}")
    words = [program, "run", "--config", str(configuration), "--adapter", "caddyfile"]
    return running(words, address, folder)
