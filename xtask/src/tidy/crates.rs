//! Who may depend on whom, and how little a tool author has to build.
//!
//! The table is the design's column "may depend on". Dependencies of tests are
//! free. Cargo says what depends on what; this file only judges.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, bail};
use serde_json::Value;

use super::Finding;
use crate::step::{cargo, locked};

const CORE: &str = "toolsmith-core";
const DOOR: &str = "toolsmith";
/// The crates of the workspace that are built by who only defines tools.
const DEFINING: &[&str] = &[DOOR, CORE, "toolsmith-macros"];
const CORE_DIRECT: usize = 9;
const CORE_PACKAGES: usize = 35;
const CORE_WITHOUT: &[&str] = &["reqwest", "rmcp", "axum", "clap", "jsonschema"];

/// Each crate and the workspace crates it may depend on.
///
/// A crate that does not exist yet has its row waiting.
const MAY_DEPEND_ON: &[(&str, &[&str])] = &[
    (CORE, &["toolsmith-macros"]),
    ("toolsmith-macros", &[]),
    ("toolsmith-runtime", &[CORE]),
    ("toolsmith-provider", &[CORE]),
    ("toolsmith-net", &[CORE]),
    ("toolsmith-process", &[CORE]),
    (
        "toolsmith-builtin",
        &[CORE, "toolsmith-net", "toolsmith-process"],
    ),
    (
        "toolsmith-rest",
        &[CORE, "toolsmith-net", "toolsmith-process"],
    ),
    (
        "toolsmith-mcp",
        &[
            CORE,
            "toolsmith-runtime",
            "toolsmith-net",
            "toolsmith-process",
        ],
    ),
    (
        "toolsmith-agent",
        &[
            CORE,
            "toolsmith-runtime",
            "toolsmith-provider",
            "toolsmith-net",
        ],
    ),
    ("toolsmith-manager", BELOW_MANAGER),
    ("toolsmith", UP_TO_MANAGER),
    ("toolsmith-cli", UP_TO_MANAGER),
    (
        "toolsmith-testing",
        &[
            CORE,
            "toolsmith-runtime",
            "toolsmith-mcp",
            "toolsmith-builtin",
            "toolsmith-process",
            "toolsmith-provider",
        ],
    ),
    ("xtask", &[]),
    ("first-agent", &["toolsmith"]),
    ("first-tool", &["toolsmith"]),
    ("my-tools", &["toolsmith"]),
    ("todo-api", &[]),
];

const UP_TO_MANAGER: &[&str] = &[
    CORE,
    "toolsmith-macros",
    "toolsmith-runtime",
    "toolsmith-provider",
    "toolsmith-net",
    "toolsmith-process",
    "toolsmith-builtin",
    "toolsmith-rest",
    "toolsmith-mcp",
    "toolsmith-agent",
    "toolsmith-manager",
];

const BELOW_MANAGER: &[&str] = match UP_TO_MANAGER {
    [below @ .., _manager] => below,
    [] => &[],
};

/// What cargo says about the workspace.
#[derive(Debug, Default)]
pub(crate) struct Packages {
    crates: Vec<Package>,
    /// Name and version of every package that building core takes, core included.
    core_tree: BTreeSet<String>,
    /// The same of the front door without its features, which only defines tools.
    door_tree: BTreeSet<String>,
}

#[derive(Debug)]
struct Package {
    name: String,
    manifest: String,
    /// Direct dependencies but those of tests, of every platform and feature.
    dependencies: BTreeSet<String>,
}

impl Packages {
    /// Asks cargo.
    pub(crate) fn read(root: &Path) -> anyhow::Result<Self> {
        let metadata = ask(root, &["metadata", "--format-version", "1", "--no-deps"])?;
        // Not `cargo metadata`: it unites the features that the whole workspace asks for,
        // and counts packages that an author of tools never builds.
        let tree = |package: &str| {
            let plain = ["--no-default-features", "--edges", "normal"];
            let words = [
                &["tree", "--package", package][..],
                &plain,
                &["--prefix", "none"],
            ];
            ask(root, &words.concat())
        };
        let metadata =
            serde_json::from_str(&metadata).context("failed to read cargo's metadata")?;
        Ok(Self {
            crates: packages(&metadata).context("cargo's metadata has an unknown form")?,
            core_tree: tree_packages(&tree(CORE)?),
            door_tree: tree_packages(&tree(DOOR)?),
        })
    }
}

/// Finds dependencies that the design does not allow.
pub(crate) fn check(packages: &Packages) -> Vec<Finding> {
    let mut findings: Vec<Finding> = packages
        .crates
        .iter()
        .flat_map(|package| direct(package, packages))
        .collect();
    if let Some(core) = packages.crates.iter().find(|package| package.name == CORE) {
        findings.extend(core_size(core, &packages.core_tree));
    }
    findings.extend(execution(packages));
    findings
}

/// Finds what runs tools in the tree of those who only define them.
fn execution(packages: &Packages) -> Vec<Finding> {
    let is_ours = |name: &&str| packages.crates.iter().any(|package| package.name == *name);
    let names = packages.door_tree.iter();
    let names = names.filter_map(|package| package.split(' ').next());
    let report = |name: &str| {
        let problem = format!("{DOOR} without its features builds {name}");
        let remedy = "who only defines tools builds none of it: make it optional";
        Finding::new("crates/toolsmith/Cargo.toml", 1, problem, remedy)
    };
    names
        .filter(is_ours)
        .filter(|name| !DEFINING.contains(name))
        .map(report)
        .collect()
}

fn direct(package: &Package, packages: &Packages) -> Vec<Finding> {
    let Package {
        name,
        manifest,
        dependencies,
    } = package;
    let Some((_, allowed)) = MAY_DEPEND_ON.iter().find(|(row, _)| row == name) else {
        let remedy =
            "argue for the crate in docs/decisions/ and give it a row in xtask/src/tidy/crates.rs";
        return vec![Finding::new(
            manifest,
            1,
            format!("the design knows no crate '{name}'"),
            remedy,
        )];
    };
    let is_ours = |dependency: &&String| {
        packages
            .crates
            .iter()
            .any(|other| other.name == **dependency)
    };
    let is_wrong = |dependency: &&String| !allowed.contains(&dependency.as_str());
    let report = |dependency: &String| {
        let allowed = if allowed.is_empty() {
            "no crate of the workspace".to_owned()
        } else {
            allowed.join(", ")
        };
        let remedy = format!("it may depend on {allowed}; join crates in toolsmith-manager");
        Finding::new(
            manifest,
            1,
            format!("{name} depends on {dependency}"),
            remedy,
        )
    };
    dependencies
        .iter()
        .filter(is_ours)
        .filter(is_wrong)
        .map(report)
        .collect()
}

fn core_size(core: &Package, tree: &BTreeSet<String>) -> Vec<Finding> {
    let remedy = "every author of tools builds this: move what needs it into another crate";
    let report = |problem: String| Finding::new(&core.manifest, 1, problem, remedy);
    let count = core.dependencies.len();
    let too_many = (count > CORE_DIRECT).then(|| {
        format!("{CORE} has {count} direct dependencies, over the limit of {CORE_DIRECT}")
    });
    let count = tree.len();
    let too_large = (count > CORE_PACKAGES).then(|| {
        format!("the tree of {CORE} has {count} packages, over the limit of {CORE_PACKAGES}")
    });
    let names = tree.iter().filter_map(|package| package.split(' ').next());
    let foreign = names
        .filter(|name| CORE_WITHOUT.contains(name))
        .map(|name| format!("the tree of {CORE} holds {name}"));
    too_many
        .into_iter()
        .chain(too_large)
        .chain(foreign)
        .map(report)
        .collect()
}

fn packages(metadata: &Value) -> Option<Vec<Package>> {
    let root = metadata.get("workspace_root")?.as_str()?;
    let package = |value: &Value| {
        let manifest = value.get("manifest_path")?.as_str()?;
        let dependencies = value.get("dependencies")?.as_array()?.iter();
        let built = dependencies
            .filter(|dependency| dependency.get("kind").and_then(Value::as_str) != Some("dev"));
        Some(Package {
            name: value.get("name")?.as_str()?.to_owned(),
            manifest: manifest
                .strip_prefix(root)?
                .trim_start_matches(['/', '\\'])
                .replace('\\', "/"),
            dependencies: built
                .map(|dependency| Some(dependency.get("name")?.as_str()?.to_owned()))
                .collect::<Option<_>>()?,
        })
    };
    metadata
        .get("packages")?
        .as_array()?
        .iter()
        .map(package)
        .collect()
}

/// Reads lines such as `serde v1.0.229` and `toolsmith-core v0.1.0 (…) (*)`.
fn tree_packages(tree: &str) -> BTreeSet<String> {
    let package = |line: &str| {
        let mut words = line.split_whitespace();
        Some(format!("{} {}", words.next()?, words.next()?))
    };
    tree.lines().filter_map(package).collect()
}

fn ask(root: &Path, words: &[&str]) -> anyhow::Result<String> {
    let line = words.join(" ");
    let output = cargo(root)
        .args(words)
        .args(locked(root))
        .output()
        .with_context(|| format!("failed to start cargo {line}"))?;
    if !output.status.success() {
        bail!(
            "failed to run cargo {line}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    String::from_utf8(output.stdout).with_context(|| format!("cargo {line} did not print text"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(crates: &[(&str, &[&str])], core_tree: &str) -> Vec<String> {
        let package = |(name, dependencies): &(&str, &[&str])| Package {
            name: (*name).to_owned(),
            manifest: format!("crates/{name}/Cargo.toml"),
            dependencies: dependencies.iter().map(|name| (*name).to_owned()).collect(),
        };
        let packages = Packages {
            crates: crates.iter().map(package).collect(),
            core_tree: tree_packages(core_tree),
            door_tree: BTreeSet::new(),
        };
        check(&packages)
            .into_iter()
            .map(|finding| finding.problem)
            .collect()
    }

    #[test]
    fn a_dependency_against_the_design_is_found() {
        for (name, dependency) in [
            (CORE, "toolsmith-runtime"),
            ("toolsmith-builtin", "toolsmith-rest"),
            ("toolsmith-rest", "toolsmith-mcp"),
            ("toolsmith-mcp", "toolsmith-agent"),
            ("toolsmith-agent", "toolsmith-builtin"),
            ("toolsmith-manager", "toolsmith-cli"),
            ("toolsmith-runtime", "toolsmith-testing"),
            ("xtask", CORE),
        ] {
            let crates = [(name, &[dependency, "serde"][..]), (dependency, &[])];
            assert_eq!(
                found(&crates, ""),
                [format!("{name} depends on {dependency}")]
            );
        }
    }

    #[test]
    fn a_crate_without_a_row_is_found() {
        let found = found(&[("toolsmith-more", &[])], "");
        assert_eq!(found, ["the design knows no crate 'toolsmith-more'"]);
    }

    #[test]
    fn what_the_design_allows_is_not_found() {
        let crates: Vec<(&str, &[&str])> = MAY_DEPEND_ON.to_vec();
        assert!(found(&crates, "").is_empty());
    }

    #[test]
    fn adapters_never_depend_on_one_another() {
        let adapters = [
            "toolsmith-builtin",
            "toolsmith-rest",
            "toolsmith-mcp",
            "toolsmith-agent",
        ];
        for (name, allowed) in MAY_DEPEND_ON
            .iter()
            .filter(|(name, _)| adapters.contains(name))
        {
            assert!(
                !allowed.iter().any(|other| adapters.contains(other)),
                "{name}"
            );
        }
    }

    #[test]
    fn execution_in_the_tree_of_who_defines_tools_is_found() {
        let package = |name: &str| Package {
            name: name.to_owned(),
            manifest: String::new(),
            dependencies: BTreeSet::new(),
        };
        let tree = "toolsmith v0.1.0 (/x)\ntoolsmith-core v0.1.0 (/x)\nserde v1.0.0\n\
                    toolsmith-macros v0.1.0 (proc-macro) (/x)\ntoolsmith-runtime v0.1.0 (/x)\n";
        let packages = Packages {
            crates: [DOOR, CORE, "toolsmith-macros", "toolsmith-runtime"]
                .map(package)
                .into(),
            core_tree: BTreeSet::new(),
            door_tree: tree_packages(tree),
        };
        let found: Vec<String> = (execution(&packages).into_iter())
            .map(|finding| finding.problem)
            .collect();
        assert_eq!(
            found,
            ["toolsmith without its features builds toolsmith-runtime"]
        );
    }

    #[test]
    fn a_core_that_grew_is_found() {
        let direct = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
        assert!(found(&[(CORE, &direct[..9])], "").is_empty());
        assert_eq!(
            found(&[(CORE, &direct)], ""),
            ["toolsmith-core has 10 direct dependencies, over the limit of 9"]
        );
        let tree: String = (0..41)
            .map(|number| format!("p{number} v1.0.0\np{number} v1.0.0 (*)\n"))
            .collect();
        assert_eq!(
            found(&[(CORE, &[])], &tree),
            ["the tree of toolsmith-core has 41 packages, over the limit of 35"]
        );
        assert_eq!(
            found(
                &[(CORE, &[])],
                "toolsmith-core v0.1.0 (crates)\nclap v4.6.7 (*)\nclap_lex v1.1.1\n"
            ),
            ["the tree of toolsmith-core holds clap"]
        );
    }

    #[test]
    fn dependencies_of_tests_are_free() {
        let text = r#"{"workspace_root": "/a", "packages": [{
            "name": "toolsmith-core", "manifest_path": "/a/crates/toolsmith-core/Cargo.toml",
            "dependencies": [
                {"name": "toolsmith-testing", "kind": "dev"},
                {"name": "serde", "kind": null},
                {"name": "cc", "kind": "build"}
            ]}]}"#;
        let [core] = packages(&serde_json::from_str(text).unwrap())
            .unwrap()
            .try_into()
            .unwrap();
        assert_eq!(core.manifest, "crates/toolsmith-core/Cargo.toml");
        assert_eq!(
            core.dependencies,
            ["cc".to_owned(), "serde".to_owned()].into()
        );
    }
}
