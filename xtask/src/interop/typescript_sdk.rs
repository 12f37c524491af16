//! The official TypeScript SDK as a client of the product: the old line and the new one.

use super::{Context, sdk};

/// Drives the product with both lines.
pub(super) fn run(context: &Context) -> anyhow::Result<()> {
    let drivers = [sdk::old_typescript(context)?, sdk::new_typescript(context)?];
    sdk::drive(context, &drivers)
}
