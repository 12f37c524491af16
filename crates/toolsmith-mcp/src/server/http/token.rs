//! The token that lets clients in.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// How many random bytes a token has.
const BYTES: usize = 32;

/// No token file is longer.
const LONGEST: u64 = 4096;

/// A secret clients must bring. It is never shown by accident.
#[derive(Clone)]
pub struct Token {
    secret: String,
    digest: [u8; 32],
}

/// Why there is no token.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// The file could not be read or written.
    #[error("failed to use the token file {path}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        cause: io::Error,
    },
    /// Others can read the file, so whoever could may know the token.
    #[error(
        "the token file {path} can be read by others (mode {mode:o}); make it private with \
         `chmod 600` or remove it to get a new token"
    )]
    Open {
        /// The file.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// The file holds no token.
    #[error("the token file {path} holds no token; remove it to get a new one")]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// The system has no randomness to offer.
    #[error("failed to draw a token: {0}")]
    Random(String),
}

impl Token {
    /// A token somebody chose; at least 16 characters that a header can carry.
    pub fn new(secret: impl Into<String>) -> Option<Self> {
        let secret = secret.into();
        let fits = secret.len() >= 16 && secret.bytes().all(|byte| byte.is_ascii_graphic());
        fits.then(|| Self {
            digest: Sha256::digest(&secret).into(),
            secret,
        })
    }

    /// Draws a token.
    pub fn random() -> Result<Self, TokenError> {
        let mut bytes = [0; BYTES];
        getrandom::fill(&mut bytes).map_err(|error| TokenError::Random(error.to_string()))?;
        let secret: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self {
            digest: Sha256::digest(&secret).into(),
            secret,
        })
    }

    /// Reads the token of a file, or draws one and keeps it there for its owner
    /// only. Tells whether it is new.
    pub fn kept_in(path: &Path) -> Result<(Self, bool), TokenError> {
        let failed = |cause| TokenError::File {
            path: path.to_owned(),
            cause,
        };
        match open(path) {
            Ok(file) => Ok((Self::read(file, path)?, false)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let token = Self::random()?;
                match token.keep(path) {
                    Ok(()) => Ok((token, true)),
                    // Another server was faster; its token is the one.
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                        let file = open(path).map_err(failed)?;
                        Ok((Self::read(file, path)?, false))
                    }
                    Err(error) => Err(failed(error)),
                }
            }
            Err(error) => Err(failed(error)),
        }
    }

    fn read(file: File, path: &Path) -> Result<Self, TokenError> {
        let failed = |cause| TokenError::File {
            path: path.to_owned(),
            cause,
        };
        let metadata = file.metadata().map_err(failed)?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = metadata.permissions().mode() & 0o777;
            if mode & 0o077 != 0 {
                let path = path.to_owned();
                return Err(TokenError::Open { path, mode });
            }
        }
        let mut text = String::new();
        file.take(LONGEST + 1)
            .read_to_string(&mut text)
            .map_err(failed)?;
        if text.len() as u64 > LONGEST {
            return Err(failed(io::Error::other("it is too long for a token")));
        }
        Self::new(text.trim()).ok_or_else(|| TokenError::Empty {
            path: path.to_owned(),
        })
    }

    /// Writes the token whole under its name, or not at all: it is linked there when
    /// it is complete, which fails where another already is.
    fn keep(&self, path: &Path) -> io::Result<()> {
        let folder = path.parent().unwrap_or(Path::new("."));
        make_private_folder(folder)?;
        let mut suffix = [0; 8];
        getrandom::fill(&mut suffix).map_err(|error| io::Error::other(error.to_string()))?;
        let name = format!(".token-{:016x}", u64::from_le_bytes(suffix));
        let draft = folder.join(name);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&draft)?;
        let written = file
            .write_all(format!("{}\n", self.secret).as_bytes())
            .and_then(|()| file.sync_all())
            .and_then(|()| std::fs::hard_link(&draft, path));
        let _ = std::fs::remove_file(&draft);
        written
    }

    /// Tells whether this is the token, in a time that says nothing about it.
    pub fn is(&self, brought: &[u8]) -> bool {
        let brought: [u8; 32] = Sha256::digest(brought).into();
        brought.ct_eq(&self.digest).into()
    }

    /// The secret itself, to be shown once or handed to a client.
    pub fn reveal(&self) -> &str {
        &self.secret
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

/// Opens a regular file. Others are not opened at all: one that nobody writes to
/// would keep us waiting.
fn open(path: &Path) -> io::Result<File> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    File::open(path)
}

fn make_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
