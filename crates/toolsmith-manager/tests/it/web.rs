//! `web:` in the configuration: what web tools are told, and what is refused.

use std::path::Path;
use std::sync::{Arc, Mutex};

use toolsmith_manager::{Setup, WebTerms};
use toolsmith_net::Redirects;

use crate::sets::put;

const DOCUMENT: &str = include_str!("../../../../docs/web.md");

/// A setup that keeps what it tells.
fn telling(folder: &Path) -> (Setup, Arc<Mutex<Vec<WebTerms>>>) {
    let told = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&told);
    let environment = [("GITHUB_TOKEN".into(), "a-token-of-some-length".into())];
    let setup = Setup::open(folder)
        .unwrap()
        .with_environment(&environment)
        .with_web(move |terms| kept.lock().unwrap().push(terms.clone()));
    (setup, told)
}

#[test]
fn the_settings_of_the_documentation_load() {
    let folder = tempfile::tempdir().unwrap();
    let yaml = DOCUMENT.split("```yaml\n").nth(1).unwrap();
    put(
        folder.path(),
        "toolsmith.yaml",
        yaml.split("```").next().unwrap(),
    );
    let (setup, told) = telling(folder.path());
    let manager = setup.load().unwrap();
    assert_eq!(manager.errors(), [] as [&str; 0]);
    assert_eq!(manager.missing(), [] as [&str; 0]);
    let terms = told.lock().unwrap().pop().unwrap();
    assert_eq!(
        terms.origins,
        [
            "http://intranet.example",
            "https://intranet.example",
            "http://127.0.0.1:8080",
            "https://127.0.0.1:8080",
            "http://[::1]:9000",
        ]
    );
    assert_eq!(terms.redirects, Redirects::Any);
    assert!(!terms.respects_robots);
    assert_eq!(terms.user_agent.as_deref(), Some("acme-agent/1.0"));
    assert_eq!(terms.secrets[0].origins, ["https://api.github.com"]);
    let reach = terms.reach();
    assert!(reach.names("http://127.0.0.1:8080/x") && !reach.names("http://127.0.0.1:8081/"));
    assert!(!format!("{terms:?}{:?}", manager.config()).contains("a-token"));
}

#[test]
fn settings_change_with_the_file_and_a_missing_secret_is_told() {
    let folder = tempfile::tempdir().unwrap();
    put(
        folder.path(),
        "toolsmith.yaml",
        "web: { allow_hosts: [a.example] }\n",
    );
    let (setup, told) = telling(folder.path());
    let manager = setup.load().unwrap();
    assert_eq!(told.lock().unwrap().len(), 1);
    put(
        folder.path(),
        "toolsmith.yaml",
        "web:\n  redirects: same-host\n  robots: respect\n  secrets:\n    K: { value: \"${env:NOT_THERE}\", hosts: [b.example] }\n",
    );
    assert!(manager.refresh().changed);
    let terms = told.lock().unwrap().pop().unwrap();
    assert_eq!(terms.redirects, Redirects::SameHost);
    assert!(terms.respects_robots && terms.origins.is_empty() && terms.secrets.is_empty());
    let missing = manager.missing().join("\n");
    assert!(
        missing.contains("web.secrets.K: the environment variable `NOT_THERE` is not set"),
        "{missing}"
    );
    // What says nothing about the web changes nothing there.
    put(
        folder.path(),
        "toolsmith.yaml",
        "web: { redirects: same-host, robots: respect }\nprefix: x\n",
    );
    assert!(manager.refresh().changed);
    assert_eq!(told.lock().unwrap().len(), 1);
}

#[test]
fn secrets_that_cannot_be_redacted_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    put(
        folder.path(),
        "toolsmith.yaml",
        "web:\n  secrets:\n    SHORT: { value: \"12345\", hosts: [b.example] }\n    FINE: { value: \"123456\", hosts: [b.example] }\n",
    );
    let (setup, told) = telling(folder.path());
    let manager = setup.load().unwrap();
    let terms = told.lock().unwrap().pop().unwrap();
    let names: Vec<&str> = (terms.secrets.iter())
        .map(|secret| secret.name.as_str())
        .collect();
    assert_eq!(names, ["FINE"]);
    let missing = manager.missing().join("\n");
    assert!(
        missing.contains("web.secrets.SHORT: the value has fewer than 6 characters"),
        "{missing}"
    );
    assert!(!missing.contains("12345"), "{missing}");
}

#[test]
fn what_cannot_be_meant_is_refused_where_it_stands() {
    for (yaml, place, message) in [
        (
            "web: { allow_hosts: [\"*.example\"] }",
            "1:",
            "patterns and paths are not supported",
        ),
        (
            "web: { allow_hosts: [\"10.0.0.0/8\"] }",
            "1:",
            "patterns and paths are not supported",
        ),
        (
            "web: { allow_hosts: [\"ftp://a\"] }",
            "1:",
            "expected a host such as",
        ),
        (
            "web: { allow_hosts: [\"http://user@a\"] }",
            "1:",
            "patterns and paths are not supported",
        ),
        (
            "web: { allow_hosts: [\"a:99999\"] }",
            "1:",
            "expected a host such as",
        ),
        (
            "web: { allow_hosts: [\"\"] }",
            "1:",
            "patterns and paths are not supported",
        ),
        ("web: { allow_hosts: a.example }", "1:", "expected"),
        ("web:\n  redirects: some\n", "2:", "some"),
        ("web:\n  user_agent: \"a\\nb\"\n", "2:", "expected one line"),
        (
            "web:\n  secrets: { K: { value: x, hosts: [] } }\n",
            "2:",
            "at least one host",
        ),
        ("web:\n  secrets: { K: { value: x } }\n", "2:", "hosts"),
        (
            "web:\n  secrets: { \"a b\": { value: x, hosts: [a] } }\n",
            "2:",
            "a secret's name",
        ),
        ("web:\n  proxy: x\n", "2:", "unknown key `proxy`"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        put(folder.path(), "toolsmith.yaml", yaml);
        let error = match Setup::open(folder.path()) {
            Ok(_) => panic!("it was accepted: {yaml}"),
            Err(error) => error.to_string(),
        };
        let first = error.lines().next().unwrap();
        assert!(
            first.contains(&format!("toolsmith.yaml:{place}")),
            "{yaml}: {error}"
        );
        assert!(first.contains(message), "{yaml}: {error}");
    }
}
