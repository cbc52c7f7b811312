"""The labels of sessions."""

import pytest

from mapshelf.accounts.sessions import LABEL_LENGTH, session_label

WEBKIT = "AppleWebKit/605.1.15 (KHTML, like Gecko)"
CHROME = "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0"


LINUX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101"
WINDOWS = "Mozilla/5.0 (Windows NT 10.0; Win64; x64)"
MAC = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15)"
IPHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X)"
IPAD = "Mozilla/5.0 (iPad; CPU OS 18_1 like Mac OS X)"
ANDROID = "Mozilla/5.0 (Linux; Android 14)"


@pytest.mark.parametrize(
    ("agent", "label"),
    [
        (f"{LINUX} Firefox/140.0", "Firefox on Linux"),
        (f"{WINDOWS} {CHROME} Safari/537.36", "Chrome on Windows"),
        (f"{WINDOWS} {CHROME} Safari/537.36 Edg/141.0", "Edge on Windows"),
        (f"{WINDOWS} {CHROME} Safari/537.36 OPR/120.0", "Opera on Windows"),
        (f"Mozilla/5.0 (X11; CrOS x86_64) {CHROME} Safari/537.36", "Chrome on ChromeOS"),
        (f"{ANDROID} {CHROME} Mobile Safari/537.36", "Chrome on Android"),
        (f"{ANDROID} SamsungBrowser/29.0 {CHROME} Safari/537.36", "Samsung Internet on Android"),
        (f"{MAC} {WEBKIT} Version/18 Safari/605", "Safari on macOS"),
        (f"{IPHONE} {WEBKIT} Version/18 Safari/604", "Safari on iPhone"),
        (f"{IPAD} {WEBKIT} FxiOS/140 Safari/605", "Firefox on iPad"),
        ("Mozilla/5.0 Firefox/140.0", "Firefox"),
        ("curl/8.5.0", "curl/8.5.0"),
        ("", ""),
        ("tabs\tand\x1b[31m\u202e  spaces\r\n", "tabsand[31m spaces"),
        ("x" * 5000, "x" * LABEL_LENGTH),
    ],
)
def test_labels(agent: str, label: str) -> None:
    assert session_label(agent) == label
