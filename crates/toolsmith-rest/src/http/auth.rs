//! What a request shows of who makes it.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use toolsmith_core::reference::Template;

use super::fill::{Filler, Gathered};
use super::oauth::{Settings, Tokens};
use super::place::header_problem;
use super::shared::Shared;
use crate::form::{AuthForm, AuthMethod, Entry, KeyPlace, Placed};
use crate::make::Problem;

/// What a request shows. It has no `Debug`: it is made of secrets.
#[derive(Clone)]
pub(crate) enum Auth {
    /// Nothing.
    Nothing,
    /// A header.
    Header { name: String, value: String },
    /// A value of the query.
    Query { name: String, value: String },
    /// A token that is asked for where it is needed.
    Tokens(Arc<Tokens>),
}

impl Auth {
    /// What an entry says; none where something it refers to is not there, or where
    /// there are problems.
    pub(crate) fn read(
        entry: &Entry,
        filler: &mut Filler<'_>,
        shared: &mut Shared,
        gathered: &mut Gathered,
    ) -> Option<Self> {
        let default = AuthForm::default();
        let form = entry.auth.as_ref().unwrap_or(&default);
        let key = form.key.as_ref().or(entry.api_key.as_ref());
        let method = match &entry.auth_method {
            Some(method) => method.value,
            // A key that is there is meant.
            None if key.is_some() => AuthMethod::ApiKey,
            None if entry.auth.is_some() => {
                let message =
                    "there is `auth` without `auth_method`; say api_key, bearer, basic or oauth";
                gathered.problems.push(Problem::new(message));
                return None;
            }
            None => AuthMethod::None,
        };
        let mut reading = Reading {
            place: entry
                .auth_method
                .as_ref()
                .map(|it| it.place)
                .unwrap_or_default(),
            filler,
            gathered,
        };
        match method {
            AuthMethod::None => Some(Self::Nothing),
            AuthMethod::ApiKey => reading.api_key(form, key),
            AuthMethod::Bearer => {
                // A key is what many call their token.
                let token = form.token.as_ref().or(key);
                let token = reading.secret("auth.token", "bearer", token)?;
                Some(Self::authorization(format!("Bearer {token}")))
            }
            AuthMethod::Basic => {
                let name = reading.text("auth.username", "basic", form.username.as_ref());
                let password = reading.secret("auth.password", "basic", form.password.as_ref());
                let (name, password) = (name?, password?);
                if name.contains(':') {
                    let message = "`auth.username` holds a colon, which ends it";
                    reading
                        .gathered
                        .problems
                        .push(Problem::at(reading.place, message));
                    return None;
                }
                let both = STANDARD.encode(format!("{name}:{password}"));
                reading.gathered.secrets.push(both.clone());
                Some(Self::authorization(format!("Basic {both}")))
            }
            AuthMethod::Oauth => {
                let url = reading.text("auth.token_url", "oauth", form.token_url.as_ref());
                let id = reading.text("auth.client_id", "oauth", form.client_id.as_ref());
                let secret = form.client_secret.as_ref();
                let secret = reading.secret("auth.client_secret", "oauth", secret);
                let (url, placed) = (url?, form.token_url.as_ref()?);
                let settings = Settings::new(&url, id?, secret?, &form.scopes);
                let settings = settings
                    .map_err(|message| gathered.problem("auth.token_url", placed, &message))
                    .ok()?;
                gathered.secrets.push(settings.basic());
                Some(Self::Tokens(shared.tokens(settings)))
            }
        }
    }

    fn authorization(value: String) -> Self {
        let name = "authorization".to_owned();
        Self::Header { name, value }
    }

    /// The header it fills.
    pub(crate) fn header(&self) -> Option<&str> {
        match self {
            Self::Nothing | Self::Query { .. } => None,
            Self::Header { name, .. } => Some(name),
            Self::Tokens(_) => Some("authorization"),
        }
    }

    /// The name in the query it fills.
    pub(crate) fn query(&self) -> Option<&str> {
        match self {
            Self::Query { name, .. } => Some(name),
            _ => None,
        }
    }
}

struct Reading<'r, 'l> {
    /// Where the method stands.
    place: toolsmith_core::reference::Place,
    filler: &'r mut Filler<'l>,
    gathered: &'r mut Gathered,
}

impl Reading<'_, '_> {
    fn api_key(&mut self, form: &AuthForm, key: Option<&Placed<Template>>) -> Option<Auth> {
        let value = self.secret("auth.key", "api_key", key)?;
        let name = form.name.as_ref();
        let name = name
            .map_or("X-API-Key", |name| name.value.as_str())
            .to_owned();
        match form.place.unwrap_or_default() {
            KeyPlace::Query => Some(Auth::Query { name, value }),
            KeyPlace::Header => {
                let Some(problem) = header_problem(&name) else {
                    return Some(Auth::Header { name, value });
                };
                let place = form
                    .name
                    .as_ref()
                    .map(|name| name.place)
                    .unwrap_or_default();
                let message = format!("`auth.name`: it {problem}");
                self.gathered.problems.push(Problem::at(place, message));
                None
            }
        }
    }

    fn text(&mut self, key: &str, method: &str, form: Option<&Placed<Template>>) -> Option<String> {
        let form = self.needed(key, method, form)?;
        let text = self.filler.text(key, form, self.gathered)?;
        if text.contains(|c: char| c.is_control()) {
            let message = "it holds a line break or another control character";
            self.gathered.problem(key, form, message);
            return None;
        }
        Some(text)
    }

    fn secret(
        &mut self,
        key: &str,
        method: &str,
        form: Option<&Placed<Template>>,
    ) -> Option<String> {
        let form = self.needed(key, method, form)?;
        self.filler.secret(key, form, self.gathered)
    }

    fn needed<'f>(
        &mut self,
        key: &str,
        method: &str,
        form: Option<&'f Placed<Template>>,
    ) -> Option<&'f Placed<Template>> {
        if form.is_none() {
            let message = format!("`auth_method: {method}` needs `{key}`");
            self.gathered
                .problems
                .push(Problem::at(self.place, message));
        }
        form
    }
}
