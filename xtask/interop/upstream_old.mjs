// A small MCP server on the old line of the TypeScript SDK: it knows the handshake and sessions only.
//
// `node upstream_old.mjs` speaks over standard input and output; with `--http PORT` it
// listens on the loopback address at /mcp. A call of `slow` that is cancelled adds a
// line to the file named by INTEROP_CANCELLED.

import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

const text = value => ({ content: [{ type: 'text', text: value }] });

function build() {
    const server = new McpServer({ name: 'upstream-old', version: '1.0.0' });
    const tool = (name, description, inputSchema, run) => server.registerTool(name, { description, inputSchema }, run);
    tool('echo', 'Returns its text.', { text: z.string() }, async ({ text: value }) => text(value));
    tool('add', 'Adds two numbers.', { a: z.number(), b: z.number() }, async ({ a, b }) => text(String(a + b)));
    tool('slow', 'Takes its time and tells.', { steps: z.number().int() }, async ({ steps }, extra) => {
        const progressToken = extra._meta?.progressToken;
        try {
            for (let progress = 1; progress <= steps; progress += 1) {
                await sleep(100, undefined, { signal: extra.signal });
                if (progressToken === undefined) continue;
                const params = { progressToken, progress, total: steps };
                await extra.sendNotification({ method: 'notifications/progress', params });
            }
        } catch (error) {
            if (process.env.INTEROP_CANCELLED) appendFileSync(process.env.INTEROP_CANCELLED, 'slow\n');
            throw error;
        }
        return text(`took ${steps} steps`);
    });
    tool('ask', 'Asks for a name and greets.', {}, async () => {
        const requestedSchema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
        const answer = await server.server.elicitInput({ message: 'What is your name?', requestedSchema });
        return text(answer.action === 'accept' ? `Hello, ${answer.content.name}!` : `Nobody: ${answer.action}.`);
    });
    return server;
}

const port = process.argv[2] === '--http' ? Number(process.argv[3]) : undefined;
if (port === undefined) {
    await build().connect(new StdioServerTransport());
} else {
    const sessions = new Map();
    const http = createServer(async (request, response) => {
        let transport = sessions.get(request.headers['mcp-session-id']);
        if (transport === undefined) {
            transport = new StreamableHTTPServerTransport({
                sessionIdGenerator: () => randomUUID(),
                onsessioninitialized: id => sessions.set(id, transport),
            });
            transport.onclose = () => sessions.delete(transport.sessionId);
            await build().connect(transport);
        }
        await transport.handleRequest(request, response);
    });
    http.listen(port, '127.0.0.1', () => process.stderr.write('listening\n'));
}
