"""What Gemini calls INVALID_ARGUMENT in a request, as far as it is known: schemas and settings.

The list of keywords is the service's, written down apart from the one our dialect is made of, so
that a mistake there does not go unnoticed.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from flowengine.llm.data import is_object

Body: TypeAlias = dict[str, Any]

_SCHEMA_KEYWORDS = frozenset(
    {
        *("$id", "$defs", "$ref", "$anchor", "title", "description", "propertyOrdering"),
        *("type", "format", "enum", "minimum", "maximum"),
        *("items", "prefixItems", "minItems", "maxItems"),
        *("properties", "additionalProperties", "required"),
        *("anyOf", "oneOf"),
    }
)
_FORMATS = frozenset({"date-time", "date", "time"})


def request_faults(model: str, body: Body) -> list[str]:
    """What the service would call INVALID_ARGUMENT in a request, one message per fault."""
    config: Body = _get(body, "generationConfig") or {}
    native: Any = _get(config, "responseJsonSchema")
    tools: list[Body] = _get(body, "tools") or []
    declared: list[Body] = []
    for tool in tools:
        declared += _get(tool, "functionDeclarations") or []
    faults = list(_thinking_faults(model, _get(config, "thinkingConfig") or {}))
    if not _get(body, "contents"):
        faults.append("contents is not specified")
    if native is not None and _get(config, "responseSchema") is not None:
        faults.append("only one of response_schema and response_json_schema may be set")
    if native is not None and _get(config, "responseMimeType") != "application/json":
        faults.append("a response schema needs response_mime_type application/json")
    if native is not None and declared and not model.startswith("gemini-3"):
        faults.append("function calling with a response mime type application/json is unsupported")
    for schema in (native, *(_get(function, "parametersJsonSchema") for function in declared)):
        if schema is not None:
            faults += schema_faults(schema)
    return faults


def schema_faults(schema: Any, path: str = "schema") -> list[str]:
    """Every keyword, format or value of a schema that the service rejects."""
    if not is_object(schema):
        return []
    node: Body = schema
    faults = [f'Unknown name "{key}" at {path}' for key in node if key not in _SCHEMA_KEYWORDS]
    if "$ref" in node and any(not key.startswith("$") for key in node):
        faults.append(f"{path}: a $ref may have no siblings")
    if node.get("format", "date") not in _FORMATS:
        faults.append(f"{path}: format is not supported")
    if any(isinstance(member, bool) or member is None for member in node.get("enum", ())):
        faults.append(f"{path}: enum takes strings and numbers")
    for key, child in _subschemas(node):
        faults += schema_faults(child, f"{path}.{key}")
    return faults


def _subschemas(node: Body) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for keyword in ("properties", "$defs"):
        found += list(node.get(keyword, {}).items())
    for keyword in ("anyOf", "oneOf", "prefixItems"):
        found += [(keyword, child) for child in node.get(keyword, ())]
    return found + [(key, node[key]) for key in ("items", "additionalProperties") if key in node]


def _thinking_faults(model: str, config: Body) -> list[str]:
    budget, level = _get(config, "thinkingBudget"), _get(config, "thinkingLevel")
    if budget is not None and level is not None:
        return ["only one of thinking_budget and thinking_level may be set"]
    if level is not None and model.startswith("gemini-2"):
        return ["Thinking level is not supported for this model."]
    if budget == 0 and model.startswith("gemini-2.5-pro"):
        return ["Budget 0 is invalid. This model only works in thinking mode."]
    return []


def _get(body: Body, name: str) -> Any:
    """A field in either spelling: the SDK mixes camelCase and snake_case."""
    snake = "".join(f"_{char.lower()}" if char.isupper() else char for char in name)
    return body.get(name, body.get(snake))
