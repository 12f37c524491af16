//! Commands made to outlive their call, to hang it, to flood it or to lie about it. After
//! each nothing of it runs, the report is true, and it took no longer than it may.

use std::time::Duration;

use serde_json::{Value, json};
use toolsmith_core::{CancellationToken, ErrorKind, Outcome};
use toolsmith_runtime::Caller;

use super::yard::{Yard, fact};

/// What a case must come to.
enum Ends {
    /// By itself, with this status.
    With(i32),
    /// At its time-out.
    Late,
}

use Ends::{Late, With};

impl Ends {
    /// What does not end by itself need not be waited for long; what does may be slow on a
    /// machine that has other things to do.
    fn limit(&self) -> u64 {
        match self {
            With(_) => 20_000,
            Late => 1000,
        }
    }
}

/// Runs a command, and checks what every case has to hold.
async fn tortured(name: &str, command: &str, ends: Ends) -> Outcome {
    let yard = Yard::new();
    let arguments = json!({"command": command, "timeout": ends.limit()});
    let outcome = yard.call("bash", arguments).await;
    check(&yard, name, &outcome, &ends).await;
    outcome
}

async fn check(yard: &Yard, name: &str, outcome: &Outcome, ends: &Ends) {
    let told = outcome.model_text();
    // Killed, not about to be: nothing is waited for.
    assert_eq!(yard.living(), Vec::<String>::new(), "{name}: {told}");
    assert_eq!(yard.leftovers().len(), 0, "{name}");
    let time = fact(outcome, "execution_time").as_u64().unwrap();
    assert!(time <= ends.limit() + 1000, "{name} took {time} ms: {told}");
    assert!(fact(outcome, "survived").is_null(), "{name}: {told}");
    match ends {
        With(code) => {
            assert_eq!(fact(outcome, "exit_code"), *code, "{name}: {told}");
            assert_eq!(fact(outcome, "timed_out"), false, "{name}: {told}");
        }
        Late => {
            let error = outcome.error.as_ref().unwrap();
            assert_eq!(error.kind, ErrorKind::Timeout, "{name}: {told}");
            assert_eq!(fact(outcome, "exit_code"), 124, "{name}: {told}");
            assert!(time >= 1000, "{name} took {time} ms: {told}");
        }
    }
}

macro_rules! cases {
    ($($name:ident: $ends:expr, $command:expr;)*) => {$(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $name() {
            tortured(stringify!($name), $command, $ends).await;
        }
    )*};
}

cases! {
    a_child_in_the_background_holds_the_pipe: With(0), "sleep 1000 & echo done";
    many_children_in_the_background: With(0), "for i in $(seq 20); do sleep 1000 & done; echo done";
    it_ignores_term: Late, "trap '' TERM; while :; do sleep 0.05; done";
    it_ignores_every_signal: Late, "for s in $(seq 1 64); do trap '' $s 2>/dev/null; done; while :; do sleep 0.05; done";
    a_child_leaves_the_session: With(0), "setsid sleep 1000 & sleep 0.2; echo done";
    a_child_leaves_the_session_and_its_parent: With(0), "setsid -f sleep 1000; echo done";
it_forks_twice_and_ignores_term: Late, "( ( trap '' TERM HUP; setsid bash -c 'trap \"\" TERM; while :; do sleep 0.1; done' ) & ); sleep 1000";
    four_hundred_children: With(0), "for i in $(seq 400); do sleep 1000 & done; echo done";
    children_that_make_children: Late, "f() { sleep 1000 & sleep 1000 & g; }; g() { ( f ) 2>/dev/null & wait; }; (sleep 1000 | sleep 1000) & f2() { for i in 1 2 3; do (sleep 1000 &) ; done; }; f2; wait";
    it_reads_what_nobody_writes: With(0), "cat; read -r line; echo \"<$line>\"";
    it_reads_a_terminal: With(1), "read -r line < /dev/tty; exit 1";
    it_closes_its_output: With(0), "exec >&- 2>&-; sleep 0.1; exit 0";
    it_closes_everything_and_stays: Late, "exec 0<&- 1>&- 2>&-; sleep 1000";
    it_stops_itself: Late, "kill -STOP $$; echo never";
    it_stops_its_group: Late, "sleep 1000 & kill -STOP 0; echo never";
    it_kills_its_group: With(137), "sleep 1000 & kill -KILL 0; echo never";
    it_asks_its_group_to_end: With(143), "sleep 1000 & kill -TERM 0; sleep 5; echo never";
    it_makes_zombies: With(0), "python3 -c 'import os,time\nfor i in range(50):\n  if os.fork()==0: os._exit(0)\ntime.sleep(0.2)' ; echo done";
    it_disowns: With(0), "nohup sleep 1000 >/dev/null 2>&1 & disown; echo done";
    it_waits_for_a_coprocess: With(0), "coproc sleep 1000; echo done";
    it_substitutes_processes: With(0), "exec 9> >(sleep 1000); diff <(echo a) <(echo a) >/dev/null; echo done";
    it_controls_jobs: With(0), "set -m; sleep 1000 & sleep 1000 & (sleep 1000 &); echo done";
    it_replaces_itself: Late, "exec sleep 1000";
    it_spins: Late, "while :; do :; done";
    it_exits_while_a_child_still_writes: With(0), "(while :; do echo x; sleep 0.01; done) & exit 0";
    it_changes_its_name_and_forks: With(0), "(exec -a '[kworker/0:0]' sleep 1000 >/dev/null 2>&1 &); echo done";
}

/// Its environment holds no mark, so it is looked for by its command line.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_child_hides_without_environment() {
    let number = format!("1000.{}", std::process::id());
    let command = format!(
        "(env -i /usr/bin/setsid -f /bin/sleep {number} >/dev/null 2>&1 </dev/null); sleep 0.1"
    );
    let outcome = tortured("hidden", &command, With(0)).await;
    let told = outcome.model_text();
    assert!(told.contains("1 process was still running"), "{told}");
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    for entry in entries {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).into_owned();
        assert!(!line.ends_with(&format!("{number}\0")), "{line}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_ended_is_named() {
    let outcome = tortured("named", "sleep 1000 & sleep 1000 & echo done", With(0)).await;
    let told = outcome.model_text();
    assert!(told.starts_with("done\n"), "{told}");
    assert!(
        told.contains("2 processes were still running when it ended"),
        "{told}"
    );
    assert!(told.contains("sleep ("), "{told}");
    assert!(told.contains("run_in_background"), "{told}");
    assert_eq!(fact(&outcome, "killed").as_array().unwrap().len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_time_out_tells_what_happened() {
    let command = "echo begun; trap '' TERM; sleep 1000 & sleep 1000";
    let outcome = tortured("told", command, Late).await;
    let told = outcome.model_text();
    assert!(told.contains("ran out of time after 1s"), "{told}");
    assert!(told.contains("begun"), "{told}");
    assert!(told.contains("it wrote last"), "{told}");
    assert!(told.contains("processes were killed"), "{told}");
    let outcome = tortured("polite", "sleep 1000", Late).await;
    let told = outcome.model_text();
    // Where the machine is busy it may not get to hear that it was asked.
    let ends = ["it ended when asked to", "1 process was killed"];
    assert!(
        ends.iter()
            .any(|end| told.contains(&format!("it wrote nothing; {end}"))),
        "{told}"
    );
}

/// Floods of a command, to where.
async fn flood(redirect: &str) {
    let yard = Yard::new();
    let command = format!("yes 'a line of a flood that goes on and on' {redirect}");
    for (tool, arguments) in [
        ("bash", json!({"command": command, "timeout": 1000})),
        (
            "shell",
            json!({"command": "bash", "args": ["-c", command], "timeout": 1000}),
        ),
    ] {
        let outcome = yard.call(tool, arguments).await;
        check(&yard, redirect, &outcome, &Late).await;
        let told = outcome.model_text();
        assert!(told.chars().count() < 32_000, "{}", told.len());
        assert!(
            told.contains("bytes are left out here; the "),
            "{told:.300}"
        );
        let lengths = [
            fact(&outcome, "stdout_length"),
            fact(&outcome, "stderr_length"),
        ];
        let length: u64 = lengths.iter().filter_map(Value::as_u64).sum();
        assert!(length > 1 << 20, "{length}");
    }
    for path in yard.outputs() {
        let length = path.metadata().unwrap().len();
        assert!(length > 1 << 20 && length <= 64 << 20, "{length}");
    }
    assert_eq!(yard.outputs().len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_of_output() {
    flood("").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_of_errors() {
    flood(">&2").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_of_both() {
    flood("| tee /dev/stderr").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_line_without_end() {
    let yard = Yard::new();
    let command = "head -c 3000000 /dev/zero | tr '\\0' x";
    let outcome = yard.call("bash", json!({"command": command})).await;
    assert!(outcome.is_success());
    assert_eq!(fact(&outcome, "stdout_length"), 3_000_000);
    assert_eq!(fact(&outcome, "omitted_bytes"), 2_970_000);
    let kept = std::fs::read(&yard.outputs()[0]).unwrap();
    assert!(kept.len() == 3_000_000 && kept.iter().all(|byte| *byte == b'x'));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_is_given_up_leaves_nothing() {
    let yard = Yard::new();
    for command in [
        "sleep 1000",
        "trap '' TERM; echo begun; setsid -f sleep 1000; while :; do sleep 0.1; done",
    ] {
        let token = CancellationToken::new();
        let caller = Caller::new("test").with_cancellation(token.clone());
        let arguments = json!({"command": command});
        let calling = yard.call_by(&caller, "bash", arguments);
        let giving_up = async {
            while yard.living().is_empty() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            token.cancel();
        };
        let (outcome, ()) = tokio::join!(calling, giving_up);
        assert_eq!(outcome.error.as_ref().unwrap().kind, ErrorKind::Cancelled);
        assert_eq!(
            yard.living(),
            Vec::<String>::new(),
            "{}",
            outcome.model_text()
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_whose_caller_goes_away_leaves_nothing() {
    let yard = Yard::new();
    let calling = yard.call(
        "bash",
        json!({"command": "setsid -f sleep 1000; sleep 1000"}),
    );
    let seen = async {
        while yard.living().len() < 2 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    // Whichever is first, the other is dropped.
    tokio::select! {
        _ = calling => unreachable!("it sleeps"),
        () = seen => {}
    }
    assert!(yard.is_empty().await, "{:?}", yard.living());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_that_closes_or_goes_leaves_nothing() {
    let yard = Yard::new();
    for command in [
        "sleep 1000",
        "trap '' TERM; setsid -f sleep 1000; while :; do sleep 0.1; done",
    ] {
        let arguments = json!({"command": command, "run_in_background": true});
        assert!(yard.call("bash", arguments).await.is_success());
    }
    yard.shells.close().await;
    assert_eq!(yard.living(), Vec::<String>::new());
    let arguments = json!({"command": "sleep 1000", "run_in_background": true});
    assert!(yard.call("bash", arguments).await.is_success());
    let folder = yard.dropped();
    assert!(folder.is_empty().await);
}

/// While one floods, another is answered: it needs none of what the flood holds.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_delays_nobody_else() {
    let yard = Yard::new();
    let flooding = yard.call("bash", json!({"command": "yes", "timeout": 2000}));
    let others = async {
        while yard.living().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let mut answered = 0;
        for _ in 0..5 {
            let outcome = yard
                .call_as("other", "bash", json!({"command": "echo quick"}))
                .await;
            answered += usize::from(outcome.model_text() == "quick");
        }
        // All of them while the flood still ran.
        (answered, !yard.living().is_empty())
    };
    let (outcome, (answered, still_floods)) = tokio::join!(flooding, others);
    assert_eq!(fact(&outcome, "exit_code"), 124);
    assert_eq!((answered, still_floods), (5, true));
}

/// What takes as much memory as there are outputs would show here.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_costs_little_memory() {
    let yard = Yard::new();
    let before = peak();
    let arguments =
        json!({"command": "head -c 100000000 /dev/zero | tr '\\0' 'x'", "timeout": 30_000});
    let outcome = yard.call("bash", arguments).await;
    assert_eq!(
        fact(&outcome, "stdout_length"),
        100_000_000,
        "{}",
        outcome.model_text()
    );
    assert!(outcome.model_text().contains("the first 64 MiB are in"));
    let cost = peak() - before;
    assert!(cost < 64 << 10, "{cost} kB");
}

/// The most memory this process ever had, in kB.
pub(crate) fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    let number = line.split_whitespace().nth(1).unwrap();
    number.parse().unwrap()
}
