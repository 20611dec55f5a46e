"""Values behind locks."""

import threading

import pytest

from tgraph.dynamic.guarded import Guarded


def test_one_thread_at_a_time_has_the_value():
    guarded, entered, seen = Guarded([]), threading.Event(), []

    def other():
        entered.set()
        with guarded as value:
            seen.extend(value)

    thread = threading.Thread(target=other)
    with guarded as value:
        thread.start()
        assert entered.wait(60)
        thread.join(0.05)
        assert thread.is_alive() and not seen
        value.append(1)
    thread.join(60)
    assert seen == [1]


def test_its_holder_gets_a_reentrant_value_again():
    guarded = Guarded([], reentrant=True)
    with guarded as value, guarded as again:
        assert again is value


def test_a_fault_releases_the_lock():
    guarded, seen = Guarded(7), []
    with pytest.raises(KeyError), guarded:
        raise KeyError

    def take():
        with guarded as value:
            seen.append(value)

    thread = threading.Thread(target=take, daemon=True)
    thread.start()
    thread.join(60)
    assert seen == [7]
