// A small MCP server on the new line of the TypeScript SDK: it speaks 2026-07-28 and nothing before it.
//
// `node upstream_new.mjs` speaks over standard input and output; with `--http PORT` it
// listens on the loopback address at /mcp. A call of `slow` that is cancelled adds a
// line to the file named by INTEROP_CANCELLED.

import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { toNodeHandler } from '@modelcontextprotocol/node';
import { acceptedContent, createMcpHandler, inputRequired, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const text = value => ({ content: [{ type: 'text', text: value }] });

function build() {
    const server = new McpServer({ name: 'upstream-new', version: '1.0.0' });
    const tool = (name, description, shape, run) =>
        server.registerTool(name, { description, inputSchema: z.object(shape) }, run);
    tool('echo', 'Returns its text.', { text: z.string() }, async ({ text: value }) => text(value));
    tool('add', 'Adds two numbers.', { a: z.number(), b: z.number() }, async ({ a, b }) => text(String(a + b)));
    tool('slow', 'Takes its time and tells.', { steps: z.number().int() }, async ({ steps }, context) => {
        const { _meta, signal, notify } = context.mcpReq;
        const progressToken = _meta?.progressToken;
        try {
            for (let progress = 1; progress <= steps; progress += 1) {
                await sleep(100, undefined, { signal });
                if (progressToken === undefined) continue;
                const params = { progressToken, progress, total: steps };
                await notify({ method: 'notifications/progress', params });
            }
        } catch (error) {
            if (process.env.INTEROP_CANCELLED) appendFileSync(process.env.INTEROP_CANCELLED, 'slow\n');
            throw error;
        }
        return text(`took ${steps} steps`);
    });
    tool('ask', 'Asks for a name and greets.', {}, async (_, context) => {
        const schema = z.object({ name: z.string() });
        const answer = acceptedContent(context.mcpReq.inputResponses, 'name', schema);
        if (answer !== undefined) return text(`Hello, ${answer.name}!`);
        const name = inputRequired.elicit({ message: 'What is your name?', requestedSchema: schema });
        return inputRequired({ inputRequests: { name }, requestState: 'asked' });
    });
    return server;
}

const port = process.argv[2] === '--http' ? Number(process.argv[3]) : undefined;
if (port === undefined) {
    serveStdio(build, { legacy: 'reject' });
} else {
    const handle = toNodeHandler(createMcpHandler(build, { legacy: 'reject' }));
    createServer(handle).listen(port, '127.0.0.1', () => process.stderr.write('listening\n'));
}
