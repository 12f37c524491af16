//! What was granted, and where it is kept.
//!
//! A credential belongs to one upstream and one issuer: it is looked up by the
//! upstream's address, and nothing of it is shown to another issuer.

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The version of what is written.
const VERSION: u32 = 1;

/// How many bytes a kept credential may have.
const LARGEST: u64 = 1 << 20;

/// A token this close to its end is renewed before it is used.
const CLOSE: u64 = 30;

/// What was granted for one upstream by one issuer. It is serialized with its
/// secrets, and shown without them.
#[derive(Clone, Serialize, Deserialize)]
pub struct Credential {
    version: u32,
    /// The address of the upstream.
    pub(super) resource: String,
    pub(super) issuer: String,
    pub(super) client: Client,
    pub(super) access_token: String,
    pub(super) refresh_token: Option<String>,
    /// In seconds since 1970.
    pub(super) expires_at: Option<u64>,
    /// What was asked for or granted.
    pub(super) scopes: Vec<String>,
}

/// The client it was granted to.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Client {
    pub(super) id: String,
    pub(super) secret: Option<String>,
    pub(super) redirect_uri: Option<String>,
}

/// A token as an authorization server gives it.
#[derive(Clone, Deserialize)]
pub(super) struct Token {
    pub(super) access_token: String,
    pub(super) token_type: String,
    pub(super) refresh_token: Option<String>,
    pub(super) expires_in: Option<u64>,
    pub(super) scope: Option<String>,
}

/// Keeps what was granted from one start to the next. Implemented by hosts with a
/// place of their own; [`CredentialFile`] is one.
pub trait Credentials: Send + Sync + 'static {
    /// What was last saved for an upstream, by its address.
    ///
    /// # Errors
    /// When it cannot be read; the upstream is then authorized anew.
    fn load(&self, resource: &str) -> io::Result<Option<Credential>>;

    /// Keeps a credential in place of what was kept for its upstream.
    ///
    /// # Errors
    /// When it cannot be kept.
    fn save(&self, credential: &Credential) -> io::Result<()>;
}

/// A file for the credential of one upstream, which only its owner may read.
#[derive(Clone, Debug)]
pub struct CredentialFile {
    path: PathBuf,
}

impl CredentialFile {
    /// A file at a path. It is made, with its folder, when there is something to keep.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Credentials for CredentialFile {
    fn load(&self, resource: &str) -> io::Result<Option<Credential>> {
        let refused = || {
            let message = "others than its owner may read it, or it is no file";
            io::Error::new(io::ErrorKind::PermissionDenied, message)
        };
        // Looked at before it is opened: opening a FIFO would wait for a writer.
        match fs::metadata(&self.path) {
            Ok(about) if about.is_file() => {}
            Ok(_) => return Err(refused()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        }
        let file = OpenOptions::new().read(true).open(&self.path)?;
        let about = file.metadata()?;
        if !about.is_file() || about.permissions().mode() & 0o077 != 0 {
            return Err(refused());
        }
        let mut text = String::new();
        file.take(LARGEST).read_to_string(&mut text)?;
        let kept: Credential = serde_json::from_str(&text)?;
        let ours = kept.version == VERSION && kept.resource == resource;
        Ok(ours.then_some(kept))
    }

    fn save(&self, credential: &Credential) -> io::Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let mut mark = [0_u8; 8];
        getrandom::fill(&mut mark).map_err(io::Error::other)?;
        let beside = folder.join(format!(".credential-{:016x}", u64::from_ne_bytes(mark)));
        let written = write_new(&beside, credential).and_then(|()| fs::rename(&beside, &self.path));
        if written.is_err() {
            let _ = fs::remove_file(&beside);
        }
        written
    }
}

fn write_new(path: &Path, credential: &Credential) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let mut file = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(&serde_json::to_vec(credential)?)?;
    file.sync_all()
}

impl Credential {
    pub(super) fn new(
        resource: &str,
        issuer: &str,
        client: Client,
        token: Token,
        asked: &[String],
        now: u64,
    ) -> Self {
        let mut scopes = asked.to_vec();
        let granted = token.scope.as_deref().unwrap_or_default();
        add(&mut scopes, granted.split_whitespace());
        Self {
            version: VERSION,
            resource: resource.to_owned(),
            issuer: issuer.to_owned(),
            client,
            access_token: token.access_token,
            refresh_token: token.refresh_token,
            expires_at: token.expires_in.map(|time| now.saturating_add(time)),
            scopes,
        }
    }

    /// Whether the token ended, or is about to.
    pub(super) fn is_stale(&self, now: u64) -> bool {
        self.expires_at.is_some_and(|end| end <= now + CLOSE)
    }

    /// The address of the upstream it is for.
    pub fn resource(&self) -> &str {
        &self.resource
    }

    /// Who granted it.
    pub fn issuer(&self) -> &str {
        &self.issuer
    }
}

/// Adds what is not there yet.
pub(super) fn add<'a>(scopes: &mut Vec<String>, more: impl IntoIterator<Item = &'a str>) {
    for scope in more {
        if !scopes.iter().any(|each| each == scope) {
            scopes.push(scope.to_owned());
        }
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credential")
            .field("resource", &self.resource)
            .field("issuer", &self.issuer)
            .field("client", &self.client.id)
            .field("scopes", &self.scopes)
            .finish_non_exhaustive()
    }
}
