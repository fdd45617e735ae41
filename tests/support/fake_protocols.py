"""The wire formats in which models answer: enough of four of them for real agents.

Each turns a step of a script (`text`, `tools`, `usage`) into the whole answer and into
the events of its stream.
"""

import json
import uuid
from typing import Any, NamedTuple

Step = dict[str, Any]
Json = dict[str, Any]
Events = list[tuple[str | None, Any]]


class Asked(NamedTuple):
    """What a request is about."""

    turn: int
    tools: int
    prompt: str


def new_id(prefix: str) -> str:
    return f"{prefix}_{uuid.uuid4().hex[:20]}"


def flat(content: Any) -> str:
    """Return all the text inside a message, whatever its protocol."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(filter(None, map(flat, content)))
    if isinstance(content, dict):
        keys = ("text", "content", "output", "parts")
        return "\n".join(filter(None, (flat(content.get(key)) for key in keys)))
    return ""


def runs(flags: list[bool]) -> int:
    """Count the runs of true values: one turn may be split in several messages."""
    return sum(flag and not before for before, flag in zip([False, *flags], flags))  # noqa: B905


def used(step: Step) -> tuple[int, int, int]:
    usage = {"input": 100, "output": 20, "cached": 0, **step.get("usage", {})}
    return usage["input"], usage["output"], usage["cached"]


class Anthropic:
    """`POST /v1/messages`."""

    @staticmethod
    def asked(body: Json) -> Asked:
        messages = body.get("messages") or []
        turn = runs([m.get("role") == "assistant" for m in messages])
        users = [flat(m.get("content")) for m in messages if m.get("role") == "user"]
        return Asked(turn, len(body.get("tools") or []), "\n".join(users))

    @classmethod
    def reply(cls, step: Step, model: str) -> tuple[Json, Events]:
        fresh, output, cached = used(step)
        tools = step.get("tools", [])
        blocks = [{"type": "text", "text": step["text"]}] if step.get("text") else []
        blocks += [
            {"type": "tool_use", "id": new_id("toolu"), **tool} for tool in tools
        ]
        usage = {
            "input_tokens": fresh,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": cached,
            "output_tokens": output,
        }
        stop = {
            "stop_reason": "tool_use" if tools else "end_turn",
            "stop_sequence": None,
        }
        whole = {
            "id": new_id("msg"),
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": blocks,
            "usage": usage,
            **stop,
        }
        head = {**whole, "content": [], "stop_reason": None}
        events: list[Json] = [{"type": "message_start", "message": head}]
        for at, block in enumerate(blocks):
            events += cls._block(at, block)
        events += [
            {"type": "message_delta", "delta": stop, "usage": usage},
            {"type": "message_stop"},
        ]
        return whole, [(event["type"], event) for event in events]

    @staticmethod
    def _block(at: int, block: Json) -> list[Json]:
        if block["type"] == "text":
            start: Json = {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": block["text"]}
        else:
            start = {**block, "input": {}}
            inner = json.dumps(block["input"])
            delta = {"type": "input_json_delta", "partial_json": inner}
        return [
            {"type": "content_block_start", "index": at, "content_block": start},
            {"type": "content_block_delta", "index": at, "delta": delta},
            {"type": "content_block_stop", "index": at},
        ]

    @staticmethod
    def error(status: int, message: str) -> Json:
        kinds = {400: "invalid_request_error", 401: "authentication_error"}
        kinds |= {404: "not_found_error", 429: "rate_limit_error"}
        kind = kinds.get(status, "api_error")
        return {"type": "error", "error": {"type": kind, "message": message}}


class Responses:
    """`POST /v1/responses`."""

    @staticmethod
    def asked(body: Json) -> Asked:
        items = [i for i in body.get("input") or [] if isinstance(i, dict)]
        ours = ("reasoning", "function_call", "custom_tool_call", "local_shell_call")
        flags = [i.get("role") == "assistant" or i.get("type") in ours for i in items]
        users = [flat(i) for i, flag in zip(items, flags, strict=True) if not flag]
        return Asked(runs(flags), len(body.get("tools") or []), "\n".join(users))

    @classmethod
    def reply(cls, step: Step, model: str) -> tuple[Json, Events]:
        output = [cls._message(step["text"])] if step.get("text") else []
        output += [cls._call(tool) for tool in step.get("tools", [])]
        whole = {
            "id": new_id("resp"),
            "object": "response",
            "created_at": 1,
            "status": "completed",
            "model": model,
            "output": output,
            "usage": cls._usage(step),
            "error": None,
            "incomplete_details": None,
        }
        head = {**whole, "status": "in_progress", "output": [], "usage": None}
        events: list[tuple[str, Json]] = [("response.created", {"response": head})]
        for at, item in enumerate(output):
            events += cls._item(at, item)
        events.append(("response.completed", {"response": whole}))
        return whole, [
            (kind, {**data, "type": kind, "sequence_number": n})
            for n, (kind, data) in enumerate(events)
        ]

    @staticmethod
    def _message(text: str) -> Json:
        content = [{"type": "output_text", "text": text, "annotations": []}]
        head = {"type": "message", "id": new_id("msg"), "role": "assistant"}
        return {**head, "status": "completed", "content": content}

    @staticmethod
    def _call(tool: Json) -> Json:
        head = {"type": "function_call", "id": new_id("fc"), "call_id": new_id("call")}
        inner = json.dumps(tool["input"])
        return {**head, "name": tool["name"], "arguments": inner, "status": "completed"}

    @staticmethod
    def _usage(step: Step) -> Json:
        fresh, output, cached = used(step)
        return {
            "input_tokens": fresh + cached,
            "input_tokens_details": {"cached_tokens": cached},
            "output_tokens": output,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": fresh + cached + output,
        }

    @staticmethod
    def _item(at: int, item: Json) -> list[tuple[str, Json]]:
        blank: Json = {**item, "status": "in_progress"}
        blank["content" if item["type"] == "message" else "arguments"] = (
            [] if item["type"] == "message" else ""
        )
        middle: list[tuple[str, Json]] = []
        if item["type"] == "message":
            place = {"item_id": item["id"], "output_index": at, "content_index": 0}
            delta = {**place, "delta": item["content"][0]["text"]}
            middle = [("response.output_text.delta", delta)]
        added = ("response.output_item.added", {"output_index": at, "item": blank})
        done = ("response.output_item.done", {"output_index": at, "item": item})
        return [added, *middle, done]

    @staticmethod
    def error(status: int, message: str) -> Json:
        kinds = {401: "invalid_api_key", 429: "rate_limit_exceeded"}
        kind = kinds.get(status, "server_error")
        return {"error": {"message": message, "type": kind, "code": kind}}


class Chat:
    """`POST /v1/chat/completions`."""

    @staticmethod
    def asked(body: Json) -> Asked:
        messages = body.get("messages") or []
        flags = [m.get("role") == "assistant" for m in messages]
        users = [flat(m.get("content")) for m in messages if m.get("role") == "user"]
        return Asked(sum(flags), len(body.get("tools") or []), "\n".join(users))

    @staticmethod
    def reply(step: Step, model: str) -> tuple[Json, Events]:
        fresh, output, cached = used(step)
        calls = [
            {
                "id": new_id("call"),
                "type": "function",
                "function": {"name": t["name"], "arguments": json.dumps(t["input"])},
            }
            for t in step.get("tools", [])
        ]
        usage = {
            "prompt_tokens": fresh + cached,
            "completion_tokens": output,
            "total_tokens": fresh + cached + output,
            "prompt_tokens_details": {"cached_tokens": cached},
        }
        stop = "tool_calls" if calls else "stop"
        base = {"id": new_id("chatcmpl"), "created": 1, "model": model}
        said = {"role": "assistant", "content": step.get("text", "")}
        deltas: list[tuple[Json, str | None]] = [({**said, "content": ""}, None)]
        deltas += [({"content": step["text"]}, None)] if step.get("text") else []
        deltas += [
            ({"tool_calls": [{**c, "index": n}]}, None) for n, c in enumerate(calls)
        ]
        kind = {"object": "chat.completion.chunk"}
        chunks: list[Json] = [
            {"choices": [{"index": 0, "delta": delta, "finish_reason": end}]}
            for delta, end in [*deltas, ({}, stop)]
        ]
        chunks.append({"choices": [], "usage": usage})
        events: Events = [(None, {**base, **kind, **chunk}) for chunk in chunks]
        message = {**said, **({"tool_calls": calls} if calls else {})}
        choices = [{"index": 0, "message": message, "finish_reason": stop}]
        whole = {
            **base,
            "object": "chat.completion",
            "usage": usage,
            "choices": choices,
        }
        return whole, [*events, (None, "[DONE]")]

    error = Responses.error


class Gemini:
    """`POST /v1beta/models/M:generateContent` and `:streamGenerateContent`."""

    @staticmethod
    def asked(body: Json) -> Asked:
        contents = body.get("contents") or []
        flags = [c.get("role") == "model" for c in contents]
        users = [flat(c) for c, flag in zip(contents, flags, strict=True) if not flag]
        tools = [t for t in body.get("tools") or [] if t.get("functionDeclarations")]
        return Asked(sum(flags), len(tools), "\n".join(users))

    @staticmethod
    def reply(step: Step, model: str) -> tuple[Json, Events]:
        fresh, output, cached = used(step)
        parts: list[Json] = [{"text": step["text"]}] if step.get("text") else []
        parts += [
            {"functionCall": {"name": t["name"], "args": t["input"]}}
            for t in step.get("tools", [])
        ]
        usage = {
            "promptTokenCount": fresh + cached,
            "candidatesTokenCount": output,
            "totalTokenCount": fresh + cached + output,
            "cachedContentTokenCount": cached,
        }
        base = {"modelVersion": model, "responseId": new_id("resp")}

        def said(parts: list[Json], end: str | None = None) -> Json:
            content = {"role": "model", "parts": parts}
            finish = {"finishReason": end} if end else {}
            return {**base, "candidates": [{"index": 0, "content": content, **finish}]}

        last = {**said([{"text": ""}], "STOP"), "usageMetadata": usage}
        whole = {**said(parts, "STOP"), "usageMetadata": usage}
        return whole, [*((None, said([part])) for part in parts), (None, last)]

    @staticmethod
    def error(status: int, message: str) -> Json:
        kinds = {401: "UNAUTHENTICATED", 429: "RESOURCE_EXHAUSTED", 500: "INTERNAL"}
        kind = kinds.get(status, "UNKNOWN")
        return {"error": {"code": status, "message": message, "status": kind}}


Protocol = type[Anthropic | Responses | Chat | Gemini]


def protocol_of(path: str) -> Protocol | None:
    """Return the protocol that a path belongs to."""
    path = path.split("?", maxsplit=1)[0]
    ends: dict[str, Protocol] = {
        "/messages": Anthropic,
        "/responses": Responses,
        "/chat/completions": Chat,
        ":generateContent": Gemini,
        ":streamGenerateContent": Gemini,
    }
    return next((found for end, found in ends.items() if path.endswith(end)), None)
