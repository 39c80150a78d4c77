"""How tools are told to a model, and how their results are answered, in each provider's form."""

from __future__ import annotations

from typing import Any

from flowengine.errors import FlowError, did_you_mean
from flowengine.inputs import Json
from flowengine.llm.data import Schema
from flowengine.llm.dialect import GEMINI, OPENAI_STRICT
from flowengine.llm.messages import ToolSpec
from flowengine.llm.nulls import strict_schema
from flowengine.llm.openai_wire import has_map
from flowengine.sources.arguments import Function, arguments_of
from flowengine.tools.accept import declared_schema
from flowengine.tools.context import ToolContext
from flowengine.tools.names import told_name
from flowengine.tools.spec import Tool


def declaration(name: str, tool: Tool, function: Function | None = None) -> ToolSpec:
    """What a model is told of a tool: its function's arguments, under what the flow declares.

    Its name is one that every provider takes; a session understands the call under either name.

    Raises:
        FlowError: the flow declares an argument that the function does not take
    """
    if function is None:
        parameters, description = declared_schema(tool.args), tool.description
    else:
        taken = arguments_of(function, ToolContext)
        parameters = _overlaid(name, taken.schema, tool.args, taken.takes_any)
        description = tool.description or taken.description
    return ToolSpec(name=told_name(name), description=description, parameters=parameters)


def for_gemini(tool: ToolSpec) -> dict[str, Any]:
    """One entry of Gemini's `function_declarations`."""
    told: dict[str, Any] = {"name": tool.name, "description": tool.description}
    if tool.parameters.get("properties"):
        told["parameters_json_schema"] = GEMINI.adapt(tool.parameters)[0]
    return told


def for_openai(tool: ToolSpec, *, strict: bool = False) -> dict[str, Any]:
    """One entry of OpenAI's `tools`; `strict` binds the model to the schema, if one can."""
    parameters = tool.parameters
    strict = strict and not has_map(parameters)
    if strict:
        parameters = OPENAI_STRICT.adapt(strict_schema(parameters))[0]
    function = {"name": tool.name, "description": tool.description, "parameters": parameters}
    return {"type": "function", "function": {**function, **({"strict": True} if strict else {})}}


def response_of(value: Json) -> dict[str, Json]:
    """A result as a provider takes it: an object, as which any other value is wrapped."""
    return value if isinstance(value, dict) else {"output": value}


def _overlaid(name: str, schema: Schema, args: dict[str, Any], takes_any: bool) -> Schema:
    properties: Schema = schema.get("properties", {})
    for argument in args:
        if argument not in properties and not takes_any:
            raise FlowError(
                f"tool {name!r} declares the argument {argument!r}, which its function does not "
                f"take.{did_you_mean(argument, properties)}"
            )
    declared = declared_schema(args)
    asked = [*schema.get("required", ()), *declared.get("required", ())]
    required = [n for n in dict.fromkeys(asked) if "default" not in args.get(n, {})]
    properties = {**properties, **args}
    overlaid = {**schema, "properties": properties, "required": required}
    return {key: part for key, part in overlaid.items() if key != "required" or part}
