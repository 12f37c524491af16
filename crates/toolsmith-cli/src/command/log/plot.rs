//! How long calls took, drawn: one bar for each size, each size about twice the one before.
//!
//! In plain characters, so that it reads without colour and in any font.

use std::io;

use toolsmith_manager::records::Summary;

use super::line::duration;
use crate::print;

/// How wide a drawing is where there is no terminal to ask.
const USUAL_WIDTH: usize = 80;
/// The narrowest that still shows something.
const LEAST_BAR: usize = 10;

/// Draws the durations of all calls, or those of each tool.
pub(super) fn draw(summary: &Summary, by_tool: bool) -> io::Result<()> {
    let width = print::width().unwrap_or(USUAL_WIDTH);
    if by_tool {
        for (tool, micros, ran) in summary.durations() {
            section(&print::visible(tool), micros, ran, width)?;
        }
        return Ok(());
    }
    let all: Vec<u64> = summary
        .durations()
        .flat_map(|(_, micros, _)| micros.iter().copied())
        .collect();
    let ran = summary.durations().map(|(_, _, ran)| ran).sum();
    section("all tools", &all, ran, width)
}

fn section(name: &str, micros: &[u64], ran: u64, width: usize) -> io::Result<()> {
    if micros.is_empty() {
        return Ok(());
    }
    let sampled = match ran > micros.len() as u64 {
        true => format!(", of which {} are drawn", micros.len()),
        false => String::new(),
    };
    let calls = if ran == 1 { "call" } else { "calls" };
    print::line(&format!("{name}: {ran} {calls}{sampled}"))?;
    for row in rows(micros, width) {
        print::line(&row)?;
    }
    Ok(())
}

/// The bars, from the shortest duration there is to the longest.
fn rows(micros: &[u64], width: usize) -> Vec<String> {
    let edges = edges();
    let mut counts = vec![0usize; edges.len()];
    for micros in micros {
        counts[edges.partition_point(|edge| edge <= micros) - 1] += 1;
    }
    let (Some(first), Some(last)) = (
        counts.iter().position(|count| *count > 0),
        counts.iter().rposition(|count| *count > 0),
    ) else {
        return Vec::new();
    };
    let most = counts.iter().max().copied().unwrap_or_default().max(1);
    let digits = most.to_string().len();
    // The edge, a gap, the bar, its number and its share.
    let bar = width.saturating_sub(9 + 3 + digits + 7).max(LEAST_BAR);
    let row = |at: usize| {
        let count = counts[at];
        // What is there is seen, however little it is.
        let length = (count * bar).div_ceil(most);
        let share = count * 100 / micros.len();
        format!(
            "{:>8} | {:bar$} {count:>digits$} {share:>3}%",
            duration(edges[at]),
            "#".repeat(length)
        )
    };
    (first..=last).map(row).collect()
}

/// Where bars begin: 0, 1, 2, 5, 10, 20, 50 … microseconds.
fn edges() -> Vec<u64> {
    let decades = (0..12).map(|power| 10u64.pow(power));
    let edges = decades.flat_map(|decade| [decade, 2 * decade, 5 * decade]);
    std::iter::once(0).chain(edges).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_there_are_calls_and_fit_the_terminal() {
        let micros: Vec<u64> = [vec![1500; 40], vec![4000; 1], vec![30_000; 20]].concat();
        let expected = [
            "   1.0ms | #################### 40  65%",
            "   2.0ms | #                     1   1%",
            "   5.0ms |                       0   0%",
            "    10ms |                       0   0%",
            "    20ms | ##########           20  32%",
        ];
        let drawn = rows(&micros, 41);
        assert_eq!(drawn, expected);
        for width in [20, 41, 80, 200] {
            for row in rows(&micros, width) {
                let most = width.max(9 + 3 + LEAST_BAR + 9);
                assert!(row.chars().count() <= most, "{width}: {row}");
            }
        }
    }

    #[test]
    fn every_duration_has_its_place() {
        assert_eq!(rows(&[], 80), Vec::<String>::new());
        for micros in [0, 1, 2, 9, 10, u64::MAX] {
            assert_eq!(rows(&[micros], 80).len(), 1, "{micros}");
        }
    }
}
