//! A record on one line, for a person.

use toolsmith_core::record::{CallRecord, Status};

use crate::print;

/// How wide the columns are that usually suffice.
const NAME: usize = 24;

/// The record on a line, cut to what a terminal shows.
pub(super) fn of(record: &CallRecord<'_>, width: Option<usize>) -> String {
    let at = record.at.to_string();
    // Milliseconds are enough to look at; `--json` has the rest.
    let (day, time) = (&at[..10], &at[11..23]);
    let word = match (record.outcome.status, record.is_denied()) {
        (_, true) => "denied",
        (Status::Ok, _) => "ok",
        (Status::InputRequired, _) => "asked",
        _ => "failed",
    };
    let line = format!(
        "{day} {time}  {word:6}  {:>8}  {:NAME$}  {:10}  {}",
        duration(record.took()),
        print::visible(record.name()),
        print::visible(&record.caller),
        print::visible(&said(record)),
    );
    match width {
        Some(width) => cut(&line, width),
        None => line,
    }
}

/// What is most worth knowing about it.
fn said(record: &CallRecord<'_>) -> String {
    let mut said = String::new();
    if record.cached_us.is_some() {
        said.push_str("(cached) ");
    }
    if record.attempts > 1 {
        said.push_str(&format!("({} attempts) ", record.attempts));
    }
    match (&record.outcome.code, &record.outcome.message) {
        (Some(code), message) => {
            said.push_str(&format!("{code}: {}", message.as_deref().unwrap_or("")));
        }
        (None, _) => said.push_str(record.arguments.as_deref().unwrap_or_default()),
    }
    said
}

/// A duration with three digits at most.
pub(super) fn duration(micros: u64) -> String {
    let told = |number: f64, unit: &str| match number {
        n if n < 9.95 => format!("{n:.1}{unit}"),
        n => format!("{n:.0}{unit}"),
    };
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    let number = micros as f64;
    match micros {
        0..1_000 => format!("{micros}us"),
        1_000..1_000_000 => told(number / 1e3, "ms"),
        1_000_000..60_000_000 => told(number / 1e6, "s"),
        60_000_000..3_600_000_000 => told(number / 6e7, "min"),
        _ => told(number / 3.6e9, "h"),
    }
}

fn cut(line: &str, width: usize) -> String {
    if line.chars().count() <= width {
        return line.to_owned();
    }
    let kept: String = line.chars().take(width.saturating_sub(1)).collect();
    format!("{kept}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_three_digits() {
        for (micros, told) in [
            (0, "0us"),
            (999, "999us"),
            (1_000, "1.0ms"),
            (9_940, "9.9ms"),
            (12_400, "12ms"),
            (1_500_000, "1.5s"),
            (90_000_000, "1.5min"),
            (u64::MAX, "5124095576h"),
        ] {
            assert_eq!(duration(micros), told);
        }
    }
}
