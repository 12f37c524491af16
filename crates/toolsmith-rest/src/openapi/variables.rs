//! What the variables are called that the keys of an API are read from.
//!
//! A document is somebody else's, and so is the server it names. If its words chose the
//! variables, one titled `github` would have `GITHUB_TOKEN` sent there. So the name of a
//! variable says where its value goes, in a form that no two servers share: the user who
//! sets it has that server in mind. Only where the API is called what the user calls it is
//! that name enough, and for its own server alone.

use std::collections::HashMap;
use std::fmt::Write as _;

use toolsmith_core::reference::Template;
use url::Url;

use super::naming;
use crate::form::Placed;

/// The names that are in use, and what they are made of.
pub(super) struct Variables {
    /// What the API is called, and whether it is the user who calls it so.
    api: String,
    is_chosen: bool,
    /// Where the API is, if that is known.
    home: Option<Url>,
    /// Names, and the scheme each belongs to.
    owners: HashMap<String, String>,
}

/// Where a key goes: with the requests, and before that to where it is exchanged for a token.
#[derive(Clone, Copy, Default)]
pub(super) struct Way<'u> {
    pub(super) api: Option<&'u Url>,
    pub(super) tokens: Option<&'u Url>,
}

impl Way<'_> {
    /// The server that is shown the key itself, for a person.
    fn shown(&self) -> String {
        match self.tokens.or(self.api) {
            Some(url) => url.origin().ascii_serialization(),
            None => "where the API is".to_owned(),
        }
    }
}

/// A variable, and what a person should know about it.
pub(super) struct Variable {
    pub(super) reference: Option<Placed<Template>>,
    pub(super) note: String,
}

impl Variables {
    pub(super) fn new(api: &str, is_chosen: bool, home: Option<Url>) -> Self {
        Self {
            api: api.to_owned(),
            is_chosen,
            home,
            owners: HashMap::new(),
        }
    }

    /// The variable for a part of a scheme. The first scheme has it to itself.
    pub(super) fn of(&mut self, scheme: &str, what: &str, way: Way<'_>) -> Variable {
        let to = self.servers(way);
        let short = self.name("", what, &to);
        let owner = self
            .owners
            .entry(short.clone())
            .or_insert_with(|| scheme.to_owned());
        let name = match owner == scheme {
            true => short,
            false => self.name(scheme, what, &to),
        };
        let reference = format!("${{env:{name}}}").parse();
        Variable {
            reference: reference.ok().map(Placed::nowhere),
            note: format!("{name} is sent to {}", way.shown()),
        }
    }

    fn name(&self, scheme: &str, what: &str, to: &str) -> String {
        let api = if self.is_chosen { &self.api } else { "" };
        naming::variable(&[api, scheme, what]) + to
    }

    /// What the name says of the servers; nothing where what the user chose says it.
    fn servers(&self, way: Way<'_>) -> String {
        let home = self.home.as_ref().filter(|_| self.is_chosen);
        let is_at = |known: Option<&Url>, url: &Url| {
            known.is_some_and(|known| known.origin() == url.origin())
        };
        let api = way.api.filter(|url| !is_at(home, url));
        let is_elsewhere = |url: &&Url| !is_at(home, url) && !is_at(way.api, url);
        let tokens = way.tokens.filter(is_elsewhere);
        let mut to = String::new();
        match api {
            Some(url) => to = format!("_FOR_{}", server(url)),
            None if self.is_chosen => {}
            // Where it is, a variable says that is called so. No server's name ends like it.
            None => to = format!("_FOR_{}_URL", naming::variable(&[&self.api])),
        }
        if let Some(url) = tokens {
            let _ = write!(to, "_AT_{}", server(url));
        }
        to
    }
}

/// The server of an address in letters that a variable's name can have: `pets.example` is
/// `PETS_EXAMPLE`, and `pets-example` is `PETS__EXAMPLE`.
fn server(url: &Url) -> String {
    let mut name = String::new();
    let mut before = '.';
    for c in url.host_str().unwrap_or_default().chars() {
        match c {
            c if c.is_ascii_alphanumeric() => name.push(c.to_ascii_uppercase()),
            '.' if before != '.' => name.push('_'),
            '-' if before != '.' => name.push_str("__"),
            // Small letters stand for nothing else, so these are mistaken for nothing.
            c => {
                let _ = write!(name, "x{:02x}", u32::from(c));
            }
        }
        before = c;
    }
    if let Some(port) = url.port() {
        let _ = write!(name, "_{port}");
    }
    name
}
