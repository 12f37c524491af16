//! Tries what tools from files need, without calling any of them.

use std::path::PathBuf;
use std::time::Duration;

use toolsmith_core::reference::Lookup;
use toolsmith_net::{Client, ClientLimits, Method, Reach, Refused};

use crate::form::{CommandWord, Entry};

/// How long an API may take to answer at all.
const TIME: Duration = Duration::from_secs(10);

/// Something a tool needs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Need {
    /// An API at this origin.
    Api(String),
    /// A program, in the folder it is looked for from.
    Program {
        /// The program, as it is written.
        name: String,
        /// The folder its command runs in, seen from the root.
        cwd: PathBuf,
    },
}

/// What the tools of a file need, each once. What refers to something that is not there
/// is left out: that is told elsewhere.
pub fn needs(file: &Entry, lookup: &dyn Lookup) -> Vec<Need> {
    let tools = file.tools.iter().map(|tool| tool.value.over(file));
    let whole = file.tools.is_empty().then(|| file.clone());
    let mut needs: Vec<Need> = tools
        .chain(whole)
        .filter(|entry| !entry.disabled)
        .filter_map(|entry| need(&entry, lookup))
        .collect();
    needs.sort();
    needs.dedup();
    needs
}

fn need(entry: &Entry, lookup: &dyn Lookup) -> Option<Need> {
    if let Some(command) = &entry.command {
        let name = match command.value.first()? {
            CommandWord::One(name) => name.clone(),
            CommandWord::Together(names) => names.first()?.clone(),
        };
        let cwd = entry.cwd.clone().unwrap_or_default();
        return Some(Need::Program { name, cwd });
    }
    let filled = entry.api_url.as_ref()?.value.fill(lookup).ok()?;
    let url = url::Url::parse(&filled.text).ok()?;
    Some(Need::Api(url.origin().ascii_serialization()))
}

/// Asks an API for anything; whatever it answers, it is there. No credentials are sent.
///
/// # Errors
/// Tells in words why it cannot be reached.
pub async fn reach(origin: &str) -> Result<String, String> {
    let told = |refused: &Refused| refused.to_string();
    let reach = Reach::public().and_origin(origin);
    let reach = reach.map_err(|refused| told(&refused))?;
    let limits = ClientLimits {
        total: Some(TIME),
        max_redirects: 0,
        ..ClientLimits::default()
    };
    let client = Client::new(reach, limits).map_err(|error| error.to_string())?;
    let request = client.request(Method::GET, origin);
    let request = request.map_err(|refused| told(&refused))?;
    match request.send().await {
        Ok(response) => Ok(format!("it answers ({})", response.status())),
        Err(error) => Err(match Refused::find(&error) {
            Some(refused) => told(refused),
            None => innermost(&error.without_url()),
        }),
    }
}

/// What lies at the bottom of an error says most.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut last = error;
    while let Some(source) = last.source() {
        last = source;
    }
    last.to_string()
}
