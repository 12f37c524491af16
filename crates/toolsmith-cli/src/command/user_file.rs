//! A file of the user's, or of a program of theirs: read whole, backed up, and replaced
//! in one step.
//!
//! Others read these files while we write them, and some write them too. So the new
//! text goes into a file beside it that then takes its place, and only if nobody else
//! changed it meanwhile. A link stays a link: what it points to is replaced.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// How large a file may be. Claude Code keeps more than settings in its own.
const MOST: u64 = 64 << 20;
/// How many links may point to one another.
const MOST_LINKS: usize = 40;

/// A file as it was read.
pub(crate) struct UserFile {
    /// As it is named.
    path: PathBuf,
    /// Where it really is.
    target: PathBuf,
    /// What was in it; none if it is not there.
    content: Option<String>,
}

/// Who may read a file that is new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Privacy {
    AsUsual,
    OwnerOnly,
}

impl UserFile {
    /// Reads a file, which need not be there.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let failed = |error: &io::Error| failed(path, "cannot be read", error);
        let target = target(path).map_err(|error| failed(&error))?;
        let content = match read(&target).map_err(|error| failed(&error))? {
            None => None,
            Some(bytes) => Some(String::from_utf8(bytes).map_err(|error| {
                let valid = error.utf8_error().valid_up_to();
                let text = String::from_utf8_lossy(&error.as_bytes()[..valid]).into_owned();
                let (line, column) = place(&text, text.len());
                let path = path.display();
                Failure::usage(format!(
                    "{path}:{line}:{column}: it is not UTF-8 from here on; \
                     the file was left as it is"
                ))
            })?),
        };
        let path = path.to_owned();
        Ok(Self {
            path,
            target,
            content,
        })
    }

    /// Tells whether it is there.
    pub(crate) fn is_there(&self) -> bool {
        self.content.is_some()
    }

    /// The text, without the mark some editors begin it with.
    pub(crate) fn text(&self) -> &str {
        let text = self.content.as_deref().unwrap_or_default();
        text.strip_prefix('\u{feff}').unwrap_or(text)
    }

    /// The file as it is named to people.
    pub(crate) fn shown(&self) -> String {
        self.path.display().to_string()
    }

    /// Replaces the text; gives the backup, if there was anything to back up.
    pub(crate) fn replace(self, text: &str, privacy: Privacy) -> Result<Option<PathBuf>, Failure> {
        let result = self.try_replace(text, privacy);
        result.map_err(|error| failed(&self.path, "cannot be written", &error))
    }

    fn try_replace(&self, text: &str, privacy: Privacy) -> io::Result<Option<PathBuf>> {
        let folder = self.target.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder)?;
        let backup = match &self.content {
            Some(content) => Some(self.back_up(content)?),
            None => None,
        };
        let mut builder = tempfile::Builder::new();
        builder.prefix(".toolsmith-");
        #[cfg(unix)]
        if self.content.is_none() {
            use std::os::unix::fs::PermissionsExt;
            let mode = match privacy {
                Privacy::AsUsual => 0o666,
                Privacy::OwnerOnly => 0o600,
            };
            builder.permissions(std::fs::Permissions::from_mode(mode));
        }
        #[cfg(not(unix))]
        let _ = privacy;
        let mut fresh = builder.tempfile_in(folder)?;
        let mark = self.content.as_deref().unwrap_or_default();
        if mark.starts_with('\u{feff}') {
            fresh.write_all("\u{feff}".as_bytes())?;
        }
        fresh.write_all(text.as_bytes())?;
        if self.content.is_some() {
            let permissions = std::fs::metadata(&self.target)?.permissions();
            fresh.as_file().set_permissions(permissions)?;
        }
        fresh.as_file().sync_all()?;
        if read(&self.target)?.as_deref() != self.content.as_deref().map(str::as_bytes) {
            return Err(io::Error::other(
                "somebody else changed it meanwhile; try again",
            ));
        }
        let persisted = match self.content {
            Some(_) => fresh.persist(&self.target),
            // Whatever came into its place just now is somebody else's.
            None => fresh.persist_noclobber(&self.target),
        };
        persisted.map_err(|error| error.error)?;
        Ok(backup)
    }

    /// Copies the old text to the first `NAME.bak-1`, `NAME.bak-2` … that is free.
    fn back_up(&self, content: &str) -> io::Result<PathBuf> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
            // What only its owner may read is not copied for all to see.
            let mode = std::fs::metadata(&self.target)?.permissions().mode();
            options.mode(mode & 0o777);
        }
        for number in 1_u32.. {
            let mut name = self.path.clone().into_os_string();
            name.push(format!(".bak-{number}"));
            match options.open(&name) {
                Ok(mut file) => {
                    file.write_all(content.as_bytes())?;
                    file.sync_all()?;
                    return Ok(name.into());
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other("there are too many backups"))
    }
}

/// The line and column of a byte, both from 1, the column in characters.
pub(crate) fn place(text: &str, byte: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(byte)];
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    (line, before[start..].chars().count() + 1)
}

/// Where a chain of links ends; the end need not be there.
fn target(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let is_link = match std::fs::symlink_metadata(&path) {
            Ok(metadata) => metadata.is_symlink(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => return Err(error),
        };
        if !is_link {
            return Ok(path);
        }
        let next = std::fs::read_link(&path)?;
        path = path.parent().unwrap_or(Path::new(".")).join(next);
    }
    Err(io::Error::other("its links lead in a circle"))
}

fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    // Looked at before it is opened: opening a FIFO would wait for a writer.
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => {}
        Ok(_) => return Err(io::Error::other("it is no regular file")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(MOST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST {
        return Err(io::Error::other("it is larger than 64 MB"));
    }
    Ok(Some(bytes))
}

fn failed(path: &Path, what: &str, error: &io::Error) -> Failure {
    let path = path.display();
    Failure::usage(format!("{path} {what}: {error}"))
}
