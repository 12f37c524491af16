//! How the sources of tools are doing, as numbers a collector takes.

use toolsmith_runtime::shield::{CircuitState, SourceStatus};

use super::Observed;

/// The numbers of all sources: what state their circuits are in (0 closed, 1 half open,
/// 2 open), how many calls they have and keep waiting, and what was repeated, spared and
/// turned away so far.
pub(crate) fn of_sources(sources: &[SourceStatus]) -> Vec<Observed> {
    let numbers = |source: &SourceStatus| {
        let circuit = match source.circuit {
            CircuitState::Closed => 0.0,
            CircuitState::HalfOpen => 1.0,
            _ => 2.0,
        };
        let count = |count: u64| u32::try_from(count).map_or(f64::from(u32::MAX), f64::from);
        let size = |size: usize| count(size as u64);
        let numbers = [
            ("toolsmith.source.circuit", circuit),
            ("toolsmith.source.running", size(source.running)),
            ("toolsmith.source.waiting", size(source.waiting)),
            ("toolsmith.source.repeated", count(source.repeated)),
            ("toolsmith.source.spared", count(source.spared)),
            ("toolsmith.source.turned_away", count(source.turned_away)),
        ];
        numbers.map(|(name, value)| {
            let mut observed = Observed::new(name, value);
            let attribute = ("toolsmith.source".to_owned(), source.name.clone());
            observed.attributes.push(attribute);
            observed
        })
    };
    sources.iter().flat_map(numbers).collect()
}
