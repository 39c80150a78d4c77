"""`flowengine probe`: fixtures asked of a model on the loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from flowengine.cli.fixtures import load_fixtures
from flowengine.cli.probing import Asked, Probed
from flowengine.flow.load import load
from flowengine.testing.fake_gemini import Chunks, FakeGemini, Reply, Seen, answer, error_reply

FLOW = """\
flow: shop
models: {extraction_thinking_budget: 64}
extract:
  - {name: who, schema: {type: object, properties: {name: {type: string}}}}
  - {name: what, schema: {type: object, properties: {item: {type: string}, sure: {type: boolean}}}}
phases: {a: {}}
"""
FIXTURES = """\
fixtures:
  - name: orders
    turns:
      - {user: Ann Lee here, model: Hello}
      - {user: "a pizza, I think"}
    known: {name: Ann Lee}
    expect:
      who: {name: null}
      what: {item: pizza, sure: false}
"""
RIGHT = {"who": {"name": None}, "what": {"item": "Pizza", "sure": None}}
Answers = Callable[[str], Any]


class Shop(FakeGemini):
    """Answers each extractor by its name, which is the title of the schema it sends."""

    answers: Answers

    def reply_to(self, seen: Seen) -> Reply | Chunks:
        super().reply_to(seen)
        config = seen.body["generationConfig"]
        title = config["responseJsonSchema"]["title"]
        given = self.answers(title)
        return given if isinstance(given, Reply) else Reply(answer({"text": json.dumps(given)}))


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "flow.yaml").write_text(FLOW)
    (tmp_path / "extraction.yaml").write_text(FIXTURES)
    return tmp_path


@pytest.fixture
def gemini(monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    monkeypatch.setenv("GEMINI_API_KEY", "test")
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
    with Shop() as gemini:
        gemini.answers = RIGHT.__getitem__
        yield gemini


@pytest.fixture
def probe(run: Any, shop: Path, gemini: Shop) -> Callable[..., Any]:
    def probe(*args: object) -> Any:
        return run("probe", shop, "--base-url", gemini.url, *args)

    return probe


def test_a_model_that_finds_what_it_should_is_right_every_time(probe: Any, gemini: Shop) -> None:
    done = probe("--model", "m-1", "--runs", 4)
    assert done.code == 0, done.err
    row = done.out.splitlines()[-1]
    assert row.startswith("m-1 ")
    assert " 4/4" in row
    assert len([part for part in row.split() if part.replace(".", "").isdecimal()]) == 4
    assert gemini.calls == 8


def test_all_extractors_of_a_turn_are_asked_at_once_with_its_words_and_what_is_known(
    probe: Any, gemini: Shop
) -> None:
    probe("--model", "gemini-3.5-flash-lite", "--runs", 1)
    assert {seen.model for seen in gemini.requests} == {"gemini-3.5-flash-lite"}
    sent = [json.dumps(seen.body) for seen in gemini.requests]
    assert all("a pizza, I think" in text and "64" in text for text in sent)
    assert sum("Already known" in text for text in sent) == 1


def test_what_differs_is_counted_by_field_and_never_shown(probe: Any, gemini: Shop) -> None:
    wrong = {"who": {"name": "Secret"}, "what": {"item": None, "sure": True}}
    gemini.answers = wrong.__getitem__
    done = probe("--model", "m-1", "--runs", 2)
    assert done.code == 1
    assert "who.name made up: 2 of 2" in done.out
    assert "what.item missing: 2 of 2" in done.out
    assert "what.sure made up: 2 of 2" in done.out
    assert "Secret" not in done.out + done.err


def test_failures_are_counted_by_code(probe: Any, gemini: Shop) -> None:
    refused = error_reply(404, "no such model", "NOT_FOUND")
    gemini.answers = lambda title: refused if title == "who" else RIGHT[title]
    done = probe("--model", "m-1", "--runs", 3, "--json")
    assert done.code == 1
    [model] = json.loads(done.out)["models"]
    assert model["failed"] == {"model_not_found": 3}
    assert (model["right"], model["turns"]) == (0, 3)


def test_several_models_with_their_budgets_are_asked_one_after_the_other(
    probe: Any, gemini: Shop
) -> None:
    done = probe("--model", "m-1", "--model", "m-2=0", "--runs", 1, "--json")
    first, second = json.loads(done.out)["models"]
    assert (first["model"], first["thinking_budget"]) == ("m-1", None)
    assert (second["model"], second["thinking_budget"]) == ("m-2", 0)
    assert set(first["seconds"]) == {"p50", "p90", "p99", "max"}
    assert [seen.model for seen in gemini.requests] == ["m-1", "m-1", "m-2", "m-2"]


def test_a_percentile_is_the_time_within_which_so_many_turns_were_done() -> None:
    probed = Probed(Asked("m"), seconds=[float(n) for n in range(100, 0, -1)])
    assert [probed.percentile(share) for share in (50, 90, 99)] == [50, 90, 99]
    assert Probed(Asked("m"), seconds=[2.0]).percentile(99) == 2


def test_extractions_that_a_call_would_not_wait_for_are_late(
    probe: Any, shop: Path, gemini: Shop
) -> None:
    text = FLOW.replace("{name: who,", "{name: who, timeout: 1ms,")
    (shop / "flow.yaml").write_text(text)
    done = probe("--model", "m", "--runs", 2, "--json")
    assert json.loads(done.out)["models"][0]["late"] == 2
    assert done.code == 0


def test_any_service_that_speaks_openai_can_be_asked(run: Any, shop: Path) -> None:
    class Served(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            asked = json.dumps(body)
            found = RIGHT["what" if "item" in asked else "who"]
            message = {"role": "assistant", "content": json.dumps(found)}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            data = json.dumps({"model": "local", "choices": [choice]}).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Served) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        options = ("--service", "openai", "--base-url", url)
        done = run("probe", shop, "--model", "local", "--runs", 2, *options)
        server.shutdown()
        thread.join()
    assert (done.code, done.err) == (0, ""), done.out
    assert " 2/2" in done.out


def test_without_a_key_no_real_model_is_asked(
    run: Any, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GOOGLE_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    done = run("probe", shop, "--model", "gemini-3.5-flash-lite")
    assert (done.code, done.out) == (2, "")
    assert "set GOOGLE_API_KEY or GEMINI_API_KEY" in done.err
    assert run("probe", shop, "--model", "m", "--service", "openai").code == 2


@pytest.mark.parametrize("model", ["=64", "m=", "m=much"])
def test_a_model_without_a_name_or_with_half_a_budget_is_wrong_usage(
    probe: Any, model: str
) -> None:
    done = probe("--model", model)
    assert done.code == 2
    assert "write NAME" in done.err


def test_a_flow_without_fixtures_says_how_they_are_written(probe: Any, shop: Path) -> None:
    (shop / "extraction.yaml").unlink()
    done = probe("--model", "m")
    assert done.code == 1
    assert "extraction.yaml: there are no fixtures" in done.err


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("      who:", "      whoo:", "the flow has no extractor 'whoo'"),
        ("{item: pizza", "{itm: pizza", "did you mean 'item'?"),
        ("sure: false}", "sure: no}", "field 'sure' of 'what' cannot hold this"),
        ("    known:", "    knwon:", "did you mean 'known'?"),
        ("    turns:", "    x-turns:", "`turns` is missing"),
        ("{user: Ann Lee here, model: Hello}", "{}", "needs words"),
    ],
)
def test_mistakes_in_fixtures_are_told_in_their_place(
    probe: Any, shop: Path, old: str, new: str, says: str
) -> None:
    assert old in FIXTURES
    (shop / "extraction.yaml").write_text(FIXTURES.replace(old, new))
    done = probe("--model", "m")
    assert done.code == 1
    assert says in done.err
    assert "extraction.yaml:" in done.err


def test_the_fixtures_of_the_flows_fit_them() -> None:
    flows = Path(__file__).parents[2] / "flows"
    found = sorted(flows.glob("*/extraction.yaml"))
    assert found
    for file in found:
        assert load_fixtures(file.parent, load(file.parent), None)
