//! A server as our own YAML writes it.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_saphyr::Spanned;

use super::entry::{EntryError, check_command, check_headers, check_template_url, check_variable};
use super::http::{check_header_name, check_header_value};
use super::{ApiKey, Place, Protocol, ServerEntry, ServerName, Template, Transport};
use crate::config::{Pattern, Span};
use crate::pins::PinMode;

/// How many servers one file may name.
pub(super) const MOST: usize = 100;

/// One server; the name is the key it stands under, or the file it stands in.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    #[serde(default)]
    name: Option<ServerName>,
    #[serde(default)]
    command: Option<Spanned<Command>>,
    #[serde(default)]
    args: Option<Vec<Spanned<Template>>>,
    #[serde(default)]
    cwd: Option<PathBuf>,
    #[serde(default)]
    env: Option<BTreeMap<Variable, Spanned<Template>>>,
    #[serde(default)]
    env_passthrough: Option<Vec<Variable>>,
    #[serde(default, alias = "mcp_server_url")]
    url: Option<Spanned<Address>>,
    #[serde(default)]
    headers: Option<BTreeMap<HeaderName, Spanned<HeaderValue>>>,
    #[serde(default)]
    mcp_api_key: Option<Spanned<KeyForm>>,
    #[serde(default)]
    timeout: Option<Span>,
    #[serde(default)]
    allow: Option<Vec<Pattern>>,
    #[serde(default)]
    deny: Option<Vec<Pattern>>,
    #[serde(default)]
    disabled: bool,
    #[serde(default)]
    protocol: Protocol,
    #[serde(default)]
    pins: Option<PinMode>,
}

impl Form {
    /// The server of this name.
    fn entry(self, name: ServerName) -> Result<ServerEntry, EntryError> {
        let transport = match (self.command, self.url) {
            (Some(_), Some(_)) => return Err(EntryError::Both),
            (None, None) => return Err(EntryError::Neither),
            (Some(command), None) => {
                let http = [
                    ("headers", self.headers.is_some()),
                    ("mcp_api_key", self.mcp_api_key.is_some()),
                ];
                if let Some((key, _)) = http.into_iter().find(|(_, given)| *given) {
                    return Err(EntryError::OnlyHttp(key));
                }
                let place = place(&command);
                let mut words = command.value.0.into_iter().map(|word| word.at(place));
                let command = words.next().ok_or(EntryError::NoCommand)?;
                let further = self.args.unwrap_or_default();
                Transport::Stdio {
                    command,
                    args: words.chain(further.into_iter().map(placed)).collect(),
                    cwd: self.cwd,
                }
            }
            (None, Some(url)) => {
                let stdio = [
                    ("args", self.args.is_some()),
                    ("cwd", self.cwd.is_some()),
                    ("env", self.env.is_some()),
                    ("env_passthrough", self.env_passthrough.is_some()),
                ];
                if let Some((key, _)) = stdio.into_iter().find(|(_, given)| *given) {
                    return Err(EntryError::OnlyStdio(key));
                }
                let headers = self.headers.unwrap_or_default().into_iter();
                Transport::Http {
                    url: placed(url),
                    headers: headers
                        .map(|(name, value)| (name.0, placed(value)))
                        .collect(),
                }
            }
        };
        let mut entry = ServerEntry::new(name, transport);
        entry.api_key = self.mcp_api_key.map(|key| {
            let place = place(&key);
            let ApiKey { header, value } = key.value.into();
            let value = value.at(place);
            ApiKey { header, value }
        });
        if let Transport::Http { headers, .. } = &entry.transport {
            check_headers(headers, entry.api_key.as_ref())?;
        }
        let env = self.env.unwrap_or_default().into_iter();
        entry.env = env.map(|(name, value)| (name.0, placed(value))).collect();
        let passed = self.env_passthrough.unwrap_or_default().into_iter();
        entry.env_passthrough = passed.map(|name| name.0).collect();
        entry.timeout = self.timeout.map(|span| span.0);
        entry.allow = patterns(self.allow);
        entry.deny = patterns(self.deny);
        entry.disabled = self.disabled;
        entry.protocol = self.protocol;
        entry.pins = self.pins;
        Ok(entry)
    }
}

/// The mapping under `servers:`, in the order it is written in.
pub(crate) fn servers<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<ServerEntry>, D::Error> {
    struct Servers;

    impl<'de> Visitor<'de> for Servers {
        type Value = Vec<ServerEntry>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a mapping of names to servers")
        }

        fn visit_unit<E>(self) -> Result<Vec<ServerEntry>, E> {
            Ok(Vec::new())
        }

        fn visit_map<A: MapAccess<'de>>(self, mut pairs: A) -> Result<Vec<ServerEntry>, A::Error> {
            let mut servers = Vec::new();
            while let Some(name) = pairs.next_key::<Spanned<ServerName>>()? {
                if servers.len() == MOST {
                    let message = format!("more than {MOST} servers are not accepted");
                    return Err(A::Error::custom(message));
                }
                let origin = place(&name);
                let named = pairs.next_value_seed(Named(name.value))?;
                servers.push(from(named, origin));
            }
            Ok(servers)
        }
    }

    deserializer.deserialize_map(Servers)
}

fn from(mut entry: ServerEntry, place: Place) -> ServerEntry {
    entry.origin.place = place;
    entry
}

/// The content of a file with one server, which may set the name.
pub(super) struct OneFile {
    pub(super) name: Option<ServerName>,
    pub(super) entry: ServerEntry,
}

impl<'de> Deserialize<'de> for OneFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let form = Form::deserialize(deserializer)?;
        let name = form.name.clone();
        // Checked here, where there is a place to point at; the file's name comes later.
        let nameless = "nameless".parse().map_err(D::Error::custom)?;
        let entry = form.entry(nameless).map_err(D::Error::custom)?;
        Ok(Self { name, entry })
    }
}

/// Reads a form into the server of a name, while there is a place to point at.
struct Named(ServerName);

impl<'de> serde::de::DeserializeSeed<'de> for Named {
    type Value = ServerEntry;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<ServerEntry, D::Error> {
        let form = Form::deserialize(deserializer)?;
        if form.name.is_some() {
            let message = "the name of a server here is the key it stands under";
            return Err(D::Error::custom(message));
        }
        form.entry(self.0).map_err(D::Error::custom)
    }
}

/// Wrappers that check what they hold while there is a place to point at.
macro_rules! checked {
    ($(#[$doc:meta])* $name:ident($inner:ty), $check:expr) => {
        $(#[$doc])*
        #[derive(PartialEq, Eq)]
        struct $name($inner);

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let inner = <$inner>::deserialize(deserializer)?;
                let check: fn(&$inner) -> Result<(), EntryError> = $check;
                check(&inner).map_err(D::Error::custom)?;
                Ok(Self(inner))
            }
        }

        impl From<$name> for $inner {
            fn from(checked: $name) -> Self {
                checked.0
            }
        }
    };
}

checked!(
    /// The URL of a server.
    Address(Template),
    check_template_url
);
checked!(
    /// The value of a header.
    HeaderValue(Template),
    |value| Ok(value.texts().try_for_each(check_header_value)?)
);
checked!(
    /// The name of a header.
    #[derive(PartialOrd, Ord)]
    HeaderName(String),
    |name| Ok(check_header_name(name)?)
);
checked!(
    /// The name of an environment variable.
    #[derive(PartialOrd, Ord)]
    Variable(String),
    |name| check_variable(name)
);

/// A program and arguments: one text, split as a shell would, or a list.
struct Command(Vec<Template>);

impl<'de> Deserialize<'de> for Command {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Words;

        impl<'de> Visitor<'de> for Words {
            type Value = Command;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a command, as one text or as a list of words")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Command, E> {
                let words = super::word::split(text).map_err(E::custom)?;
                checked(words)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Command, A::Error> {
                let mut words = Vec::new();
                while let Some(word) = items.next_element()? {
                    words.push(word);
                }
                checked(words)
            }
        }

        fn checked<E: Error>(words: Vec<Template>) -> Result<Command, E> {
            let first = words.first().ok_or(EntryError::NoCommand);
            first.and_then(check_command).map_err(E::custom)?;
            Ok(Command(words))
        }

        deserializer.deserialize_any(Words)
    }
}

/// `mcp_api_key`: the key alone, or with the header it goes into.
enum KeyForm {
    Bearer(Template),
    Header(ApiKey),
}

impl From<KeyForm> for ApiKey {
    fn from(form: KeyForm) -> Self {
        match form {
            KeyForm::Header(key) => key,
            KeyForm::Bearer(value) => {
                // Whoever wrote the word already means it once.
                let has_word = value.expose_written().starts_with("Bearer ");
                let value = if has_word {
                    value
                } else {
                    value.after("Bearer ")
                };
                let header = "Authorization".to_owned();
                Self { header, value }
            }
        }
    }
}

impl<'de> Deserialize<'de> for KeyForm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Key;

        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Fields {
            header: String,
            value: Template,
        }

        impl<'de> Visitor<'de> for Key {
            type Value = KeyForm;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key such as ${env:KEY}, or {header: X-Api-Key, value: ${env:KEY}}")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<KeyForm, E> {
                if text.trim().is_empty() {
                    return Err(E::custom("`mcp_api_key` is empty"));
                }
                text.parse().map(KeyForm::Bearer).map_err(E::custom)
            }

            fn visit_map<A: MapAccess<'de>>(self, pairs: A) -> Result<KeyForm, A::Error> {
                let pairs = serde::de::value::MapAccessDeserializer::new(pairs);
                let Fields { header, value } = Fields::deserialize(pairs)?;
                Ok(KeyForm::Header(ApiKey { header, value }))
            }
        }

        deserializer.deserialize_any(Key)
    }
}

fn place<T>(spanned: &Spanned<T>) -> Place {
    Place {
        line: usize::try_from(spanned.referenced.line()).unwrap_or_default(),
        column: usize::try_from(spanned.referenced.column()).unwrap_or_default(),
    }
}

fn placed(spanned: Spanned<impl Into<Template>>) -> Template {
    let place = place(&spanned);
    spanned.value.into().at(place)
}

fn patterns(list: Option<Vec<Pattern>>) -> Vec<String> {
    let list = list.unwrap_or_default().into_iter();
    list.map(|pattern| pattern.0).collect()
}
