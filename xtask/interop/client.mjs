// Drives an MCP server with the official TypeScript SDK: the line named by the second argument.
//
// Reads a plan (JSON) from the file named by the first argument, takes its steps one
// after another, and prints one line of JSON for each: `{"step", "ok", "detail"}`.
// What the steps mean is said beside `Step` in `xtask/src/interop/plan.rs`.

import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const METHOD_NOT_FOUND = -32601;

class Failed extends Error {}

const asked = { answer: undefined, count: 0 };

async function answer() {
    asked.count += 1;
    return asked.answer === undefined ? { action: 'decline' } : { action: 'accept', content: asked.answer };
}

const capabilities = { elicitation: { form: {} } };
const identity = { name: 'toolsmith-interop', version: '1.0.0' };

function environment(extra) {
    return { ...process.env, ...extra };
}

function httpOptions(target) {
    return target.token ? { requestInit: { headers: { Authorization: `Bearer ${target.token}` } } } : {};
}

async function connectOld(plan) {
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
    const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
    const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
    const { ElicitRequestSchema } = await import('@modelcontextprotocol/sdk/types.js');
    const client = new Client(identity, { capabilities });
    client.setRequestHandler(ElicitRequestSchema, answer);
    const { stdio, http } = plan.target;
    const transport = stdio
        ? new StdioClientTransport({ ...stdio, env: environment(stdio.env) })
        : new StreamableHTTPClientTransport(new URL(http.url), httpOptions(http));
    // This line keeps the version it agreed on to itself; its transport is told.
    let version;
    const tell = transport.setProtocolVersion?.bind(transport);
    transport.setProtocolVersion = told => {
        version = told;
        tell?.(told);
    };
    await client.connect(transport);
    const call = (params, options) => client.callTool(params, undefined, options);
    return { client, call, version: () => version };
}

async function connectNew(plan) {
    const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
    const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
    const mode = { legacy: 'legacy', auto: 'auto', modern: { pin: '2026-07-28' } }[plan.era];
    const client = new Client(identity, { capabilities, versionNegotiation: { mode } });
    client.setRequestHandler('elicitation/create', answer);
    const { stdio, http } = plan.target;
    const transport = stdio
        ? new StdioClientTransport({ ...stdio, env: environment(stdio.env) })
        : new StreamableHTTPClientTransport(new URL(http.url), httpOptions(http));
    await client.connect(transport);
    const call = (params, options) => client.callTool(params, options);
    return { client, call, version: () => client.getNegotiatedProtocolVersion() };
}

function textOf(result) {
    return result.content
        .filter(block => block.type === 'text')
        .map(block => block.text)
        .join('\n');
}

// Compares a tool's result with what the step expects and returns what to show of it.
function judge(step, result) {
    const text = textOf(result);
    if ((result.isError ?? false) !== (step.error ?? false)) {
        throw new Failed(`isError is ${result.isError}: ${text.slice(0, 300)}`);
    }
    if (step.text !== undefined && !text.includes(step.text)) {
        throw new Failed(`expected '${step.text}' in: ${text.slice(0, 300)}`);
    }
    const kinds = result.content.map(block => block.type);
    for (const kind of step.content ?? []) {
        if (!kinds.includes(kind)) throw new Failed(`no '${kind}' among ${kinds}`);
    }
    return text.replaceAll('\n', ' ').slice(0, 80) || String(kinds);
}

const STEPS = {
    async list({ client }, step) {
        const { tools } = await client.listTools();
        const names = tools.map(tool => tool.name);
        const missing = step.contains.filter(name => !names.includes(name));
        if (missing.length > 0) throw new Failed(`${missing} not among ${names}`);
        for (const tool of tools) {
            if (tool.inputSchema.type !== 'object') throw new Failed(`the schema of ${tool.name} is no object`);
        }
        return `${tools.length} tools`;
    },

    async call({ call }, step) {
        return judge(step, await call({ name: step.tool, arguments: step.arguments }));
    },

    async progress({ call }, step) {
        const seen = [];
        const onprogress = note => seen.push(note.progress);
        const shown = judge(step, await call({ name: step.tool, arguments: step.arguments }, { onprogress }));
        if (seen.length < step.at_least) {
            throw new Failed(`${seen.length} progress notifications, expected ${step.at_least}; ${shown}`);
        }
        if (seen.some((value, at) => at > 0 && value < seen[at - 1])) throw new Failed(`progress goes back: ${seen}`);
        return `${seen.length} notifications`;
    },

    async cancel({ call }, step) {
        const abort = new AbortController();
        const start = performance.now();
        const calling = call({ name: step.tool, arguments: step.arguments }, { signal: abort.signal });
        const ended = calling.then(
            result => `a result: ${textOf(result)}`,
            error => `an error: ${error.message}`,
        );
        const early = await Promise.race([ended, sleep(step.after_ms, undefined)]);
        if (early !== undefined) throw new Failed(`the call ended before it was cancelled with ${early}`);
        abort.abort('no longer wanted');
        const end = await ended;
        if (!end.startsWith('an error')) throw new Failed(`a cancelled call ended with ${end}`);
        if (step.marker) {
            const deadline = performance.now() + 5000;
            while (!existsSync(step.marker)) {
                if (performance.now() > deadline) {
                    throw new Failed('the server did not notice the cancellation within 5 s');
                }
                await sleep(50);
            }
        }
        return `after ${((performance.now() - start) / 1000).toFixed(1)} s`;
    },

    async elicit({ call }, step) {
        Object.assign(asked, { answer: step.answer, count: 0 });
        try {
            const shown = judge(step, await call({ name: step.tool, arguments: step.arguments }));
            if (asked.count === 0) throw new Failed(`nothing was asked; ${shown}`);
            return shown;
        } finally {
            asked.answer = undefined;
        }
    },

    resources: lister('listResources', 'resources'),
    prompts: lister('listPrompts', 'prompts'),
};

function lister(method, name) {
    return async ({ client }) => {
        try {
            const result = await client[method]();
            return `${result[name].length} ${name}`;
        } catch (error) {
            if (error.code === METHOD_NOT_FOUND) return 'method not found, as allowed';
            throw error;
        }
    };
}

function say(step, ok, detail) {
    process.stdout.write(`${JSON.stringify({ step, ok, detail })}\n`);
}

async function within(seconds, work) {
    const stop = new AbortController();
    const late = sleep(seconds * 1000, undefined, { signal: stop.signal }).then(() => {
        throw new Failed(`no answer within ${seconds} s`);
    });
    try {
        return await Promise.race([work, late]);
    } finally {
        stop.abort();
        late.catch(() => {});
    }
}

const plan = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const connect = process.argv[3] === 'old' ? connectOld : connectNew;
try {
    const session = await within(30, connect(plan));
    say('connect', session.version() === plan.version, `${session.version()}, expected ${plan.version}`);
    for (const step of plan.steps) {
        const name = [step.do, step.tool].filter(Boolean).join(' ');
        try {
            say(name, true, await within(step.within_s ?? 20, STEPS[step.do](session, step)));
        } catch (error) {
            say(name, false, `${error.name}: ${error.message}`);
        }
    }
    await within(10, session.client.close());
    say('close', true, '');
} catch (error) {
    say('connect', false, `${error.name}: ${error.message}`);
}
process.exit(0);
