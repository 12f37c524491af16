//! The official Python SDK as a client of the product: the old line and the new one.

use super::{Context, python, sdk};

/// Drives the product with both lines.
pub(super) fn run(context: &Context) -> anyhow::Result<()> {
    let drivers = [
        sdk::python(context, &python::OLD_SDK)?,
        sdk::python(context, &python::NEW_SDK)?,
    ];
    sdk::drive(context, &drivers)
}
