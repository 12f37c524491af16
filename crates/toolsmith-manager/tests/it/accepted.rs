//! Configurations that are fine, and what they mean.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use toolsmith_core::{Detail, Exposure};
use toolsmith_manager::yaml::{self, YamlError};
use toolsmith_manager::{Config, ConfigLoader, IfMissing, Setup};
use toolsmith_runtime::{Limits, Mode};

#[track_caller]
fn read(text: &str) -> Config {
    match yaml::read("t.yaml", text.as_bytes()) {
        Ok(config) => config,
        Err(error) => panic!("{error}"),
    }
}

struct Given(&'static [u8]);

impl ConfigLoader for Given {
    fn load(&self, path: &Path) -> Result<Option<Vec<u8>>, YamlError> {
        Ok((path == Path::new("t.yaml")).then(|| self.0.to_vec()))
    }
}

#[test]
fn nothing_is_a_configuration() {
    for content in [
        &b""[..],
        b"\n\n",
        b"# only\n  # comments\n",
        b"\xef\xbb\xbf",
        b"\xef\xbb\xbf# comment",
        b"---\n",
        b"~\n",
        b"{}\n",
        b"limits:\npolicy:\nbindings:\nserve:\nprefix:\n",
    ] {
        let given = Arc::new(Given(content));
        let setup = Setup::open_with(given, Path::new("t.yaml"), IfMissing::Fail);
        let manager = match setup.and_then(Setup::load) {
            Ok(manager) => manager,
            Err(error) => panic!("{content:?} {error}"),
        };
        assert_eq!(manager.config().limits.limits(), Limits::default());
        assert_eq!(manager.policy().mode(), Mode::Ask);
        assert_eq!(manager.policy().rules().len(), 0);
        assert_eq!(manager.file(), Some(Path::new("t.yaml")));
    }
}

#[test]
fn everything_at_once() {
    let config = read(
        "serve: { prefix: acme }\n\
         descriptions: full\n\
         limits:\n\
         \x20 parallel: 2\n\
         \x20 timeout: 1s\n\
         \x20 longest: 2m\n\
         \x20 grace: 3ms\n\
         \x20 approval: 4h\n\
         \x20 argument_bytes: 5\n\
         \x20 output_bytes: 6\n\
         \x20 blob_bytes: 7\n\
         \x20 streamed_bytes: 8\n\
         \x20 log_bytes: 9\n\
         \x20 blocking_threads: 10\n\
         \x20 cache_bytes: 11\n\
         \x20 cache_entries: 12\n\
         bindings:\n\
         \x20 \"mcp__*\": { timeout: 60s, exposure: deferred, prefix: '' }\n\
         \x20 t: { retries: 3, cache: 10m, rate: 5/s, quota: 100/d }\n\
         policy:\n\
         \x20 mode: auto-edit\n\
         \x20 allow: ['read(file_path: docs/**)']\n\
         \x20 ask: [bash]\n\
         \x20 deny: ['effect:execute']\n\
         \x20 rules:\n\
         \x20   - { effect: deny, tool: write, args: { file_path: { beneath: secrets } } }\n",
    );
    assert_eq!(config.prefix(), Some("acme"));
    assert_eq!(config.descriptions, Detail::Full);
    let mut limits = Limits::default();
    limits.parallel = 2;
    limits.timeout = Duration::from_secs(1);
    limits.longest = Duration::from_secs(120);
    limits.grace = Duration::from_millis(3);
    limits.approval = Duration::from_secs(4 * 3600);
    limits.argument_bytes = 5;
    limits.output_bytes = 6;
    limits.blob_bytes = 7;
    limits.streamed_bytes = 8;
    limits.log_bytes = 9;
    limits.blocking_threads = 10;
    limits.cache_bytes = 11;
    limits.cache_entries = 12;
    assert_eq!(config.limits.limits(), limits);
    let binding = &config.bindings["mcp__*"];
    assert_eq!(binding.timeout, Some(Duration::from_secs(60)));
    assert_eq!(binding.exposure, Some(Exposure::Deferred));
    assert_eq!(binding.prefix.as_deref(), Some(""));
    let binding = &config.bindings["t"];
    assert_eq!(binding.retries, Some(3));
    assert_eq!(binding.cache, Some(Duration::from_secs(600)));
    assert_eq!(binding.rate, Some("5/s".parse().unwrap()));
    assert_eq!(binding.quota, Some("100/d".parse().unwrap()));
    let policy = config.policy.policy();
    assert_eq!(policy.mode(), Mode::AutoEdit);
    let rules: Vec<String> = policy.rules().iter().map(ToString::to_string).collect();
    assert_eq!(
        rules,
        [
            "deny effect:execute",
            "ask bash",
            "allow read(file_path: docs/**)",
            "deny write file_path {\"beneath\":\"secrets\"}",
        ]
    );
}

#[test]
fn calls_of_a_batch_can_be_told_to_wait_for_one_another() {
    for (written, expected) in [("false", 1), ("true", Limits::default().parallel), ("3", 3)] {
        let config = read(&format!("limits: {{ parallel: {written} }}"));
        assert_eq!(config.limits.limits().parallel, expected, "{written}");
    }
}

#[test]
fn the_example_in_the_documentation_is_read() {
    let source = include_str!("../../src/config/mod.rs");
    let example: String = source
        .lines()
        .skip_while(|line| *line != "//! ```yaml")
        .skip(1)
        .take_while(|line| *line != "//! ```")
        .map(|line| line.trim_start_matches("//! ").to_owned() + "\n")
        .collect();
    assert!(example.contains("prefix: acme"), "{example}");
    assert_eq!(read(&example).prefix(), Some("acme"));
}

#[test]
fn what_yaml_allows_and_we_do_too() {
    assert_eq!(read("\u{feff}prefix: a\n").prefix(), Some("a"));
    assert_eq!(read("---\nprefix: a\n...\n").prefix(), Some("a"));
    assert_eq!(read("%YAML 1.2\n---\nprefix: a\n").prefix(), Some("a"));
    assert_eq!(read("prefix: 'a'\r\n").prefix(), Some("a"));
    assert_eq!(read("{prefix: a}").prefix(), Some("a"));
    assert_eq!(
        read("prefix: a # a comment with !tags and &anchors\n").prefix(),
        Some("a")
    );
    assert_eq!(
        read("prefix: a!b\n".replace('!', "-").as_str()).prefix(),
        Some("a-b")
    );
    // Where a text is wanted, what looks like a number or a boolean is a text.
    assert_eq!(read("prefix: 12\n").prefix(), Some("12"));
    assert_eq!(read("prefix: yes\n").prefix(), Some("yes"));
    let config = read("limits:\n  timeout: &t 3s\n  grace: *t\n");
    assert_eq!(config.limits.limits().grace, Duration::from_secs(3));
    let config = read("bindings:\n  a: &x {timeout: 3s}\n  b: *x\n");
    assert_eq!(config.bindings["b"], config.bindings["a"]);
}

#[test]
fn the_longer_way_to_say_the_prefix_wins() {
    assert_eq!(
        read("prefix: short\nserve: {prefix: long}\n").prefix(),
        Some("long")
    );
    assert_eq!(read("prefix: short\n").prefix(), Some("short"));
    assert_eq!(read("serve: {prefix: ''}\n").prefix(), Some(""));
    assert_eq!(read("limits: {}\n").prefix(), None);
}

#[test]
fn five_hundred_rules_are_not_too_many() {
    let rules: Vec<String> = (0..500).map(|index| format!("t{index}")).collect();
    let config = read(&format!("policy:\n  allow: [{}]\n", rules.join(",")));
    assert_eq!(config.policy.policy().rules().len(), 500);
}
