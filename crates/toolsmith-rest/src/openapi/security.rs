//! How requests show who makes them, from the schemes of a document.
//!
//! Secrets are never in a document; what stands in the entry is a reference to an
//! environment variable, which [`variables`](super::variables) names.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::{Map, Value};
use toolsmith_core::reference::Template;
use url::{Origin, Url};

use super::notes::Notes;
use super::servers::{resolve, template};
use super::variables::{Variables, Way};
use super::{refer, text};
use crate::form::{AuthForm, AuthMethod, KeyPlace, PlaceName, Placed};
use crate::http::{is_reserved, is_token};

/// How many alternatives of an operation, and schemes of each, are looked at.
const MAX: usize = 32;
/// How many bytes the scopes of a scheme take. They stand in a document once, and with every
/// tool that asks for a token.
const MAX_SCOPES: usize = 8 << 10;
/// What a text takes beside its letters.
const BESIDE: usize = 32;

/// How a request shows who makes it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Auth {
    pub(super) method: AuthMethod,
    pub(super) form: Option<AuthForm>,
    /// Further keys, each in a header.
    pub(super) headers: BTreeMap<String, Placed<Template>>,
    /// Which variables it takes, and where they go.
    pub(super) sent: BTreeSet<String>,
}

impl Auth {
    /// How much its further keys take, which stand with every tool.
    pub(super) fn header_bytes(&self) -> usize {
        let headers = self.headers.iter();
        let bytes = headers.map(|(name, key)| name.len() + key.value.expose_written().len());
        bytes.map(|bytes| bytes + BESIDE).sum()
    }

    /// How much the scopes take, which stand with a tool that has its own.
    pub(super) fn scope_bytes(&self) -> usize {
        let scopes = self.form.iter().flat_map(|form| &form.scopes);
        scopes.map(|scope| scope.len() + BESIDE).sum()
    }

    /// Tells whether a header is filled by it.
    fn has_header(&self, header: &str) -> bool {
        let is_authorization = match self.method {
            AuthMethod::Bearer | AuthMethod::Basic | AuthMethod::Oauth => true,
            AuthMethod::None | AuthMethod::ApiKey => false,
        };
        (is_authorization && header.eq_ignore_ascii_case("authorization"))
            || self.fills(PlaceName::Header, header)
    }

    /// Tells whether a place is filled by it, and is no argument for that.
    pub(super) fn fills(&self, place: PlaceName, wire: &str) -> bool {
        let named = self.form.as_ref().and_then(|form| {
            let name = form.name.as_ref()?;
            Some((form.place?, name.value.as_str()))
        });
        match (place, named) {
            (PlaceName::Query, Some((KeyPlace::Query, name))) => wire == name,
            (PlaceName::Header, named) => {
                let own = named.filter(|(place, _)| *place == KeyPlace::Header);
                let mut headers = self
                    .headers
                    .keys()
                    .map(String::as_str)
                    .chain(own.map(|(_, name)| name));
                headers.any(|name| wire.eq_ignore_ascii_case(name))
            }
            _ => false,
        }
    }
}

/// The schemes of a document.
pub(super) struct Schemes<'d> {
    root: &'d Value,
    base: Option<Url>,
    /// What the document says for operations that say nothing.
    general: Option<&'d Value>,
    /// What was made of each for a server.
    known: HashMap<(&'d str, Option<Origin>), Option<Scheme>>,
    variables: Variables,
    /// What tokens of each scheme are good for, over all operations.
    scopes: HashMap<&'d str, Scopes>,
}

/// What tokens are asked for.
#[derive(Default)]
struct Scopes {
    kept: BTreeSet<String>,
    bytes: usize,
    is_cut: bool,
}

impl Scopes {
    fn add(&mut self, scope: &str) {
        let is_plain = scope.len() <= 300 && scope.bytes().all(|b| b.is_ascii_graphic());
        if !is_plain || self.kept.contains(scope) {
            return;
        }
        let bytes = self.bytes + scope.len() + BESIDE;
        if bytes > MAX_SCOPES {
            self.is_cut = true;
            return;
        }
        self.bytes = bytes;
        self.kept.insert(scope.to_owned());
    }
}

#[derive(Clone, Debug)]
struct Scheme {
    method: AuthMethod,
    form: AuthForm,
    sent: BTreeSet<String>,
}

impl<'d> Schemes<'d> {
    /// The schemes, and what all operations together ask of each.
    pub(super) fn new(
        root: &'d Value,
        variables: Variables,
        base: Option<Url>,
        operations: impl Iterator<Item = &'d Value>,
    ) -> Self {
        let general = root.get("security");
        let mut scopes: HashMap<&'d str, Scopes> = HashMap::new();
        let own = operations.filter_map(|operation| operation.get("security"));
        for (name, wanted) in own.chain(general).flat_map(requirements).flatten() {
            let scopes = scopes.entry(name).or_default();
            let wanted = wanted.as_array().into_iter().flatten();
            for scope in wanted.filter_map(Value::as_str) {
                scopes.add(scope);
            }
        }
        Self {
            root,
            base,
            general,
            known: HashMap::new(),
            variables,
            scopes,
        }
    }

    /// What an operation at a server needs: the first of its alternatives that can be had.
    pub(super) fn of(
        &mut self,
        operation: &'d Value,
        server: Option<&Url>,
        whole: &str,
        notes: &mut Notes,
    ) -> Auth {
        let Some(security) = operation.get("security").or(self.general) else {
            return Auth::default();
        };
        let alternatives: Vec<&'d Map<String, Value>> = requirements(security).collect();
        let mut is_free = alternatives.is_empty();
        for alternative in &alternatives {
            if alternative.is_empty() {
                is_free = true;
            } else if let Some(auth) = self.together(alternative, server, notes) {
                if alternatives.len() > 1 {
                    let names: Vec<String> = alternative
                        .keys()
                        .map(|name| text::line(name, 60))
                        .collect();
                    notes.add(format!(
                        "where there are {} ways to authenticate, `{}` is used",
                        alternatives.len(),
                        names.join("` and `")
                    ));
                }
                return auth;
            }
        }
        if !is_free {
            notes.add(format!(
                "{whole}: it wants an authentication that cannot be set up here"
            ));
        }
        Auth::default()
    }

    /// All schemes of one alternative at once, if that is possible.
    fn together(
        &mut self,
        alternative: &'d Map<String, Value>,
        server: Option<&Url>,
        notes: &mut Notes,
    ) -> Option<Auth> {
        let mut auth = Auth::default();
        if alternative.len() > MAX {
            return None;
        }
        for name in alternative.keys() {
            let scheme = self.scheme(name, server, notes)?;
            auth.sent.extend(scheme.sent);
            if auth.form.is_none() {
                auth.method = scheme.method;
                auth.form = Some(scheme.form);
                continue;
            }
            // A second key fits beside it where it stands in a header.
            let is_header = scheme.form.place == Some(KeyPlace::Header);
            match (scheme.form.name, scheme.form.key) {
                (Some(header), Some(key)) if is_header && !auth.has_header(&header.value) => {
                    auth.headers.insert(header.value, key);
                }
                _ => return None,
            }
        }
        Some(auth)
    }

    fn scheme(&mut self, name: &'d str, server: Option<&Url>, notes: &mut Notes) -> Option<Scheme> {
        let key = (name, server.map(Url::origin));
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let made = self.make(name, server, notes);
        self.known.insert(key, made.clone());
        made
    }

    fn make(&mut self, name: &'d str, server: Option<&Url>, notes: &mut Notes) -> Option<Scheme> {
        let shown = text::line(name, 60);
        let components = self.root.get("components")?;
        let scheme = refer::object(components, "securitySchemes").and_then(|map| map.get(name));
        let scheme = scheme.and_then(|scheme| refer::follow(self.root, scheme).ok());
        let Some(scheme) = scheme else {
            notes.add(format!(
                "the security scheme `{shown}` is not in the document"
            ));
            return None;
        };
        let way = Way {
            api: server,
            tokens: None,
        };
        let kind = refer::string(scheme, "type").unwrap_or_default();
        let refusal = match kind {
            "apiKey" => match self.key(name, scheme, way) {
                Some(made) => return Some(made),
                None => "is a key in a cookie, or has no usable name".to_owned(),
            },
            "http" => match refer::string(scheme, "scheme")
                .map(str::to_ascii_lowercase)
                .as_deref()
            {
                Some("bearer") => return Some(self.bearer(name, way)),
                Some("basic") => return Some(self.basic(name, way)),
                other => format!("is HTTP's `{}`", text::line(other.unwrap_or_default(), 40)),
            },
            "oauth2" => return Some(self.oauth(name, scheme, way, notes)),
            "openIdConnect" => {
                notes.add(format!(
                    "`{shown}` is OpenID Connect: put a token into the variable by other means"
                ));
                return Some(self.bearer(name, way));
            }
            other => format!("is of the type `{}`", text::line(other, 40)),
        };
        notes.add(format!(
            "the security scheme `{shown}` {refusal}, which is not supported"
        ));
        None
    }

    fn key(&mut self, name: &str, scheme: &Value, way: Way<'_>) -> Option<Scheme> {
        let place = match refer::string(scheme, "in") {
            Some("header") => KeyPlace::Header,
            Some("query") => KeyPlace::Query,
            _ => return None,
        };
        let name_there = refer::string(scheme, "name")?.trim();
        let is_usable = match place {
            KeyPlace::Header => is_token(name_there) && !is_body_or_client(name_there),
            KeyPlace::Query => name_there.bytes().all(|byte| byte.is_ascii_graphic()),
        };
        if name_there.len() > 100 || !is_usable {
            return None;
        }
        let mut sent = BTreeSet::new();
        let form = AuthForm {
            key: self.secret(name, "api_key", way, &mut sent),
            place: Some(place),
            name: Some(Placed::nowhere(name_there.to_owned())),
            ..AuthForm::default()
        };
        let method = AuthMethod::ApiKey;
        Some(Scheme { method, form, sent })
    }

    fn bearer(&mut self, name: &str, way: Way<'_>) -> Scheme {
        let mut sent = BTreeSet::new();
        let form = AuthForm {
            token: self.secret(name, "token", way, &mut sent),
            ..AuthForm::default()
        };
        let method = AuthMethod::Bearer;
        Scheme { method, form, sent }
    }

    fn basic(&mut self, name: &str, way: Way<'_>) -> Scheme {
        let mut sent = BTreeSet::new();
        let form = AuthForm {
            username: self.secret(name, "username", way, &mut sent),
            password: self.secret(name, "password", way, &mut sent),
            ..AuthForm::default()
        };
        let method = AuthMethod::Basic;
        Scheme { method, form, sent }
    }

    fn oauth(&mut self, name: &str, scheme: &Value, way: Way<'_>, notes: &mut Notes) -> Scheme {
        let shown = text::line(name, 60);
        let flow = refer::object(scheme, "flows").and_then(|flows| flows.get("clientCredentials"));
        let address = flow.and_then(|flow| refer::string(flow, "tokenUrl"));
        let address = address.map(|address| resolve(address, self.base.as_ref()));
        match address {
            Some(Ok(address)) => {
                let tokens = Url::parse(&address).ok();
                let way = Way {
                    tokens: tokens.as_ref(),
                    ..way
                };
                let scopes = self.scopes.get(name);
                if scopes.is_some_and(|scopes| scopes.is_cut) {
                    notes.add(format!(
                        "`{shown}` has more scopes than a token can be asked for; add those you need"
                    ));
                }
                let scopes = scopes.map(|scopes| scopes.kept.iter().cloned().collect());
                let scopes = scopes.unwrap_or_default();
                let mut sent = BTreeSet::new();
                let form = AuthForm {
                    token_url: template(&address),
                    client_id: self.secret(name, "client_id", way, &mut sent),
                    client_secret: self.secret(name, "client_secret", way, &mut sent),
                    scopes,
                    ..AuthForm::default()
                };
                let method = AuthMethod::Oauth;
                return Scheme { method, form, sent };
            }
            Some(Err(reason)) => notes.add(format!(
                "the address of `{shown}` for tokens cannot be used: {reason}"
            )),
            None => {}
        }
        notes.add(format!(
            "`{shown}` is an OAuth flow a person takes part in: put a token into the variable by other means"
        ));
        self.bearer(name, way)
    }

    /// A reference to a variable, and a word about where it goes.
    fn secret(
        &mut self,
        scheme: &str,
        what: &str,
        way: Way<'_>,
        sent: &mut BTreeSet<String>,
    ) -> Option<Placed<Template>> {
        let variable = self.variables.of(scheme, what, way);
        sent.insert(variable.note);
        variable.reference
    }
}

/// Tells whether a header says what the body is, or is the client's alone.
fn is_body_or_client(header: &str) -> bool {
    header.eq_ignore_ascii_case("content-type") || is_reserved(header)
}

fn requirements(security: &Value) -> impl Iterator<Item = &Map<String, Value>> {
    let list = security.as_array().into_iter().flatten();
    list.filter_map(Value::as_object).take(MAX)
}
