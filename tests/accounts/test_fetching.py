"""Requests to an OpenID provider end in time, whatever the provider sends."""

import socket
import time
from threading import Thread

import pytest

from mapshelf.accounts.openid import fetching
from mapshelf.accounts.openid.attempt import Purpose, new_attempt
from mapshelf.accounts.openid.fetching import FetchError, fetch
from mapshelf.accounts.openid.provider import Provider
from mapshelf.errors import ProviderUnavailable
from mapshelf.settings import ProviderSettings


@pytest.mark.slow
@pytest.mark.parametrize("longest", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("beginning", [b"HTTP/1.1 200 OK\r\nX-Slow: ", b"HTTP/1.1 200 OK\r\n\r\n"])
def test_a_provider_that_sends_very_slowly_is_disconnected(
    monkeypatch: pytest.MonkeyPatch, longest: float, beginning: bytes
) -> None:
    """Even if connecting took no time."""
    monkeypatch.setattr(fetching, "LONGEST", longest)
    monkeypatch.setattr(fetching, "CUT_EVERY", 0.05)
    cut: list[bool] = []

    def drip() -> None:
        link, _ = listener.accept()
        with link:
            try:
                for byte in beginning + b"x" * 300:
                    link.send(bytes([byte]))
                    time.sleep(0.01)
            except OSError:
                cut.append(True)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = Thread(target=drip)
        thread.start()
        with pytest.raises(FetchError):
            fetch(f"http://127.0.0.1:{listener.getsockname()[1]}/")
        thread.join()
    assert cut


@pytest.mark.parametrize("host", ["a..example", f"{'x' * 64}.example"])
def test_invalid_host_names_are_refused(host: str) -> None:
    with pytest.raises(FetchError):
        fetch(f"https://{host}/")


@pytest.mark.parametrize(
    "endpoint",
    ["authorization_endpoint", "token_endpoint", "jwks_uri", "userinfo_endpoint"],
)
def test_a_remote_provider_cannot_name_local_addresses(
    monkeypatch: pytest.MonkeyPatch, endpoint: str
) -> None:
    """We would send requests with our secret and codes to the named addresses (SSRF)."""
    issuer = "https://id.example"
    metadata = {
        "issuer": issuer,
        "authorization_endpoint": f"{issuer}/authorize",
        "token_endpoint": f"{issuer}/token",
        "jwks_uri": f"{issuer}/keys",
    }
    said = dict(metadata)
    monkeypatch.setattr(
        "mapshelf.accounts.openid.provider.fetch", lambda *_: fetching.Fetched(200, said)
    )
    settings = ProviderSettings(issuer, "client", "secret", "Example ID")
    attempt = new_attempt(Purpose.SIGN_IN, "", 0)
    assert Provider(settings, "https://maps.example/cb").authorization_address(attempt, "")
    said[endpoint] = "http://127.0.0.1:5432/"
    with pytest.raises(ProviderUnavailable):
        Provider(settings, "https://maps.example/cb").authorization_address(attempt, "")
