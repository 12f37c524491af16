//! Moments as people write them, in UTC.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A moment as `2026-11-16T03:04:05Z`; before 1970 as 1970.
pub(crate) fn iso(moment: SystemTime) -> String {
    let seconds = moment
        .duration_since(UNIX_EPOCH)
        .unwrap_or(Duration::ZERO)
        .as_secs();
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// When a file was changed last.
pub(crate) fn modified(stat: &rustix::fs::Stat) -> SystemTime {
    match u64::try_from(stat.st_mtime) {
        Ok(seconds) => {
            let nanoseconds = u32::try_from(stat.st_mtime_nsec).unwrap_or(0);
            UNIX_EPOCH
                .checked_add(Duration::new(seconds, nanoseconds.min(999_999_999)))
                .unwrap_or(UNIX_EPOCH)
        }
        Err(_) => UNIX_EPOCH,
    }
}

/// Year, month and day of a number of days since 1970. Years are counted from March,
/// so that the day that comes and goes is the last of them.
fn date(days: u64) -> (u64, u64, u64) {
    const FOUR_CENTURIES: u64 = 146_097;
    let days = days + 719_468;
    let (era, day) = (days / FOUR_CENTURIES, days % FOUR_CENTURIES);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, later) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    (era * 400 + year + later, month, day)
}
