//! Lowers the tools of corpora for every provider, strictly and not, and lets the judge
//! look: `measure_lowering <mcp tools>.jsonl <functions>.jsonl`. Lines of the first kind
//! have `name`, `description` and `inputSchema`, those of the second `functions`.

#![expect(clippy::print_stdout, reason = "this is what it is for")]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;
use toolsmith_core::{Detail, Exposure, Offer, Schema, ToolDef};
use toolsmith_provider::{Options, Provider, declare, judge};

/// How often each offer is declared.
const ROUNDS: usize = 15;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let mut offers: Vec<(String, Vec<Offer>)> = Vec::new();
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path)?;
        let mut tools = Vec::new();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let line: Value = serde_json::from_str(line)?;
            match line.get("functions").and_then(Value::as_array) {
                Some(functions) => {
                    for function in functions {
                        tools.push(tool(function, "parameters", tools.len())?);
                    }
                }
                None => tools.push(tool(&line, "inputSchema", tools.len())?),
            }
        }
        let bytes: usize = tools
            .iter()
            .map(|(_, tool)| tool.input.as_value().to_string().len())
            .sum();
        println!(
            "{path}: {} tools, {} bytes of schema each",
            tools.len(),
            bytes / tools.len().max(1)
        );
        let chunks = tools.chunks(100).map(offer).collect();
        offers.push((path, chunks));
    }
    for (path, offers) in &offers {
        println!("\n{path}");
        for provider in Provider::ALL {
            for strict in [false, true] {
                measure(provider, strict, offers)?;
            }
        }
    }
    Ok(())
}

fn tool(line: &Value, field: &str, number: usize) -> Result<(String, ToolDef), Failure> {
    let name = line["name"].as_str().unwrap_or("tool");
    let tool = ToolDef::new(format!("t{number}"))?
        .with_description(line["description"].as_str().unwrap_or(""))
        .with_input(Schema::as_received(line[field].clone())?);
    Ok((format!("{name}#{number}"), tool))
}

fn offer(tools: &[(String, ToolDef)]) -> Offer {
    let mut offer = Offer::new(Detail::Brief);
    for (name, tool) in tools {
        offer.add(name, Arc::new(tool.clone()), Exposure::Direct);
    }
    offer
}

fn measure(provider: Provider, strict: bool, offers: &[Offer]) -> Result<(), Failure> {
    let mut options = Options::default();
    options.strict = strict;
    let (mut tools, mut faults, mut enforced, mut changed) = (0, 0, 0, 0);
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    let mut shown = 0;
    let mut spent = std::time::Duration::ZERO;
    for offer in offers {
        let declared = declare(provider, offer, &options)?;
        // The fastest of several: whatever else the machine does only adds.
        let timed = (0..ROUNDS).map(|_| {
            let begun = Instant::now();
            let again = declare(provider, offer, &options);
            let elapsed = begun.elapsed();
            drop(again);
            elapsed
        });
        spent += timed.min().unwrap_or_default();
        let found = judge::judge(provider, &Value::Object(declared.request.clone()));
        faults += found.len();
        for fault in found.iter().take(5usize.saturating_sub(shown)) {
            println!("    {}{}: {}", fault.tool, fault.path, fault.rule);
            shown += 1;
        }
        for report in &declared.report {
            tools += 1;
            enforced += usize::from(report.strict);
            changed += usize::from(!report.changes.is_empty());
            if let Some(why) = &report.not_strict_because {
                let generic: String = why.chars().filter(|c| !c.is_ascii_digit()).collect();
                *reasons.entry(generic).or_default() += 1;
            }
        }
    }
    let each = spent.as_secs_f64() * 1e6 / f64::from(u32::try_from(tools)?.max(1));
    println!(
        "{:18} {:6} tools {tools:5} faults {faults:4} strict {enforced:5} changed {changed:5} {each:6.1} µs each",
        provider.word(),
        if strict { "strict" } else { "plain" },
    );
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    for (why, count) in reasons.into_iter().take(4) {
        println!("    {count:5} × {why}");
    }
    Ok(())
}
