//! Days, and what they are called.

use std::time::{Duration, UNIX_EPOCH};

use toolsmith_core::date::Date;

#[test]
fn days_have_names() {
    for (days, name) in [
        (0, "1970-01-01"),
        (11_015, "2000-02-28"),
        (11_016, "2000-02-29"),
        (11_017, "2000-03-01"),
        (20_665, "2026-07-31"),
        (47_540, "2100-02-28"),
        (47_541, "2100-03-01"),
        (-1, "1969-12-31"),
    ] {
        assert_eq!(Date::of_days(days).to_string(), name);
    }
    let time = UNIX_EPOCH + Duration::from_secs(86_400 * 11_016 + 86_399);
    assert_eq!(Date::from(time).to_string(), "2000-02-29");
}

#[test]
fn there_and_back() {
    for days in (-800_000..800_000).step_by(37) {
        assert_eq!(Date::of_days(days).days(), days);
    }
}
