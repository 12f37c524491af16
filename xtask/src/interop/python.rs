//! The environments of Python packages, in exact versions, one for each line of the SDK.

use std::path::{Path, PathBuf};

use super::install::{Home, Set};

/// The official SDK's line with the handshake only.
pub(super) const OLD_SDK: Set = Set {
    name: "python-old",
    packages: &["mcp==1.30.0"],
};

/// The official SDK's line that also speaks 2026-07-28.
pub(super) const NEW_SDK: Set = Set {
    name: "python-new",
    packages: &["mcp==2.3.0"],
};

const FASTMCP: Set = Set {
    name: "fastmcp",
    packages: &["fastmcp==4.1.2"],
};

const MCP_PROXY: Set = Set {
    name: "mcp-proxy",
    packages: &["mcp-proxy==0.13.0"],
};

/// Returns the Python that has FastMCP.
pub(crate) fn fastmcp(home: &Home) -> anyhow::Result<PathBuf> {
    home.venv(&FASTMCP)
}

/// Returns the program `mcp-proxy`.
pub(crate) fn mcp_proxy(home: &Home) -> anyhow::Result<PathBuf> {
    Ok(home.venv(&MCP_PROXY)?.with_file_name("mcp-proxy"))
}

/// Returns the path of a script of `xtask/interop/`.
pub(crate) fn script(root: &Path, name: &str) -> PathBuf {
    root.join("xtask/interop").join(name)
}
