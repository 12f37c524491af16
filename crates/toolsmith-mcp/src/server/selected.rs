//! Which tools a server offers, where that may change while it serves.

use std::sync::Arc;

use arc_swap::ArcSwap;
use toolsmith_runtime::Selection;

/// A selection of tools that may be another one later. Clones stay one and the same.
#[derive(Clone, Debug, Default)]
pub struct Selected(Arc<ArcSwap<Selection>>);

impl Selected {
    /// The selection as it is now.
    pub fn now(&self) -> Arc<Selection> {
        self.0.load_full()
    }

    /// Makes it another one; tells whether it is.
    pub(super) fn change(&self, selection: Selection) -> bool {
        if *self.now() == selection {
            return false;
        }
        self.0.store(Arc::new(selection));
        true
    }
}

impl From<Selection> for Selected {
    fn from(selection: Selection) -> Self {
        Self(Arc::new(ArcSwap::from_pointee(selection)))
    }
}
