//! The lines of the table: figures, goals, and whether they are met.

/// Whether goals are met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Met,
    NotMet,
}

impl Verdict {
    /// Met where both are.
    pub(crate) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Met, Self::Met) => Self::Met,
            _ => Self::NotMet,
        }
    }
}

/// Prints a figure that may be so much at most, and returns whether it is.
pub(crate) fn judged(what: &str, figure: f64, unit: &str, most: f64) -> Verdict {
    let (verdict, word) = match figure <= most {
        true => (Verdict::Met, "met"),
        false => (Verdict::NotMet, "NOT met"),
    };
    println!("  {what:64} {figure:7.2} {unit:5} goal ≤ {most} {unit}: {word}");
    verdict
}

/// The figure in the middle.
pub(crate) fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}
