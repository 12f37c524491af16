//! Compares what a source hands out with what is pinned of it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::look_alike::Looks;
use super::{Pin, PinDigest, Pinned, Pinning, Pins, Why, Withheld};
use crate::registry::{Entry, Origin};

/// A tool as its source handed it out.
#[derive(Clone, Debug)]
pub(in crate::registry) struct Handed {
    pub(in crate::registry) entry: Arc<Entry>,
    pub(in crate::registry) pin: Arc<Pin>,
}

/// What may be used, and what may not.
#[derive(Debug, Default)]
pub(in crate::registry) struct Compared {
    pub(in crate::registry) admitted: Vec<Arc<Entry>>,
    pub(in crate::registry) withheld: Vec<Arc<Withheld>>,
}

impl Pinning {
    /// Compares the tools of a source, in their order. `all` are the tools there are,
    /// from wherever.
    pub(in crate::registry) fn compare(
        &self,
        source: &str,
        handed: &[Handed],
        all: &[Arc<Entry>],
    ) -> Compared {
        if handed.is_empty() {
            return Compared::default();
        }
        let mut pinned = self.pinned(source);
        if let Pinned::FirstUse = pinned {
            let first = as_they_are(source, handed, all);
            let known = Arc::new(first.clone());
            pinned = match first.is_empty() {
                true => Pinned::Known(Arc::clone(&known)),
                false => self.pin_first(source, first),
            };
            // A store that cannot even remember it for now is taken at its word once.
            if let Pinned::FirstUse = pinned {
                pinned = Pinned::Known(known);
            }
        }
        match pinned {
            Pinned::Off => Compared {
                admitted: handed.iter().map(|each| Arc::clone(&each.entry)).collect(),
                withheld: Vec::new(),
            },
            Pinned::Known(pins) => with_pins(source, handed, all, &pins),
            Pinned::Unreadable { reason } => Compared {
                admitted: Vec::new(),
                withheld: handed
                    .iter()
                    .map(|each| {
                        let reason = reason.clone();
                        each.withheld(source, Why::Unreadable { reason }, None)
                    })
                    .collect(),
            },
            // It was settled above.
            Pinned::FirstUse => Compared::default(),
        }
    }
}

impl Handed {
    fn name(&self) -> &str {
        self.entry.definition.name.as_str()
    }

    fn withheld(&self, source: &str, why: Why, pinned: Option<Arc<Pin>>) -> Arc<Withheld> {
        Arc::new(Withheld {
            name: self.entry.definition.name.clone(),
            source: source.to_owned(),
            why,
            now: Arc::clone(&self.pin),
            pinned,
            definition: Arc::clone(&self.entry.definition),
        })
    }

    /// The tool its name can be taken for: the name it goes by here, or the one its
    /// source gave it.
    fn like<'l>(&self, looks: &'l Looks) -> Option<&'l str> {
        let own = self.pin.name().and_then(|name| looks.like(name));
        own.or_else(|| looks.like(self.name()))
    }
}

/// The pins of a source that has none: its tools as they are, but for those that look
/// like others.
fn as_they_are(source: &str, handed: &[Handed], all: &[Arc<Entry>]) -> Pins {
    let mut looks = looks_of_others(source, all);
    let mut pins = Pins::new();
    // Of two names that look the same, the plainer one is the one people know.
    let is_odd = |c: &char| !c.is_ascii_lowercase() && *c != '_';
    let oddness = |each: &&Handed| {
        let name = each.pin.name().unwrap_or_default();
        name.chars().filter(is_odd).count()
    };
    let mut plainest: Vec<&Handed> = handed.iter().collect();
    plainest.sort_by_cached_key(oddness);
    for each in plainest {
        if each.like(&looks).is_none() {
            add(&mut looks, each.name(), &each.pin);
            // Of two with one name the first counts, as in the registry.
            let name = each.name().to_owned();
            pins.entry(name).or_insert_with(|| Arc::clone(&each.pin));
        }
    }
    pins
}

fn with_pins(source: &str, handed: &[Handed], all: &[Arc<Entry>], pins: &Pins) -> Compared {
    let mut compared = Compared::default();
    // Only what is not as it was pinned needs them.
    let mut strange = None;
    for each in handed {
        let pinned = pins.get(each.name());
        if pinned.is_some_and(|pin| pin.digest == each.pin.digest) {
            compared.admitted.push(Arc::clone(&each.entry));
            continue;
        }
        let withheld = match pinned {
            Some(pin) => each.withheld(source, Why::Changed, Some(Arc::clone(pin))),
            None => {
                let strange =
                    strange.get_or_insert_with(|| Strange::new(source, handed, all, pins));
                let (why, pinned) = strange.why(each, pins);
                each.withheld(source, why, pinned)
            }
        };
        compared.withheld.push(withheld);
    }
    compared
}

/// What tells why a name is there that was not pinned.
struct Strange {
    looks: Looks,
    /// Pinned tools that are gone, by what they said beside their names.
    gone: HashMap<PinDigest, String>,
}

impl Strange {
    fn new(source: &str, handed: &[Handed], all: &[Arc<Entry>], pins: &Pins) -> Self {
        let mut looks = looks_of_others(source, all);
        for (name, pin) in pins {
            add(&mut looks, name, pin);
        }
        let here: HashSet<&str> = handed.iter().map(Handed::name).collect();
        let gone = pins
            .iter()
            .filter(|(name, _)| !here.contains(name.as_str()));
        let gone = gone.filter_map(|(name, pin)| Some((pin.nameless()?, name.clone())));
        Self {
            looks,
            gone: gone.collect(),
        }
    }

    fn why(&self, handed: &Handed, pins: &Pins) -> (Why, Option<Arc<Pin>>) {
        if let Some(of) = handed.like(&self.looks) {
            let pinned = pins.get(of).cloned();
            return (Why::LookAlike { of: of.to_owned() }, pinned);
        }
        let from = handed.pin.nameless();
        match from.and_then(|said| self.gone.get(&said)) {
            Some(from) => {
                let pinned = pins.get(from).cloned();
                (Why::Renamed { from: from.clone() }, pinned)
            }
            None => (Why::New, None),
        }
    }
}

/// The names of all tools but those of one source.
fn looks_of_others(source: &str, all: &[Arc<Entry>]) -> Looks {
    let mut looks = Looks::default();
    for entry in all.iter().filter(|entry| !entry.origin.is(source)) {
        let name = entry.definition.name.as_str();
        looks.add(name, name);
        // What its own server calls it.
        let extra = entry.definition.meta.extra.get("mcp");
        if let Some(own) = extra.and_then(|mcp| mcp.get("name")?.as_str())
            && matches!(entry.origin, Origin::Source(_))
        {
            looks.add(own, name);
        }
    }
    looks
}

fn add(looks: &mut Looks, name: &str, pin: &Pin) {
    looks.add(name, name);
    if let Some(own) = pin.name() {
        looks.add(own, name);
    }
}
