"""`flowengine chat`, driven from a pipe."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from flowengine.testing.run import run_scenario
from flowengine.testing.scenario_file import load_scenarios


def talk(run: Any, table: Path, *lines: str, args: tuple[str, ...] = ()) -> Any:
    done = run("chat", table, *args, stdin="\n".join(lines))
    assert done.code == 0, done.err
    return done


def answers(done: Any) -> list[str]:
    """What was printed for each line; the opening first."""
    return done.out.split("\n> ")


def test_each_turn_shows_the_move_the_values_with_their_words_and_what_the_model_is_told(
    run: Any, table: Path
) -> None:
    opening, first = answers(talk(run, table, "a table for four"))
    assert "says: How many people?" in opening
    assert "still needed: people" in opening
    assert "the model is told: Ask how many people come." in opening
    assert "[confirm]  ask → confirm" in first
    assert "people = 4  “four”" in first
    assert "still needed: agreed" in first
    assert "tools: book, cancel" in first
    assert "the model is told: Ask whether 4 is right." in first


def test_why_names_what_keeps_a_way_shut(run: Any, table: Path) -> None:
    _, all_ways, one, wrong = answers(talk(run, table, "/why", "/why confirm", "/why cnfirm"))
    assert "ask.0 to confirm" in all_ways
    assert "people" in one
    assert wrong.strip() == "/why cnfirm"


def test_a_phase_s_own_ways_out_come_before_those_of_every_phase(run: Any, table: Path) -> None:
    _with(table, "global_transitions: [{to: gone, on: hang_up}]")
    why = answers(talk(run, table, "/why"))[-1]
    assert 0 < why.index("ask.0 to confirm") < why.index("From every phase")
    assert why.index("From every phase") < why.index("global.0 to gone")


def test_keys_that_the_runtime_keeps_are_shown_only_if_asked_for(run: Any, table: Path) -> None:
    _with(table, "extract: [{name: Mood, schema: {properties: {mood: {type: string}}}}]")
    _, *turns, few, every = answers(
        talk(run, table, "well", "table for two", "/state", "/state all")
    )
    assert "people = 2" in few
    assert "Mood:status" not in few + "".join(turns)
    assert "1 more that the runtime keeps" in few
    assert "Mood:status" in every
    assert "more that the runtime keeps" not in every


def test_that_an_extraction_failed_is_not_hidden(run: Any, table: Path, tmp_path: Path) -> None:
    _with(table, "extract: [{name: Mood, schema: {properties: {mood: {type: string}}}}]")
    (fake := tmp_path / "fake.yaml").write_text("answers: [{fails: {Mood: timed_out}}]")
    _, turn, state = answers(talk(run, table, "well", "/state", args=("--fake", str(fake))))
    assert "Mood failed: timed_out" in turn
    assert "Mood:error" in state


def test_computed_keys_are_told_when_they_change_not_at_the_start(run: Any, table: Path) -> None:
    _with(table, "computed: {large: {cases: [{when: people >= 6, value: true}], else: false}}")
    opening, small, large = answers(talk(run, table, "a table for four", "a table for eight"))
    assert "large" not in opening + small
    assert "large = true" in large


def _with(table: Path, section: str) -> None:
    file = table / "flow.yaml"
    file.write_text(f"{file.read_text()}{section}\n")


def test_a_mistake_is_a_message_and_the_talk_goes_on(run: Any, table: Path) -> None:
    done = talk(
        run, table, "/why cnfirm", "/set zip", "/set agred=true", "/set people=x", "/advance 3",
        "/sat", "/tool", "/tool book 'x", "/resolve account 5", "/facts some",
        "/save", "/set agreed=maybe", "a table for two",
    )  # fmt: skip
    for said in (
        "Did you mean 'confirm'?", "'zip' sets nothing", "Did you mean 'agreed'?",
        "'3' is not a duration", "no command '/sat'", "write /tool NAME", "quote is not closed",
        "'account' is not running", "/facts shows", "write /save FILE", "input failed (wrong_type)",
    ):  # fmt: skip
        assert said in done.err, said
    assert "Traceback" not in done.err
    assert "people = 2" in answers(done)[-1]


def test_the_model_s_words_decide_what_was_asked(run: Any, table: Path) -> None:
    *_, answer = answers(talk(run, table, "table for four", "/say Is four right?", "yes"))
    assert "agreed = true  “yes”" in answer


def test_a_tool_runs_only_if_the_gate_admits_it(run: Any, table: Path) -> None:
    _, _, denied, unknown, _, ran = answers(
        talk(
            run, table, "table for four", "/tool book people=4", "/tool bok", "yes",
            "/tool book people=4",
        )
    )  # fmt: skip
    assert "denied (guard); missing: agreed" in denied
    assert "denied (unknown_tool)" in unknown
    assert 'ran: {"ticket":"T-1"}' in ran
    assert "confirm → booked" in ran
    assert "the conversation has ended" in ran


def test_values_are_read_as_the_flow_declares_them(run: Any, table: Path) -> None:
    done = talk(run, table, "/set zip=02139 people=3", "/state", args=("--state", "agreed=true"))
    state = answers(done)[-1]
    assert 'zip = "02139"' in state
    assert "people = 3" in state
    assert "agreed = true" in state


def test_a_talk_can_start_in_any_phase(run: Any, table: Path) -> None:
    assert answers(talk(run, table, args=("--phase", "confirm")))[0].startswith("[confirm]")
    done = run("chat", table, "--phase", "cnfirm")
    assert done.code == 1
    assert "Did you mean 'confirm'?" in done.err


def test_time_passes_and_events_are_offered(run: Any, table: Path) -> None:
    _, early, _, late = answers(
        talk(run, table, "/event hang_up", "/advance 1m30s", "/event hang_up")
    )
    assert "[ask]" in early
    assert "ask → gone" in late


def test_facts_and_tools_can_be_looked_at(run: Any, table: Path) -> None:
    _, _, last, all_of_them, tools = answers(
        talk(run, table, "table for four", "/facts", "/facts all", "/tools")
    )
    assert '"fact":"WordsHeard"' in last
    assert "SessionStarted" not in last
    assert "SessionStarted" in all_of_them
    assert "book, cancel" in tools


def test_quit_leaves_what_follows_unread(run: Any, table: Path) -> None:
    assert "people = 4" not in talk(run, table, "/quit", "table for four").out


def test_help_lists_the_commands(run: Any, table: Path) -> None:
    listed = answers(talk(run, table, "/help"))[-1]
    assert all(
        f"/{name}" in listed
        for name in ("why", "state", "tools", "tool", "set", "event", "say", "advance", "facts")
    )


def test_an_event_that_nothing_waits_for_is_told(run: Any, table: Path) -> None:
    done = talk(run, table, "/event hang_pu")
    assert "nothing waits for event 'hang_pu'. Did you mean 'hang_up'?" in done.err


def test_a_tool_may_be_called_and_saved_by_the_name_that_a_model_knows(
    run: Any, table: Path
) -> None:
    flow = table / "flow.yaml"
    flow.write_text(flow.read_text().replace("  cancel: {}", "  desk.look: {respond: 1}"))
    file = table / "scenarios" / "look.scenario.yaml"
    done = talk(run, table, "table for four", "/tool desk__look", f"/save {file}")
    assert "ran: 1" in done.out
    assert done.err == ""
    assert "name: desk.look" in file.read_text()


def test_a_saved_talk_is_a_scenario_that_passes(run: Any, table: Path) -> None:
    file = table / "scenarios" / "first"
    done = talk(
        run, table, "table for four", "/tool book people=4", "/tool nothing", "/advance 5s",
        "/set zip=02139", "/set agreed=maybe", "no, no: on", "/say Is it right?", "yes",
        "/tool book people=4", f"/save {file}", f"/save {file}",
    )  # fmt: skip
    assert "does not pass" not in done.err
    assert "exists already" in done.err
    scenarios, flow, functions = load_scenarios(file.with_name("first.scenario.yaml"))
    (scenario,) = scenarios.scenarios
    report = run_scenario(scenario, flow, functions)
    assert report.passed, report.text(scenarios, 0)
    assert scenario.name == "first"
    assert scenario.turns[0].model == "How many people?"
    assert scenario.turns[-1].expect is not None
    assert scenario.turns[-1].expect.ended is True


def test_a_talk_saved_elsewhere_names_its_flow(run: Any, table: Path, tmp_path: Path) -> None:
    file = tmp_path / "tests" / "one.scenario.yaml"
    talk(run, table, "table for four", f"/save {file}")
    assert file.read_text().startswith("flow: ../table\n")
    assert load_scenarios(file)[1].flow == "table"


def test_there_is_nothing_to_save_at_first(run: Any, table: Path, tmp_path: Path) -> None:
    flow = table / "flow.yaml"
    flow.write_text(flow.read_text().replace("    say: How many people?\n", ""))
    assert "nothing to save" in talk(run, table, f"/save {tmp_path / 'x'}").err
