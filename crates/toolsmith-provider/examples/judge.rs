//! Judges declarations by anybody: `judge <provider> <file>`, where the file holds the tools
//! field of a request or a whole request. Prints one fault per line.

#![expect(clippy::print_stdout, reason = "this is what it is for")]

use toolsmith_provider::{Provider, judge};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(provider), Some(path)) = (arguments.next(), arguments.next()) else {
        return Err("usage: judge <provider> <file>".into());
    };
    let provider: Provider = provider.parse()?;
    let declared = serde_json::from_slice(&std::fs::read(path)?)?;
    let faults = judge::judge(provider, &declared);
    for fault in &faults {
        println!(
            "{}{}: {} ({})",
            fault.tool, fault.path, fault.rule, fault.source
        );
    }
    println!("{} faults", faults.len());
    Ok(())
}
