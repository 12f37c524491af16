//! `toolsmith prompt`: what a model is told that cannot call functions.

use serde_json::json;
use toolsmith_provider::text;

use crate::cli::Prompt;
use crate::failure::Failure;
use crate::print;
use crate::session::Session;

pub(crate) fn run(session: &Session, options: &Prompt, as_json: bool) -> Result<u8, Failure> {
    let offer = session.toolbox.offer(&session.selection());
    let prompt = text::prompt(options.format, &offer.declarations());
    match as_json {
        true => print::json(&json!({ "format": options.format.word(), "prompt": prompt }))?,
        false => print::line(prompt.trim_end())?,
    }
    Ok(0)
}
