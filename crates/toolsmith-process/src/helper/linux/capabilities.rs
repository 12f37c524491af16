//! Gives up what root may do beyond files of his own.

use rustix::io::Errno;
use rustix::process::geteuid;
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities,
};

use super::{AtStage as _, Failure};
use crate::sandbox::Stage;

/// What programs of root count on: files of others, and giving files to others.
const KEPT_BY_ROOT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETUID);

/// Gives up all capabilities but those that programs of root count on.
pub(super) fn drop_most() -> Result<(), Failure> {
    let kept = if geteuid().is_root() {
        KEPT_BY_ROOT
    } else {
        CapabilitySet::empty()
    };
    drop_all_but(kept).at(Stage::Capabilities)
}

fn drop_all_but(kept: CapabilitySet) -> Result<(), Errno> {
    let now = capabilities(None)?;
    if now.permitted.contains(CapabilitySet::SETPCAP) {
        for number in 0..64 {
            let capability = CapabilitySet::from_bits_retain(1 << number);
            if kept.contains(capability) {
                continue;
            }
            match remove_capability_from_bounding_set(capability) {
                Ok(()) => {}
                // The kernel knows no more of them.
                Err(Errno::INVAL) => break,
                Err(errno) => return Err(errno),
            }
        }
    }
    match clear_ambient_capability_set() {
        Ok(()) | Err(Errno::INVAL) => {}
        Err(errno) => return Err(errno),
    }
    let sets = CapabilitySets {
        effective: now.effective & kept,
        permitted: now.permitted & kept,
        inheritable: CapabilitySet::empty(),
    };
    set_capabilities(None, sets)
}
