//! Which sort of tool an entry is, and which keys have no meaning there.

use toolsmith_core::reference::Place;

use crate::form::Entry;
use crate::make::Problem;

/// The sorts of tools there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    /// One request to an API.
    Api,
    /// A server that tells its tools itself.
    Adapter,
    /// A local command.
    Command,
}

/// Tells the sort of an entry from what it says itself, and for the rest from what its
/// file says.
///
/// # Errors
/// When it is of no sort or of two, and for each key that is of another one.
pub(crate) fn sort(own: &Entry, entry: &Entry) -> Result<Sort, Vec<Problem>> {
    let problem = |place: Place, message: &str| Err(vec![Problem::at(place, message)]);
    if let Some(tool) = own.tools.first() {
        return problem(
            tool.place,
            "`tools` within `tools`; write them all in one list",
        );
    }
    let is_api = |entry: &Entry| entry.api_url.is_some() || entry.adapter.is_some();
    let sort = match (is_api(own), &own.command) {
        (true, Some(command)) => {
            let message = "the tool has both `api_url` and `command`; make two tools of it";
            return problem(command.place, message);
        }
        (false, Some(_)) => Sort::Command,
        (_, None) if entry.adapter.is_some() => Sort::Adapter,
        (_, None) if is_api(entry) => Sort::Api,
        (_, None) => {
            let message = "the tool has neither `api_url` nor `command`; say where its API is, \
                           or which program it runs";
            return problem(Place::default(), message);
        }
    };
    let keys: Vec<&str> = keys(own)
        .into_iter()
        .filter_map(|(key, sorts, is_there)| (is_there && !sorts.contains(&sort)).then_some(key))
        .collect();
    if keys.is_empty() {
        return Ok(sort);
    }
    let other = match sort {
        Sort::Api => "an API",
        Sort::Adapter => "a server with an `adapter`",
        Sort::Command => "a command",
    };
    let told = |key| Problem::new(format!("`{key}` means nothing for {other}; take it out"));
    Err(keys.into_iter().map(told).collect())
}

/// What a file with several tools says that only a tool can say.
pub(crate) fn misplaced(file: &Entry) -> Vec<Problem> {
    let keys = [
        ("parameters", file.parameters.is_some()),
        ("method", file.method.is_some()),
        ("path", file.path.is_some()),
        ("places", !file.places.is_empty()),
        ("request", file.request.is_some()),
        ("command", file.command.is_some()),
        ("stdin", file.stdin.is_some()),
        ("adapter", file.adapter.is_some()),
        ("schema_path", file.schema_path.is_some()),
        ("execute_path", file.execute_path.is_some()),
        ("consent", file.consent.is_some()),
        ("examples", !file.examples.is_empty()),
        ("returns", file.returns.is_some()),
        ("env_passthrough", !file.env_passthrough.is_empty()),
        ("exit_codes", !file.exit_codes.is_empty()),
    ];
    let told = |(key, is_there): (&str, bool)| {
        let message = format!("`{key}` belongs to a single tool; write it under `tools`");
        is_there.then(|| Problem::new(message))
    };
    keys.into_iter().filter_map(told).collect()
}

/// The keys that are not for every sort, the sorts they are for, and whether they are there.
fn keys(entry: &Entry) -> [(&'static str, &'static [Sort], bool); 27] {
    const API: &[Sort] = &[Sort::Api];
    const ADAPTER: &[Sort] = &[Sort::Adapter];
    const HTTP: &[Sort] = &[Sort::Api, Sort::Adapter];
    const COMMAND: &[Sort] = &[Sort::Command];
    const TOOL: &[Sort] = &[Sort::Api, Sort::Command];
    [
        ("auth_method", HTTP, entry.auth_method.is_some()),
        ("auth", HTTP, entry.auth.is_some()),
        ("api_key", HTTP, entry.api_key.is_some()),
        ("headers", HTTP, !entry.headers.is_empty()),
        ("rate_limit", HTTP, entry.rate_limit.is_some()),
        ("retries", HTTP, entry.retries.is_some()),
        (
            "idempotency_header",
            API,
            entry.idempotency_header.is_some(),
        ),
        ("method", API, entry.method.is_some()),
        ("path", API, entry.path.is_some()),
        ("places", API, !entry.places.is_empty()),
        ("body", API, entry.body.is_some()),
        ("request", API, entry.request.is_some()),
        ("response", API, entry.response.is_some()),
        ("pagination", API, entry.pagination.is_some()),
        ("schema_path", ADAPTER, entry.schema_path.is_some()),
        ("execute_path", ADAPTER, entry.execute_path.is_some()),
        ("parameters", TOOL, entry.parameters.is_some()),
        ("examples", TOOL, !entry.examples.is_empty()),
        ("consent", TOOL, entry.consent.is_some()),
        ("returns", TOOL, entry.returns.is_some()),
        ("stdin", COMMAND, entry.stdin.is_some()),
        ("cwd", COMMAND, entry.cwd.is_some()),
        ("env", COMMAND, !entry.env.is_empty()),
        (
            "env_passthrough",
            COMMAND,
            !entry.env_passthrough.is_empty(),
        ),
        ("exit_codes", COMMAND, !entry.exit_codes.is_empty()),
        ("output", COMMAND, entry.output.is_some()),
        ("sandbox", COMMAND, entry.sandbox.is_some()),
    ]
}
