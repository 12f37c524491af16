//! A server that tells its tools itself and runs them at one address.
//!
//! `GET /schema` answers with its tools, each with a name, a description and parameters;
//! `POST /execute` with `{"name": …, "parameters": {…}}` runs one. [`RemoteTools`] is
//! the source of such tools; where the server is and how requests show who makes them
//! is read as for any other API.

mod listing;
mod tool;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use toolsmith_core::tool::SourceError;
use toolsmith_core::{AnyTool, Binding, Effect, ErrorKind, Kind, ToolError, ToolSource};

use crate::form::{Entry, HttpMethod, Placed};
use crate::http::{self, Filler, Prepared, Service, Shared};
use crate::make::{Made, Problem, Surroundings, mark};

/// How long a server may take to tell its tools.
const LISTING_TIME: Duration = Duration::from_secs(30);

/// The tools of a server that tells them itself. Cheap to clone.
#[derive(Clone)]
pub struct RemoteTools {
    server: Arc<Server>,
}

/// What the tools of one server share.
struct Server {
    name: String,
    /// The API, or which reference is not there.
    service: Result<Service, String>,
    schema: Prepared,
    execute: Prepared,
    binding: Binding,
    kind: Kind,
    effect: Effect,
    /// What its tools are marked with: at another address they are others.
    mark: Arc<str>,
    left_out: Mutex<Vec<String>>,
    was_refused: AtomicBool,
}

impl RemoteTools {
    /// What the last listing left out, each with its reason.
    pub fn left_out(&self) -> Vec<String> {
        let left_out = self.server.left_out.lock();
        left_out.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How the names of its tools begin.
    pub fn beginning(&self) -> String {
        format!("{}_", listing::clean(&self.server.name))
    }

    /// Tells whether the last listing was refused to us, as with 401 or 403.
    pub fn was_refused(&self) -> bool {
        self.server.was_refused.load(Ordering::Relaxed)
    }

    /// Tells whether this is a clone of the other.
    pub fn is_same_as(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.server, &other.server)
    }

    async fn list(&self) -> Result<Vec<AnyTool>, ToolError> {
        let server = &self.server;
        let value = server.ask(&server.schema).await?;
        let listed = listing::read(&server.name, value.unwrap_or_default())?;
        let mut left_out = server
            .left_out
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *left_out = listed.left_out;
        let tools = listed.tools.into_iter();
        Ok(tools.map(|listed| tool::adopt(server, listed)).collect())
    }
}

impl ToolSource for RemoteTools {
    fn name(&self) -> &str {
        &self.server.name
    }

    async fn tools(&self) -> Result<Vec<AnyTool>, SourceError> {
        let listed = tokio::time::timeout(LISTING_TIME, self.list()).await;
        let is_refusal = |error: &ToolError| error.kind == ErrorKind::PermissionDenied;
        let was_refused = matches!(&listed, Ok(Err(error)) if is_refusal(error));
        (self.server.was_refused).store(was_refused, Ordering::Relaxed);
        let why = match listed {
            Ok(Ok(tools)) => return Ok(tools),
            Ok(Err(error)) => error.message,
            Err(_) => format!("it took longer than {} s", LISTING_TIME.as_secs()),
        };
        Err(SourceError::new(&self.server.name, why))
    }
}

impl fmt::Debug for RemoteTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RemoteTools")
            .field(&self.server.name)
            .finish()
    }
}

impl Server {
    fn service(&self) -> Result<&Service, ToolError> {
        self.service
            .as_ref()
            .map_err(|missing| http::unavailable(missing))
    }

    /// Sends a request and reads what is answered; a text is a value too.
    async fn ask(&self, request: &Prepared) -> Result<Option<serde_json::Value>, ToolError> {
        http::value_of(self.service()?.ask(request).await?).await
    }
}

/// Makes the source of an entry with `adapter: execute`.
pub(crate) fn add(
    entry: &Entry,
    file_name: Option<&Placed<String>>,
    surroundings: &Surroundings,
    filler: &mut Filler<'_>,
    shared: &mut Shared,
    made: &mut Made,
) {
    let mut gathered = http::Gathered::default();
    let mut source = || -> Result<RemoteTools, Problem> {
        let name = entry.name.as_ref().or(file_name);
        let Some(name) = name else {
            return Err(Problem::new(
                "an `adapter` needs a `name`, which its tools begin with",
            ));
        };
        if listing::clean(&name.value).is_empty() {
            let message = format!("{:?} is no name; use letters, digits and `_`", name.value);
            return Err(Problem::at(name.place, message));
        }
        if entry.api_url.is_none() {
            return Err(Problem::new(
                "an `adapter` needs `api_url`, where its server is",
            ));
        }
        let service = Service::read(entry, surroundings, filler, shared, &mut gathered);
        let address = service.as_ref().map(|service| &service.address);
        let path = |key: &str, path: Option<&String>, default: &str| {
            let path = path.map_or(default, String::as_str);
            Prepared::fixed(address, path)
                .map_err(|message| Problem::new(format!("`{key}`: {message}")))
        };
        let schema = path("schema_path", entry.schema_path.as_ref(), "/schema")?;
        let mut execute = path("execute_path", entry.execute_path.as_ref(), "/execute")?;
        execute.method = HttpMethod::Post;
        let kind = entry.kind.unwrap_or(Kind::External);
        let missing = || {
            gathered
                .told()
                .unwrap_or_else(|| "its address is not known".to_owned())
        };
        let server = Server {
            name: name.value.clone(),
            service: service.ok_or_else(missing),
            schema,
            execute,
            binding: entry.binding(),
            kind,
            effect: entry.effect.unwrap_or(kind.effect()),
            mark: mark(entry, &[]),
            left_out: Mutex::default(),
            was_refused: AtomicBool::default(),
        };
        let server = Arc::new(server);
        Ok(RemoteTools { server })
    };
    let source = source();
    let is_sound = gathered.problems.is_empty();
    gathered.note(made);
    match source {
        Ok(source) if is_sound => made.sources.push(source),
        Ok(_) => {}
        Err(problem) => made.problems.push(problem),
    }
}
