//! The program of docs/tutorials/first-tool.md: two tools, served to whichever MCP client starts it.

use toolsmith::CancellationToken;
use toolsmith::mcp::server::Server;
use toolsmith::prelude::*;

/// Counts the words of a text.
#[tool(effect = "read")]
async fn count_words(
    /// The text, in any language that puts spaces between words.
    text: String,
) -> usize {
    text.split_whitespace().count()
}

/// Shortens a text to its first words.
#[tool(effect = "read")]
async fn shorten(
    /// The text.
    text: String,
    /// How many words stay.
    #[arg(default = 5)]
    words: usize,
) -> Result<String, ToolError> {
    if words == 0 {
        return Err(ToolError::invalid("nothing would be left: keep a word"));
    }
    let kept: Vec<&str> = text.split_whitespace().take(words).collect();
    Ok(kept.join(" "))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let toolbox = Toolbox::new([count_words::tool(), shorten::tool()])?;
    let server = Server::builder(toolbox).name("my-tools").build();
    server.serve_stdio(CancellationToken::new()).await?;
    Ok(())
}
