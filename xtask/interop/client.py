"""Drives an MCP server with the official Python SDK, whichever line of it is installed.

Reads a plan (JSON) from the file named by the first argument, takes its steps one
after another, and prints one line of JSON for each: `{"step", "ok", "detail"}`.
What the steps mean is said beside `Step` in `xtask/src/interop/plan.rs`.
"""

import asyncio
import contextlib
import importlib.metadata
import json
import os
import sys
import time

import anyio
import mcp.types as types
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

OLD_LINE = importlib.metadata.version("mcp").startswith("1.")
METHOD_NOT_FOUND = -32601


class Failed(Exception):
    """A step that did not turn out as the plan says."""


def field(value, name):
    """Returns a field by its wire name; the new line of the SDK spells it with underscores."""
    snake = "".join("_" + letter.lower() if letter.isupper() else letter for letter in name)
    return getattr(value, name) if hasattr(value, name) else getattr(value, snake, None)


def reason_of(error):
    """Returns the first real error of a group of errors."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"


class Asked:
    """Answers every elicitation with the current step's answer, and counts them."""

    def __init__(self):
        self.answer = None
        self.count = 0

    async def __call__(self, context, params):
        self.count += 1
        if self.answer is None:
            return types.ElicitResult(action="decline")
        return types.ElicitResult(action="accept", content=self.answer)


def stdio_parameters(target):
    environment = {**os.environ, **target.get("env", {})}
    return StdioServerParameters(command=target["command"], args=target["args"], env=environment)


@contextlib.asynccontextmanager
async def connect_old(plan, asked):
    async with contextlib.AsyncExitStack() as stack:
        if "stdio" in plan["target"]:
            streams = await stack.enter_async_context(stdio_client(stdio_parameters(plan["target"]["stdio"])))
        else:
            from mcp.client.streamable_http import streamablehttp_client

            target = plan["target"]["http"]
            headers = {"Authorization": f"Bearer {target['token']}"} if target.get("token") else None
            streams = await stack.enter_async_context(streamablehttp_client(target["url"], headers=headers))
        session = await stack.enter_async_context(ClientSession(streams[0], streams[1], elicitation_callback=asked))
        answer = await session.initialize()
        yield session, answer.protocolVersion


@contextlib.asynccontextmanager
async def connect_new(plan, asked):
    from mcp import Client

    async with contextlib.AsyncExitStack() as stack:
        if "stdio" in plan["target"]:
            server = stdio_parameters(plan["target"]["stdio"])
        else:
            import httpx2
            from mcp.client.streamable_http import streamable_http_client

            target = plan["target"]["http"]
            headers = {"Authorization": f"Bearer {target['token']}"} if target.get("token") else {}
            # The SDK's own limits: a stream may be silent for minutes.
            limits = httpx2.Timeout(30, read=300)
            http = await stack.enter_async_context(httpx2.AsyncClient(headers=headers, timeout=limits))
            server = streamable_http_client(target["url"], http_client=http)
        mode = {"legacy": "legacy", "auto": "auto", "modern": "2026-07-28"}[plan["era"]]
        client = await stack.enter_async_context(Client(server, mode=mode, elicitation_callback=asked, cache=None))
        yield client, client.protocol_version


def text_of(result):
    return "\n".join(block.text for block in result.content if block.type == "text")


def judge(step, result):
    """Compares a tool's result with what the step expects and returns what to show of it."""
    text = text_of(result)
    if bool(field(result, "isError")) != step.get("error", False):
        raise Failed(f"isError is {field(result, 'isError')}: {text[:300]}")
    if "text" in step and step["text"] not in text:
        raise Failed(f"expected '{step['text']}' in: {text[:300]}")
    kinds = [block.type for block in result.content]
    for kind in step.get("content", []):
        if kind not in kinds:
            raise Failed(f"no '{kind}' among {kinds}")
    return text.replace("\n", " ")[:80] or str(kinds)


async def list_tools(client, step, asked):
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    missing = [name for name in step["contains"] if name not in tools]
    if missing:
        raise Failed(f"{missing} not among {sorted(tools)}")
    for tool in tools.values():
        if field(tool, "inputSchema").get("type") != "object":
            raise Failed(f"the schema of {tool.name} is no object")
    return f"{len(tools)} tools"


async def call(client, step, asked):
    return judge(step, await client.call_tool(step["tool"], step["arguments"]))


async def progress(client, step, asked):
    seen = []

    async def note(value, total, message):
        seen.append(value)

    result = await client.call_tool(step["tool"], step["arguments"], progress_callback=note)
    shown = judge(step, result)
    if len(seen) < step["at_least"]:
        raise Failed(f"{len(seen)} progress notifications, expected {step['at_least']}; {shown}")
    if seen != sorted(seen):
        raise Failed(f"progress goes back: {seen}")
    return f"{len(seen)} notifications"


async def cancel(client, step, asked):
    start = time.monotonic()
    if OLD_LINE:
        # This line has no way to cancel but to say so itself.
        identifier = client._request_id
        calling = asyncio.ensure_future(client.call_tool(step["tool"], step["arguments"]))
        await asyncio.sleep(step["after_ms"] / 1000)
        if calling.done():
            raise Failed(f"the call ended before it was cancelled: {calling.exception() or text_of(calling.result())}")
        params = types.CancelledNotificationParams(requestId=identifier, reason="no longer wanted")
        notification = types.CancelledNotification(method="notifications/cancelled", params=params)
        await client.send_notification(types.ClientNotification(notification))
        await asyncio.sleep(0.2)
        calling.cancel()
        with contextlib.suppress(asyncio.CancelledError, Exception):
            await calling
    else:
        with anyio.move_on_after(step["after_ms"] / 1000) as scope:
            result = await client.call_tool(step["tool"], step["arguments"])
        if not scope.cancelled_caught:
            raise Failed(f"the call ended before it was cancelled: {text_of(result)}")
    if step.get("marker"):
        deadline = time.monotonic() + 5
        while not os.path.exists(step["marker"]):
            if time.monotonic() > deadline:
                raise Failed("the server did not notice the cancellation within 5 s")
            await asyncio.sleep(0.05)
    return f"after {time.monotonic() - start:.1f} s"


async def elicit(client, step, asked):
    asked.answer, asked.count = step["answer"], 0
    try:
        shown = judge(step, await client.call_tool(step["tool"], step["arguments"]))
    finally:
        asked.answer = None
    if asked.count == 0:
        raise Failed(f"nothing was asked; {shown}")
    return shown


def lister(method, name):
    async def run(client, step, asked):
        try:
            result = await getattr(client, method)()
        except Exception as error:
            code = getattr(getattr(error, "error", None), "code", None)
            if code == METHOD_NOT_FOUND:
                return "method not found, as allowed"
            raise
        return f"{len(getattr(result, name))} {name}"

    return run


STEPS = {
    "list": list_tools,
    "call": call,
    "progress": progress,
    "cancel": cancel,
    "elicit": elicit,
    "resources": lister("list_resources", "resources"),
    "prompts": lister("list_prompts", "prompts"),
}


def say(step, ok, detail):
    print(json.dumps({"step": step, "ok": ok, "detail": detail}), flush=True)


async def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        plan = json.load(file)
    asked = Asked()
    connect = connect_old if OLD_LINE else connect_new
    entered = False
    try:
        async with connect(plan, asked) as (client, version):
            entered = True
            say("connect", version == plan["version"], f"{version}, expected {plan['version']}")
            for step in plan["steps"]:
                name = " ".join([step["do"], *([step["tool"]] if "tool" in step else [])])
                try:
                    with anyio.fail_after(step.get("within_s", 20)):
                        detail = await STEPS[step["do"]](client, step, asked)
                    say(name, True, detail)
                except (Exception, BaseExceptionGroup) as error:
                    say(name, False, reason_of(error))
            say("close", True, "")
    except (Exception, BaseExceptionGroup) as error:
        say("close" if entered else "connect", False, reason_of(error))


asyncio.run(main())
