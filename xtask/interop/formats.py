"""What the official SDKs make of the product's declarations, and answers made by them.

    formats.py accept PROVIDER tools.json      fails where the SDK's own types refuse the tools
    formats.py answer PROVIDER calls.json      prints {"body": TEXT, "stream": TEXT}

`calls.json` is a list of {"id", "name", "arguments"}. Bodies and streams are written by the
types of the SDKs, so that nothing of what the product reads was written by the product.
"""

import json
import sys

from pydantic import TypeAdapter


def known(kind, value, where):
    """Refuses fields a typed dictionary does not have: pydantic leaves them out in silence."""
    extra = set(value) - set(kind.__annotations__)
    if extra:
        raise SystemExit(f"{where}: the SDK knows no {sorted(extra)}")


# OpenAI: chat completions.


def accept_openai(tools):
    from openai.types.chat import ChatCompletionFunctionToolParam
    from openai.types.shared_params import FunctionDefinition

    TypeAdapter(list[ChatCompletionFunctionToolParam]).validate_python(tools)
    for tool in tools:
        known(ChatCompletionFunctionToolParam, tool, "a tool")
        known(FunctionDefinition, tool["function"], tool["function"]["name"])


def answer_openai(calls):
    from openai.types.chat import ChatCompletion, ChatCompletionChunk

    head = {"id": "c1", "created": 1, "model": "gpt-5"}
    body = ChatCompletion.model_validate(
        {
            **head,
            "object": "chat.completion",
            "choices": [
                {
                    "index": 0,
                    "finish_reason": "tool_calls",
                    "message": {
                        "role": "assistant",
                        "content": "Let me see.",
                        "tool_calls": [
                            {
                                "id": call["id"],
                                "type": "function",
                                "function": {"name": call["name"], "arguments": json.dumps(call["arguments"])},
                            }
                            for call in calls
                        ],
                    },
                }
            ],
        }
    )

    def chunk(delta, finish=None):
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return ChatCompletionChunk.model_validate({**head, "object": "chat.completion.chunk", "choices": [choice]})

    chunks = [chunk({"role": "assistant", "content": "Let me "}), chunk({"content": "see."})]
    for index, call in enumerate(calls):
        function = {"name": call["name"], "arguments": ""}
        chunks.append(chunk({"tool_calls": [{"index": index, "id": call["id"], "type": "function", "function": function}]}))
        for piece in pieces(json.dumps(call["arguments"])):
            chunks.append(chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}))
    chunks.append(chunk({}, "tool_calls"))
    return body.model_dump_json(), sse(each.model_dump_json(exclude_unset=True) for each in chunks) + "data: [DONE]\n\n"


# OpenAI: Responses.


def accept_openai_responses(tools):
    from openai.types.responses import FunctionToolParam

    TypeAdapter(list[FunctionToolParam]).validate_python(tools)
    for tool in tools:
        known(FunctionToolParam, tool, tool["name"])
        missing = {"name", "parameters", "strict", "type"} - set(tool)
        if missing:
            raise SystemExit(f"{tool['name']}: the SDK demands {sorted(missing)}")


def answer_openai_responses(calls):
    from openai.types.responses import (
        Response,
        ResponseFunctionToolCall,
        ResponseOutputMessage,
        ResponseOutputText,
    )

    text = ResponseOutputText(type="output_text", text="Let me see.", annotations=[])
    message = ResponseOutputMessage(id="m1", type="message", role="assistant", status="completed", content=[text])
    items = [
        ResponseFunctionToolCall(
            type="function_call",
            id=f"fc_{index}",
            call_id=call["id"],
            name=call["name"],
            arguments=json.dumps(call["arguments"]),
            status="completed",
        )
        for index, call in enumerate(calls)
    ]
    body = Response(
        id="r1",
        created_at=1,
        model="gpt-5",
        object="response",
        output=[message, *items],
        parallel_tool_calls=True,
        tool_choice="auto",
        tools=[],
        status="completed",
    )
    events = [{"type": "response.created", "response": {"id": "r1", "status": "in_progress", "output": []}}]
    events.append({"type": "response.output_item.added", "output_index": 0, "item": {**message.model_dump(), "content": []}})
    for piece in pieces("Let me see."):
        events.append(
            {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "item_id": "m1", "delta": piece}
        )
    events.append({"type": "response.output_item.done", "output_index": 0, "item": message.model_dump()})
    for index, item in enumerate(items, 1):
        begun = {**item.model_dump(exclude_none=True), "arguments": "", "status": "in_progress"}
        events.append({"type": "response.output_item.added", "output_index": index, "item": begun})
        for piece in pieces(item.arguments):
            events.append(
                {
                    "type": "response.function_call_arguments.delta",
                    "output_index": index,
                    "item_id": item.id,
                    "delta": piece,
                }
            )
        events.append(
            {
                "type": "response.function_call_arguments.done",
                "output_index": index,
                "item_id": item.id,
                "name": item.name,
                "arguments": item.arguments,
            }
        )
        events.append({"type": "response.output_item.done", "output_index": index, "item": item.model_dump(exclude_none=True)})
    events.append({"type": "response.completed", "response": body.model_dump(mode="json", exclude_none=True)})
    for number, event in enumerate(events):
        event["sequence_number"] = number
    return body.model_dump_json(exclude_none=True), named_sse(events)


# Anthropic.


def accept_anthropic(tools):
    from anthropic.types import ToolParam

    TypeAdapter(list[ToolParam]).validate_python(tools)
    for tool in tools:
        known(ToolParam, tool, tool["name"])


def answer_anthropic(calls):
    from anthropic.types import Message

    blocks = [{"type": "text", "text": "Let me see."}]
    blocks += [{"type": "tool_use", "id": call["id"], "name": call["name"], "input": call["arguments"]} for call in calls]
    head = {"id": "m1", "type": "message", "role": "assistant", "model": "claude-x", "usage": {"input_tokens": 1, "output_tokens": 1}}
    body = Message.model_validate({**head, "content": blocks, "stop_reason": "tool_use", "stop_sequence": None})
    events = [
        {"type": "message_start", "message": {**head, "content": [], "stop_reason": None, "stop_sequence": None}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "ping"},
    ]
    for piece in pieces("Let me see."):
        events.append({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}})
    events.append({"type": "content_block_stop", "index": 0})
    for index, call in enumerate(calls, 1):
        begun = {"type": "tool_use", "id": call["id"], "name": call["name"], "input": {}}
        events.append({"type": "content_block_start", "index": index, "content_block": begun})
        for piece in pieces(json.dumps(call["arguments"])):
            delta = {"type": "input_json_delta", "partial_json": piece}
            events.append({"type": "content_block_delta", "index": index, "delta": delta})
        events.append({"type": "content_block_stop", "index": index})
    events.append(
        {"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": None}, "usage": {"output_tokens": 9}}
    )
    events.append({"type": "message_stop"})
    from anthropic.types import RawMessageStreamEvent

    adapter = TypeAdapter(RawMessageStreamEvent)
    for event in events:
        if event["type"] != "ping":
            adapter.validate_python(event)
    return body.model_dump_json(exclude_none=True), named_sse(events)


# Google.


def accept_gemini(tools):
    from google.genai import types

    TypeAdapter(list[types.Tool]).validate_python(tools)


def answer_gemini(calls):
    from google.genai import types

    def response(parts, finish=None):
        candidate = types.Candidate(content=types.Content(role="model", parts=parts), finish_reason=finish, index=0)
        whole = types.GenerateContentResponse(candidates=[candidate])
        return whole.model_dump_json(by_alias=True, exclude_none=True)

    text = types.Part(text="Let me see.")
    parts = [
        types.Part(function_call=types.FunctionCall(id=call["id"], name=call["name"], args=call["arguments"]))
        for call in calls
    ]
    stream = [response([text]), *(response([part]) for part in parts), response([], "STOP")]
    return response([text, *parts], "STOP"), sse(stream)


# Mistral.


def accept_mistral(tools):
    from mistralai.client import models

    for tool in tools:
        read = models.Tool.model_validate(tool)
        if read.function.name != tool["function"]["name"] or not isinstance(tool["function"]["parameters"], dict):
            raise SystemExit(f"{tool}: not what the SDK reads")
        known(models.FunctionTypedDict, tool["function"], read.function.name)


def answer_mistral(calls):
    from mistralai.client import models

    def whole(message, finish):
        return models.ChatCompletionResponse.model_validate(
            {
                "id": "c1",
                "object": "chat.completion",
                "model": "mistral-large",
                "created": 1,
                "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
                "choices": [{"index": 0, "message": message, "finish_reason": finish}],
            }
        )

    def of(call, index):
        function = {"name": call["name"], "arguments": json.dumps(call["arguments"])}
        return {"id": call["id"], "type": "function", "index": index, "function": function}

    tool_calls = [of(call, index) for index, call in enumerate(calls)]
    body = whole({"role": "assistant", "content": "Let me see.", "tool_calls": tool_calls}, "tool_calls")

    def chunk(delta, finish=None):
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        event = models.CompletionChunk.model_validate({"id": "c1", "model": "mistral-large", "choices": [choice]})
        return event.model_dump_json(exclude_unset=True)

    chunks = [chunk({"role": "assistant", "content": "Let me see."}), chunk({"content": "", "tool_calls": tool_calls}, "tool_calls")]
    return body.model_dump_json(), sse(chunks) + "data: [DONE]\n\n"


# Ollama.


def accept_ollama(tools):
    import ollama

    for tool in tools:
        read = ollama.Tool.model_validate(tool)
        if read.function.name != tool["function"]["name"]:
            raise SystemExit(f"{tool}: not what the SDK reads")


def answer_ollama(calls):
    from ollama import ChatResponse, Message

    def response(message, done):
        return ChatResponse(model="llama3.1", created_at="2026-01-01T00:00:00Z", message=message, done=done).model_dump_json(
            exclude_none=True
        )

    tool_calls = [
        Message.ToolCall(function=Message.ToolCall.Function(name=call["name"], arguments=call["arguments"])) for call in calls
    ]
    body = response(Message(role="assistant", content="Let me see.", tool_calls=tool_calls), True)
    stream = [response(Message(role="assistant", content="Let me see."), False)]
    stream += [response(Message(role="assistant", content="", tool_calls=[each]), False) for each in tool_calls]
    stream.append(response(Message(role="assistant", content=""), True))
    return body, "".join(line + "\n" for line in stream)


# What they share.


def pieces(text, length=7):
    return [text[at : at + length] for at in range(0, len(text), length)]


def sse(lines):
    return "".join(f"data: {line}\n\n" for line in lines)


def named_sse(events):
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)


def main():
    what, provider, file = sys.argv[1:]
    function = globals()[f"{what}_{provider.replace('-', '_')}"]
    with open(file, encoding="utf-8") as opened:
        given = json.load(opened)
    if what == "accept":
        function(given)
    else:
        body, stream = function(given)
        json.dump({"body": body, "stream": stream}, sys.stdout)


main()
