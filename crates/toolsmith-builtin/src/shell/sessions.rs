//! The folder each caller's sessions work in, from one call to the next.
//!
//! A session is a name and a folder, nothing else: no shell lives between two calls, so a
//! command that hangs harms no other. Bounded; of too many the one used longest ago goes.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many sessions are remembered, of all callers together.
const MOST: usize = 1024;

/// How long the name of a session may be.
pub(crate) const LONGEST_NAME: usize = 128;

/// The folders of sessions.
#[derive(Debug, Default)]
pub(crate) struct Sessions(Mutex<VecDeque<Session>>);

#[derive(Debug)]
struct Session {
    caller: String,
    name: String,
    folder: String,
}

impl Sessions {
    /// Where a session of a caller's is, if it ever left the root.
    pub(crate) fn folder(&self, caller: &str, name: &str) -> Option<String> {
        let mut sessions = self.lock();
        let session = take(&mut sessions, caller, name)?;
        let folder = session.folder.clone();
        sessions.push_back(session);
        Some(folder)
    }

    /// Notes where a session is.
    pub(crate) fn note(&self, caller: &str, name: &str, folder: String) {
        let mut sessions = self.lock();
        take(&mut sessions, caller, name);
        sessions.push_back(Session {
            caller: caller.to_owned(),
            name: name.to_owned(),
            folder,
        });
        if sessions.len() > MOST {
            sessions.pop_front();
        }
    }

    /// Sends a session back to the root.
    pub(crate) fn forget(&self, caller: &str, name: &str) {
        take(&mut self.lock(), caller, name);
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Session>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn take(sessions: &mut VecDeque<Session>, caller: &str, name: &str) -> Option<Session> {
    let is_it = |session: &Session| session.caller == caller && session.name == name;
    let index = sessions.iter().position(is_it)?;
    sessions.remove(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_used_longest_ago_goes() {
        let sessions = Sessions::default();
        for number in 0..MOST {
            sessions.note("me", &number.to_string(), "a".to_owned());
        }
        assert!(sessions.folder("me", "0").is_some());
        sessions.note("me", "one more", "b".to_owned());
        assert!(sessions.folder("me", "0").is_some());
        assert_eq!(sessions.folder("me", "1"), None);
        assert_eq!(sessions.folder("you", "0"), None);
    }
}
