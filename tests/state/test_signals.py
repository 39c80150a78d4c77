"""Signals: receivers in order, held strongly, and free where nobody listens."""

import gc

from flowengine.state import Signals


class Listener:
    def __init__(self, log: list[object]) -> None:
        self.log = log

    def hear(self, sender: object, value: object) -> None:
        self.log.append((sender, value))


def test_receivers_are_called_in_the_order_they_connected() -> None:
    for count in (2, 50):
        signals, log = Signals(), []
        for n in range(count):
            signals.connect("x", lambda _, n=n, log=log: log.append(n))
        signals.publish("x", "me")
        assert log == list(range(count))


def test_a_receiver_is_kept_though_nobody_else_keeps_it() -> None:
    signals, log = Signals(), []
    signals.connect("x", lambda sender, value: log.append((sender, value)))
    signals.connect("x", Listener(log).hear)
    gc.collect()
    signals.publish("x", "me", value=1)
    assert log == [("me", 1)] * 2


def test_a_receiver_can_take_itself_back_also_while_it_is_called() -> None:
    signals, log = Signals(), []

    def once(sender: object) -> None:
        log.append("once")
        disconnect()

    signals.connect("x", lambda _: log.append("first"))
    disconnect = signals.connect("x", once)
    signals.connect("x", lambda _: log.append("last"))
    signals.publish("x", "me")
    signals.publish("x", "me")
    assert log == ["first", "once", "last", "first", "last"]


def test_one_that_connects_again_goes_to_the_end() -> None:
    signals, log = Signals(), []

    def first(_: object) -> None:
        log.append("first")

    disconnect = signals.connect("x", first)
    signals.connect("x", lambda _: log.append("second"))
    disconnect()
    signals.connect("x", first)
    signals.publish("x", "me")
    assert log == ["second", "first"]


def test_the_same_receiver_is_connected_once() -> None:
    signals, log = Signals(), []
    listener = Listener(log)
    signals.connect("x", listener.hear)
    signals.connect("x", listener.hear)
    signals.publish("x", "me", value=1)
    assert log == [("me", 1)]


def test_signals_are_made_when_someone_connects_and_not_by_publishing() -> None:
    signals = Signals()
    signals.publish("x", "me", value=1)
    assert not signals
    disconnect = signals.connect("x", lambda _, **__: None)
    assert signals
    disconnect()
    signals.publish("x", "me", value=1)
