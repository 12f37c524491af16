//! `toolsmith call`: one call, from the words on the command line to its reply.

use toolsmith_core::{Block, Outcome, RawCall};
use toolsmith_runtime::Explanation;
use toolsmith_runtime::permit::Verdict;

use crate::arguments;
use crate::cli::{Call, Cli, Shape};
use crate::failure::{self, Failure};
use crate::print;
use crate::session::Session;

pub(crate) async fn run(session: &Session, cli: &Cli, options: &Call) -> Result<u8, Failure> {
    let caller = session.caller(cli);
    let offered = caller.offer().and_then(|offer| offer.find(&options.name));
    let schema = offered.map(|offered| offered.tool.input.as_value());
    let limit = session.toolbox.limits().argument_bytes;
    let arguments = arguments::gather(options.args.as_deref(), &options.pairs, schema, limit)?;
    let call = RawCall::with_arguments(&options.name, arguments);
    if options.dry_run {
        let explanation = session.toolbox.explain(call, &caller).await;
        return explain(session, &explanation, options, cli.json);
    }
    let outcome = session.toolbox.run(call, &caller).await.into_outcome();
    let shape = options.shape.or(cli.json.then_some(Shape::Outcome));
    match shape {
        Some(shape) => print::json(&print::shaped(&outcome, shape))?,
        None => tell(session, &outcome, &options.name)?,
    }
    Ok(status(&outcome))
}

/// The exit status of a call.
pub(super) fn status(outcome: &Outcome) -> u8 {
    match &outcome.error {
        Some(error) => error.kind.exit_status(),
        None => 0,
    }
}

/// The reply as a person reads it: what came of it on stdout, what went wrong and
/// what to do next on stderr.
fn tell(session: &Session, outcome: &Outcome, name: &str) -> Result<(), Failure> {
    for repair in &outcome.facts.repairs {
        print::note(&format!("note: {repair}"));
    }
    let Some(error) = &outcome.error else {
        print::line(&outcome.model_text())?;
        return Ok(());
    };
    // A program that failed has said more than that it failed.
    let texts = outcome.content.iter().filter_map(|block| match block {
        Block::Text { text } => Some(text),
        _ => None,
    });
    for text in texts {
        print::line(text)?;
    }
    print::error(&session.told_of(error, name).to_string());
    if let Some(next) = failure::next_step(error, name) {
        print::note(&format!("  {next}"));
    }
    Ok(())
}

fn explain(
    session: &Session,
    explanation: &Explanation,
    options: &Call,
    as_json: bool,
) -> Result<u8, Failure> {
    if as_json {
        print::json(explanation)?;
    } else {
        in_words(explanation)?;
    }
    let Some(error) = &explanation.error else {
        return Ok(0);
    };
    if !as_json {
        print::error(&session.told_of(error, &options.name).to_string());
    }
    Ok(error.kind.exit_status())
}

fn in_words(explanation: &Explanation) -> Result<(), Failure> {
    for repair in &explanation.repairs {
        print::line(&format!("repair:   {repair}"))?;
    }
    if let Some(plan) = &explanation.plan {
        print::line(&format!("plan:     {}", plan.summary))?;
        for touch in &plan.touches {
            let access = format!("{:?}", touch.access).to_lowercase();
            print::line(&format!(
                "          {access} {}",
                print::visible_path(&touch.path)
            ))?;
        }
    }
    if let Some(decision) = &explanation.decision {
        let verdict = match decision.verdict {
            Verdict::Allow => "allow",
            Verdict::Ask => "ask",
            Verdict::Deny => "deny",
        };
        print::line(&format!("decision: {verdict}, by {}", decision.by))?;
        print::line(&format!("because:  {}", decision.reason))?;
    }
    Ok(())
}
