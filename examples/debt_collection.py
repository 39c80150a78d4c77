"""A debt-collection call built in Python alone, and a short talk with it.

The same names as in a flow file: what flows/debt_collection/flow.yaml says in YAML, this says in
Python (shortened to one way through the call). Run it: `python examples/debt_collection.py`.
"""

from __future__ import annotations

from flowengine import (
    Action,
    Computed,
    Denied,
    Flow,
    Functions,
    Key,
    Phase,
    Tool,
    Transition,
    Watch,
)
from flowengine.extract.spec import ExtractSpec, FieldSpec, Interval, Promotion, RecordSpec
from flowengine.flow.reaction import Case
from flowengine.guards import arg, captured, in_phase, is_set, is_true, key
from flowengine.testing import Simulation

functions = Functions()


@functions.tool
def verify_identity(name: str, dob: str, last_four: str) -> dict[str, bool]:
    return {"verified": (name.lower(), dob, last_four) == ("jane smith", "1984-03-05", "4417")}


STATE = {
    "disclosure_given": Key(type="boolean"),
    "identity_verified": Key(type="boolean", writers=("tool:verify_identity",), trusted=True),
    "dob": Key(type="date", pii=True),
    "last_four": Key(type="string", pii=True),
    "cease_words": Key(type="string"),
    "cease_desist_requested": Key(type="boolean"),
    "negotiation_intent": Key(type="string", enum=("full_pay", "partial_pay", "dispute", "refuse")),
    "ptp_amount": Key(type="decimal"),
    "ptp_date": Key(type="date"),
    "promise_recorded": Key(type="boolean", depends_on=("ptp_amount", "ptp_date")),
}

# Heard by rule, from the caller's words alone.
PAYING = in_phase("negotiate") | in_phase("arrange_payment")
RECORDS = {
    "stop": RecordSpec(
        fields={
            "cease_words": FieldSpec(recognize={"regex": "(?:stop|quit) calling|cease and desist"})
        }
    ),
    "acknowledgement": RecordSpec(
        fields={"disclosure_given": FieldSpec(recognize="yes_no", when_asked=True)}
    ),
    "identity": RecordSpec(
        fields={
            "dob": FieldSpec(recognize="date_of_birth", asks=("date of birth",)),
            "last_four": FieldSpec(
                recognize="digits", length=4, when_asked=True, asks=("last four",)
            ),
        }
    ),
    "promise": RecordSpec(
        fields={
            "ptp_amount": FieldSpec(recognize="money", asks=("how much",), accept_when=PAYING),
            "ptp_date": FieldSpec(recognize="date", prefer="future", accept_when=PAYING),
        }
    ),
}

# Asked of a language model on every second turn.
DEBTOR_STATE = ExtractSpec(
    name="DebtorState",
    instruction="Read the mood and the intent of the person who was called.",
    schema_={
        "type": "object",
        "properties": {
            "emotional_state": {"enum": ["calm", "cooperative", "frustrated", "angry"]},
            "negotiation_intent": {"enum": ["full_pay", "partial_pay", "dispute", "refuse"]},
            "cease_desist_requested": {"type": "boolean"},
        },
    },
    window=5,
    trigger=Interval(interval=2),
    min_words=3,
    promote=(
        Promotion(field="emotional_state", policy="overwrite"),
        Promotion(field="negotiation_intent", policy="overwrite"),
        Promotion(field="cease_desist_requested", policy="true_only"),
    ),
)

MUST_STOP = is_true("cease_desist_requested") | is_set("cease_words")
COMPUTED = {
    "sentiment_score": Computed(
        of="emotional_state",
        map={"cooperative": 0.9, "calm": 0.7, "frustrated": 0.4, "angry": 0.2},
        else_=0.5,
    ),
    "call_risk_level": Computed(
        cases=(
            Case(when=MUST_STOP, value="critical"),
            Case(when=key("sentiment_score") < 0.3, value="high"),
        ),
        else_="low",
    ),
}
WATCH = (
    Watch(
        key="call_risk_level",
        changed_to="high",
        do=(Action(set={"alert:risk_escalation": True}),),
    ),
)

TOOLS = {
    "verify_identity": Tool(
        description="Compare what the caller said with the account.",
        args={"name": "string", "dob": "string", "last_four": "string"},
        when=(arg("dob") == key("dob")) & (arg("last_four") == key("last_four")),
        set={"identity_verified": "result.verified"},
    ),
    "record_promise": Tool(
        description="Record what the caller promises to pay, and when.",
        args={"amount": "number", "date": "string"},
        when=is_true("identity_verified")
        & captured("ptp_amount", "ptp_date")
        & (arg("amount") == key("ptp_amount"))
        & (arg("date") == key("ptp_date")),
        set={"promise_recorded": True},
        respond={"recorded": True},
        commit=True,
        times="per_correction",
    ),
}

PHASES = {
    "disclosure": Phase(
        initial=True,
        say="This is an attempt to collect a debt. The call is recorded. Do you understand?",
        needs=("disclosure_given",),
        tools=(),
        transitions=(Transition(to="verify_identity", when=is_true("disclosure_given")),),
    ),
    "verify_identity": Phase(
        instruction="Ask for name, date of birth and last four digits, then verify them.",
        collect=("identity",),
        tools=("verify_identity",),
        transitions=(Transition(to="negotiate", when=is_true("identity_verified")),),
    ),
    "negotiate": Phase(
        instruction="Find out what the caller is able and willing to pay.",
        needs=("negotiation_intent",),
        tools=(),
        transitions=(
            Transition(to="close", when=key("negotiation_intent").in_("dispute", "refuse")),
            Transition(to="arrange_payment", when=is_set("negotiation_intent")),
        ),
    ),
    "arrange_payment": Phase(
        instruction="Agree on an amount and a date, read both back, and record the promise.",
        collect=("promise",),
        done=is_true("promise_recorded"),
        tools=("record_promise",),
        transitions=(Transition(to="close", when=is_true("promise_recorded")),),
    ),
    "close": Phase(final=True, instruction="Sum up what was agreed, and say goodbye."),
}

FLOW = Flow(
    flow="debt_collection",
    timezone="America/New_York",
    state=STATE,
    records=RECORDS,
    extract=(DEBTOR_STATE,),
    computed=COMPUTED,
    watch=WATCH,
    tools=TOOLS,
    global_transitions=(
        Transition(to="close", when=MUST_STOP, description="the caller wants us to stop"),
    ),
    phases=PHASES,
)

IDENTITY = {"name": "Jane Smith", "dob": "1984-03-05", "last_four": "4417"}
PROMISE = {"amount": 200, "date": "2026-03-15"}


def main() -> None:
    call = Simulation(FLOW, functions=functions)
    print(f"says:   {call.said[0]}")
    talk(call, "Yes, I understand", "Your full name and your date of birth, please?")
    talk(call, "Jane Smith, March fifth 1984", "And the last four digits?", mood="calm")
    ask(call, "verify_identity", IDENTITY)  # too early: the caller has not said all of it
    talk(call, "Four four one seven", "Thank you, one moment.")
    ask(call, "verify_identity", IDENTITY)
    talk(call, "I can pay two hundred dollars", "By when?", intent="partial_pay")
    talk(call, "On the fifteenth", "Two hundred dollars on March 15.")
    ask(call, "record_promise", PROMISE)


def talk(call: Simulation, caller: str, model: str, **found: str) -> None:
    """One turn; `found` is what the language model would read in it."""
    names = {"mood": "emotional_state", "intent": "negotiation_intent"}
    fields = {names[name]: value for name, value in found.items()}
    call.turn(caller, model, extract={"DebtorState": fields} if fields else None)
    print(f"caller: {caller}\nmodel:  {model}\n        -> {call.phase}")


def ask(call: Simulation, tool: str, args: dict[str, object]) -> None:
    """The model asks for a tool; the flow decides."""
    outcome = call.tool(tool, args)
    refused = isinstance(outcome, Denied)
    told = f"denied, {', '.join(outcome.missing)} is missing" if refused else "ran"
    print(f"tool:   {tool}: {told}\n        -> {call.phase}")


if __name__ == "__main__":
    main()
