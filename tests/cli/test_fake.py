"""`flowengine chat --fake`: a whole flow talked to without a model, a key or a network."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from flowengine.cli.fake import Fake, Spoken
from flowengine.testing import Failure
from flowengine.testing.fake_gemini import FakeGemini
from flowengine.testing.run import run_scenario
from flowengine.testing.scenario_file import load_scenarios

FLOW = """\
flow: refill
models: {extraction: gemini-3.5-flash-lite}
state:
  agreed: {type: boolean}
extract:
  - name: choice
    schema: {type: object, properties: {drug: {type: string}}}
    promote: [{field: drug, policy: overwrite}]
  - name: mood
    schema: {type: object, properties: {mood: {enum: [calm, angry]}}}
decisions:
  agrees: {question: Does the caller agree?, writes: agreed}
resolvers:
  stock: {args: [drug]}
  price: {args: [drug]}
tools:
  submit: {args: {drug: string}, when: decided(agrees) or is_true(agreed), save_as: order}
  mail: {background: when_idle, respond: {sent: true}}
  pay: {confirm: Charge the card?, respond: {paid: true}}
  fax: {respond: {sent: true}}
  web: {http: {url: "https://x.example"}}
phases:
  choose:
    initial: true
    tools: []
    transitions:
      - {to: confirm, when: captured(drug)}
  confirm:
    say: Shall I refill it?
    show: [mood, "stock:result", "price:result"]
    on_enter: [{resolve: stock}, {resolve: price}]
    transitions:
      - {to: done, when: is_set(order)}
  done: {final: true}
"""
FUNCTIONS = """\
import asyncio

from flowengine import Functions

functions = Functions()


@functions.resolver
async def price(drug):
    await asyncio.sleep(0)
    return {"lisinopril": 12}[drug.lower()]


@functions.resolver
def stock(drug):
    return 3


@functions.tool
async def submit(drug):
    await asyncio.sleep(0)
    return {"id": f"R-{drug}"}
"""
ANSWERS = """\
answers:
  - words: [lisinopril, the first]
    extract: {choice: {drug: lisinopril}}
  - turn: 2
    decide: {agrees: 0.95}
    extract: {choice: {drug: Metformin}, mood: {mood: calm}}
  - words: oh no
    fails: {choice: timed_out, fax: out_of_paper}
  - confirm: {pay: true}
"""


@pytest.fixture
def refill(tmp_path: Path) -> Path:
    (tmp_path / "flow.yaml").write_text(FLOW)
    (tmp_path / "functions.py").write_text(FUNCTIONS)
    (tmp_path / "answers.yaml").write_text(ANSWERS)
    return tmp_path


def talk(run: Any, refill: Path, *lines: str, fake: bool = True) -> tuple[list[str], str]:
    args = ("--fake", refill / "answers.yaml") if fake else ()
    done = run("chat", refill, *args, stdin="\n".join(lines))
    assert done.code == 0, done.err
    return done.out.split("\n> "), done.err


def test_extractors_decisions_and_async_functions_carry_a_call_to_its_end(
    run: Any, refill: Path
) -> None:
    (_, choice, yes, ran), err = talk(
        run, refill, "Lisinopril please", "yes", "/tool submit drug=lisinopril"
    )
    assert "choose → confirm" in choice
    assert 'drug = "lisinopril"  “Lisinopril”' in choice
    assert "price:result = 12" in choice
    assert "stock:result = 3" in choice
    assert "says: Shall I refill it?" in choice
    assert 'mood = "calm"' in yes
    assert 'ran: {"id":"R-lisinopril"}' in ran
    assert "decided: agrees yes (0.95)" in ran
    assert "the conversation has ended" in ran
    assert err == ""


def test_a_value_that_nobody_said_is_marked(run: Any, refill: Path) -> None:
    (_, _, second), _ = talk(run, refill, "hm", "well")
    assert 'drug = "Metformin"  (not in the caller\'s words)' in second


def test_what_the_script_does_not_answer_finds_nothing(run: Any, refill: Path) -> None:
    (_, nothing), err = talk(run, refill, "good morning")
    assert nothing.splitlines()[1] == "[choose]"
    assert (" = " in nothing, err) == (False, "")


def test_failures_are_scripted_too_and_shown_by_their_code(run: Any, refill: Path) -> None:
    (_, failed, fax, *_), _ = talk(run, refill, "oh no", "/set drug=x", "/tool fax")
    assert "choice failed: timed_out" in failed
    (_, _, _, fax), _ = talk(run, refill, "lisinopril", "oh no", "/tool fax")
    assert "failed: out_of_paper" in fax


def test_calls_are_denied_accepted_confirmed_and_delivered(run: Any, refill: Path) -> None:
    (_, _, denied, accepted, delivered, paid), _ = talk(
        run, refill, "the first", "/tool submit drug=lisinopril", "/tool mail",
        "/resolve mail 5", "/tool pay",
    )  # fmt: skip
    assert "denied (guard)" in denied
    assert "accepted: it runs in the background" in accepted
    assert "waits for: mail" in accepted
    assert "delivered (when_idle): mail ran: 5" in delivered
    assert 'ran: {"paid":true}' in paid


def test_a_call_that_nobody_confirms_waits_for_the_user(run: Any, refill: Path) -> None:
    (refill / "answers.yaml").write_text("answers: [{extract: {choice: {drug: x}}}]\n")
    (_, _, waits, no, _, yes, wrong), err = talk(
        run, refill, "go", "/tool pay", "/confirm no too dear", "/tool pay", "/confirm",
        "/confirm maybe",
    )  # fmt: skip
    assert "waits for: pay" in waits
    assert "denied (declined)" in no
    assert "too dear" in no
    assert 'ran: {"paid":true}' in yes
    assert "/confirm no REASON" in err
    assert wrong.strip() == "/confirm maybe"


@pytest.fixture
def gemini(run: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeGemini]:
    """Where the flow's models are asked, in the place of Gemini."""
    with FakeGemini() as gemini:
        monkeypatch.setenv("GEMINI_API_KEY", "test")
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", gemini.url)
        yield gemini


def test_what_lies_outside_waits_for_the_user(run: Any, refill: Path) -> None:
    (_, _, waits, answered), _ = talk(run, refill, "lisinopril", "/tool web", "/resolve web 7")
    assert "waits for: web" in waits
    assert answered.splitlines()[1] == "  ran: 7"


def test_an_async_function_that_raises_has_failed(run: Any, refill: Path) -> None:
    (refill / "answers.yaml").write_text("answers: [{extract: {choice: {drug: aspirin}}}]\n")
    (_, turn), _ = talk(run, refill, "aspirin")
    assert "price failed: KeyError" in turn
    assert "stock:result = 3" in turn


def test_with_a_key_the_flow_s_models_answer(run: Any, refill: Path, gemini: FakeGemini) -> None:
    gemini.says('{"drug": "lisinopril"}')
    gemini.says('{"mood": null}')
    gemini.says('{"q1": {"probability": 0.95}}')
    (_, choice, ran), err = talk(
        run, refill, "lisinopril please", "/tool submit drug=lisinopril", fake=False
    )
    assert 'drug = "lisinopril"  “lisinopril”' in choice
    assert "decided: agrees yes (0.95)" in ran
    assert {request.model for request in gemini.requests} == {"gemini-3.5-flash-lite"}
    assert '"phase": "confirm"' in str(gemini.requests[-1].body)
    assert "what you say is sent to it" in err


def test_a_model_that_fails_is_told_and_the_talk_goes_on(
    run: Any, refill: Path, gemini: FakeGemini
) -> None:
    gemini.fails(403, "no", name="PERMISSION_DENIED")
    gemini.says('{"mood": "angry"}')
    (_, turn), _ = talk(run, refill, "lisinopril please", fake=False)
    assert "choice failed: auth_failed" in turn
    assert 'mood = "angry"' in turn


def test_the_user_is_told_who_hears_the_words(
    run: Any, refill: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "test")
    assert "what you say is sent to it" in run("chat", refill).err
    assert "--fake scripts it" in run("chat", refill, "--no-models").err
    assert run("chat", refill, "--fake", refill / "answers.yaml").err == ""


def test_without_a_script_and_a_key_one_line_says_who_finds_nothing(run: Any, refill: Path) -> None:
    _, err = talk(run, refill, "lisinopril", "yes", "oh", fake=False)
    assert len(err.splitlines()) == 1
    assert "choice, mood, agrees" in err
    assert "--fake FILE" in err


def test_a_scripted_talk_is_saved_as_a_scenario_that_passes(run: Any, refill: Path) -> None:
    file = refill / "scenarios" / "talk"
    _, err = talk(
        run, refill, "oh no", "lisinopril please", "/tool submit drug=x", "/interrupt Shall",
        "/tool mail", "/resolve mail", "/tool pay", "yes", f"/save {file}",
    )  # fmt: skip
    assert "does not pass" not in err
    scenarios, flow, functions = load_scenarios(file.with_name("talk.scenario.yaml"))
    report = run_scenario(scenarios.scenarios[0], flow, functions)
    assert report.passed, report.text(scenarios, 0)


PHARMACY = """\
answers:
  - words: Rosa Keller
    extract: {caller_identity: {patient_name: Rosa Keller}}
  - words: Lisinopril
    extract: {prescription_choice: {medication: Lisinopril}}
"""


def test_a_whole_call_of_the_pharmacy_needs_no_model(run: Any, tmp_path: Path) -> None:
    flow = Path(__file__).parents[2] / "flows" / "pharmacy_refill"
    script = tmp_path / "answers.yaml"
    script.write_text(PHARMACY)
    lines = (
        "hello", "Rosa Keller, November 5th 1972",
        "/tool verify_patient patient_name='Rosa Keller' date_of_birth=1972-11-05",
        "/tool list_prescriptions", "Lisinopril", "/tool check_refills prescription_id=RX-1001",
        "/say Shall I refill your Lisinopril?", "/tool submit_refill prescription_id=RX-1001",
        "yes please", "/tool submit_refill prescription_id=RX-1001",
        f"/save {tmp_path / 'refill'}",
    )  # fmt: skip
    done = run("chat", flow, "--fake", script, stdin="\n".join(lines))
    answers = done.out.split("\n> ")
    assert (done.code, done.err) == (0, "")
    assert "denied (guard); missing: refill_confirmed" in answers[-4]
    assert "confirm → refill_done" in answers[-2]
    assert "the conversation has ended" in answers[-2]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("answers: [{extract: {choise: {drug: x}}}]", "did you mean 'choice'?"),
        ("answers: [{extract: {choice: {drgu: x}}}]", "did you mean 'drug'?"),
        ("answers: [{extract: {mood: {mood: clam}}}]", "cannot hold this"),
        ("answers: [{decide: {agree: true}}]", "did you mean 'agrees'?"),
        ("answers: [{resolve: {stokc: 1}}]", "did you mean 'stock'?"),
        ("answers: [{tools: {submitt: 1}}]", "did you mean 'submit'?"),
        ("answers: [{fails: {submitt: x}}]", "did you mean 'submit'?"),
        ("answers: [{word: hi}]", "did you mean 'words'?"),
        ("answers: [{turn: 0}]", "greater than or equal to 1"),
        ("answers: []", "at least one"),
        ("- x", "holds none of `answers:`"),
        ("answers: [", "answers.yaml:1"),
    ],
)
def test_mistakes_in_a_script_are_told_in_their_place(
    run: Any, refill: Path, text: str, says: str
) -> None:
    (refill / "answers.yaml").write_text(text)
    done = run("chat", refill, "--fake", refill / "answers.yaml")
    assert done.code == 1
    assert says in done.err
    assert "answers.yaml" in done.err


def test_the_first_entry_that_fits_and_names_it_answers() -> None:
    fake = Fake.model_validate(
        {
            "answers": [
                {"turn": 1, "extract": {"a": {"x": 1}}},
                {"words": "pay", "fails": {"a": "timed_out", "t": "broke"}},
                {"extract": {"a": {"x": 2}}, "tools": {"t": 5}},
            ]
        }
    )
    assert fake.find("extract", "a", Spoken("pay", 1)) == {"x": 1}
    assert fake.find("extract", "a", Spoken("I Pay.", 2)) == Failure("timed_out", "timed_out")
    assert fake.find("tools", "t", Spoken("pay", 2)) == Failure("failed", "broke")
    assert fake.find("extract", "a", Spoken("repay", 2)) == {"x": 2}
    assert fake.find("tools", "u", Spoken("pay", 2)) is None
