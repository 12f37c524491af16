//! A request, built from arguments that were checked.
//!
//! Every argument is encoded for the place it goes to. What came out is then compared
//! with what the file says: where it leads, how many segments its path has and how many
//! headers. What differs is not sent.

use std::collections::{BTreeSet, HashSet};

use toolsmith_core::{Arguments, ToolError};
use toolsmith_net::Method;
use url::Url;

use super::address::Address;
use super::body::{Body, Content};
use super::encode;
use super::pairs::{Pairs, belongs_elsewhere};
use super::place::Places;
use super::template::PathTemplate;
use crate::form::{BodyForm, HttpMethod, PlaceName};

/// Longer addresses are refused by most servers.
const LONGEST_URL: usize = 32 << 10;

/// What of a request does not depend on arguments.
#[derive(Debug)]
pub(crate) struct Pattern {
    pub(crate) method: HttpMethod,
    /// The whole path, that of the API's address included.
    pub(crate) path: PathTemplate,
    pub(crate) places: Places,
    pub(crate) content: Content,
    pub(crate) form: BodyForm,
    /// The arguments that the file's own body names.
    pub(crate) templated: BTreeSet<String>,
    /// Names of the query that belong to the file, such as that of a key.
    pub(crate) kept: Vec<String>,
}

/// A request, but for what shows who makes it.
#[derive(Clone)]
pub(crate) struct Prepared {
    pub(crate) method: HttpMethod,
    /// Scheme, host, port and path.
    pub(crate) place: String,
    pub(crate) query: Pairs,
    /// What the arguments say in headers.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) cookies: Vec<String>,
    pub(crate) body: Option<Body>,
}

impl Pattern {
    /// Builds the request.
    ///
    /// # Errors
    /// When an argument cannot stand in its place.
    pub(crate) fn build(
        &self,
        address: &Address,
        arguments: &Arguments,
    ) -> Result<Prepared, ToolError> {
        let path = self.path.fill(|name| self.segment(name, arguments))?;
        let fixed = self.path.query();
        let mut kept: HashSet<String> = self.kept.iter().cloned().collect();
        kept.extend(
            self.places
                .names_in(PlaceName::Query)
                .map(|(_, name)| name.to_owned()),
        );
        let mut query = Pairs::keeping(kept);
        fixed
            .iter()
            .for_each(|(name, value)| query.push(name, value));
        let in_body = self.places.names_in(PlaceName::Body);
        let in_body: HashSet<String> = in_body.map(|(_, name)| name.to_owned()).collect();
        let (mut headers, mut cookies, mut fields) = (Vec::new(), Vec::new(), Vec::new());
        for (name, value) in arguments.iter() {
            let Some(placement) = self.places.of(name, self.templated.contains(name)) else {
                continue;
            };
            match placement.place {
                PlaceName::Path | PlaceName::WholeBody => {}
                PlaceName::Query if self.is_declared(PlaceName::Query, name) => {
                    query.add(&placement, value)?
                }
                PlaceName::Query => query.add_unnamed(&placement, value)?,
                // What nobody declared has its own name, and that may be another's there.
                PlaceName::Body
                    if in_body.contains(&placement.name)
                        && !self.is_declared(PlaceName::Body, name) =>
                {
                    return Err(belongs_elsewhere(name));
                }
                PlaceName::Body => fields.push((placement, value)),
                PlaceName::Header | PlaceName::Cookie if value.is_null() => {}
                PlaceName::Header => {
                    let text = encode::plainly_joined(value, placement.list);
                    headers.push((placement.name, plain(name, text)?));
                }
                PlaceName::Cookie => {
                    let text = encode::plainly_joined(value, placement.list);
                    let text = encode::cookie(&plain(name, text)?);
                    cookies.push(format!("{}={text}", placement.name));
                }
            }
        }
        let body = self.content.write(self.form, fields, in_body, arguments)?;
        let place = format!("{}{path}", address.origin);
        let prepared = Prepared {
            method: self.method,
            place,
            query,
            headers,
            cookies,
            body,
        };
        self.compare(address, &path, &prepared)?;
        Ok(prepared)
    }

    fn segment(&self, name: &str, arguments: &Arguments) -> Result<String, ToolError> {
        let missing =
            || ToolError::invalid(format!("`{name}` is missing: it is a part of the path"));
        let value = arguments.get(name).filter(|value| !value.is_null());
        let value = value.ok_or_else(missing)?;
        let placement = self.places.of(name, false).ok_or_else(missing)?;
        let segment = encode::joined(value, placement.list, encode::segment);
        // The mark of a list may stand in a query as it is, and not in a path.
        Ok(segment.replace('|', "%7C"))
    }

    fn is_declared(&self, place: PlaceName, argument: &str) -> bool {
        let mut names = self.places.names_in(place);
        names.any(|(declared, _)| declared == argument)
    }

    /// Reads the address as the client will, and compares it with the pattern.
    fn compare(&self, address: &Address, path: &str, prepared: &Prepared) -> Result<(), ToolError> {
        let url = prepared.url()?;
        let segments = url.path_segments().map_or(0, Iterator::count);
        let same = address.is_origin_of(&url)
            && url.path() == path
            && segments == self.path.length()
            && url.fragment().is_none();
        if same {
            Ok(())
        } else {
            Err(ToolError::invalid(
                "the arguments would lead the request elsewhere; it was not sent",
            ))
        }
    }
}

impl Prepared {
    /// A request that no argument has a part in, below the address of an API.
    ///
    /// # Errors
    /// Says what no path may hold.
    pub(crate) fn fixed(address: Option<&Address>, path: &str) -> Result<Self, String> {
        let below = PathTemplate::parse(path)?;
        let path = match address {
            Some(address) => address.base.join(&below),
            None => below,
        };
        if let Some(name) = path.names().next() {
            return Err(format!("there is no argument `{name}` here"));
        }
        let mut query = Pairs::default();
        for (name, value) in path.query() {
            query.push(name, value);
        }
        let path = path
            .fill(|_| Ok(String::new()))
            .map_err(|error| error.message)?;
        let origin = address.map_or("", |address| address.origin.as_str());
        Ok(Self {
            method: HttpMethod::Get,
            place: format!("{origin}{path}"),
            query,
            headers: Vec::new(),
            cookies: Vec::new(),
            body: None,
        })
    }

    /// The whole address, as the client will read it.
    ///
    /// # Errors
    /// When it is too long, or the arguments make something else of it.
    pub(crate) fn url(&self) -> Result<Url, ToolError> {
        let mut text = self.place.clone();
        let query = self.query.write();
        if !query.is_empty() {
            text.push('?');
            text.push_str(&query);
        }
        if text.len() > LONGEST_URL {
            let message = format!("the address would have {} bytes; ask for less", text.len());
            return Err(ToolError::invalid(message));
        }
        Url::parse(&text)
            .map_err(|error| ToolError::invalid(format!("the arguments make no address: {error}")))
    }

    /// Turns to another address of the same server.
    pub(crate) fn turn_to(&mut self, url: &Url) {
        self.place = format!("{}{}", url.origin().ascii_serialization(), url.path());
        self.query = Pairs::default();
        for (name, value) in url.query_pairs() {
            self.query.push(&name, &value);
        }
    }

    /// Method, host and path, for people: the query may hold a secret.
    pub(crate) fn line(&self) -> String {
        format!("{} {}", method(self.method), self.place)
    }
}

/// The method as the client knows it.
pub(crate) fn method(method: HttpMethod) -> Method {
    match method {
        HttpMethod::Get => Method::GET,
        HttpMethod::Head => Method::HEAD,
        HttpMethod::Options => Method::OPTIONS,
        HttpMethod::Post => Method::POST,
        HttpMethod::Put => Method::PUT,
        HttpMethod::Patch => Method::PATCH,
        HttpMethod::Delete => Method::DELETE,
    }
}

/// A text that can stand in a header.
fn plain(argument: &str, text: String) -> Result<String, ToolError> {
    if text.contains(|c: char| c.is_control()) {
        let message = format!(
            "`{argument}` holds a line break or another control character, which no header may"
        );
        return Err(ToolError::invalid(message));
    }
    Ok(text)
}
