//! The host's side of a sandboxed launch: hands over the order, hears how it went.

use std::ffi::OsString;
use std::io::{self, Read as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
use rustix::io::Errno;
use tokio::process::Command;

use super::{NAME, Watch};
use crate::LaunchError;
use crate::sandbox::{
    Findings, Frame, Frames, Layers, MAX_FRAME, MAX_ORDER, MAX_PATHS, Means, Order, Sandbox, Stage,
    Support,
};
use crate::spawn::hand_over;

/// How long a helper may take to set up a sandbox, on a machine under load.
const TO_BEGIN: Duration = Duration::from_secs(30);

/// A sandboxed launch that is about to happen.
#[derive(Debug)]
pub(crate) struct Begun {
    /// The helper, to be started with the descriptors below.
    pub(crate) command: Command,
    /// What the helper inherits besides its three streams.
    pub(crate) handed: Vec<OwnedFd>,
    /// What is heard of it afterwards.
    pub(crate) listener: Listener,
}

/// Where the helper says how it went.
#[derive(Debug)]
pub(crate) struct Listener {
    pipe: io::PipeReader,
    frames: Frames,
    program: OsString,
    folder: Option<PathBuf>,
    sandbox: Sandbox,
    support: Support,
    means: Means,
}

/// Prepares a launch within a sandbox.
///
/// `order` says what to start; what it says of the sandbox is filled in here.
pub(crate) fn begin(
    helper: &Path,
    mut order: Order,
    sandbox: &Sandbox,
) -> Result<Begun, LaunchError> {
    let program = order.program.clone();
    let support = match &sandbox.support {
        Some(support) => support.clone(),
        None => Support::of_this_machine(),
    };
    let means = Means::choose(&program, sandbox, &support)?;
    order.mode = sandbox.mode;
    order.network = sandbox.network;
    order.landlock = means.landlock;
    order.namespaces = means.namespaces;
    order.writable = sandbox.writable_folders();
    order.protected.clone_from(&sandbox.protected);
    order.hidden.clone_from(&sandbox.hidden);
    order.limits = sandbox.limits;
    let lists = [&order.writable, &order.protected, &order.hidden];
    if lists.iter().any(|paths| paths.len() > MAX_PATHS) {
        let source = io::Error::other(format!("a sandbox may name {MAX_PATHS} paths of a kind"));
        return Err(LaunchError::Refused { program, source });
    }
    let folder = order.current_dir.clone();
    let refused =
        |source| LaunchError::explain(&order.program, order.current_dir.as_deref(), source);
    let (handed, numbers, pipe) = prepare(&order).map_err(refused)?;
    let mut command = Command::new(helper);
    command.arg0(NAME).arg(numbers).env_clear();
    let listener = Listener {
        pipe,
        frames: Frames::default(),
        program,
        folder,
        sandbox: sandbox.clone(),
        support,
        means,
    };
    Ok(Begun {
        command,
        handed,
        listener,
    })
}

/// Finds out whether namespaces work, by making some.
///
/// # Errors
/// When that could not be found out, which may be otherwise the next time.
pub(crate) fn try_namespaces(helper: &Path) -> Result<Result<(), String>, String> {
    let failed = |error: io::Error| format!("the helper cannot be started: {error}");
    let order = Order::to_try_namespaces(std::process::id());
    let (handed, numbers, pipe) = prepare(&order).map_err(failed)?;
    let mut command = std::process::Command::new(helper);
    command
        .arg0(NAME)
        .arg(numbers)
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    hand_over(&mut command, &handed);
    let mut child = command.spawn().map_err(failed)?;
    drop((command, handed));
    let mut frames = Frames::default();
    let heard = hear(&pipe, &mut frames, Awaited::Setup);
    if heard.is_err() {
        let _ = child.kill();
    }
    let _ = child.wait();
    match heard {
        Ok(_) => Ok(Ok(())),
        Err(Silence::Failed { stage, errno, .. }) => match errno {
            libc::EAGAIN | libc::ENOMEM | libc::EMFILE | libc::ENFILE => Err(why_not(stage, errno)),
            _ => Ok(Err(why_not(stage, errno))),
        },
        Err(other) => Err(format!("the helper {other}")),
    }
}

impl Listener {
    /// Waits until the program has started.
    pub(crate) fn listen(mut self) -> Result<(Layers, Watch), LaunchError> {
        match hear(&self.pipe, &mut self.frames, Awaited::Program) {
            Ok(heard) => {
                let layers = Layers::new(&self.sandbox, &self.support, self.means, &heard.findings);
                let watch = Watch::new(self.pipe.into(), self.frames, heard.keeper);
                watch
                    .map(|watch| (layers, watch))
                    .map_err(|source| LaunchError::Refused {
                        program: self.program,
                        source,
                    })
            }
            Err(silence) => Err(self.explain(&silence)),
        }
    }

    fn explain(self, silence: &Silence) -> LaunchError {
        let Silence::Failed {
            stage,
            errno,
            index,
        } = *silence
        else {
            return LaunchError::HelperLost {
                program: self.program,
                why: silence.to_string(),
            };
        };
        let source = io::Error::from_raw_os_error(errno);
        let path = match stage {
            Stage::Writable => self.sandbox.writable_folders().get(index).cloned(),
            Stage::Protected => self.sandbox.protected.get(index).cloned(),
            Stage::Hidden | Stage::HiddenBeneathWritable => self.sandbox.hidden.get(index).cloned(),
            _ => None,
        };
        match stage {
            Stage::Folder | Stage::Program => {
                LaunchError::explain(&self.program, self.folder.as_deref(), source)
            }
            Stage::HiddenBeneathWritable => LaunchError::Unsupported {
                program: self.program,
                layer: "namespaces",
                why: format!(
                    "{:?} cannot be hidden beneath a writable folder without them",
                    path.unwrap_or_default()
                ),
                remedy: "allow user namespaces, or move what is hidden out of the folder",
            },
            _ => LaunchError::Sandbox {
                program: self.program,
                deed: stage.deed(),
                path,
                source,
            },
        }
    }
}

/// What the helper inherits, how it is told, and the end of the pipe that stays here.
type Prepared = (Vec<OwnedFd>, String, io::PipeReader);

fn prepare(order: &Order) -> io::Result<Prepared> {
    let bytes = order.to_bytes()?;
    if bytes.len() > MAX_ORDER {
        return Err(Errno::TOOBIG.into());
    }
    let file = memfd_create(c"order", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    let mut rest = bytes.as_slice();
    let mut written = 0;
    while !rest.is_empty() {
        let length = rustix::io::pwrite(&file, rest, written)?;
        written += length as u64;
        rest = &rest[length..];
    }
    let seals = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
    fcntl_add_seals(&file, seals)?;
    let (reader, writer) = io::pipe()?;
    let writer = OwnedFd::from(writer);
    let numbers = format!("{}:{}", file.as_raw_fd(), writer.as_raw_fd());
    Ok((vec![file, writer], numbers, reader))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Awaited {
    Setup,
    Program,
}

#[derive(Default)]
struct Heard {
    findings: Findings,
    keeper: Option<u32>,
}

/// Why nothing good was heard.
#[derive(Debug, thiserror::Error)]
enum Silence {
    #[error("failed")]
    Failed {
        stage: Stage,
        errno: i32,
        index: usize,
    },
    #[error("ended before it said anything; is it a program that calls helper() first?")]
    Ended,
    #[error("took too long")]
    Late,
    #[error("said something else; is it of another version?")]
    Garbled,
    #[error("could not be heard: {0}")]
    Unheard(Errno),
}

fn hear(
    mut pipe: &io::PipeReader,
    frames: &mut Frames,
    awaited: Awaited,
) -> Result<Heard, Silence> {
    let deadline = Instant::now() + TO_BEGIN;
    let mut heard = Heard::default();
    let mut is_ready = false;
    loop {
        while let Some(frame) = frames.next().map_err(|_| Silence::Garbled)? {
            match frame {
                Frame::Keeper(id) => heard.keeper = Some(id),
                Frame::Ready(findings) => {
                    heard.findings = findings;
                    is_ready = true;
                    if awaited == Awaited::Setup {
                        return Ok(heard);
                    }
                }
                Frame::Started if is_ready => return Ok(heard),
                Frame::Started | Frame::Exited(_) => return Err(Silence::Ended),
                Frame::Failed {
                    stage,
                    errno,
                    index,
                } => {
                    let index = usize::try_from(index).unwrap_or(usize::MAX);
                    return Err(Silence::Failed {
                        stage,
                        errno,
                        index,
                    });
                }
            }
        }
        wait_until_readable(pipe, deadline)?;
        let mut bytes = [0; MAX_FRAME];
        match pipe.read(&mut bytes) {
            Ok(0) => return Err(Silence::Ended),
            Ok(length) => frames.push(&bytes[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Silence::Unheard(super::errno(&error))),
        }
    }
}

fn wait_until_readable(pipe: &io::PipeReader, deadline: Instant) -> Result<(), Silence> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Silence::Late);
        }
        let left = Timespec::try_from(left).map_err(|_| Silence::Late)?;
        match poll(&mut [PollFd::new(pipe, PollFlags::IN)], Some(&left)) {
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) => return Ok(()),
            Err(errno) => return Err(Silence::Unheard(errno)),
        }
    }
}

/// Says why namespaces do not work, as far as the system tells.
fn why_not(stage: Stage, errno: i32) -> String {
    let error = io::Error::from_raw_os_error(errno);
    match (stage, errno) {
        (Stage::Namespaces, libc::EPERM | libc::EACCES) => {
            "the system refuses user namespaces (kernel.unprivileged_userns_clone, or the \
             container this runs in)"
                .to_owned()
        }
        (Stage::Namespaces, libc::ENOSPC | libc::EUSERS) => {
            "the system allows no more user namespaces (user.max_user_namespaces)".to_owned()
        }
        (Stage::Mounts | Stage::Hidden, libc::EPERM | libc::EACCES) => {
            "mounts are refused within a user namespace \
             (kernel.apparmor_restrict_unprivileged_userns, or the container this runs in)"
                .to_owned()
        }
        (_, libc::ENOSYS) => "the kernel is older than Linux 5.12".to_owned(),
        _ => format!("the helper failed to {}: {error}", stage.deed()),
    }
}
