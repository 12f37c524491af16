//! Tool sets and agents: which tools they come to, and what is wrong with them.

use std::path::Path;

use toolsmith_core::{AnyTool, Outcome, ToolDef};
use toolsmith_manager::{Manager, Setup, View};

/// A folder with these files, and the tools `a` to `f` beside what the files add.
pub(crate) fn project(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, content) in files {
        put(folder.path(), path, content);
    }
    folder
}

pub(crate) fn put(root: &Path, path: &str, content: &str) {
    let path = root.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

pub(crate) fn setup(root: &Path) -> Setup {
    let tools = ["a", "b", "c", "d", "e", "f"].map(|name| {
        let definition = ToolDef::new(name)
            .unwrap()
            .with_description("A tool that is described at some length.");
        AnyTool::from_fn(definition, async |_: serde_json::Value, _| Outcome::ok(1))
    });
    Setup::open(root).unwrap().with_tools("shipped", tools)
}

pub(crate) fn load(files: &[(&str, &str)]) -> Manager {
    setup(project(files).path()).load().unwrap()
}

fn names(manager: &Manager, view: &View) -> String {
    match manager.tools_of(view) {
        Ok(tools) => {
            let names = tools.iter().map(|tool| tool.name.as_str());
            names.collect::<Vec<_>>().join(" ")
        }
        Err(error) => error.to_string(),
    }
}

fn set(name: &str) -> View {
    View::Set(name.to_owned())
}

fn agent(name: &str) -> View {
    View::Agent(name.to_owned())
}

/// Sets in order, then single tools, and the first of what comes twice.
#[test]
fn an_agents_tools_are_merged() {
    let manager = load(&[
        ("configs/tool_sets/first.yaml", "tools: [c, a]"),
        ("configs/tool_sets/second.yaml", "tools: [a, d, c]"),
        (
            "agents/both.yaml",
            "tool_sets: [second, first]\ntools: [e, a, b, e]",
        ),
        ("agents/single.yaml", "tools: [f, b]"),
        ("agents/sets.yaml", "tool_sets: [first]"),
        ("agents/nothing.yaml", "description: It may do nothing."),
    ]);
    assert_eq!(names(&manager, &agent("both")), "a d c e b");
    assert_eq!(names(&manager, &agent("single")), "f b");
    assert_eq!(names(&manager, &agent("sets")), "c a");
    assert_eq!(names(&manager, &agent("nothing")), "");
    assert_eq!(names(&manager, &View::Usual), "a b c d e f");
    let tools = manager.get_tool_set("first").unwrap();
    let tools: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(tools, ["c", "a"]);
}

#[test]
fn the_configuration_is_an_agent_too() {
    let manager = load(&[
        ("toolsmith.yaml", "tool_sets: [one]\ntools: [a, b]"),
        ("configs/tool_sets/one.yaml", "tools: [f, b]"),
    ]);
    assert_eq!(names(&manager, &View::Usual), "f b a");
    let manager = load(&[("toolsmith.yaml", "tools: []")]);
    assert_eq!(names(&manager, &View::Usual), "");
}

#[test]
fn sets_hold_globs_and_other_sets() {
    let manager = load(&[
        (
            "configs/tool_sets/outer.yaml",
            "name: outer\ntools: ['[ef]', inner, a]\ntool_sets: [other]",
        ),
        ("configs/tool_sets/inner.yaml", "tools: [b, outermost]"),
        ("configs/tool_sets/outermost.yaml", "tools: ['?']"),
        ("configs/tool_sets/z.yaml", "name: other\ntools: [d]"),
        // A tool of that name comes before a set of that name.
        ("configs/tool_sets/a.yaml", "tools: [f]"),
    ]);
    assert_eq!(names(&manager, &set("outer")), "d e f b a c");
    assert_eq!(names(&manager, &set("a")), "f");
}

/// Who writes `set:` means a set, whatever tools there are.
#[test]
fn a_set_is_named_as_one() {
    let manager = load(&[
        ("toolsmith.yaml", "tools: [f, 'set:outer']"),
        (
            "configs/tool_sets/outer.yaml",
            "tools: ['set:a', b, 'set:b', 'set:gone']",
        ),
        ("configs/tool_sets/a.yaml", "tools: [c]"),
        ("configs/tool_sets/round.yaml", "tools: ['set:round']"),
        ("agents/w.yaml", "tools: ['set:a']"),
    ]);
    assert_eq!(names(&manager, &set("outer")), "c b");
    assert_eq!(names(&manager, &agent("w")), "c");
    assert_eq!(names(&manager, &View::Usual), "f c b");
    assert_eq!(
        names(&manager, &set("round")),
        "the tool sets go round in a circle: round → round"
    );
    let findings = manager.lint().join("\n");
    for missing in ["b", "gone"] {
        let told = format!("outer.yaml: there is no tool set `{missing}`");
        assert!(findings.contains(&told), "{findings}");
    }
    assert_eq!(findings.lines().count(), 2, "{findings}");
}

#[test]
fn circles_are_errors() {
    let manager = load(&[
        ("configs/tool_sets/x.yaml", "tools: [a, y]"),
        ("configs/tool_sets/y.yaml", "tool_sets: [z]"),
        ("configs/tool_sets/z.yaml", "tools: [x]"),
        ("configs/tool_sets/own.yaml", "tools: [own]"),
        ("configs/tool_sets/good.yaml", "tools: [b]"),
        ("agents/round.yaml", "tool_sets: [good, own]"),
    ]);
    let circle = "the tool sets go round in a circle: x → y → z → x";
    assert_eq!(names(&manager, &set("x")), circle);
    assert_eq!(
        names(&manager, &set("own")),
        "the tool sets go round in a circle: own → own"
    );
    assert_eq!(names(&manager, &set("good")), "b");
    let broken = manager.broken_sets();
    assert_eq!(broken.len(), 5, "{broken:#?}");
    assert!(broken.iter().all(|each| each.contains("in a circle")));
}

#[test]
fn what_is_not_there_is_named() {
    let manager = load(&[
        ("configs/tool_sets/x.yaml", "tools: [a, gone, 'g*']"),
        ("agents/w.yaml", "tool_sets: [missing, x]\ntools: [b]"),
        ("toolsmith.yaml", "tool_sets: [lost]\ntools: [a, bb]"),
    ]);
    assert_eq!(names(&manager, &agent("w")), "a b");
    assert_eq!(
        names(&manager, &set("y")),
        "there is no tool set `y`; there are x"
    );
    assert_eq!(
        names(&manager, &agent("v")),
        "there is no agent `v`; there are w"
    );
    let findings = manager.lint();
    let said: Vec<&str> = findings
        .iter()
        .filter_map(|finding| finding.rsplit_once(".yaml: "))
        .map(|(_, said)| said)
        .collect();
    assert_eq!(
        said,
        [
            "`bb` names no tool and no set",
            "there is no tool set `lost`",
            "`gone` names no tool and no set",
            "`g*` names no tool and no set",
            "there is no tool set `missing`",
        ]
    );
}

#[test]
fn of_two_sets_with_one_name_the_first_stays() {
    let manager = load(&[
        ("configs/tool_sets/1.yaml", "name: twin\ntools: [a]"),
        ("configs/tool_sets/2.yaml", "name: twin\ntools: [b]"),
    ]);
    assert_eq!(names(&manager, &set("twin")), "a");
    let findings = manager.lint().join("\n");
    assert!(
        findings.contains("2.yaml: tool set `twin` is not used: ")
            && findings.contains("1.yaml has that name first"),
        "{findings}"
    );
}

#[test]
fn a_bad_file_stops_no_other() {
    let manager = load(&[
        ("configs/tool_sets/bad.yaml", "tools: [a\n"),
        ("configs/tool_sets/odd.yaml", "tolls: [a]"),
        ("configs/tool_sets/good.yaml", "tools: [a]"),
        ("configs/tool_sets/no name!.yaml", "tools: [a]"),
        ("configs/tool_sets/named.yaml", "name: ../up\ntools: [a]"),
        ("agents/bad.yaml", "tools: {}"),
    ]);
    assert_eq!(names(&manager, &set("good")), "a");
    let errors = manager.errors();
    assert_eq!(errors.len(), 5, "{errors:#?}");
}

/// An agent's rules and mode are its own.
#[tokio::test]
async fn an_agents_policy_holds_for_its_calls() {
    use serde_json::json;
    use toolsmith_core::RawCall;
    use toolsmith_runtime::Caller;

    let manager = load(&[
        ("toolsmith.yaml", "policy: { mode: auto, deny: [c] }"),
        (
            "agents/careful.yaml",
            "tools: [a, b, c]\npolicy: { mode: plan, allow: [b] }",
        ),
    ]);
    for (agent, tool, code) in [
        (None, "a", ""),
        (None, "b", ""),
        (None, "c", "permission_denied"),
        (Some("careful"), "a", "permission_denied"),
        (Some("careful"), "b", ""),
        (Some("careful"), "c", "permission_denied"),
        (Some("other"), "a", "permission_denied"),
    ] {
        let mut caller = Caller::new("test");
        if let Some(agent) = agent {
            caller = caller.with_agent(agent);
        }
        let call = RawCall::new(tool, json!({}));
        let outcome = manager.toolbox().run(call, &caller).await.into_outcome();
        let error = outcome.error.map(|error| error.code().to_owned());
        assert_eq!(error.unwrap_or_default(), code, "{agent:?} {tool}");
    }
}
