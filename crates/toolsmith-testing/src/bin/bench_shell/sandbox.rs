//! What a sandbox adds to the start of a program: `true` with it, above `true` without.

use std::time::Instant;

use toolsmith_process::{Launch, Mode, Sandbox, Support};
use toolsmith_testing::bench::{Goal, Verdict, judged, median, skipped, title, told};

const ROUNDS: usize = 200;

/// With Landlock and seccomp alone, and with namespaces too.
pub(crate) async fn overhead() -> Verdict {
    let support = Support::of_this_machine();
    title("the start of `true`: with a sandbox, above without");
    let folder = std::env::temp_dir().join(format!("bench-shell-{}", std::process::id()));
    std::fs::create_dir_all(folder.join(".git")).expect("a folder");
    let sandbox = Sandbox::new(Mode::WorkspaceWrite)
        .writable(&folder)
        .protected(folder.join(".git"))
        .hidden("/etc/ssh");
    let plain = || Launch::new("/bin/true");
    let less = support.clone().without_namespaces("left out");
    // A hidden path costs a look at all that lies beside it; few have so many there.
    let confined = plain().sandbox(sandbox.clone().support(less));
    let mut ways = vec![plain(), confined];
    let missing = support.namespaces.as_ref().err().map(ToString::to_string);
    if missing.is_none() {
        ways.push(plain().sandbox(sandbox.support(support)));
    }
    let mut times: Vec<Vec<f64>> = vec![Vec::new(); ways.len()];
    for _ in 0..ROUNDS {
        for (launch, times) in ways.iter().zip(&mut times) {
            times.push(milliseconds(launch).await);
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
    let medians: Vec<f64> = times.into_iter().map(median).collect();
    told("without", medians[0], "ms");
    let goals = [
        ("with Landlock and seccomp, above that", 5.0),
        ("and with namespaces, above that", 10.0),
    ];
    let above = medians.iter().skip(1).map(|median| median - medians[0]);
    let mut verdict = Verdict::Met;
    for (above, (what, goal)) in above.zip(goals) {
        verdict = verdict.and(judged(what, above, "ms", Goal::AtMost(goal)));
    }
    if let Some(why) = missing {
        skipped("and with namespaces", &why);
    }
    verdict
}

async fn milliseconds(launch: &Launch) -> f64 {
    let begun = Instant::now();
    let mut running = launch.start().expect("a start");
    let status = running.wait().await.expect("an end");
    assert!(status.success(), "{status}");
    begun.elapsed().as_secs_f64() * 1e3
}
