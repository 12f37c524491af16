"""Other people's formatters and repairs, for `cargo xtask bench formats`.

    bench_formats.py declare tools.json    microseconds of CPU per tool, by formatter
    bench_formats.py repair texts.json     microseconds of CPU per kB, for each text
    bench_formats.py strict tools.json     the tools as pydantic-ai makes them strict for OpenAI

`tools.json` is a list of {"name", "description", "parameters"}.
"""

import copy
import json
import os
import sys
import time

# What litellm knows of prices is of no interest here; it would fetch it.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"


def timed(work, items, rounds=5):
    """The best of several rounds, per item."""
    best = None
    for _ in range(rounds):
        prepared = copy.deepcopy(items)
        begin = time.process_time()
        for item in prepared:
            work(item)
        taken = (time.process_time() - begin) * 1e6 / len(items)
        best = taken if best is None else min(best, taken)
    return best


def declare(tools):
    import litellm
    from litellm.llms.anthropic.chat.transformation import AnthropicConfig
    from litellm.llms.vertex_ai.gemini.vertex_and_google_ai_studio_gemini import VertexGeminiConfig
    from openai.lib._pydantic import _ensure_strict_json_schema
    from pydantic_ai.profiles.google import GoogleJsonSchemaTransformer
    from pydantic_ai.profiles.openai import OpenAIJsonSchemaTransformer

    litellm.suppress_debug_info = True
    chat = [{"type": "function", "function": tool} for tool in tools]
    schemas = [tool["parameters"] for tool in tools]
    anthropic, gemini = AnthropicConfig(), VertexGeminiConfig()
    return {
        "openai's helper, strict": timed(lambda schema: _ensure_strict_json_schema(schema, path=(), root=schema), schemas),
        "litellm for anthropic": timed(lambda tool: anthropic._map_tool_helper(tool), chat),
        "litellm for gemini": timed(lambda tool: gemini._map_function([tool], {}), chat),
        "pydantic-ai for openai, strict": timed(lambda schema: OpenAIJsonSchemaTransformer(schema, strict=True).walk(), schemas),
        "pydantic-ai for gemini": timed(lambda schema: GoogleJsonSchemaTransformer(schema).walk(), schemas),
    }


def repair(texts):
    from json_repair import repair_json

    # Seconds for a large text are enough to tell.
    return [timed(repair_json, [text], rounds=3) * 1000 / len(text.encode()) for text in texts]


def strict(tools):
    from pydantic_ai.profiles.openai import OpenAIJsonSchemaTransformer

    made = []
    for tool in tools:
        try:
            schema = OpenAIJsonSchemaTransformer(copy.deepcopy(tool["parameters"]), strict=True).walk()
        except Exception as error:  # One that cannot be made is one less.
            print(f"{tool['name']}: {error}", file=sys.stderr)
            continue
        function = {"name": tool["name"], "description": tool["description"], "parameters": schema, "strict": True}
        made.append({"type": "function", "function": function})
    return made


def main():
    what, file = sys.argv[1:]
    with open(file, encoding="utf-8") as opened:
        given = json.load(opened)
    json.dump({"declare": declare, "repair": repair, "strict": strict}[what](given), sys.stdout)


main()
