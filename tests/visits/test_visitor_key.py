"""How visitors are told apart: the client's address and the key of a visit."""

from ipaddress import ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mapshelf.client_address import client_address, without_port
from mapshelf.model import VisitKind
from mapshelf.visits.visitor_key import visit_key

PROXIES = tuple(map(ip_network, ("127.0.0.1", "10.0.0.0/8", "fd00::/8")))

ADDRESSES = st.ip_addresses().map(str)


@pytest.mark.parametrize(
    ("peer", "forwarded", "place"),
    [
        # no trusted proxy: the header does not count
        ("192.0.2.1:5000", "", "192.0.2.1"),
        ("192.0.2.1:5000", "198.51.100.7", "192.0.2.1"),
        ("[2001:db8:1:2:3:4:5:6]:5000", "", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::1", "", "2001:db8:1:2::/64"),
        ("[::ffff:192.0.2.1]:5000", "", "192.0.2.1"),
        ("fe80::1%eth0", "", "fe80::/64"),
        # one proxy, several proxies, and one that is not trusted
        ("127.0.0.1:1", "198.51.100.7", "198.51.100.7"),
        ("127.0.0.1:1", "203.0.113.9, 198.51.100.7", "198.51.100.7"),
        ("10.1.1.1:1", "198.51.100.7 , 10.2.2.2,127.0.0.1", "198.51.100.7"),
        ("[::ffff:127.0.0.1]:1", "198.51.100.7", "198.51.100.7"),
        ("fd00::1", "[2001:db8::9]:443", "2001:db8::/64"),
        ("127.0.0.1:1", "198.51.100.7:8080", "198.51.100.7"),
        # a client in the trusted network, and invalid headers
        ("127.0.0.1:1", "10.5.5.5", "10.5.5.5"),
        ("127.0.0.1:1", "", "127.0.0.1"),
        ("127.0.0.1:1", "unknown", "127.0.0.1"),
        ("10.0.0.1:1", "198.51.100.7, unknown, 127.0.0.1", "127.0.0.1"),
        ("127.0.0.1:1", ", ,", "127.0.0.1"),
        ("", "198.51.100.7", ""),
        ("unix:", "198.51.100.7", ""),
    ],
)
def test_the_client_address_of_a_request(peer: str, forwarded: str, place: str) -> None:
    assert client_address(peer, forwarded.encode(), PROXIES) == place


@pytest.mark.parametrize(
    ("peer", "address"),
    [
        ("192.0.2.1:5000", "192.0.2.1"),
        ("192.0.2.1", "192.0.2.1"),
        ("[2001:db8::1]:5000", "2001:db8::1"),
        ("[2001:db8::1]", "2001:db8::1"),
        ("2001:db8::1", "2001:db8::1"),
        ("", ""),
    ],
)
def test_connections_from_one_address_are_one_peer(peer: str, address: str) -> None:
    assert without_port(peer) == address


@given(peer=ADDRESSES, forwarded=st.binary(max_size=60))
def test_without_a_trusted_proxy_the_header_is_ignored(peer: str, forwarded: bytes) -> None:
    assert client_address(peer, forwarded, ()) == client_address(peer, b"", ())


@given(peer=st.text(max_size=30), forwarded=st.binary(max_size=80))
def test_any_header_is_accepted(peer: str, forwarded: bytes) -> None:
    client_address(peer, forwarded, PROXIES)


@given(lies=st.lists(ADDRESSES, max_size=40), last=st.integers(1, 254))
def test_addresses_claimed_by_a_client_are_ignored(lies: list[str], last: int) -> None:
    forwarded = ", ".join([*lies, f"198.51.100.{last}"])
    assert client_address("127.0.0.1:9", forwarded.encode(), PROXIES) == f"198.51.100.{last}"


def test_a_long_list_of_proxies_is_followed_up_to_a_limit() -> None:
    forwarded = ",".join(["198.51.100.7", *["10.0.0.1"] * 5000])
    assert client_address("127.0.0.1", forwarded.encode(), PROXIES) == "10.0.0.1"


def test_a_visit_key_depends_on_everything_that_counts() -> None:
    salt = b"s" * 32
    first = (salt, b"192.0.2.1\nFirefox", 7, VisitKind.VIEW, 1000)
    others = [
        (b"t" * 32, *first[1:]),
        (salt, b"192.0.2.2\nFirefox", *first[2:]),
        (*first[:2], 8, *first[3:]),
        (*first[:3], VisitKind.DOWNLOAD, 1000),
        (*first[:4], 1001),
    ]
    assert visit_key(*first) == visit_key(*first)
    assert len({visit_key(*one) for one in (first, *others)}) == 6
    assert len(visit_key(*first)) == 16
