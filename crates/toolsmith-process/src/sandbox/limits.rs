//! How much a child may use of what the system counts.

/// How much a child may use; what it asks for beyond that is refused to it.
///
/// A child never gets more than this program has. Core files are never written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// How many files each process may have open at once.
    pub open_files: Option<u64>,
    /// How many processes may live at once, where there are namespaces: without them the
    /// system counts all processes of the user, and the limit is not set. Root it binds
    /// since Linux 6.14, and to no fewer than 300.
    pub processes: Option<u64>,
    /// How many bytes each file may have.
    pub file_size: Option<u64>,
}

impl Default for Limits {
    /// Enough for compilers and package managers, too little to fill a disk by accident.
    fn default() -> Self {
        Self {
            open_files: Some(16_384),
            processes: Some(4_096),
            file_size: Some(8 << 30),
        }
    }
}

impl Limits {
    /// Sets how many files each process may have open at once.
    #[must_use]
    pub fn open_files(mut self, count: u64) -> Self {
        self.open_files = Some(count);
        self
    }

    /// Sets how many processes may live at once.
    #[must_use]
    pub fn processes(mut self, count: u64) -> Self {
        self.processes = Some(count);
        self
    }

    /// Sets how many bytes each file may have.
    #[must_use]
    pub fn file_size(mut self, bytes: u64) -> Self {
        self.file_size = Some(bytes);
        self
    }
}
