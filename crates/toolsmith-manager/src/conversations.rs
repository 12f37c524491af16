//! Conversations in files: one a conversation, readable by their owner only, beneath a
//! folder for each project.
//!
//! An entry is one line, written at once to the end of the file, so that it is there when
//! the program is killed right afterwards. Whoever goes on with a conversation holds a lock
//! on its file: two at once would be two conversations in one.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use toolsmith_agent::conversation::{Entry, Head, JournalError, ReadError};
use toolsmith_agent::{Conversation, Journal};
use toolsmith_core::moment::Moment;

use crate::root::{digest_of, settled};
use crate::spill::private_folder;

/// How large a conversation may be that is read.
const LARGEST: u64 = 256 << 20;

/// How many conversations are listed.
const MOST: usize = 10_000;

/// How long one is kept that nobody goes on with.
const KEPT: Duration = Duration::from_secs(30 * 24 * 3600);

const ENDING: &str = ".jsonl";

/// Where the conversations of one project are.
#[derive(Clone, Debug)]
pub struct ConversationPlace {
    folder: PathBuf,
}

/// Why a conversation cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConversationError {
    /// There is none of that name.
    #[error("there is no conversation {0:?} of this project; `toolsmith conversations` lists them")]
    Unknown(String),
    /// There is none at all.
    #[error("there is no conversation of this project to go on with")]
    None,
    /// Somebody else goes on with it.
    #[error("the conversation {0} is being gone on with by another program")]
    Busy(String),
    /// It cannot be read as one.
    #[error("the conversation {id} cannot be gone on with: {error}")]
    Unreadable {
        /// Which.
        id: String,
        /// Why.
        error: ReadError,
    },
    /// The file cannot be read or written.
    #[error("the conversation {id}: {error}")]
    Io {
        /// Which.
        id: String,
        /// Why.
        error: io::Error,
    },
}

/// A conversation that is there.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Listed {
    /// What it is called.
    pub id: String,
    /// When it was last gone on with.
    pub changed: SystemTime,
    /// How many bytes it has.
    pub bytes: u64,
}

/// A conversation that is gone on with.
#[derive(Debug)]
#[non_exhaustive]
pub struct Kept {
    /// How it begins.
    pub head: Head,
    /// What was said so far; what is added is kept.
    pub conversation: Conversation,
}

impl ConversationPlace {
    /// The place for the project in this folder, beneath a folder for those of all.
    pub fn of_root(all: impl AsRef<Path>, root: &Path) -> Self {
        let folder = all.as_ref().join(digest_of(&settled(root)));
        Self { folder }
    }

    /// Begins a conversation of an agent with a model, reached at a URL where one was named.
    ///
    /// # Errors
    /// When its file cannot be made.
    pub fn begin(
        &self,
        agent: Option<&str>,
        model: &str,
        url: Option<&str>,
        now: SystemTime,
    ) -> Result<Kept, ConversationError> {
        let failed = |error| ConversationError::Io {
            id: "that would begin".to_owned(),
            error,
        };
        private_folder(&self.folder).map_err(failed)?;
        self.forget_old(now);
        let seconds = now
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or_default()
            .as_secs();
        let stamp = stamp(seconds);
        let (id, file) = self.new_file(&stamp).map_err(failed)?;
        let mut head = Head::new(&id, seconds);
        head.agent = agent.map(str::to_owned);
        head.model = Some(model.to_owned());
        head.url = url.map(str::to_owned);
        let journal = FileJournal::new(file);
        let line = serde_json::to_string(&head).map_err(|error| failed(error.into()))?;
        if let Err(error) = journal.write(line) {
            // What did not begin must not be gone on with.
            let _ = self.forget(&id);
            return Err(failed(error));
        }
        let conversation = Conversation::new().kept_by(Arc::new(journal));
        Ok(Kept { head, conversation })
    }

    /// Goes on with a conversation: that of a name, or the one gone on with last.
    ///
    /// # Errors
    /// When there is none, somebody else has it, or it cannot be read.
    pub fn resume(&self, id: Option<&str>) -> Result<Kept, ConversationError> {
        let id = match id {
            Some(id) => id.to_owned(),
            None => self.last().ok_or(ConversationError::None)?,
        };
        let mut file = self.open(&id, OpenOptions::new().read(true).append(true))?;
        let io = |error| ConversationError::Io {
            id: id.clone(),
            error,
        };
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(ConversationError::Busy(id)),
            Err(TryLockError::Error(error)) => return Err(io(error)),
        }
        let text = text(&mut file).map_err(io)?;
        let read = Conversation::read(&text);
        let (head, conversation) = read.map_err(|error| ConversationError::Unreadable {
            id: id.clone(),
            error,
        })?;
        // A line that was not written to its end must not be gone on with in its middle.
        match text.rfind('\n') {
            Some(end) => file.set_len(end as u64 + 1).map_err(io)?,
            // The head could be read, and lacks its end alone.
            None => file.write_all(b"\n").map_err(io)?,
        }
        let conversation = conversation.kept_by(Arc::new(FileJournal::new(file)));
        Ok(Kept { head, conversation })
    }

    /// Reads a conversation, whoever goes on with it.
    ///
    /// # Errors
    /// When there is none, or it cannot be read.
    pub fn read(&self, id: Option<&str>) -> Result<(Head, Conversation), ConversationError> {
        let id = match id {
            Some(id) => id.to_owned(),
            None => self.last().ok_or(ConversationError::None)?,
        };
        let mut file = self.open(&id, OpenOptions::new().read(true))?;
        let text = text(&mut file).map_err(|error| ConversationError::Io {
            id: id.clone(),
            error,
        })?;
        Conversation::read(&text).map_err(|error| ConversationError::Unreadable { id, error })
    }

    /// Forgets a conversation.
    ///
    /// # Errors
    /// When there is none, or it cannot be removed.
    pub fn forget(&self, id: &str) -> Result<(), ConversationError> {
        let path = self.path(id)?;
        fs::remove_file(path).map_err(|error| unknown_or(id, error))
    }

    /// The conversations there are, the one gone on with last first.
    pub fn list(&self) -> Vec<Listed> {
        let mut listed = self.all();
        listed.truncate(MOST);
        listed
    }

    /// All of them: folders have no order, so whoever looks for the last looks at each.
    fn all(&self) -> Vec<Listed> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let listed = entries.filter_map(|entry| {
            let id = entry.file_name().to_str()?.strip_suffix(ENDING)?.to_owned();
            let metadata = entry.metadata().ok().filter(fs::Metadata::is_file)?;
            Some(Listed {
                id,
                changed: metadata.modified().ok()?,
                bytes: metadata.len(),
            })
        });
        let mut listed: Vec<Listed> = listed.collect();
        listed.sort_by(|one, other| (other.changed, &other.id).cmp(&(one.changed, &one.id)));
        listed
    }

    fn last(&self) -> Option<String> {
        // Whoever is killed before the first line has begun nothing.
        let has_begun = |listed: &Listed| listed.bytes > 0;
        self.all().into_iter().find(has_begun).map(|it| it.id)
    }

    /// A file nobody has, held by us.
    fn new_file(&self, stamp: &str) -> io::Result<(String, File)> {
        let mut options = OpenOptions::new();
        options.append(true).read(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        for number in 1..=1000 {
            let id = match number {
                1 => stamp.to_owned(),
                number => format!("{stamp}-{number}"),
            };
            match options.open(self.folder.join(format!("{id}{ENDING}"))) {
                Ok(file) => {
                    file.try_lock()?;
                    return Ok((id, file));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    fn open(&self, id: &str, options: &OpenOptions) -> Result<File, ConversationError> {
        let path = self.path(id)?;
        let file = options.open(path).map_err(|error| unknown_or(id, error))?;
        let is_file = file.metadata().is_ok_and(|metadata| metadata.is_file());
        match is_file {
            true => Ok(file),
            false => Err(ConversationError::Unknown(id.to_owned())),
        }
    }

    /// The file of a conversation, whose name is one of ours and leads nowhere else.
    fn path(&self, id: &str) -> Result<PathBuf, ConversationError> {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-';
        match !id.is_empty() && id.len() <= 64 && id.chars().all(is_name) {
            true => Ok(self.folder.join(format!("{id}{ENDING}"))),
            false => Err(ConversationError::Unknown(id.chars().take(80).collect())),
        }
    }

    /// Removes conversations nobody has gone on with for long.
    fn forget_old(&self, now: SystemTime) {
        for listed in self.all() {
            // A clock that went backwards makes nothing old.
            let age = now.duration_since(listed.changed).unwrap_or_default();
            if age > KEPT {
                let _ = self.forget(&listed.id);
            }
        }
    }
}

/// What a conversation is called that begins at this second, such as `20261117-093000`.
fn stamp(seconds: u64) -> String {
    let moment = Moment::of_micros(seconds.saturating_mul(1_000_000)).to_string();
    let mut digits: String = { moment.chars() }
        .filter(char::is_ascii_digit)
        .take(14)
        .collect();
    digits.insert(8.min(digits.len()), '-');
    digits
}

fn unknown_or(id: &str, error: io::Error) -> ConversationError {
    match error.kind() {
        io::ErrorKind::NotFound => ConversationError::Unknown(id.to_owned()),
        _ => ConversationError::Io {
            id: id.to_owned(),
            error,
        },
    }
}

fn text(file: &mut File) -> io::Result<String> {
    let mut bytes = Vec::new();
    let read = file.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if read as u64 > LARGEST {
        return Err(too_large());
    }
    // A line that was not written to its end may end within a character: that is left out
    // as the line is.
    if let Err(error) = str::from_utf8(&bytes)
        && error.error_len().is_none()
    {
        bytes.truncate(error.valid_up_to());
    }
    String::from_utf8(bytes).map_err(|error| {
        let message = format!("it is not UTF-8: {error}");
        io::Error::new(io::ErrorKind::InvalidData, message)
    })
}

fn too_large() -> io::Error {
    let message = format!("it is larger than {LARGEST} bytes");
    io::Error::new(io::ErrorKind::FileTooLarge, message)
}

/// Keeps entries at the end of a file.
#[derive(Debug)]
struct FileJournal {
    /// Held while a line is written, so that lines do not mix.
    file: Mutex<File>,
}

impl FileJournal {
    fn new(file: File) -> Self {
        Self {
            file: Mutex::new(file),
        }
    }

    /// Writes a line whole or not at all.
    fn write(&self, mut line: String) -> io::Result<()> {
        line.push('\n');
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let before = file.metadata()?.len();
        // What is written can be read again.
        if before.saturating_add(line.len() as u64) > LARGEST {
            return Err(too_large());
        }
        let written = file.write_all(line.as_bytes());
        if written.is_err() {
            // The disk is full: what was begun is taken back, so that the file stays whole.
            let _ = file.set_len(before);
        }
        written
    }
}

impl Journal for FileJournal {
    fn append(&self, entry: &Entry) -> Result<(), JournalError> {
        let line = serde_json::to_string(entry).map_err(|error| JournalError(error.to_string()))?;
        self.write(line)
            .map_err(|error| JournalError(error.to_string()))
    }
}
