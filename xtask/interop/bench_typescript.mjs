// The TypeScript SDK as a peer of the benchmarks: an echo server of both eras.
//
//     node bench_typescript.mjs stdio        over standard streams
//     node bench_typescript.mjs http PORT    at http://127.0.0.1:PORT/mcp

import { createServer } from 'node:http';

import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

function build() {
    const server = new McpServer({ name: 'bench-typescript', version: '1.0.0' });
    const config = { description: 'Returns its text.', inputSchema: z.object({ text: z.string() }) };
    server.registerTool('echo', config, async ({ text }) => ({ content: [{ type: 'text', text }] }));
    return server;
}

const [mode, port] = process.argv.slice(2);
if (mode === 'stdio') {
    serveStdio(build);
} else if (mode === 'http') {
    createServer(toNodeHandler(createMcpHandler(build))).listen(Number(port), '127.0.0.1');
} else {
    process.stderr.write('usage: bench_typescript.mjs stdio | http PORT\n');
    process.exitCode = 2;
}
