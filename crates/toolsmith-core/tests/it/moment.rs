//! Moments are written and read again; what is none is refused.

use std::time::{Duration, UNIX_EPOCH};

use proptest::prelude::*;
use toolsmith_core::moment::{Moment, read_day};

#[test]
fn moments_are_told_to_the_microsecond() {
    for (micros, text) in [
        (0, "1970-01-01T00:00:00.000000Z"),
        (1, "1970-01-01T00:00:00.000001Z"),
        (951_868_799_999_999, "2000-02-29T23:59:59.999999Z"),
        (u64::MAX, "9999-12-31T23:59:59.999999Z"),
    ] {
        assert_eq!(Moment::of_micros(micros).to_string(), text);
    }
    let before = UNIX_EPOCH - Duration::from_secs(5);
    assert_eq!(Moment::from(before), Moment::default());
    let early = Moment::of_micros(5).before(Duration::from_secs(1));
    assert_eq!(early, Moment::default());
}

#[test]
fn what_is_no_moment_is_refused() {
    for text in [
        "",
        "2026-01-31",
        "2026-01-31T09:26:53",
        "2026-02-30T09:26:53Z",
        "2026-01-31T24:00:00Z",
        "2026-01-31T09:60:00Z",
        "2026-01-31T09:26:53.1234567Z",
        "2026-01-31T09:26:53.Z",
        "2026-01-31T09:26:5éZ",
        "+026-01-31T09:26:53Z",
        "2026-01-31T-1:26:53Z",
        "1969-12-31T23:59:59Z",
    ] {
        assert!(text.parse::<Moment>().is_err(), "{text:?}");
    }
    for text in [
        "2026-13-01",
        "2026-00-01",
        "2026-1-1",
        "20é6-01-01",
        "today",
    ] {
        assert_eq!(read_day(text), None, "{text:?}");
    }
}

proptest! {
    #[test]
    fn moments_come_back(micros in 0..253_402_300_799_999_999u64) {
        let moment = Moment::of_micros(micros);
        prop_assert_eq!(moment.to_string().parse::<Moment>(), Ok(moment));
    }

    #[test]
    fn no_text_is_too_much(text in ".{0,40}") {
        let _ = text.parse::<Moment>();
        let _ = text.parse::<toolsmith_core::trace::TraceParent>();
        let _ = toolsmith_core::trace::is_state(&text);
    }
}
