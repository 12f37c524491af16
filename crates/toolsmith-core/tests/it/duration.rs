//! Durations as people write them.

use std::time::Duration;

use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use toolsmith::duration::{format, parse};

#[test]
fn what_is_a_duration() {
    let cases = [
        ("500ms", Duration::from_millis(500)),
        ("0ms", Duration::ZERO),
        ("30s", Duration::from_secs(30)),
        ("1.5s", Duration::from_millis(1500)),
        (".5s", Duration::from_millis(500)),
        ("5m", Duration::from_secs(300)),
        ("2h", Duration::from_secs(7200)),
        (" 30s ", Duration::from_secs(30)),
        ("14968049154ms", Duration::from_millis(14_968_049_154)),
        ("8784h", Duration::from_secs(366 * 24 * 3600)),
    ];
    for (text, expected) in cases {
        assert_eq!(parse(text), Ok(expected), "{text:?}");
    }
}

#[test]
fn what_is_none() {
    for text in [
        "",
        " ",
        "30",
        "s",
        "ms",
        "-1s",
        "+1s",
        "1 s",
        "1S",
        "1d",
        "1sec",
        "1s1s",
        "1m30s",
        "1e3s",
        "NaNs",
        "infs",
        "..s",
        "1.2.3s",
        "0x1s",
        "٣s",
        "8785h",
        "99999999999999999999h",
        "1s\0",
    ] {
        assert!(parse(text).is_err(), "{text:?}");
    }
    assert_eq!(
        parse("soon").unwrap_err().to_string(),
        "\"soon\" is no duration; write a number and a unit, such as `500ms`, `30s`, `5m` or `2h`"
    );
    assert!(parse(&"9".repeat(100_000)).unwrap_err().to_string().len() < 150);
}

#[test]
fn the_largest_exact_unit_is_written() {
    for (millis, text) in [
        (0, "0s"),
        (1, "1ms"),
        (999, "999ms"),
        (1000, "1s"),
        (1500, "1500ms"),
        (60_000, "1m"),
        (90_000, "90s"),
        (3_600_000, "1h"),
        (5_400_000, "90m"),
    ] {
        assert_eq!(format(Duration::from_millis(millis)), text);
    }
}

#[test]
fn it_is_text_in_files() {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Held {
        #[serde(with = "toolsmith::duration::text")]
        time: Duration,
    }
    let held = Held {
        time: Duration::from_secs(90),
    };
    let text = serde_json::to_string(&held).unwrap();
    assert_eq!(text, "{\"time\":\"90s\"}");
    assert_eq!(serde_json::from_str::<Held>(&text).unwrap(), held);
    assert!(serde_json::from_str::<Held>("{\"time\":90}").is_err());
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(millis in 0_u64..=366 * 24 * 3_600_000) {
        let duration = Duration::from_millis(millis);
        let read = parse(&format(duration)).unwrap();
        prop_assert_eq!(read.as_millis(), u128::from(millis));
    }

    #[test]
    fn no_text_makes_it_panic(text in ".{0,40}") {
        let _ = parse(&text);
    }
}
