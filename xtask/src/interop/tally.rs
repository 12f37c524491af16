//! How the parts of a check went: each is told at once, and one failure does not hide the next.

/// The failures so far.
#[derive(Debug, Default)]
pub(super) struct Tally {
    failures: Vec<String>,
}

impl Tally {
    /// Prints how a part went, and keeps it in mind if it failed.
    pub(super) fn note(&mut self, title: &str, outcome: anyhow::Result<()>) {
        match outcome {
            Ok(()) => println!("  ok   {title}"),
            Err(error) => {
                println!("  FAIL {title}: {error:#}");
                self.failures.push(format!("{title}: {error:#}"));
            }
        }
    }

    /// Fails with all that went wrong.
    pub(super) fn finish(self) -> anyhow::Result<()> {
        if self.failures.is_empty() {
            return Ok(());
        }
        Err(anyhow::Error::msg(self.failures.join("\n")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_failure_is_told_at_the_end() {
        let mut tally = Tally::default();
        tally.note("first", Err(anyhow::anyhow!("one")));
        tally.note("second", Ok(()));
        tally.note("third", Err(anyhow::anyhow!("three")));
        let error = tally.finish().unwrap_err().to_string();
        assert_eq!(error, "first: one\nthird: three");
        assert!(Tally::default().finish().is_ok());
    }
}
