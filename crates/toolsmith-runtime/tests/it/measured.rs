//! How often the redactor takes ordinary code for a secret: measured on this repository.
//! Other folders are measured with the example `measure_redaction`.

use std::path::Path;

use toolsmith_core::event::Redact;
use toolsmith_runtime::shape::Redactor;
use toolsmith_testing::alarms::Alarms;

/// What is no test: those hold what looks like keys on purpose.
fn ordinary(redact: &dyn Fn(&str) -> String) -> Alarms {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .unwrap();
    let mut alarms = Alarms::default();
    for crates in std::fs::read_dir(root.join("crates")).unwrap() {
        alarms.look_into(&crates.unwrap().path().join("src"), redact);
    }
    for path in [
        "xtask",
        "docs",
        "examples",
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
    ] {
        alarms.look_into(&root.join(path), redact);
    }
    assert!(
        alarms.lines > 50_000,
        "only {} lines were read",
        alarms.lines
    );
    alarms
}

#[test]
fn ordinary_code_is_read_as_it_is() {
    let redactor = Redactor::default();
    let alarms = ordinary(&|text| redactor.clean(text).into_owned());
    assert!(alarms.per_ten_thousand_lines() < 1.0, "{:#?}", alarms.found);
}

#[test]
fn logs_of_ordinary_code_stay_readable() {
    let redactor = Redactor::default();
    let alarms = ordinary(&|text| redactor.redact(text).into_owned());
    assert!(alarms.per_ten_thousand_lines() < 5.0, "{:#?}", alarms.found);
}
