//! A few lines of a file of 2 GB: they cost what they would in a short one.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use toolsmith_testing::bench::{Goal, Verdict, judged, median, title};

use super::measure;

const ROUNDS: usize = 5;

/// Milliseconds of CPU, start of the process included.
const CPU_GOAL: f64 = 50.0;

/// Megabytes.
const MEMORY_GOAL: f64 = 64.0;

const SIZE: u64 = 2 << 30;

/// Reads from both ends and judges what it cost.
pub(crate) fn run(home: &Path) -> io::Result<Verdict> {
    let folder = ready(home)?;
    title("reads of a file of 2 GB: CPU and memory of the whole process");
    let mut verdict = Verdict::Met;
    let reads: [(&str, &str, Value, &str); 2] = [
        (
            "ten lines from line 1,000",
            "read",
            json!({"file_path": "large.log", "offset": 1000, "limit": 10}),
            "begin request 1009 took",
        ),
        (
            "the last ten lines",
            "read_file_tail",
            json!({"file_path": "large.log", "num_lines": 10}),
            "end request 19991 took",
        ),
    ];
    for (what, tool, arguments, expected) in reads {
        let mut costs = Vec::new();
        for _ in 0..ROUNDS {
            let (cost, told) = measure::run(measure::call(&folder, tool, &arguments)?, home)?;
            if !told.contains(expected) {
                return Err(io::Error::other(format!("{what} has no {expected:?}")));
            }
            costs.push(cost);
        }
        let cpu = median(costs.iter().map(|cost| cost.cpu).collect());
        verdict = verdict.and(judged(what, cpu, "ms", Goal::AtMost(CPU_GOAL)));
        let memory = costs.iter().map(|cost| cost.memory).fold(0.0, f64::max);
        let what = format!("{what}: memory");
        verdict = verdict.and(judged(&what, memory, "MB", Goal::AtMost(MEMORY_GOAL)));
    }
    Ok(verdict)
}

/// A folder with the file in it. Its middle is a hole, which takes no place on disk.
fn ready(home: &Path) -> io::Result<PathBuf> {
    let folder = home.join("large");
    let path = folder.join("large.log");
    if fs::metadata(&path).is_ok_and(|found| found.len() > SIZE) {
        return Ok(folder);
    }
    fs::create_dir_all(&folder)?;
    let mut file = File::create(&path)?;
    file.write_all(lines("begin").as_bytes())?;
    file.seek(SeekFrom::Start(SIZE))?;
    file.write_all(lines("end").as_bytes())?;
    Ok(folder)
}

fn lines(part: &str) -> String {
    let mut text = String::new();
    for number in 1..=20_000 {
        let _ = writeln!(
            text,
            "2026-01-31T14:30:00Z INFO {part} request {number} took {} ms",
            number % 97
        );
    }
    text
}
