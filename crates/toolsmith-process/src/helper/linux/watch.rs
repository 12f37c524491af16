//! Hears from the keeper how the child ended.
//!
//! The helper's own exit cannot always tell: it may stay for what the child left behind,
//! and it cannot die of the child's signal.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use rustix::io::Errno;
use tokio::net::unix::pipe::Receiver;

use crate::sandbox::{Frame, Frames, MAX_FRAME};

/// The way from the keeper to the host, for as long as the child lives.
#[derive(Debug)]
pub(crate) struct Watch {
    pipe: Receiver,
    frames: Frames,
    keeper: Option<u32>,
    status: Option<ExitStatus>,
    is_over: bool,
}

impl Watch {
    pub(super) fn new(pipe: OwnedFd, frames: Frames, keeper: Option<u32>) -> io::Result<Self> {
        Ok(Self {
            pipe: Receiver::from_owned_fd(pipe)?,
            frames,
            keeper,
            status: None,
            is_over: false,
        })
    }

    /// Returns the number of the keeper within the namespace, if there is one.
    pub(crate) fn keeper(&self) -> Option<u32> {
        self.keeper
    }

    /// Waits until the child has ended; nothing when its keeper ended before it could tell.
    pub(crate) async fn exit(&mut self) -> Option<ExitStatus> {
        let mut bytes = [0; MAX_FRAME];
        while self.understand().is_none() && !self.is_over {
            if self.pipe.readable().await.is_err() {
                self.is_over = true;
                break;
            }
            match self.pipe.try_read(&mut bytes) {
                Ok(0) => self.is_over = true,
                Ok(length) => self.frames.push(&bytes[..length]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => self.is_over = true,
            }
        }
        self.status
    }

    /// Returns how the child ended, if that is known by now.
    pub(crate) fn look(&mut self) -> Option<ExitStatus> {
        let mut bytes = [0; MAX_FRAME];
        while self.understand().is_none() && !self.is_over {
            // Not through the runtime, which may not have heard of it yet.
            match rustix::io::read(&self.pipe, &mut bytes) {
                Ok(0) => self.is_over = true,
                Ok(length) => self.frames.push(&bytes[..length]),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                Err(_) => self.is_over = true,
            }
        }
        self.status
    }

    /// Takes what was said of the child's end.
    fn understand(&mut self) -> Option<ExitStatus> {
        loop {
            match self.frames.next() {
                Ok(Some(Frame::Exited(status))) => {
                    self.status = Some(ExitStatus::from_raw(status));
                }
                // The helper and the keeper speak at once: this may come after the start.
                Ok(Some(Frame::Keeper(id))) => self.keeper = Some(id),
                Ok(Some(_)) => {}
                Ok(None) => return self.status,
                Err(_) => {
                    self.is_over = true;
                    return self.status;
                }
            }
        }
    }
}
