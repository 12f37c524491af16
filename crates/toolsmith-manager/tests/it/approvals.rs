//! The file a project's approvals are kept in.

use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use toolsmith_core::{AnyTool, Kind, Outcome, RawCall, ToolDef};
use toolsmith_manager::approvals::FileApprovals;
use toolsmith_manager::{Manager, Setup};
use toolsmith_runtime::Caller;
use toolsmith_runtime::permit::{
    Approval, ApprovalRequest, ApprovalStore, Approver, Covers, Lasts, Remember, Remembered,
    RememberedCalls, Rule, Verdict,
};

use crate::sets::project;

fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_767_225_600)
}

fn store(folder: &Path) -> FileApprovals {
    FileApprovals::of_root(folder.join("state/approvals"), folder, now)
}

fn manager(root: &Path) -> Manager {
    let definition = ToolDef::new("put").unwrap().with_kind(Kind::Edit);
    let put = AnyTool::from_fn(definition, async |_: Value, _| Outcome::ok("done"));
    let setup = Setup::open(root).unwrap().with_tools("shipped", [put]);
    setup.with_approvals(Some(store(root))).load().unwrap()
}

/// Says yes, for the project.
struct Always(Covers);

impl Approver for Always {
    async fn approve(&self, requests: &[ApprovalRequest]) -> Vec<Approval> {
        let remember = Remember::new(Lasts::Project, self.0.clone());
        let each = requests.iter();
        each.map(|request| request.grant("test").remembering(remember.clone()))
            .collect()
    }
}

fn matching(text: &str) -> Rule {
    Rule::parse(Verdict::Allow, text).unwrap()
}

async fn runs(manager: &Manager, caller: &Caller) -> bool {
    let call = RawCall::new("put", json!({}));
    manager
        .toolbox()
        .run(call, caller)
        .await
        .into_outcome()
        .is_success()
}

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[tokio::test]
async fn an_approval_is_kept_counts_in_the_next_run_and_is_revoked() {
    for covers in [Covers::Call, Covers::rule(matching("put"))] {
        let folder = project(&[]);
        let nobody = Caller::new("test");
        assert!(!runs(&manager(folder.path()), &nobody).await);
        let always = Caller::new("test").with_approver(Always(covers));
        assert!(runs(&manager(folder.path()), &always).await);
        let running = manager(folder.path());
        assert!(runs(&running, &nobody).await);

        let kept = store(folder.path());
        #[cfg(unix)]
        {
            assert_eq!(mode(kept.file()), 0o600);
            assert_eq!(mode(kept.file().parent().unwrap()), 0o700);
        }
        let all = kept.all().unwrap();
        assert_eq!((all.len(), all[0].since), (1, 1_767_225_600));
        assert_eq!(all[0].id.len(), 8);
        let revoked = kept.revoke(|each| each.id == all[0].id).unwrap();
        assert_eq!(revoked.len(), 1);
        // A server that runs notices at the next call.
        assert!(!runs(&running, &nobody).await);
        // Another project knows nothing of it, and neither does the project's own folder.
        let other = project(&[]);
        assert!(!runs(&manager(other.path()), &nobody).await);
    }
}

/// A good file, and where it is.
fn written(folder: &Path) -> (PathBuf, String) {
    let kept = store(folder);
    let calls = RememberedCalls::Matching(matching("put"));
    kept.keep(Remembered::new(calls, None)).unwrap();
    let text = std::fs::read_to_string(kept.file()).unwrap();
    (kept.file().to_owned(), text)
}

fn write_privately(path: &Path, bytes: &[u8]) {
    // Into the file that is there, whose mode stays.
    std::fs::write(path, bytes).unwrap();
}

#[tokio::test]
async fn a_file_that_cannot_be_used_approves_nothing_and_is_left_alone() {
    type Spoil = fn(&str) -> Vec<u8>;
    let cases: Vec<(&str, Spoil, &str)> = vec![
        ("empty", |_| Vec::new(), "it is empty"),
        (
            "torn",
            |good| good.as_bytes()[..good.len() / 2].to_vec(),
            "cannot be read",
        ),
        ("no JSON", |_| b"put: yes".to_vec(), "line 1 column 1"),
        (
            "not UTF-8",
            |_| b"{\"version\": \"\xff\"}".to_vec(),
            "UTF-8",
        ),
        (
            "newer",
            |good| {
                good.replace("\"version\": 1", "\"version\": 7")
                    .into_bytes()
            },
            "version 7",
        ),
        (
            "older",
            |good| {
                good.replace("\"version\": 1", "\"version\": 0")
                    .into_bytes()
            },
            "none there ever was",
        ),
        ("no version", |_| b"{}".to_vec(), "no `version`"),
        (
            "another project's",
            |good| {
                good.replace("\"root\": \"/", "\"root\": \"/else/")
                    .into_bytes()
            },
            "another project, /else/",
        ),
        (
            "no rule",
            |good| good.replace("\"put\"", "\"put(\"").into_bytes(),
            "cannot be read",
        ),
        (
            "neither",
            |good| {
                good.replace("\"rule\": \"put\"", "\"agent\": \"x\"")
                    .into_bytes()
            },
            "either a `call` or a `rule`",
        ),
        (
            "more keys",
            |good| {
                good.replace("\"rule\"", "\"all\": true, \"rule\"")
                    .into_bytes()
            },
            "all",
        ),
        ("too large", |_| vec![b' '; (4 << 20) + 1], "larger"),
    ];
    for (what, spoil, told) in cases {
        let folder = project(&[]);
        let (file, good) = written(folder.path());
        let nobody = Caller::new("test");
        assert!(runs(&manager(folder.path()), &nobody).await);
        let bad = spoil(&good);
        write_privately(&file, &bad);
        let manager = manager(folder.path());
        assert!(!runs(&manager, &nobody).await, "{what}");
        let problem = manager.approvals().unwrap().problem().unwrap();
        assert!(
            problem.contains(told) && problem.contains("nothing in it counts"),
            "{what}: {problem}"
        );
        assert!(
            problem.contains(&file.display().to_string()),
            "{what}: {problem}"
        );
        // A yes counts once, and the file stays as it is.
        let always = Caller::new("test").with_approver(Always(Covers::Call));
        assert!(runs(&manager, &always).await, "{what}");
        assert!(!runs(&manager, &nobody).await, "{what}");
        assert!(
            manager.approvals().unwrap().revoke(|_| true).is_err(),
            "{what}"
        );
        assert_eq!(std::fs::read(&file).unwrap(), bad, "{what}");
        // Mended, it counts again.
        write_privately(&file, good.as_bytes());
        assert!(runs(&manager, &nobody).await, "{what}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_file_that_others_could_have_written_approves_nothing() {
    use std::os::unix::fs::PermissionsExt;

    for mode in [0o644, 0o660, 0o606, 0o666] {
        let folder = project(&[]);
        let (file, _) = written(folder.path());
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        let manager = manager(folder.path());
        assert!(!runs(&manager, &Caller::new("test")).await, "{mode:o}");
        let problem = manager.approvals().unwrap().problem().unwrap();
        assert!(problem.contains(&format!("mode {mode:o}")), "{problem}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn what_is_no_file_is_not_waited_for() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    for is_fifo in [false, true] {
        let folder = project(&[]);
        let (file, _) = written(folder.path());
        std::fs::remove_file(&file).unwrap();
        match is_fifo {
            true => mknodat(CWD, &file, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap(),
            false => std::fs::create_dir(&file).unwrap(),
        }
        let manager = manager(folder.path());
        assert!(!runs(&manager, &Caller::new("test")).await);
        assert!(manager.approvals().unwrap().problem().is_some());
    }
}

#[test]
fn many_writers_at_once_lose_nothing() {
    let folder = project(&[]);
    let barrier = Barrier::new(8);
    std::thread::scope(|scope| {
        for number in 0..8 {
            let (root, barrier) = (folder.path(), &barrier);
            scope.spawn(move || {
                let kept = store(root);
                barrier.wait();
                for round in 0..5 {
                    let rule = matching(&format!("put_{number}_{round}"));
                    let calls = RememberedCalls::Matching(rule);
                    kept.keep(Remembered::new(calls, None)).unwrap();
                }
            });
        }
    });
    let all = store(folder.path()).all().unwrap();
    assert_eq!(all.len(), 40);
    let mut ids: Vec<&str> = all.iter().map(|each| each.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 40);
}

#[test]
fn a_project_has_a_bounded_number_of_approvals() {
    let folder = project(&[]);
    let (file, good) = written(folder.path());
    let mut value: Value = serde_json::from_str(&good).unwrap();
    let one = value["approvals"][0].clone();
    let many = (0..1000).map(|number| {
        let mut each = one.clone();
        each["id"] = format!("{number:08x}").into();
        each
    });
    value["approvals"] = many.collect();
    write_privately(&file, value.to_string().as_bytes());
    let kept = store(folder.path());
    assert_eq!(kept.all().unwrap().len(), 1000);
    let calls = RememberedCalls::Matching(matching("more"));
    let error = kept.keep(Remembered::new(calls, None)).unwrap_err();
    assert!(error.to_string().contains("revoke some"), "{error}");
    assert_eq!(kept.all().unwrap().len(), 1000);
}
