"""Signing in, choosing passwords, registering, and limits on failed attempts."""

from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace

import pytest
from argon2 import extract_parameters

from mapshelf.accounts import passwords
from mapshelf.accounts.one_time_links import (
    LIFETIMES,
    find_link,
    new_invitation,
    new_password_link,
)
from mapshelf.accounts.own_account import change_password
from mapshelf.accounts.passwords import hash_password, verify
from mapshelf.accounts.sessions import LIFETIME, Client, NewSession
from mapshelf.accounts.sign_in import (
    REGISTRATION_WAIT,
    REGISTRATIONS,
    choose_password,
    register,
    sign_in,
)
from mapshelf.errors import (
    AlreadyExists,
    InvalidParameter,
    NotFound,
    TooManyAttempts,
    UnacceptablePassword,
    UnusableName,
    WrongCredentials,
)
from mapshelf.model import (
    CLOCK_TOLERANCE,
    DAY,
    HOUR,
    SYSTEM_USER,
    Failures,
    LinkKind,
    Role,
    TokenKind,
    User,
)
from mapshelf.store import Store
from mapshelf.tokens import LINK_PREFIX, SESSION_PREFIX, new_token, token_digest
from tests.store.clock import Clock

PASSWORD = "correct horse battery"
NEW = "another horse entirely"
WRONG = "incorrect horse"
SECOND = 1000
MINUTE = 60 * SECOND


@pytest.fixture
def home(clock: Clock) -> Client:
    return Client(clock.now, "192.0.2.1", "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0")


@pytest.fixture
def ann(store: Store, cheap: None) -> User:
    ann = store.add_user("Ann")
    store.set_password(ann.id, hash_password(PASSWORD, "Ann"), keep=None)
    return ann


def fail(store: Store, client: Client, *, times: int = 1, name: str = "ann") -> None:
    for _ in range(times):
        with pytest.raises(WrongCredentials):
            sign_in(store, name, WRONG, client)


def refused(store: Store, client: Client, name: str = "ann") -> int:
    """Return for how many seconds even the right password is refused, 0 if it is accepted."""
    try:
        sign_in(store, name, PASSWORD, client)
    except TooManyAttempts as error:
        return error.retry_after
    return 0


def later(client: Client, milliseconds: int) -> Client:
    return replace(client, now=client.now + milliseconds)


def elsewhere(client: Client, number: int) -> Client:
    return replace(client, address=f"198.51.{number // 250}.{number % 250}")


def is_session(store: Store, new: NewSession) -> bool:
    return token_digest(new.secret) in store.find_credentials([token_digest(new.secret)])


# -- signing in -------------------------------------------------------------------------------


def test_the_right_password_gives_a_session(store: Store, ann: User, home: Client) -> None:
    for name in ("ann", "ANN", " Ann "):
        new = sign_in(store, name, PASSWORD, home)
        assert new.user == ann
        assert new.secret.startswith(SESSION_PREFIX)
        assert new.token.kind is TokenKind.SESSION
        assert new.token.label == "Firefox on Linux"
        assert new.token.expires == home.now + LIFETIME
        assert is_session(store, new)
    assert len(store.sessions(ann.id)) == 3


def test_the_session_that_the_browser_had_is_replaced(
    store: Store, ann: User, home: Client
) -> None:
    first = sign_in(store, "ann", PASSWORD, home)
    client = replace(home, session=token_digest(first.secret))
    fail(store, client)
    assert is_session(store, first)
    second = sign_in(store, "ann", PASSWORD, client)
    assert first.secret != second.secret
    assert store.sessions(ann.id) == [second.token]


def test_a_failed_sign_in_does_not_say_why(store: Store, ann: User, home: Client) -> None:
    store.add_user("new")
    gone = store.add_user("gone")
    store.set_password(gone.id, hash_password(PASSWORD, "gone"), keep=None)
    store.disable_user("gone")
    said = set()
    for name, password in (
        ("ann", WRONG),
        ("ann", ""),
        ("ann", PASSWORD * 100),
        ("nobody", PASSWORD),
        ("new", PASSWORD),
        ("new", ""),
        ("gone", PASSWORD),
        (SYSTEM_USER, PASSWORD),
        (SYSTEM_USER, ""),
        ("", PASSWORD),
        ("a\0nn", PASSWORD),
        ("a\ud800nn", "\ud800"),
        ("n" * 10_000, PASSWORD),
    ):
        with pytest.raises(WrongCredentials) as caught:
            sign_in(store, name, password, home)
        said.add(str(caught.value))
    assert len(said) == 1
    assert all(store.sessions(user.id) == [] for user in store.users())


def test_unknown_names_are_limited_like_known_ones(store: Store, ann: User, home: Client) -> None:
    waits = []
    for name in ("ann", "nobody", SYSTEM_USER):
        fail(store, home, times=5, name=name)
        waits.append(refused(store, home, name))
    assert waits == [5, 5, 5]


def test_a_hash_of_the_same_cost_is_computed_whoever_signs_in(
    store: Store, ann: User, home: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So the time of a refusal does not reveal which names exist."""
    store.add_user("new")
    verified: list[str] = []

    class Watched:
        def verify(self, encoded: str, password: str) -> bool:
            verified.append(encoded)
            return hasher.verify(encoded, password)

    hasher = passwords.HASHER
    monkeypatch.setattr(passwords, "HASHER", Watched())
    for number, name in enumerate(("ann", "new", "nobody", SYSTEM_USER)):
        fail(store, elsewhere(home, number), name=name)
    cost = extract_parameters(passwords.NO_PASSWORD)
    assert [extract_parameters(encoded) for encoded in verified] == [cost] * 4


def test_a_password_changed_while_it_is_verified_is_refused(
    store: Store, ann: User, home: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(password: str, encoded: str | None) -> bool:
        right = verify(password, encoded)
        store.set_password(ann.id, hash_password(NEW, "Ann"), keep=None)
        return right

    monkeypatch.setattr("mapshelf.accounts.sign_in.verify", slow)
    with pytest.raises(WrongCredentials):
        sign_in(store, "ann", PASSWORD, home)
    assert store.sessions(ann.id) == []


def test_a_password_changed_meanwhile_cannot_be_changed_with_the_old_one(
    store: Store, ann: User, home: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    thief = sign_in(store, "ann", PASSWORD, home).token
    changed = hash_password(NEW, "Ann")

    def slow(password: str, name: str) -> str:
        store.set_password(ann.id, changed, keep=None)
        return hash_password(password, name)

    monkeypatch.setattr("mapshelf.accounts.own_account.hash_password", slow)
    with pytest.raises(WrongCredentials):
        change_password(store, thief, PASSWORD, "of the thief's choice", home)
    record = store.password_of("ann")
    assert record is not None
    assert record.encoded == changed
    assert store.sessions(ann.id) == []


# -- limits on failed attempts ----------------------------------------------------------------


def test_after_five_failures_attempts_are_refused_for_a_time_that_doubles(
    store: Store, ann: User, home: Client
) -> None:
    fail(store, home, times=4)
    assert refused(store, home) == 0  # success clears the earlier failures
    fail(store, home, times=5)
    client, waits = home, []
    for _ in range(10):
        waits.append(refused(store, client))
        assert refused(store, later(client, 1)) == waits[-1]  # trying again changes nothing
        assert refused(store, later(client, waits[-1] * SECOND - 1)) == 1
        client = later(client, waits[-1] * SECOND)
        fail(store, client)
    assert waits == [5, 10, 20, 40, 80, 160, 320, 640, 900, 900]
    assert refused(store, later(client, 15 * MINUTE)) == 0


def test_failures_are_forgotten_after_a_day(store: Store, ann: User, home: Client) -> None:
    fail(store, home, times=5)
    fail(store, later(home, DAY), times=5)
    assert refused(store, later(home, DAY)) == 5


def test_setting_back_a_fast_clock_locks_nobody_out(store: Store, ann: User, home: Client) -> None:
    fail(store, later(home, DAY), times=5)
    assert refused(store, later(home, DAY)) == 5
    fail(store, home)  # this attempt was allowed, so it counts from now
    assert refused(store, home) == 10
    assert refused(store, later(home, 10 * SECOND)) == 0


def guesses(store: Store, client: Client, *ahead: int) -> int:
    """Return how many of many wrong passwords are verified within five minutes.

    They alternate between nodes whose clocks are so much ``ahead`` of the right one.
    """
    verified = 0
    for passed in range(0, 5 * MINUTE, 10 * SECOND):
        for node in ahead * 2:
            try:
                sign_in(store, "ann", WRONG, later(client, passed + node))
            except WrongCredentials:
                verified += 1
            except TooManyAttempts:
                pass
    return verified


@pytest.mark.parametrize("ahead", [2 * MINUTE, 20 * MINUTE, 2 * HOUR])
def test_alternating_between_nodes_whose_clocks_differ_gives_few_more_tries(
    store: Store, ann: User, home: Client, ahead: int
) -> None:
    alone = guesses(store, home, 0)
    assert alone == 10  # five at once, then after 5, 10, 20, 40 and 80 seconds
    assert guesses(store, elsewhere(home, 1), 0, ahead) <= alone + 5
    assert guesses(store, elsewhere(home, 2), ahead, 0) <= alone + 5


@pytest.mark.parametrize("ahead", [2 * MINUTE, 20 * MINUTE, 2 * HOUR, 2 * DAY, 400 * DAY])
def test_a_clock_that_was_wrong_once_delays_nobody_for_longer_than_usual(
    store: Store, ann: User, home: Client, ahead: int
) -> None:
    fail(store, later(home, ahead), times=5)
    fail(store, home)  # one attempt is let through, and then no more than usual
    passed = 0
    while wait := refused(store, later(home, passed * SECOND)):
        passed += wait
    assert 0 < passed <= 15 * 60


def test_of_simultaneous_attempts_after_one_in_the_future_one_is_verified(
    store: Store, ann: User, home: Client
) -> None:
    def attempt(_: int) -> type[Exception]:
        try:
            sign_in(store, "ann", WRONG, home)
        except (WrongCredentials, TooManyAttempts) as error:
            return type(error)
        raise AssertionError

    fail(store, later(home, 20 * MINUTE), times=5)
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(attempt, range(40))).count(WrongCredentials) == 1


def test_an_attempt_after_which_a_failure_in_the_future_is_noted_is_refused(
    store: Store, ann: User, home: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another node counts one between our look at the failures and our own count."""
    fail(store, home, times=4)
    note = type(store).note_failure

    def noted(self: Store, keys: Collection[bytes], now: int) -> dict[bytes, Failures]:
        note(self, keys, now + 20 * MINUTE)
        return note(self, keys, now)

    monkeypatch.setattr(type(store), "note_failure", noted)
    assert refused(store, home) > 0


def test_a_refused_attempt_is_not_verified(store: Store, ann: User, home: Client) -> None:
    fail(store, home, times=5)
    for password in (PASSWORD, WRONG):
        with pytest.raises(TooManyAttempts):
            sign_in(store, "ann", password, home)
    assert store.sessions(ann.id) == []


def test_the_right_password_of_a_disabled_user_is_a_failure(
    store: Store, ann: User, home: Client
) -> None:
    store.disable_user("ann")
    for _ in range(5):
        with pytest.raises(WrongCredentials):
            sign_in(store, "ann", PASSWORD, home)
    store.enable_user("ann")
    assert refused(store, home) == 5


def test_simultaneous_attempts_get_no_extra_tries(store: Store, ann: User, home: Client) -> None:
    def attempt(_: int) -> type[Exception]:
        try:
            sign_in(store, "ann", WRONG, home)
        except (WrongCredentials, TooManyAttempts) as error:
            return type(error)
        raise AssertionError

    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(attempt, range(40)))
    assert outcomes.count(WrongCredentials) == 5
    assert outcomes.count(TooManyAttempts) == 35


def test_failures_from_other_addresses_do_not_lock_the_owner_out(
    store: Store, ann: User, home: Client
) -> None:
    sign_in(store, "ann", PASSWORD, home)
    for number in range(100):
        fail(store, elsewhere(home, number), times=5 if number < 10 else 1)
    assert refused(store, elsewhere(home, 0)) > 0
    assert refused(store, home) == 0
    fail(store, home, times=4)
    assert refused(store, later(home, 89 * DAY)) == 0


def test_an_account_under_attack_gives_new_addresses_fewer_tries(
    store: Store, ann: User, home: Client
) -> None:
    sign_in(store, "ann", PASSWORD, home)
    for number in range(10):
        fail(store, elsewhere(home, number), times=5)
    stranger = elsewhere(home, 100)
    fail(store, stranger)
    assert refused(store, stranger) == 5
    assert refused(store, later(stranger, 5 * SECOND)) == 0  # now the address is known
    fail(store, later(stranger, MINUTE), times=4)
    assert refused(store, later(stranger, MINUTE)) == 0
    assert refused(store, elsewhere(home, 101)) == 0  # the first try is free


def test_an_address_that_tries_many_accounts_is_limited(
    store: Store, ann: User, home: Client
) -> None:
    eve = store.add_user("Eve")
    store.set_password(eve.id, hash_password(PASSWORD, "Eve"), keep=None)
    sign_in(store, "ann", PASSWORD, home)
    for number in range(100):
        fail(store, home, name=f"name {number}")
    assert refused(store, home, "eve") == 5
    assert refused(store, elsewhere(home, 1), "eve") == 0
    assert refused(store, home, "ann") == 0  # ann has signed in from here before
    client = home
    for _ in range(6):
        client = later(client, refused(store, client, "eve") * SECOND)
        fail(store, client, name="eve one")
    assert refused(store, client, "eve") == 60


def test_a_success_does_not_clear_failures_on_other_accounts(
    store: Store, ann: User, home: Client
) -> None:
    """Otherwise anybody with an account could keep guessing the passwords of others."""
    eve = store.add_user("Eve")
    store.set_password(eve.id, hash_password(PASSWORD, "Eve"), keep=None)
    for number in range(100):
        fail(store, home, name=f"name {number}")
        if not number % 10:
            assert refused(store, home, "ann") == 0
    assert refused(store, home, "eve") == 5


# -- links ------------------------------------------------------------------------------------


def test_a_link_lets_its_user_choose_a_password(store: Store, ann: User, home: Client) -> None:
    old = sign_in(store, "ann", PASSWORD, home)
    secret = new_password_link(store, ann, home.now)
    assert secret.startswith(LINK_PREFIX)
    for password in ("short", "ann ann ann", "password123"):
        with pytest.raises(UnacceptablePassword):
            choose_password(store, secret, password, home)
    assert is_session(store, old)
    new = choose_password(store, secret, NEW, home)
    assert new.user == ann
    assert is_session(store, new)
    assert not is_session(store, old)
    with pytest.raises(NotFound):
        choose_password(store, secret, PASSWORD, home)
    with pytest.raises(WrongCredentials):
        sign_in(store, "ann", PASSWORD, home)
    assert sign_in(store, "ann", NEW, home).user == ann


def test_a_link_works_after_failures_and_makes_the_address_known(
    store: Store, ann: User, home: Client
) -> None:
    secret = new_password_link(store, ann, home.now)
    for number in range(10):
        fail(store, elsewhere(home, number), times=5)
    fail(store, home)
    assert refused(store, home) == 5
    choose_password(store, secret, PASSWORD, home)
    fail(store, home, times=4)
    assert refused(store, home) == 0


def test_links_are_valid_for_a_day_and_one_purpose(
    store: Store, ann: User, home: Client, clock: Clock
) -> None:
    secret, invitation = new_password_link(store, ann, home.now), new_invitation(store, home.now)
    for bad in (invitation, new_token(LINK_PREFIX), new_token(), "", secret[:-1], "\ud800"):
        with pytest.raises(NotFound):
            choose_password(store, bad, NEW, home)
    with pytest.raises(NotFound):
        choose_password(store, secret, NEW, later(home, DAY))
    assert LIFETIMES[LinkKind.PASSWORD] == DAY
    choose_password(store, secret, NEW, later(home, DAY - 1))


# -- registering ------------------------------------------------------------------------------


def test_registering_by_invitation(store: Store, ann: User, home: Client) -> None:
    store.set_role("Ann", Role.ADMINISTRATOR)
    secret = new_invitation(store, home.now, ann)
    assert [one.created_by for one in store.invitations(home.now)] == ["Ann"]
    for name, password, error in (
        ("ann", PASSWORD, AlreadyExists),
        ("System", PASSWORD, AlreadyExists),
        ("eve", "short", UnacceptablePassword),
        ("eve of maps", "Eve of Maps!", UnacceptablePassword),
        ("", PASSWORD, InvalidParameter),
        (" eve", PASSWORD, InvalidParameter),
        ("e\nve", PASSWORD, InvalidParameter),
        ("e\ud800ve", PASSWORD, InvalidParameter),
        ("e" * 101, PASSWORD, InvalidParameter),
        ("..", PASSWORD, UnusableName),
        ("Deleted user 5", PASSWORD, UnusableName),
        ("eve  of maps", PASSWORD, UnusableName),
    ):
        with pytest.raises(error):
            register(store, secret, name, password, home)
    new = register(store, secret, "Eve", PASSWORD, home)
    assert (new.user.name, new.user.role) == ("Eve", Role.MEMBER)
    assert is_session(store, new)
    assert sign_in(store, "eve", PASSWORD, home).user == new.user
    with pytest.raises(NotFound):
        register(store, secret, "carl", PASSWORD, home)
    assert [user.name for user in store.users()] == [SYSTEM_USER, "Ann", "Eve"]


@pytest.mark.parametrize("ahead", [CLOCK_TOLERANCE, 26 * HOUR])
def test_links_of_a_clock_that_was_ahead_last_no_longer(
    store: Store, ann: User, home: Client, clock: Clock, ahead: int
) -> None:
    clock.now, works = clock.now + ahead, ahead <= CLOCK_TOLERANCE
    secret = new_password_link(store, ann, clock.now)
    invitation = new_invitation(store, clock.now)
    assert (find_link(store, secret, home.now) is not None) is works
    with nullcontext() if works else pytest.raises(NotFound):
        choose_password(store, secret, NEW, home)
    with nullcontext() if works else pytest.raises(NotFound):
        register(store, invitation, "eve", PASSWORD, home)


def test_a_link_for_a_password_is_no_invitation(store: Store, ann: User, home: Client) -> None:
    secret = new_password_link(store, ann, home.now)
    for bad in (secret, new_token(LINK_PREFIX), "", "x"):
        with pytest.raises(NotFound):
            register(store, bad, "eve", PASSWORD, home)


def test_open_registration(store: Store, cheap: None, home: Client) -> None:
    new = register(store, None, "Eve", PASSWORD, home)
    assert is_session(store, new)
    with pytest.raises(AlreadyExists):
        register(store, None, "EVE", PASSWORD, home)


def test_names_that_look_the_same_are_the_same(store: Store, cheap: None, home: Client) -> None:
    composed, decomposed = "Jos\u00e9", "Jose\u0301"
    assert register(store, None, decomposed, PASSWORD, home).user.name == composed
    for name in (composed, decomposed, "JOSE\u0301"):
        with pytest.raises(AlreadyExists):
            register(store, None, name, PASSWORD, home)
        assert is_session(store, sign_in(store, name, PASSWORD, home))
    for invisible in (
        *("\u034f", "\u115f", "\u2800", "\u3164", "\ufe0f", "\uffa0", "\ufffc"),
        *("\U00016fe4", "\U0001d159", "\U000e0100"),
    ):
        for name in (f"eve{invisible}", invisible):
            with pytest.raises(InvalidParameter):
                register(store, None, name, PASSWORD, home)
    for lookalike in (
        "\u0430lice",  # Cyrillic
        "ro\u03bft",  # Greek
        "\u0430\u0334lice",  # with a mark between
        "\uff41lice",
        "\U0001d41ddmin",
        "admin\u00b2",
        "\u04551ystem",  # Cyrillic before a digit
    ):
        with pytest.raises(InvalidParameter):
            register(store, None, lookalike, PASSWORD, home)
    for usual in ("Иван Ivanov", "Łukasz-Ørsted", "Zoë Αθηνά", "田中 Taro2", "ㅋㅋ"):
        assert register(store, None, usual, PASSWORD, home).user.name == usual
    former = store.add_user("Rene\u0301")
    store.set_password(former.id, hash_password(PASSWORD, "Rene\u0301"), keep=None)
    assert sign_in(store, "rene\u0301", PASSWORD, home).user == former


@pytest.mark.parametrize(
    "name", ["v\u0131c", "V\u0131C", "v\u0131\u0307c", "vi\u0307c", "v\u026ac", "\u1d20\u0269c"]
)
def test_a_name_with_letters_that_look_like_ascii_is_not_taken_for_that_of_another(
    store: Store, cheap: None, home: Client, name: str
) -> None:
    assert register(store, None, name, PASSWORD, home).user.name == name  # it may be their name
    register(store, None, "wic", PASSWORD, home)
    other = "w" + name[1:]
    with pytest.raises(AlreadyExists):
        register(store, None, other, PASSWORD, home)


@pytest.mark.parametrize(
    ("taken", "other"),
    [
        ("bob.smith", "bob\u2024smith"),
        ("bob.smith", "bob\ufe52smith"),
        ("ann-lee", "ann\u2010lee"),
        ("j. doe", "\u0458. doe"),
        ("ANN", "\ua4ee\ua4e0\ua4e0"),
        ("coco", "\u0441\u043e\u0441\u043e"),
        ("BOB", "B\u2d54B"),
    ],
)
def test_a_whole_name_that_looks_like_another_is_refused(
    store: Store, cheap: None, home: Client, taken: str, other: str
) -> None:
    register(store, None, taken, PASSWORD, home)
    with pytest.raises(AlreadyExists):
        register(store, None, other, PASSWORD, home)


@pytest.mark.slow
def test_another_form_of_a_name_gets_no_extra_tries(store: Store, home: Client) -> None:
    register(store, None, "Jos\u00e9", PASSWORD, elsewhere(home, 1))
    for name in ("Jos\u00e9", "Jose\u0301", "JOS\u00c9", "JOSE\u0301", "jos\u00e9"):
        fail(store, home, name=name)
    assert refused(store, home, "jose\u0301")


# -- changing passwords -----------------------------------------------------------------------


def test_changing_a_password_needs_the_present_one_and_ends_other_sessions(
    store: Store, ann: User, home: Client
) -> None:
    mine, other = (sign_in(store, "ann", PASSWORD, home) for _ in range(2))
    secret = new_password_link(store, ann, home.now)
    with pytest.raises(WrongCredentials):
        change_password(store, mine.token, WRONG, NEW, home)
    with pytest.raises(UnacceptablePassword):
        change_password(store, mine.token, PASSWORD, "short", home)
    assert is_session(store, other)
    change_password(store, mine.token, PASSWORD, NEW, home)
    assert is_session(store, mine)
    assert not is_session(store, other)
    assert sign_in(store, "ann", NEW, home).user == ann
    with pytest.raises(NotFound):
        choose_password(store, secret, PASSWORD, home)


def test_a_session_cannot_be_used_to_guess_the_password(
    store: Store, ann: User, home: Client
) -> None:
    mine = sign_in(store, "ann", PASSWORD, home)
    for _ in range(5):
        with pytest.raises(WrongCredentials):
            change_password(store, mine.token, WRONG, NEW, home)
    with pytest.raises(TooManyAttempts):
        change_password(store, mine.token, PASSWORD, NEW, home)


def test_registrations_from_one_address_are_limited_over_time(
    store: Store, cheap: None, home: Client
) -> None:
    for number in range(REGISTRATIONS):
        register(store, None, f"user {number}", PASSWORD, home)
    for name in ("one more", "user 1"):
        with pytest.raises(TooManyAttempts) as refusal:
            register(store, None, name, PASSWORD, home)
        assert refusal.value.retry_after == REGISTRATION_WAIT // SECOND
    assert store.password_of("one more") is None
    register(store, None, "one more", PASSWORD, elsewhere(home, 1))
    register(store, new_invitation(store, home.now), "invited", PASSWORD, home)
    register(store, None, "the next day", PASSWORD, later(home, DAY + 1))


def test_registration_limits_the_guessing_of_names(store: Store, ann: User, home: Client) -> None:
    for _ in range(REGISTRATIONS):
        with pytest.raises(AlreadyExists):
            register(store, None, "ann", PASSWORD, home)
    with pytest.raises(TooManyAttempts):
        register(store, None, "ann", PASSWORD, home)
    assert not refused(store, home), "a refused registration must not count as a wrong password"
