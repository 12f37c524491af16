"""Holds a conversation with a model by an official SDK, and tells what the SDK made of it.

    agent.py PROVIDER whole|streamed plan.json

`plan.json` is {"url", "model", "question", "instructions", "tools", "results"}: `tools` are
declarations in the provider's own words, `results` what the tool of a name answers with.
Prints {"texts": [TEXT of each turn], "calls": [{"name", "arguments"} of all turns]}.

What goes over the wire is written by the SDKs: what the model said goes back as the object in
which the SDK gave it.
"""

import json
import sys

with open(sys.argv[3], encoding="utf-8") as opened:
    PLAN = json.load(opened)
STREAMED = sys.argv[2] == "streamed"
TOLD = {"texts": [], "calls": []}


def tell(text, calls):
    """Notes a turn of the model; gives the results of its calls."""
    TOLD["texts"].append(text)
    TOLD["calls"] += [{"name": name, "arguments": arguments} for name, arguments in calls]
    return [PLAN["results"][name] for name, _ in calls]


def text_of(result):
    return result if isinstance(result, str) else json.dumps(result)


def openai_client():
    from openai import OpenAI

    return OpenAI(base_url=PLAN["url"], api_key="none", max_retries=0)


def openai():
    client = openai_client()
    messages = [
        {"role": "system", "content": PLAN["instructions"]},
        {"role": "user", "content": PLAN["question"]},
    ]
    while True:
        request = {"model": PLAN["model"], "messages": messages, "tools": PLAN["tools"]}
        if STREAMED:
            with client.chat.completions.stream(**request) as stream:
                message = stream.get_final_completion().choices[0].message
        else:
            message = client.chat.completions.create(**request).choices[0].message
        calls = message.tool_calls or []
        results = tell(message.content, [(call.function.name, json.loads(call.function.arguments)) for call in calls])
        if not calls:
            return
        # The helper that reads streams adds what it parsed, which is no part of a message.
        parsed = {"parsed": True, "tool_calls": {"__all__": {"function": {"parsed_arguments"}}}}
        messages.append(message.model_dump(exclude_none=True, exclude=parsed))
        for call, result in zip(calls, results):
            messages.append({"role": "tool", "tool_call_id": call.id, "content": text_of(result)})


def openai_responses():
    client = openai_client()
    items = [{"role": "user", "content": PLAN["question"]}]
    while True:
        request = {"model": PLAN["model"], "input": items, "tools": PLAN["tools"], "instructions": PLAN["instructions"]}
        request["store"] = False
        if STREAMED:
            with client.responses.stream(**request) as stream:
                response = stream.get_final_response()
        else:
            response = client.responses.create(**request)
        calls = [item for item in response.output if item.type == "function_call"]
        results = tell(response.output_text, [(call.name, json.loads(call.arguments)) for call in calls])
        if not calls:
            return
        parsed = {"parsed_arguments": True, "content": {"__all__": {"parsed"}}}
        items += [item.model_dump(exclude_none=True, exclude=parsed) for item in response.output]
        for call, result in zip(calls, results):
            items.append({"type": "function_call_output", "call_id": call.call_id, "output": text_of(result)})


def anthropic():
    from anthropic import Anthropic

    client = Anthropic(base_url=PLAN["url"], api_key="none", max_retries=0)
    messages = [{"role": "user", "content": PLAN["question"]}]
    while True:
        request = {"model": PLAN["model"], "max_tokens": 8192, "messages": messages, "tools": PLAN["tools"]}
        request["system"] = PLAN["instructions"]
        if STREAMED:
            with client.messages.stream(**request) as stream:
                message = stream.get_final_message()
        else:
            message = client.messages.create(**request)
        calls = [block for block in message.content if block.type == "tool_use"]
        text = "".join(block.text for block in message.content if block.type == "text")
        results = tell(text, [(call.name, call.input) for call in calls])
        if not calls:
            return
        # As above.
        content = [block.model_dump(exclude_none=True, exclude={"parsed_output"}) for block in message.content]
        messages.append({"role": "assistant", "content": content})
        blocks = [
            {"type": "tool_result", "tool_use_id": call.id, "content": text_of(result)} for call, result in zip(calls, results)
        ]
        messages.append({"role": "user", "content": blocks})


def gemini():
    from google import genai
    from google.genai import types

    # Its usual version has fewer features, and is not the one the product speaks.
    options = types.HttpOptions(base_url=PLAN["url"], api_version="v1beta")
    client = genai.Client(api_key="none", http_options=options)
    config = types.GenerateContentConfig(
        tools=PLAN["tools"],
        system_instruction=PLAN["instructions"],
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )
    contents = [types.Content(role="user", parts=[types.Part(text=PLAN["question"])])]
    while True:
        request = {"model": PLAN["model"], "contents": contents, "config": config}
        if STREAMED:
            pieces = [piece.candidates[0].content for piece in client.models.generate_content_stream(**request)]
        else:
            pieces = [client.models.generate_content(**request).candidates[0].content]
        parts = [part for piece in pieces if piece for part in piece.parts or []]
        calls = [part.function_call for part in parts if part.function_call]
        text = "".join(part.text or "" for part in parts)
        results = tell(text, [(call.name, call.args) for call in calls])
        if not calls:
            return
        said = [part for part in parts if part.function_call]
        contents.append(types.Content(role="model", parts=[types.Part(text=text), *said]))
        answers = [
            types.Part(function_response=types.FunctionResponse(id=call.id, name=call.name, response={"output": result}))
            for call, result in zip(calls, results)
        ]
        contents.append(types.Content(role="user", parts=answers))


def ollama():
    from ollama import Client, Message

    client = Client(host=PLAN["url"])
    messages = [
        {"role": "system", "content": PLAN["instructions"]},
        {"role": "user", "content": PLAN["question"]},
    ]
    while True:
        answer = client.chat(model=PLAN["model"], messages=messages, tools=PLAN["tools"], stream=STREAMED)
        pieces = [piece.message for piece in (answer if STREAMED else [answer])]
        calls = [call for piece in pieces for call in piece.tool_calls or []]
        text = "".join(piece.content or "" for piece in pieces)
        results = tell(text, [(call.function.name, dict(call.function.arguments)) for call in calls])
        if not calls:
            return
        messages.append(Message(role="assistant", content=text, tool_calls=calls))
        for call, result in zip(calls, results):
            messages.append({"role": "tool", "content": text_of(result), "tool_name": call.function.name})


{
    "openai": openai,
    "openai-responses": openai_responses,
    "anthropic": anthropic,
    "gemini": gemini,
    "ollama": ollama,
}[sys.argv[1]]()
json.dump(TOLD, sys.stdout)
