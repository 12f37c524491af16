//! Where no sandbox can be had: every sandboxed launch is refused.

use std::convert::Infallible;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::ExitStatus;

use tokio::process::Command;

use crate::LaunchError;
use crate::sandbox::{Layers, Order, Sandbox};

const WHY: &str = "this system has none";

/// A sandboxed launch, of which there is none here.
#[derive(Debug)]
pub(crate) struct Begun {
    pub(crate) command: Command,
    pub(crate) handed: Vec<OwnedFd>,
    pub(crate) listener: Listener,
}

#[derive(Debug)]
pub(crate) struct Listener(Infallible);

impl Listener {
    pub(crate) fn listen(self) -> Result<(Layers, Watch), LaunchError> {
        match self.0 {}
    }
}

/// Nothing is started as a helper here.
pub(crate) fn serve_if_asked() {}

/// Refuses, whatever is asked for.
pub(crate) fn begin(
    _helper: &Path,
    order: Order,
    _sandbox: &Sandbox,
) -> Result<Begun, LaunchError> {
    Err(LaunchError::Unsupported {
        program: order.program,
        layer: "landlock",
        why: WHY.to_owned(),
        remedy: "run it on Linux, on x86-64, ARM or RISC-V with 64 bits",
    })
}

pub(crate) fn try_namespaces(_helper: &Path) -> Result<Result<(), String>, String> {
    Ok(Err(WHY.to_owned()))
}

pub(crate) fn landlock_version() -> Result<u32, String> {
    Err(WHY.to_owned())
}

pub(crate) fn seccomp_support() -> Result<(), String> {
    Err(WHY.to_owned())
}

/// The way from a keeper, of which there is none here.
#[derive(Debug)]
pub(crate) struct Watch(Infallible);

impl Watch {
    pub(crate) fn keeper(&self) -> Option<u32> {
        match self.0 {}
    }

    pub(crate) async fn exit(&mut self) -> Option<ExitStatus> {
        match self.0 {}
    }

    pub(crate) fn look(&mut self) -> Option<ExitStatus> {
        match self.0 {}
    }
}
