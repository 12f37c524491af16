//! What a program that serves tells others, and what is left of one that was killed.

use std::fs;

use serde_json::json;
use tempfile::TempDir;
use toolsmith_manager::serving::ServingPlace;
use toolsmith_runtime::shield::{CircuitState, SourceStatus};

fn status(circuit: &str) -> Vec<SourceStatus> {
    let status = json!([{
        "name": "up", "circuit": circuit, "running": 1, "waiting": 2,
        "repeated": 3, "spared": 4, "turned_away": 5,
    }]);
    serde_json::from_value(status).unwrap()
}

#[test]
fn others_see_what_is_told_last_and_nothing_after_the_end() {
    let (state, root) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let place = ServingPlace::of_root(state.path(), root.path());
    assert!(place.served().is_empty());
    let (mut one, mut two) = (place.begin().unwrap(), place.begin().unwrap());
    assert!(
        place.served().is_empty(),
        "nothing was told, and nobody is dead"
    );
    one.tell(status("closed")).unwrap();
    one.tell(status("open")).unwrap();
    two.tell(status("half_open")).unwrap();
    let mut circuits: Vec<_> = place
        .served()
        .iter()
        .map(|each| format!("{:?}", each.sources[0].circuit))
        .collect();
    circuits.sort();
    assert_eq!(circuits, ["HalfOpen", "Open"]);
    drop(two);
    let served = place.served();
    assert_eq!(served.len(), 1);
    assert_eq!(served[0].process, std::process::id());
    assert_eq!(served[0].sources[0].circuit, CircuitState::Open);
    let elsewhere = TempDir::new().unwrap();
    let other = ServingPlace::of_root(state.path(), elsewhere.path());
    assert!(other.served().is_empty(), "another project's");
    drop(one);
    assert!(place.served().is_empty());
}

#[test]
fn what_a_killed_program_left_is_removed_and_what_is_wrong_is_overlooked() {
    let (state, root) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let place = ServingPlace::of_root(state.path(), root.path());
    let mut living = place.begin().unwrap();
    living.tell(status("open")).unwrap();
    let project = fs::read_dir(state.path()).unwrap().next().unwrap();
    let project = project.unwrap().path();
    let own = fs::read_dir(&project).unwrap().next().unwrap();
    let own = own.unwrap().path();

    let dead = project.join("1-0");
    fs::create_dir(&dead).unwrap();
    fs::write(dead.join("lock"), "").unwrap();
    fs::copy(own.join("sources.json"), dead.join("sources.json")).unwrap();
    fs::write(project.join("a-file"), "").unwrap();
    assert_eq!(place.served().len(), 1);
    assert!(!dead.exists());

    for wrong in [
        "",
        "{",
        "[]",
        r#"{"v":1}"#,
        r#"{"v":2,"process":1,"sources":[]}"#,
    ] {
        fs::write(own.join("sources.json"), wrong).unwrap();
        assert!(place.served().is_empty(), "{wrong}");
    }
}
