//! A server and a client of `rmcp` joined back to back, to measure Toolsmith's gateway against.
//!
//! ```text
//! bare_gateway stdio WORD…      over standard streams, in front of a command
//! bare_gateway http PORT URL    at http://127.0.0.1:PORT/mcp, in front of a server there
//! ```
//!
//! It asks its upstream for the era it is of, as Toolsmith does, so that both say
//! the same to it; the HTTP client is the one Toolsmith uses, without what stands
//! around it.

mod bare;

use std::process::Stdio;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorData, ListToolsResult, PaginatedRequestParams,
    ProtocolVersion, ServerCapabilities, ServerConfig,
};
use rmcp::service::{
    ClientLifecycleMode, Peer, RequestContext, ServiceError, serve_client_with_lifecycle,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{RoleClient, RoleServer, ServerHandler};
use toolsmith_net::{Client, ClientLimits, Reach};

#[derive(Clone)]
struct Gateway {
    upstream: Peer<RoleClient>,
}

impl ServerHandler for Gateway {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let listed = self.upstream.list_tools(request).await;
        listed.map_err(failed)
    }

    async fn call_tool(
        &self,
        mut request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        // What the client said about itself is not what this client says.
        request.meta = None;
        let called = self.upstream.call_tool_once(request).await;
        called.map_err(failed)
    }
}

fn failed(error: ServiceError) -> ErrorData {
    match error {
        ServiceError::McpError(error) => error,
        other => ErrorData::internal_error(other.to_string(), None),
    }
}

fn either_era() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: Some(ProtocolVersion::V_2025_11_25),
    }
}

#[tokio::main]
async fn main() -> Result<(), bare::Failure> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["stdio", program, ref words @ ..] => {
            let mut child = tokio::process::Command::new(program)
                .args(words)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .kill_on_drop(true)
                .spawn()?;
            let (Some(read), Some(write)) = (child.stdout.take(), child.stdin.take()) else {
                return Err("the upstream has no streams".into());
            };
            let client = serve_client_with_lifecycle((), (read, write), either_era()).await?;
            let upstream = client.peer().clone();
            bare::over_streams(Gateway { upstream }).await
        }
        ["http", port, url] => {
            let reach = Reach::public().and_origin(url)?;
            let http = Client::new(reach, ClientLimits::default())?.into_inner();
            let config = StreamableHttpClientTransportConfig::with_uri(url);
            let transport = StreamableHttpClientTransport::with_client(http, config);
            let client = serve_client_with_lifecycle((), transport, either_era()).await?;
            let upstream = client.peer().clone();
            bare::over_http(Gateway { upstream }, port.parse()?).await
        }
        _ => Err("usage: bare_gateway stdio WORD… | http PORT URL".into()),
    }
}
