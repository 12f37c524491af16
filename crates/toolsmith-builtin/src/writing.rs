//! What every change of a file has in common: what is there now, whether its caller has
//! seen it, and what it tells afterwards.

use std::fs::File;
use std::sync::Arc;

use rustix::fs::{Mode, OFlags};
use toolsmith_core::ToolContext;

use crate::reading;
use crate::refusal::{Reason, Refusal};
use crate::text::{Encoding, FileKind, kind_of};
use crate::workspace::{Deed, Digest, Done, FileKey, Missing, OpenFile, Target, Workspace};

/// The largest file that is changed.
pub(crate) const LARGEST: u64 = 8 << 20;

/// What is told of a file that could not be replaced in one step.
pub(crate) const IN_PLACE: &str = "it was written in place: it has other names or another owner, \
                                   or its folder takes no other file";

/// A file that is about to be changed, as it is now.
#[derive(Debug)]
pub(crate) struct Current {
    pub(crate) target: Target,
    pub(crate) key: FileKey,
    /// Its content; none where there is no such file.
    pub(crate) bytes: Option<Vec<u8>>,
    pub(crate) digest: Option<Digest>,
}

/// What a caller knows of a file.
#[derive(Debug)]
pub(crate) enum Freshness {
    /// It has seen this very content, or need not have.
    Fresh,
    /// It has never seen it.
    Unread,
    /// It has seen another content.
    Stale {
        /// The text it saw, where it was kept.
        seen: Option<Arc<str>>,
    },
}

impl Current {
    /// Looks at a file.
    pub(crate) fn of(workspace: &Workspace, path: &str, missing: Missing) -> Result<Self, Refusal> {
        let mut target = workspace.target(path, missing)?;
        let key = target.key()?;
        let mut current = Self {
            bytes: None,
            digest: None,
            key,
            target: {
                target.look()?;
                target
            },
        };
        current.read()?;
        Ok(current)
    }

    fn read(&mut self) -> Result<(), Refusal> {
        let target = &mut self.target;
        if target.stat.is_none() {
            return Ok(());
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(target.folder(), &target.name, flags, Mode::empty());
        let failed =
            |error: rustix::io::Errno| Refusal::system("read", &target.shown, &error.into());
        let handle = opened.map_err(failed)?;
        let stat = rustix::fs::fstat(&handle).map_err(failed)?;
        let open = OpenFile {
            file: File::from(handle),
            stat,
            shown: target.shown.clone(),
        };
        let bytes = reading::whole(&open, LARGEST)?;
        self.digest = Some(Digest::of(&bytes));
        self.bytes = Some(bytes);
        target.stat = Some(stat);
        Ok(())
    }

    /// Its text and how it is written down; refused where it is no text, or would not
    /// come out the same.
    pub(crate) fn text(&self) -> Result<(String, Encoding), Refusal> {
        let bytes = self.bytes.as_deref().unwrap_or_default();
        let shown = &self.target.shown;
        if kind_of(&bytes[..bytes.len().min(crate::text::HEAD)]) != FileKind::Text {
            let message = format!("{shown} is no text");
            return Err(Refusal::new(Reason::Binary, message).next("Replace it whole with write"));
        }
        let (encoding, _) = Encoding::of(bytes, true);
        match encoding.read(bytes) {
            Some(text) => Ok((text, encoding)),
            None => {
                let message = format!(
                    "{shown} looks like {}, but holds bytes that are not; changing it would damage them",
                    encoding.name()
                );
                Err(Refusal::new(Reason::Encoding, message).next("Replace it whole with write"))
            }
        }
    }

    /// What the caller knows of it.
    pub(crate) fn freshness(
        &self,
        workspace: &Workspace,
        context: &ToolContext,
        expected: Option<&str>,
    ) -> Result<Freshness, Refusal> {
        let Some(digest) = &self.digest else {
            return Ok(Freshness::Fresh);
        };
        if let Some(expected) = expected {
            if !Digest::is_name(expected) {
                let message = "`expected_sha256` is not a hash: it has 12 to 64 hexadecimal digits";
                return Err(Refusal::new(Reason::BadArgument, message)
                    .next("Give the sha256 that reading the file told"));
            }
            if digest.is(expected) {
                return Ok(Freshness::Fresh);
            }
            let message = format!(
                "{} does not have the content expected_sha256 names; its hash is {}",
                self.target.shown,
                digest.short()
            );
            return Err(Refusal::new(Reason::Stale, message).next("Read it again"));
        }
        if workspace.takes_unread_writes() {
            return Ok(Freshness::Fresh);
        }
        Ok(match workspace.seen(context.caller(), &self.key) {
            None => Freshness::Unread,
            Some(seen) if seen.digest == *digest => Freshness::Fresh,
            Some(seen) => Freshness::Stale { seen: seen.text },
        })
    }
}

/// The refusal of a change to what was never read.
pub(crate) fn not_read(shown: &str) -> Refusal {
    let message = format!("{shown} is there, and was not read before");
    Refusal::new(Reason::NotRead, message).next("Read it, then repeat the change")
}

/// Gives a text as bytes, or says which character cannot be written.
pub(crate) fn encoded(text: &str, encoding: &Encoding, shown: &str) -> Result<Vec<u8>, Refusal> {
    encoding.write(text).map_err(|unwritable| {
        let message = format!(
            "{shown} is written in {}, which has no {:?} (line {})",
            encoding.name(),
            unwritable.character,
            unwritable.line
        );
        Refusal::new(Reason::Encoding, message).next("Write it without that character")
    })
}

/// Changes files, all or none, and notes that the caller knows what is in them now.
pub(crate) fn commit(
    workspace: &Workspace,
    context: &ToolContext,
    deeds: &[Deed],
) -> Result<Vec<Done>, Refusal> {
    if context.is_cancelled() {
        return Err(Refusal::new(Reason::Cancelled, "the call was given up"));
    }
    let done = workspace.commit(deeds)?;
    for deed in deeds {
        match deed {
            Deed::Write {
                target, content, ..
            } => {
                let text = std::str::from_utf8(content).ok();
                workspace.note_seen(context.caller(), target.key()?, Digest::of(content), text);
            }
            Deed::Remove { target } => workspace.forget(context.caller(), &target.key()?),
        }
    }
    Ok(done)
}
