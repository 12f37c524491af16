"""FastMCP as a peer of the benchmarks: an echo server, and a proxy in front of another server.

    bench_fastmcp.py stdio                      echo over standard streams
    bench_fastmcp.py http PORT                  echo at http://127.0.0.1:PORT/mcp
    bench_fastmcp.py proxy WORD...              a proxy over standard streams in front of a command
    bench_fastmcp.py proxy-http PORT WORD...    the same at http://127.0.0.1:PORT/mcp
"""

import sys

from fastmcp import FastMCP
from fastmcp.client.transports import StdioTransport
from fastmcp.server import create_proxy


def echo_server():
    server = FastMCP("bench-fastmcp")

    @server.tool
    def echo(text: str) -> str:
        """Returns its text."""
        return text

    return server


def serve(server, port=None):
    if port is None:
        server.run(transport="stdio", show_banner=False)
    else:
        server.run(transport="http", host="127.0.0.1", port=port, show_banner=False, log_level="error")


match sys.argv[1:]:
    case ["stdio"]:
        serve(echo_server())
    case ["http", port]:
        serve(echo_server(), int(port))
    case ["proxy", program, *words]:
        serve(create_proxy(StdioTransport(program, words)))
    case ["proxy-http", port, program, *words]:
        serve(create_proxy(StdioTransport(program, words)), int(port))
    case _:
        sys.exit(__doc__)
