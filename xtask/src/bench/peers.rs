//! What others have built, to be measured beside ours: servers and proxies with their command lines.
//!
//! A benchmark that compares us with them gets these as environment variables and appends
//! what only it knows: a port it has chosen, or the server a proxy stands in front of.
//! `cargo xtask bench peers` installs them and prints the lines.

use std::path::Path;

use crate::interop::{Home, node, python};

/// One variable: its name, and the command line as words with blanks between them.
pub(crate) type Variable = (&'static str, String);

/// Installs all peers and returns how each is started.
pub(crate) fn install(root: &Path) -> anyhow::Result<Vec<Variable>> {
    let home = Home::of(root)?;
    let script = python::script(root, "bench_fastmcp.py");
    let fastmcp = format!("{} {}", python::fastmcp(&home)?.display(), script.display());
    let script = node::script(root, &home, "bench_typescript.mjs")?;
    let typescript = format!("{} {}", node::node(&home)?.display(), script.display());
    let proxy = python::mcp_proxy(&home)?.display().to_string();
    Ok(vec![
        ("BENCH_FASTMCP_STDIO", format!("{fastmcp} stdio")),
        // Followed by the port; the server listens at http://127.0.0.1:PORT/mcp.
        ("BENCH_FASTMCP_HTTP", format!("{fastmcp} http")),
        ("BENCH_TYPESCRIPT_STDIO", format!("{typescript} stdio")),
        // Followed by the port.
        ("BENCH_TYPESCRIPT_HTTP", format!("{typescript} http")),
        // Followed by the words of the server behind it.
        ("BENCH_FASTMCP_PROXY_STDIO", format!("{fastmcp} proxy")),
        // Followed by the port and the words of the server behind it.
        ("BENCH_FASTMCP_PROXY_HTTP", format!("{fastmcp} proxy-http")),
        // Followed by the URL of the server behind it.
        (
            "BENCH_MCP_PROXY_STDIO",
            format!("{proxy} --log-level ERROR --transport streamablehttp"),
        ),
        // Followed by the port, `--` and the words of the server behind it.
        (
            "BENCH_MCP_PROXY_HTTP",
            format!("{proxy} --log-level ERROR --port"),
        ),
    ])
}

/// Installs other people's formatters and returns how they are measured.
pub(super) fn formatters(root: &Path) -> anyhow::Result<Vec<Variable>> {
    let python = python::formatters(&Home::of(root)?)?;
    let script = python::script(root, "bench_formats.py");
    let line = format!("{} {}", python.display(), script.display());
    // Followed by what is measured and a file.
    Ok(vec![("BENCH_FORMATS", line)])
}

/// Installs all peers and prints their variables.
pub(crate) fn print(root: &Path) -> anyhow::Result<()> {
    for (name, line) in install(root)? {
        println!("{name}='{line}'");
    }
    Ok(())
}
