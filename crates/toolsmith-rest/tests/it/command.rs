//! Local commands as tools: what they are, how they run, and how they end.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolsmith_core::reference::Lookup;
use toolsmith_core::{Arguments, Effect, ErrorKind, Kind, Outcome, Source};
use toolsmith_rest::form::Entry;
use toolsmith_rest::{Made, Surroundings, make};
use toolsmith_runtime::permit::{Mode, Policy};
use toolsmith_runtime::{Limits, Toolbox};
use toolsmith_testing::{failure, value};

/// A host with a few variables.
struct Host;

impl Lookup for Host {
    fn variable(&self, name: &str) -> Option<String> {
        (name == "SECRET").then(|| "hunter2-hunter2".to_owned())
    }
    fn file(&self, _path: &str) -> Result<String, String> {
        Err("there are no files".to_owned())
    }
}

pub(crate) fn surroundings(root: &Path) -> Surroundings {
    let variables = [
        ("PATH", "/usr/local/bin:/usr/bin:/bin"),
        ("LANG", "C.UTF-8"),
        ("PLAIN", "passed along"),
        ("HIDDEN", "not to be seen"),
    ];
    let variables = variables.map(|(name, value)| (OsString::from(name), OsString::from(value)));
    Surroundings::new(Arc::new(Host), root, Arc::new(variables))
}

/// What a file comes to, in a folder.
pub(crate) fn made_in(root: &Path, yaml: &str) -> Made {
    let entry: Entry = serde_saphyr::from_str(yaml).unwrap();
    make(&entry, &surroundings(root))
}

pub(crate) fn made(yaml: &str) -> Made {
    made_in(Path::new("/"), yaml)
}

/// A toolbox of the tools that were made, in which everything may run.
#[track_caller]
pub(crate) fn toolbox(made: Made) -> Toolbox {
    assert_eq!(made.problems, [], "the file has problems");
    let builder = Toolbox::builder().tools(made.tools);
    let policy = Policy::new(Mode::Auto);
    builder
        .policy(policy)
        .secrets(made.secrets)
        .build()
        .unwrap()
}

/// Calls the only tool of a file, which is called `it`.
pub(crate) async fn call(yaml: &str, arguments: Value) -> Outcome {
    toolsmith_testing::call(&toolbox(made(yaml)), "it", arguments).await
}

/// A tool that runs a line of shell, with the arguments that follow it.
pub(crate) fn shell(script: &str, more: &str) -> String {
    let script = serde_json::to_string(&script.replace('{', "{{").replace('}', "}}")).unwrap();
    format!("name: it\nsandbox: none\ncommand: [/bin/sh, -c, {script}, sh]\n{more}")
}

#[track_caller]
fn problem(yaml: &str) -> String {
    let made = made(yaml);
    assert!(made.tools.is_empty(), "{yaml}");
    let [problem] = made.problems.as_slice() else {
        panic!("{yaml}: {:?}", made.problems);
    };
    problem.message.clone()
}

pub(crate) fn message(outcome: &Outcome) -> String {
    failure(outcome).message.clone()
}

#[test]
fn a_command_is_a_tool_that_executes() {
    let made =
        made("name: it\ndescription: Counts words.\ncommand: [wc, -w]\nsandbox: none\ntimeout: 5s");
    let [tool] = made.tools.as_slice() else {
        panic!("{made:?}");
    };
    let definition = tool.definition();
    assert_eq!(definition.source, Source::Native);
    assert_eq!(
        (definition.kind, definition.effect),
        (Kind::Execute, Effect::Execute)
    );
    assert_eq!(definition.hints.open_world, None);
    assert_eq!(definition.description.important.len(), 1);
    assert!(definition.description.important[0].contains("without a sandbox"));
    assert_eq!(tool.binding().timeout, Some(Duration::from_secs(5)));
}

#[tokio::test]
async fn without_a_word_about_a_sandbox_nothing_runs() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace");
    let yaml = format!("name: it\ncommand: [touch, {:?}]", trace.to_str().unwrap());
    let made = made(&yaml);
    assert!(made.tools[0].definition().description.important[0].contains("refused"));
    let plan = made.tools[0].plan(&Arguments::default());
    assert_eq!(plan.unwrap_err().kind, ErrorKind::PermissionDenied);
    let outcome = toolsmith_testing::call(&toolbox(made), "it", json!({})).await;
    assert_eq!(failure(&outcome).kind, ErrorKind::PermissionDenied);
    assert!(
        message(&outcome).contains("adding `sandbox: none`"),
        "{outcome:?}"
    );
    assert!(!trace.exists());
}

#[tokio::test]
async fn text_is_returned_as_it_is() {
    let outcome = call(&shell("printf 'a\\nb\\n'", ""), json!({})).await;
    assert_eq!(value(&outcome), "a\nb\n");
    assert_eq!(outcome.model_text(), "a\nb\n");
    assert_eq!(outcome.metadata.get("exit_code"), Some(&json!(0)));
    assert!(!outcome.metadata.contains_key("stderr"));
}

#[tokio::test]
async fn a_program_that_says_nothing_is_said_to() {
    let outcome = call(&shell(":", ""), json!({})).await;
    assert_eq!(value(&outcome), "");
    assert!(outcome.model_text().contains("wrote nothing"));
}

#[tokio::test]
async fn what_is_not_utf8_is_replaced() {
    let outcome = call(&shell("printf 'a\\377b'", ""), json!({})).await;
    assert_eq!(value(&outcome), "a\u{fffd}b");
}

#[tokio::test]
async fn json_is_a_value() {
    let json_of = |text: &str| shell(&format!("printf '%s' '{text}'"), "output: json");
    let outcome = call(&json_of(r#"{"a": [1, null]}"#), json!({})).await;
    assert_eq!(value(&outcome), json!({"a": [1, null]}));
    for (text, said) in [
        ("oh no: <html>", "begins with \"oh no: <html>\""),
        ("", "it wrote nothing"),
        (r#"{"a": 1, "a": 2}"#, "duplicate key"),
        ("{} {}", "trailing characters"),
    ] {
        let outcome = call(&json_of(text), json!({})).await;
        assert_eq!(failure(&outcome).kind, ErrorKind::Failed);
        assert!(message(&outcome).contains(said), "{text}: {outcome:?}");
    }
}

#[tokio::test]
async fn standard_error_is_noted_and_told_of_a_failure() {
    let outcome = call(&shell("echo careful >&2; echo fine", ""), json!({})).await;
    assert_eq!(value(&outcome), "fine\n");
    assert_eq!(outcome.metadata["stderr"], "careful");
    let outcome = call(&shell("echo found; echo broken >&2; exit 7", ""), json!({})).await;
    assert_eq!(
        message(&outcome),
        "the program exited with status 7; its standard error ends with:\nbroken"
    );
    assert_eq!(outcome.metadata["exit_code"], 7);
    assert!(
        outcome.model_text().contains("found\n"),
        "{}",
        outcome.model_text()
    );
}

#[tokio::test]
async fn exit_statuses_mean_what_the_file_says() {
    let more = "exit_codes: { 1: nothing was found, 2: ok }\n\
                parameters: { properties: { code: { type: integer } } }";
    let yaml = shell("exit $1", more).replace(", sh]", ", sh, '{code}']");
    for (code, said) in [
        (0, None),
        (
            1,
            Some("the program exited with status 1: nothing was found"),
        ),
        (2, None),
        (3, Some("the program exited with status 3")),
    ] {
        let outcome = call(&yaml, json!({ "code": code })).await;
        let error = outcome.error.as_ref().map(|error| error.message.as_str());
        assert_eq!(error, said);
        assert_eq!(outcome.metadata["exit_code"], code);
    }
    let outcome = call(
        &shell("exit 0", "exit_codes: { 0: that is odd }"),
        json!({}),
    )
    .await;
    assert_eq!(
        message(&outcome),
        "the program exited with status 0: that is odd"
    );
}

#[tokio::test]
async fn a_signal_is_told() {
    let outcome = call(&shell("kill -KILL $$", ""), json!({})).await;
    assert_eq!(message(&outcome), "the program was killed by signal 9");
    assert_eq!(outcome.metadata["signal"], 9);
    assert!(!outcome.metadata.contains_key("exit_code"));
}

#[tokio::test]
async fn what_cannot_be_started_says_what_to_do() {
    for (command, said) in [
        (
            "[no-such-program-anywhere]",
            "no such program; check the spelling",
        ),
        ("[/etc/passwd]", "make it executable"),
    ] {
        let yaml = format!("name: it\nsandbox: none\ncommand: {command}");
        let outcome = call(&yaml, json!({})).await;
        assert_eq!(
            failure(&outcome).kind,
            ErrorKind::Unavailable,
            "{outcome:?}"
        );
        assert!(message(&outcome).contains(said), "{outcome:?}");
    }
    let outcome = call(&shell(":", "cwd: no/such/folder"), json!({})).await;
    assert!(message(&outcome).contains("no such folder"), "{outcome:?}");
}

#[tokio::test]
async fn it_runs_in_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("inner")).unwrap();
    for (cwd, ending) in [
        ("", ""),
        ("cwd: inner", "/inner"),
        ("cwd: ./inner", "/inner"),
    ] {
        let made = made_in(folder.path(), &shell("pwd -P", cwd));
        let outcome = toolsmith_testing::call(&toolbox(made), "it", json!({})).await;
        let said = value(&outcome);
        let name = folder.path().file_name().unwrap().to_str().unwrap();
        let ending = format!("{name}{ending}\n");
        assert!(said.as_str().unwrap().ends_with(&ending), "{said} {ending}");
    }
}

#[tokio::test]
async fn its_environment_is_what_is_safe_and_what_is_named() {
    let more = "env: { TOKEN: 'Bearer ${env:SECRET}', WORD: plain }\n\
                env_passthrough: [PLAIN, NOT_SET]";
    let folder = tempfile::tempdir().unwrap();
    let script = "env | grep -v -e TOOLSMITH -e ^PWD -e ^SHLVL -e ^_= -e ^OLDPWD | sort | tee out";
    let made = made_in(folder.path(), &shell(script, more));
    assert_eq!(made.missing, []);
    assert_eq!(made.secrets, ["passed along", "hunter2-hunter2"]);
    let outcome = toolsmith_testing::call(&toolbox(made), "it", json!({})).await;
    assert_eq!(
        fs::read_to_string(folder.path().join("out")).unwrap(),
        "LANG=C.UTF-8\nPATH=/usr/local/bin:/usr/bin:/bin\nPLAIN=passed along\n\
         TOKEN=Bearer hunter2-hunter2\nWORD=plain\n"
    );
    let told = outcome.model_text();
    assert!(
        told.contains("WORD=plain") && !told.contains("hunter2"),
        "{told}"
    );
}

/// Arguments that nobody checked.
pub(crate) fn unchecked(arguments: Value) -> Arguments {
    match arguments {
        Value::Object(object) => Arguments::new(object),
        other => panic!("arguments are an object, not {other}"),
    }
}

/// What the only tool of a file gives, with room for all of it.
pub(crate) async fn at_length(yaml: &str, arguments: Value) -> Outcome {
    let mut limits = Limits::default();
    limits.output_bytes = 64 << 20;
    let policy = Policy::new(Mode::Auto);
    let builder = Toolbox::builder().tools(made(yaml).tools);
    let toolbox = builder.policy(policy).limits(limits).build().unwrap();
    toolsmith_testing::call(&toolbox, "it", arguments).await
}

#[tokio::test]
async fn a_missing_secret_leaves_a_tool_that_says_so() {
    let made = made(&shell(":", "env: { TOKEN: '${env:NOT_SET}' }"));
    let [missing] = made.missing.as_slice() else {
        panic!("{made:?}");
    };
    assert!(
        missing
            .message
            .contains("`env.TOKEN`: the environment variable `NOT_SET`")
    );
    assert_eq!(missing.place.line, 4);
    let outcome = toolsmith_testing::call(&toolbox(made), "it", json!({})).await;
    assert_eq!(failure(&outcome).kind, ErrorKind::Unavailable);
    assert!(message(&outcome).contains("NOT_SET"), "{outcome:?}");
}

#[tokio::test]
async fn standard_input_is_closed_or_what_the_file_says() {
    assert_eq!(value(&call(&shell("cat", ""), json!({})).await), "");
    let more = "stdin: \"<{text}>{{}}\"\nparameters: { properties: { text: { type: string } } }";
    let yaml = shell("cat", more);
    assert_eq!(
        value(&call(&yaml, json!({"text": "ä$(id)"})).await),
        "<ä$(id)>{}"
    );
    assert_eq!(value(&call(&yaml, json!({})).await), "<>{}");
}

#[tokio::test]
async fn a_program_that_reads_nothing_of_much_is_no_failure() {
    let more = "stdin: \"{text}\"\nparameters: { properties: { text: { type: string } } }";
    let text = "x".repeat(1 << 20);
    let outcome = call(&shell("echo done", more), json!({ "text": text })).await;
    assert_eq!(value(&outcome), "done\n");
    // And one that writes more than a pipe holds before it reads is not stuck.
    let outcome = call(
        &shell("head -c 300000 /dev/zero; wc -c", more),
        json!({ "text": text }),
    )
    .await;
    let said = value(&outcome);
    assert!(said.as_str().unwrap().trim_end().ends_with("1048576"));
}

#[test]
fn what_is_wrong_with_a_file_is_told_with_its_place() {
    let file = |command: &str| format!("name: it\nsandbox: none\ncommand: {command}\n");
    for (yaml, said) in [
        (file("[]"), "the command is empty"),
        (file("[[wc]]"), "begins with a list"),
        (file("['']"), "the program is no fixed text"),
        (
            file("['{file}']") + "parameters: { properties: { file: {} } }",
            "the program is no fixed text",
        ),
        (file("['${env:PROGRAM}']"), "put it under `env`"),
        (
            file("[wc, '{file}']"),
            "`{file}` is no parameter of the tool: it declares none",
        ),
        (file("[wc, ['-c', '{file']]"), "has a `{` without its `}`"),
        (file("[wc, \"a\\0b\"]"), "NUL"),
        (
            file("[cat]") + "stdin: '{text}'",
            "`{text}` is no parameter",
        ),
        (file("[cat]") + "cwd: ../up", "outside of the root"),
        (file("[cat]") + "cwd: /etc", "outside of the root"),
        (
            file("[cat]") + "env: { 'A=B': c }",
            "can be no variable's name",
        ),
        (
            file("[cat]") + "env_passthrough: ['']",
            "can be no variable's name",
        ),
        ("command: [cat]".to_owned(), "no `name`"),
    ] {
        let said_so = problem(&yaml);
        assert!(said_so.contains(said), "{yaml}: {said_so}");
    }
    let made = made(&file("[wc, '{file}']"));
    assert_eq!(
        (made.problems[0].place.line, made.problems[0].place.column),
        (3, 10)
    );
}

#[test]
fn a_plan_tells_what_a_program_reads() {
    let yaml = "name: it\nsandbox: none\ncommand: [sh]\nstdin: '{text}'\n\
                parameters: { properties: { text: { type: string } } }";
    let tool = made(yaml).tools.remove(0);
    let plan = |arguments: Value| tool.plan(&unchecked(arguments)).unwrap().summary;
    let told = plan(json!({"text": "rm -rf ~"}));
    assert_eq!(told, "run without a sandbox: sh reading \"rm -rf ~\"");
    assert_eq!(plan(json!({})), "run without a sandbox: sh");
}

#[test]
fn a_plan_is_one_line_of_what_would_run() {
    let yaml = "name: it\nsandbox: none\ncommand: [grep, -c, --, '{what}', notes.txt]\n\
                parameters: { properties: { what: { type: string } }, required: [what] }";
    let made = made(yaml);
    let plan = |what: &str| {
        let arguments = unchecked(json!({ "what": what }));
        made.tools[0].plan(&arguments).unwrap().summary
    };
    assert_eq!(
        plan("word"),
        "run without a sandbox: grep -c -- word notes.txt"
    );
    assert_eq!(
        plan("a b\n\u{1b}["),
        "run without a sandbox: grep -c -- \"a b\\n\\u{1b}[\" notes.txt"
    );
    let long = plan(&"x".repeat(100_000));
    assert!(long.len() < 300 && long.contains("xxx…"), "{long}");
}
