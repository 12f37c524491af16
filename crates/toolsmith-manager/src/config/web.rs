//! What the web tools may do, by the user's word: where they go beyond public addresses,
//! which redirects they follow, and which secrets they send where.

use std::collections::BTreeMap;
use std::fmt;

use secrecy::{ExposeSecret as _, SecretString};
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use toolsmith_core::reference::Template;
use toolsmith_net::{Reach, Redirects};

use super::few;
use crate::references::References;

/// The longest name a program may give itself.
const LONGEST_AGENT: usize = 200;

/// Shorter values are not redacted, because they occur by chance everywhere.
const SHORTEST_SECRET: usize = 6;

/// What the web tools may do.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct WebConfig {
    /// Hosts that may be reached although they are not public.
    #[serde(deserialize_with = "hosts")]
    pub allow_hosts: Vec<WebHost>,
    /// Which redirects are followed.
    pub redirects: RedirectScope,
    /// Whether robots.txt is respected by every call, or by those that ask for it.
    pub robots: RobotsMode,
    /// What requests say they come from.
    pub user_agent: Option<UserAgent>,
    /// Secrets that calls may refer to, by name.
    #[serde(deserialize_with = "secrets")]
    pub secrets: BTreeMap<String, WebSecretConfig>,
}

/// Which redirects are followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum RedirectScope {
    /// To every host that may be reached.
    #[default]
    Any,
    /// Within one host. Rules about hosts then hold for where a call ends, too.
    SameHost,
}

/// Whether robots.txt is respected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum RobotsMode {
    /// Where a call asks for it.
    #[default]
    Ignore,
    /// Always.
    Respect,
}

/// What requests say they come from: one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserAgent(String);

/// A host, with or without a scheme and a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebHost {
    /// Host and port as they are written.
    authority: String,
    /// The scheme, if one is written.
    scheme: Option<&'static str>,
}

/// A secret, and where it may be sent.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct WebSecretConfig {
    /// What it stands for.
    pub value: Template,
    /// Where it may be sent; without a scheme over https only.
    #[serde(deserialize_with = "some_hosts")]
    pub hosts: Vec<WebHost>,
}

/// What a configuration comes to, for the host that has web tools.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct WebTerms {
    /// Origins that may be reached although they are not public.
    pub origins: Vec<String>,
    /// Which redirects are followed.
    pub redirects: Redirects,
    /// Whether robots.txt is always respected.
    pub respects_robots: bool,
    /// What requests say they come from.
    pub user_agent: Option<String>,
    /// Secrets that calls may refer to.
    pub secrets: Vec<SecretTerms>,
}

/// A secret that calls may refer to.
#[derive(Clone)]
#[non_exhaustive]
pub struct SecretTerms {
    /// What calls refer to it by.
    pub name: String,
    /// What it stands for.
    pub value: SecretString,
    /// The origins it may be sent to.
    pub origins: Vec<String>,
}

/// What a configuration comes to once its references are looked up.
#[derive(Debug, Default)]
pub(crate) struct Resolved {
    pub(crate) terms: WebTerms,
    /// What must be shown to nobody.
    pub(crate) secrets: Vec<String>,
    /// What is referred to and not there.
    pub(crate) missing: Vec<String>,
}

impl WebTerms {
    /// Where the tools may go.
    pub fn reach(&self) -> Reach {
        let origins = self.origins.iter();
        // They were checked when the file was read; one that does not fit widens nothing.
        origins.fold(Reach::public(), |reach, origin| {
            reach.clone().and_origin(origin).unwrap_or(reach)
        })
    }
}

impl PartialEq for SecretTerms {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
            && self.origins == other.origins
            && self.value.expose_secret() == other.value.expose_secret()
    }
}

impl fmt::Debug for SecretTerms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretTerms")
            .field("name", &self.name)
            .field("origins", &self.origins)
            .finish_non_exhaustive()
    }
}

impl WebConfig {
    /// Looks up every reference. A secret that is not there is left out, and told.
    pub(crate) fn resolve(&self, references: &References) -> Resolved {
        let mut resolved = Resolved::default();
        let terms = &mut resolved.terms;
        terms.origins = self
            .allow_hosts
            .iter()
            .flat_map(|host| host.origins(&["http", "https"]))
            .collect();
        terms.redirects = match self.redirects {
            RedirectScope::Any => Redirects::Any,
            RedirectScope::SameHost => Redirects::SameHost,
        };
        terms.respects_robots = self.robots == RobotsMode::Respect;
        terms.user_agent = self.user_agent.as_ref().map(|agent| agent.0.clone());
        for (name, secret) in &self.secrets {
            match secret.value.fill(references) {
                Ok(filled) if filled.text.len() < SHORTEST_SECRET => {
                    resolved.missing.push(format!(
                        "web.secrets.{name}: the value has fewer than {SHORTEST_SECRET} characters, too few to be \
                         redacted wherever it occurs; use a longer secret"
                    ));
                }
                Ok(filled) => {
                    let hosts = secret.hosts.iter();
                    // What is written out is as secret as what is referred to.
                    resolved.secrets.push(filled.text.clone());
                    resolved.secrets.extend(filled.secrets);
                    terms.secrets.push(SecretTerms {
                        name: name.clone(),
                        value: filled.text.into(),
                        origins: hosts.flat_map(|host| host.origins(&["https"])).collect(),
                    });
                }
                Err(error) => resolved
                    .missing
                    .push(format!("web.secrets.{name}: {error}")),
            }
        }
        resolved
    }
}

impl WebHost {
    /// The origins it means: with its own scheme, or with each of these.
    fn origins(&self, schemes: &[&'static str]) -> Vec<String> {
        let schemes = match &self.scheme {
            Some(scheme) => std::slice::from_ref(scheme),
            None => schemes,
        };
        let urls = schemes
            .iter()
            .map(|scheme| format!("{scheme}://{}", self.authority));
        let urls = urls.filter_map(|text| url::Url::parse(&text).ok());
        urls.map(|url| url.origin().ascii_serialization()).collect()
    }
}

impl<'de> Deserialize<'de> for WebHost {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let expected =
            "expected a host such as intranet.example, 127.0.0.1:8080 or http://intranet.example";
        let (scheme, authority) = match text.split_once("://") {
            Some(("http", rest)) => (Some("http"), rest),
            Some(("https", rest)) => (Some("https"), rest),
            Some(_) => return Err(D::Error::custom(expected)),
            None => (None, text.as_str()),
        };
        let authority = authority.strip_suffix('/').unwrap_or(authority);
        let is_odd = |c: char| {
            matches!(c, '/' | '\\' | '?' | '#' | '@' | '*') || c.is_whitespace() || c.is_control()
        };
        if authority.is_empty() || authority.contains(is_odd) {
            return Err(D::Error::custom(format!(
                "{expected}; patterns and paths are not supported"
            )));
        }
        let url = url::Url::parse(&format!("http://{authority}"));
        url.map_err(|error| D::Error::custom(format!("{expected}: {error}")))?;
        Ok(Self {
            authority: authority.to_owned(),
            scheme,
        })
    }
}

impl<'de> Deserialize<'de> for UserAgent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let is_line = text.bytes().all(|byte| (0x20..0x7f).contains(&byte));
        if text.trim().is_empty() || text.len() > LONGEST_AGENT || !is_line {
            return Err(D::Error::custom(
                "expected one line of at most 200 characters of ASCII",
            ));
        }
        Ok(Self(text))
    }
}

fn hosts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<WebHost>, D::Error> {
    let hosts = Option::<Vec<WebHost>>::deserialize(deserializer)?.unwrap_or_default();
    few(hosts.len(), "hosts")?;
    Ok(hosts)
}

fn some_hosts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<WebHost>, D::Error> {
    let hosts = hosts(deserializer)?;
    match hosts.is_empty() {
        true => Err(D::Error::custom(
            "a secret needs at least one host it may be sent to",
        )),
        false => Ok(hosts),
    }
}

fn secrets<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, WebSecretConfig>, D::Error> {
    let secrets = Option::<BTreeMap<SecretName, WebSecretConfig>>::deserialize(deserializer)?;
    let secrets = secrets.unwrap_or_default();
    few(secrets.len(), "secrets")?;
    Ok(secrets
        .into_iter()
        .map(|(name, secret)| (name.0, secret))
        .collect())
}

/// What a secret is referred to by.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct SecretName(String);

impl<'de> Deserialize<'de> for SecretName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        match (1..=64).contains(&text.len()) && text.chars().all(fits) {
            true => Ok(Self(text)),
            false => Err(D::Error::custom(
                "a secret's name has at most 64 letters, digits, `_`, `-` and `.`",
            )),
        }
    }
}
