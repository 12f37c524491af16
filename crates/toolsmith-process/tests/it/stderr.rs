//! What a child writes to its standard error is kept up to a limit and counted beyond it.

use crate::support::{script, until};

#[cfg(target_os = "linux")]
fn resident_kilobytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_flood_costs_no_memory() {
    let before = resident_kilobytes();
    let running = script("head -c 100000000 /dev/zero >&2; printf 'the end' >&2")
        .start()
        .unwrap();
    let stderr = running.stderr();
    until("all is written", || stderr.total() == 100_000_007).await;
    let text = stderr.text();
    assert_eq!(text.len(), 64 << 10);
    assert!(text.ends_with("the end"));
    let grown = resident_kilobytes() - before;
    assert!(grown < 20_000, "grew by {grown} kB");
    running.end(crate::support::PATIENCE).await;
}

#[tokio::test]
async fn what_is_not_utf8_is_replaced_and_can_be_read_at_any_time() {
    let running = script("printf 'a\\377b' >&2; cat").start().unwrap();
    let stderr = running.stderr();
    until("it is written", || stderr.total() == 3).await;
    assert_eq!(stderr.text(), "a\u{fffd}b");
    drop(running);
    assert_eq!(stderr.clone().text(), "a\u{fffd}b");
}
