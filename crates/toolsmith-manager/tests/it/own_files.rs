//! What decides what may run is changed only when a person says so.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;
use toolsmith_core::call::Arguments;
use toolsmith_core::{
    AnyTool, Kind, Outcome, Plan, RawCall, Schema, Tool, ToolContext, ToolDef, ToolError, Touch,
};
use toolsmith_manager::{Manager, Setup};
use toolsmith_runtime::permit::YesToAll;
use toolsmith_runtime::{Caller, Mode};

use crate::sets::{project, put};

/// A tool that says it writes where it is told, and does not.
struct Writing(PathBuf);

impl Tool for Writing {
    fn definition(&self) -> Arc<ToolDef> {
        let schema =
            json!({ "properties": { "path": { "type": "string" } }, "required": ["path"] });
        let definition = ToolDef::new("put").unwrap().with_kind(Kind::Edit);
        Arc::new(definition.with_input(Schema::input(schema).unwrap()))
    }

    fn plan(&self, arguments: &Arguments) -> Result<Plan, ToolError> {
        let path = arguments.as_value()["path"].as_str().unwrap_or_default();
        Ok(Plan::new("put").touching(Touch::write(self.0.join(path))))
    }

    async fn call(&self, _: Arguments, _: ToolContext) -> Outcome {
        Outcome::ok("done")
    }
}

async fn code(manager: &Manager, path: &str, caller: &Caller) -> String {
    let call = RawCall::new("put", json!({ "path": path }));
    let outcome = manager.toolbox().run(call, caller).await.into_outcome();
    outcome
        .error
        .map(|error| error.code().to_owned())
        .unwrap_or_default()
}

fn manager(root: &Path) -> Manager {
    Setup::open(root)
        .unwrap()
        .with_mode(Some(Mode::Auto))
        .with_tools("shipped", [AnyTool::new(Writing(root.to_owned()))])
        .load()
        .unwrap()
}

#[cfg(unix)]
#[tokio::test]
async fn a_tool_does_not_change_what_decides_about_it() {
    let folder = project(&[
        ("toolsmith.yaml", "openapi: { shop: { file: shop.json } }"),
        ("tools/native/there.txt", ""),
        ("src/main.rs", ""),
    ]);
    let root = folder.path();
    std::os::unix::fs::symlink(root.join("tools/native"), root.join("linked")).unwrap();
    std::os::unix::fs::symlink(root.join("toolsmith.yaml"), root.join("innocent.txt")).unwrap();
    std::os::unix::fs::symlink(root, root.join("again")).unwrap();
    let manager = manager(root);
    let nobody = Caller::new("test");
    let somebody = Caller::new("test").with_approver(YesToAll {
        by: "me".to_owned(),
    });
    for own in [
        "toolsmith.yaml",
        "toolsmith.lock",
        ".mcp.json",
        "tools/native/new.yaml",
        "tools/native/new.yml",
        "tools/native/../native/new.yaml",
        "tools/mcp/new.yaml",
        "tools/builtin/script",
        "tools/builtin/switch.yaml",
        "configs/tool_sets/new.yaml",
        "agents/new.yaml",
        "tool_descriptions.yaml",
        "shop.json",
        "linked/new.yaml",
        "innocent.txt",
        "again/again/agents/new.yaml",
    ] {
        assert_eq!(
            code(&manager, own, &nobody).await,
            "approval_required",
            "{own}"
        );
        assert_eq!(code(&manager, own, &somebody).await, "", "{own}");
    }
    for other in [
        "src/main.rs",
        "src/toolsmith.yaml",
        "tools/native/notes.txt",
        "tools/native/deep/new.yaml",
        "tools/other.yaml",
        "agents/code.py",
        "shop.yaml",
    ] {
        assert_eq!(code(&manager, other, &nobody).await, "", "{other}");
    }
    // A document that is named from now on counts from now on.
    put(
        root,
        "toolsmith.yaml",
        "openapi: { shop: { file: shop.yaml } }",
    );
    manager.refresh();
    assert_eq!(
        code(&manager, "shop.yaml", &nobody).await,
        "approval_required"
    );
}

#[cfg(unix)]
#[tokio::test]
async fn what_its_files_are_links_to_decides_too() {
    let folder = project(&[
        ("toolsmith.yaml", ""),
        ("shared/servers.json", "{}"),
        (
            "shared/tool.yaml",
            "{ name: t, command: [/bin/true], sandbox: none }",
        ),
        ("shared/notes.txt", ""),
        ("scripts/run", "#!/bin/sh\n"),
        ("tools/native/own.txt", ""),
        ("tools/builtin/own.txt", ""),
    ]);
    let root = folder.path();
    let link = |to: &str, at: &str| {
        std::os::unix::fs::symlink(root.join(to), root.join(at)).unwrap();
    };
    link("shared/servers.json", ".mcp.json");
    link("shared/tool.yaml", "tools/native/tool.yaml");
    link("shared/notes.txt", "tools/native/notes.txt");
    link("scripts/run", "tools/builtin/run");
    let manager = manager(root);
    let nobody = Caller::new("test");
    for own in ["shared/servers.json", "shared/tool.yaml", "scripts/run"] {
        let code = code(&manager, own, &nobody).await;
        assert_eq!(code, "approval_required", "{own}");
    }
    assert_eq!(code(&manager, "shared/notes.txt", &nobody).await, "");
}
