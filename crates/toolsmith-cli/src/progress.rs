//! Progress bars and streamed output, on a terminal only.

use std::collections::HashMap;
use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use toolsmith_core::CallId;
use toolsmith_core::event::{Event, RecordError, Recorder, What};

/// Shows how far calls are.
pub(crate) struct ProgressBars {
    bars: Option<Bars>,
}

struct Bars {
    all: MultiProgress,
    each: Mutex<HashMap<CallId, ProgressBar>>,
}

impl ProgressBars {
    pub(crate) fn new() -> Self {
        let bars = std::io::stderr().is_terminal().then(|| Bars {
            all: MultiProgress::new(),
            each: Mutex::default(),
        });
        Self { bars }
    }
}

impl Recorder for ProgressBars {
    fn record(&self, event: &Event<'_>) -> Result<(), RecordError> {
        let (Some(bars), Some(call)) = (&self.bars, event.call) else {
            return Ok(());
        };
        match &event.what {
            What::Progress { progress } => {
                let mut each = bars.each.lock().unwrap_or_else(PoisonError::into_inner);
                let bar = each
                    .entry(call.clone())
                    .or_insert_with(|| bars.all.add(new_bar()));
                // Thousandths: bars count whole numbers, progress need not.
                let scaled = |amount: f64| (amount.max(0.0) * 1000.0) as u64;
                if let Some(total) = progress.total {
                    bar.set_length(scaled(total));
                }
                bar.set_position(scaled(progress.done));
                if let Some(message) = &progress.message {
                    bar.set_message(message.clone());
                }
            }
            What::Output { text } => {
                let _ = bars.all.println(text.trim_end_matches('\n'));
            }
            What::Finished { .. } => {
                let mut each = bars.each.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(bar) = each.remove(call) {
                    bar.finish_and_clear();
                }
            }
            _ => {}
        }
        Ok(())
    }
}

fn new_bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:30} {percent:>3} % {msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(1000).with_style(style)
}
