"""The transcript: which turn words belong to, and what a window shows."""

from hypothesis import given
from hypothesis import strategies as st

from flowengine.transcript import RING, ToolCall, Transcript, Turn


def spoken(*turns: tuple[str, str]) -> Transcript:
    transcript = Transcript()
    for n, (user, model) in enumerate(turns):
        if user:
            transcript = transcript.heard(user, n)
        if model:
            transcript = transcript.said(model, n)
        transcript = transcript.closed()
    return transcript


def test_a_turn_is_the_callers_words_and_then_the_models() -> None:
    transcript = Transcript().heard("I", 5, ("eye",)).heard("agree", 6, ("a grey",)).said("ok", 7)
    assert transcript.turns == ()
    assert transcript.current == Turn(1, "I agree", "ok", 5, ("eye", "a grey"))
    assert transcript.closed() == Transcript((transcript.current,), Turn(2))


def test_model_words_before_the_caller_speaks_again_belong_to_the_closed_turn() -> None:
    transcript = spoken(("hello", "hi")).said("there", 9)
    assert transcript.turns[-1].model == "hi there"
    assert transcript.current == Turn(2)
    later = transcript.heard("yes", 10).said("good", 11)
    assert (later.turns[-1].model, later.current.model) == ("hi there", "good")


def test_the_models_greeting_is_a_turn_of_its_own() -> None:
    transcript = spoken(("", "welcome"), ("hello", ""))
    assert [(t.number, t.user, t.model) for t in transcript.turns] == [
        (1, "", "welcome"), (2, "hello", ""),
    ]  # fmt: skip


def test_words_cut_off_mark_their_turn() -> None:
    assert Transcript().heard("hi", 0).said("let me", 1, interrupted=True).current.interrupted
    late = spoken(("hi", "let")).said("me", 2, interrupted=True)
    assert late.turns[0].interrupted


def test_an_empty_turn_leaves_no_trace() -> None:
    transcript = spoken(("hello", "hi"))
    assert transcript.closed() is transcript


def test_a_window_is_the_newest_closed_turns_oldest_first() -> None:
    transcript = spoken(("", "a"), ("b", "c"), ("d", "")).heard("open", 9)
    assert [turn.number for turn in transcript.window(2)] == [2, 3]
    assert transcript.window(0) == ()
    assert transcript.text(3) == "model: a\ncaller: b\nmodel: c\ncaller: d"
    assert transcript.text(1) == "caller: d"


def test_what_was_said_so_far_has_the_turn_in_progress_once_there_is_one() -> None:
    transcript = spoken(("hello", "welcome"), ("my order", ""))
    assert transcript.so_far == transcript.turns
    assert (transcript.last_user, transcript.last_model) == ("my order", "welcome")
    later = transcript.heard("please", 9)
    assert later.so_far == (*transcript.turns, later.current)
    assert (later.last_user, later.last_model) == ("please", "welcome")
    assert (Transcript().so_far, Transcript().last_user, Transcript().last_model) == ((), "", "")


def test_nothing_said_changes_an_earlier_transcript() -> None:
    before = spoken(("a", "b"))
    before.said("more", 2).heard("c", 3).closed()
    assert before == spoken(("a", "b"))


@given(st.integers(0, RING + 20))
def test_the_ring_keeps_the_last_fifty_and_numbers_go_on(count: int) -> None:
    transcript = spoken(*[("hello", "hi")] * count)
    first = max(1, count - RING + 1)
    assert [turn.number for turn in transcript.turns] == list(range(first, count + 1))
    assert transcript.current.number == count + 1


@given(st.integers(0, RING + 20), st.integers(-2, RING + 25))
def test_the_turns_after_one_are_those_that_are_kept(count: int, number: int) -> None:
    said = spoken(*[("hello", "hi"), ("", "well")] * count)
    every = (*said.turns, said.current)
    assert said.after(number) == tuple(turn for turn in every if turn.number > number)
    assert said.heard_in(number) == any(t.user for t in said.turns if t.number == number)


def test_a_tool_call_stands_in_the_turn_in_which_it_ended() -> None:
    call = ToolCall("look", '{"id":1}', "ok", '{"open":true}')
    during = Transcript().heard("is it open?", 1).called(call)
    assert during.current.calls == (call,)
    between = spoken(("is it open?", "let me see")).called(call)
    assert between.turns[-1].calls == (call,)
    assert between.text() == (
        'caller: is it open?\ntool: look({"id":1}) ok: {"open":true}\nmodel: let me see'
    )


def test_a_turn_is_of_the_time_at_which_the_caller_began_to_speak() -> None:
    said = Transcript().said("Hello?", 10).heard("  ", 20).heard("yes", 30).heard("please", 40)
    assert said.current.at == 30
    assert said.closed().said("Well.", 50).turns[-1].at == 30
    assert Transcript().said("Hello?", 10).closed().turns[-1].at == 10
