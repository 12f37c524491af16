//! Declared tools: collected at link time, sorted, handed out once.

use toolsmith::declared::take;
use toolsmith::tool;

#[tool(declare)]
fn zebra() {}

mod elsewhere {
    use toolsmith::tool;

    #[tool(declare, name = "aardvark")]
    pub(super) async fn hidden() {}
}

#[tool(declare = false)]
fn undeclared() {}

#[tool(declare = false)]
fn slow() {}

/// Takes its time to be made, so that all threads ask before the first has its tools.
fn slowly() -> toolsmith::AnyTool {
    std::thread::sleep(std::time::Duration::from_millis(200));
    slow::tool()
}

toolsmith::__private::declare!(slowly);

#[test]
fn many_threads_share_one_collection() {
    let threads: Vec<_> = (0..8).map(|_| std::thread::spawn(take)).collect();
    let mut found: Vec<_> = threads
        .into_iter()
        .map(|thread| thread.join().unwrap())
        .filter(|tools| !tools.is_empty())
        .collect();
    assert_eq!(found.len(), 1);
    let tools = found.pop().unwrap();
    let names: Vec<String> = tools
        .iter()
        .map(|tool| tool.definition().name.to_string())
        .collect();
    assert_eq!(names, ["aardvark", "slow", "zebra"]);
    assert!(take().is_empty());
    // A declared tool is still made like any other.
    assert_eq!(zebra::tool().definition().name, "zebra");
    assert_eq!(undeclared::tool().definition().name, "undeclared");
}
