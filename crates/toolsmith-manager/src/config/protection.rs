//! How sources and callers are held within bounds.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use toolsmith_core::duration::Span;
use toolsmith_core::rate::Rate;
use toolsmith_runtime::shield::{CallerSettings, CircuitSettings, Protection, SourceSettings};

use super::{Pattern, Positive, few};

/// Settings of sources, by name or glob.
#[derive(Clone, Debug, Default)]
pub struct SourcesConfig(BTreeMap<String, SourceSettings>);

impl SourcesConfig {
    /// The names and globs there are settings for.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

/// What holds for each caller by itself.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct CallersConfig {
    /// How fast it may call.
    pub rate: Option<Rate>,
    /// How often it may call from one beginning of the period to the next.
    pub quota: Option<Rate>,
}

/// What both come to. Patterns are laid over each other in the order of their lengths:
/// what says more about a name comes later.
pub(crate) fn protection(sources: &SourcesConfig, callers: CallersConfig) -> Protection {
    let mut protection = Protection::default();
    let pairs = sources.0.iter();
    let pairs = pairs.map(|(name, settings)| (name.clone(), settings.clone()));
    protection.sources = pairs.collect();
    protection.sources.sort_by_key(|(name, _)| {
        let is_glob = name.contains(['*', '?', '[', '{']);
        (!is_glob, name.len())
    });
    let mut each = CallerSettings::default();
    (each.rate, each.quota) = (callers.rate, callers.quota);
    protection.callers = each;
    protection
}

impl<'de> Deserialize<'de> for SourcesConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let forms = Option::<BTreeMap<Pattern, SourceForm>>::deserialize(deserializer)?;
        let forms = forms.unwrap_or_default();
        few(forms.len(), "sources")?;
        let pairs = forms.into_iter();
        Ok(Self(
            pairs.map(|(name, form)| (name.0, form.into())).collect(),
        ))
    }
}

/// A source as the file writes it.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct SourceForm {
    concurrency: Option<Positive>,
    queue: Option<Room>,
    rate: Option<Rate>,
    quota: Option<Rate>,
    circuit: Option<CircuitForm>,
}

/// How many may wait; nobody is allowed too.
struct Room(usize);

impl<'de> Deserialize<'de> for Room {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        const MOST: usize = 1_000_000;
        let room = usize::deserialize(deserializer)?;
        match room <= MOST {
            true => Ok(Self(room)),
            false => Err(D::Error::custom(format!("at most {MOST} can wait"))),
        }
    }
}

/// When a source is left alone, or that it never is.
enum CircuitForm {
    Off,
    Settings(CircuitSettingsForm),
}

/// By hand, so that what is wrong within the settings is told where it is.
impl<'de> Deserialize<'de> for CircuitForm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;

        impl<'de> Visitor<'de> for Either {
            type Value = CircuitForm;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("`off`, or settings such as `failures: 5`")
            }

            fn visit_str<E: Error>(self, word: &str) -> Result<CircuitForm, E> {
                match word {
                    "off" => Ok(CircuitForm::Off),
                    _ => Err(E::custom(
                        "expected `off`, or settings such as `failures: 5`",
                    )),
                }
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<CircuitForm, A::Error> {
                let settings = MapAccessDeserializer::new(map);
                CircuitSettingsForm::deserialize(settings).map(CircuitForm::Settings)
            }
        }

        deserializer.deserialize_any(Either)
    }
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct CircuitSettingsForm {
    failures: Option<Few>,
    share: Option<Share>,
    least: Option<Few>,
    window: Option<Span>,
    pause: Option<Span>,
}

/// A number from one to a million.
struct Few(u32);

impl<'de> Deserialize<'de> for Few {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = u32::deserialize(deserializer)?;
        match (1..=1_000_000).contains(&number) {
            true => Ok(Self(number)),
            false => Err(D::Error::custom("expected a number from 1 to 1000000")),
        }
    }
}

/// A part of all calls: more than none, at most all.
struct Share(f64);

impl<'de> Deserialize<'de> for Share {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let share = f64::deserialize(deserializer)?;
        match share > 0.0 && share <= 1.0 {
            true => Ok(Self(share)),
            false => Err(D::Error::custom("expected a part of one, such as 0.5")),
        }
    }
}

impl From<SourceForm> for SourceSettings {
    fn from(form: SourceForm) -> Self {
        let mut settings = Self::default();
        settings.concurrency = form.concurrency.map(|count| count.0);
        settings.queue = form.queue.map(|room| room.0);
        settings.rate = form.rate;
        settings.quota = form.quota;
        settings.circuit = form.circuit.map(Into::into);
        settings
    }
}

impl From<CircuitForm> for CircuitSettings {
    fn from(form: CircuitForm) -> Self {
        let mut settings = Self::default();
        match form {
            CircuitForm::Off => settings.enabled = false,
            CircuitForm::Settings(form) => {
                if let Some(Few(failures)) = form.failures {
                    settings.failures = failures;
                }
                if let Some(Share(share)) = form.share {
                    settings.share = share;
                }
                if let Some(Few(least)) = form.least {
                    settings.least = least;
                }
                if let Some(Span(window)) = form.window {
                    settings.window = window;
                }
                if let Some(Span(pause)) = form.pause {
                    settings.pause = pause;
                }
            }
        }
        settings
    }
}
