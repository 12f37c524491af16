//! The simplest echo server on `rmcp` alone, to measure Toolsmith's server against.
//!
//! ```text
//! bare_echo stdio        over standard streams
//! bare_echo http PORT    at http://127.0.0.1:PORT/mcp
//! ```

mod bare;

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::json;

#[derive(Clone)]
struct Echo {
    tool: Tool,
}

impl Echo {
    fn new() -> Self {
        let schema = json!({
            "type": "object",
            "properties": { "text": { "type": "string" } },
            "required": ["text"],
        });
        let schema = schema.as_object().cloned().unwrap_or_default();
        Self {
            tool: Tool::new("echo", "Returns its text.", Arc::new(schema)),
        }
    }
}

impl ServerHandler for Echo {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(vec![self.tool.clone()]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if request.name != "echo" {
            return Err(ErrorData::invalid_params("there is no such tool", None));
        }
        let arguments = request.arguments.unwrap_or_default();
        let Some(text) = arguments.get("text").and_then(|text| text.as_str()) else {
            return Err(ErrorData::invalid_params("`text` is missing", None));
        };
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}

#[tokio::main]
async fn main() -> Result<(), bare::Failure> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["stdio"] => bare::over_streams(Echo::new()).await,
        ["http", port] => bare::over_http(Echo::new(), port.parse()?).await,
        _ => Err("usage: bare_echo stdio | http PORT".into()),
    }
}
