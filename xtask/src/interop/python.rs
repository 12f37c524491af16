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

/// The SDKs of model providers.
const MODEL_SDKS: Set = Set {
    name: "model-sdks",
    packages: &[
        "openai==2.54.0",
        "anthropic==2.8.0",
        "google-genai==3.1.0",
        "mistralai==3.7.0",
        "ollama==0.6.3",
    ],
};

/// What others format and repair with, and the SDK whose helper makes schemas strict.
const FORMATTERS: Set = Set {
    name: "formatters",
    packages: &[
        "openai==2.54.0",
        "pydantic-ai-slim==2.66.0",
        "litellm==1.106.2",
        "json_repair==0.64.2",
    ],
};

/// Returns the Python that has the SDKs of model providers.
pub(super) fn model_sdks(home: &Home) -> anyhow::Result<PathBuf> {
    home.venv(&MODEL_SDKS)
}

/// Returns the Python that has other people's formatters.
pub(crate) fn formatters(home: &Home) -> anyhow::Result<PathBuf> {
    home.venv(&FORMATTERS)
}

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
