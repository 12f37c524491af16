//! Walks a tree by several threads and shows a visitor what it meets.
//!
//! What ignore rules hide is counted and not shown, and nothing beneath it is looked
//! at. The inner files of git are never shown. What order things are met in differs
//! from one walk to the next: who answers sorts.

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::fs::{AtFlags, RawDir, Stat};

use super::folder::{self, Folder, Kind, Listing, Read, Step};
use super::globs::Way;
use super::queue::Queue;
use super::rules::{Present, Rules};
use super::start::Start;
use super::stop::Stop;

/// How many folders one walk holds open while something in them is left to do.
const MOST_OPEN: usize = 32;

/// How many files are searched as one piece of work.
const FILES_AT_ONCE: usize = 64;

/// After how many entries it is asked whether the walk may go on.
const ENTRIES_AT_ONCE: usize = 256;

/// What git keeps a repository in.
pub(super) const GIT: &[u8] = b".git";

/// How a tree is walked.
#[derive(Clone, Debug)]
pub(crate) struct WalkOptions {
    /// How many levels are shown; one is what the folder itself holds.
    pub(crate) levels: usize,
    /// Whether ignore rules are set aside.
    pub(crate) include_ignored: bool,
    /// Whether names that begin with a dot are shown.
    pub(crate) hidden: bool,
    /// Whether the folder of git is shown; it is not entered all the same.
    pub(crate) git: bool,
    /// What a pattern names literally; nothing beside it is looked at.
    pub(crate) way: Way,
}

impl Default for WalkOptions {
    fn default() -> Self {
        Self {
            levels: usize::MAX,
            include_ignored: false,
            hidden: true,
            git: false,
            way: Way::default(),
        }
    }
}

/// What happens to something that was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Go {
    /// A folder is entered.
    On,
    /// A folder is not entered.
    Past,
    /// A file is searched.
    Search,
}

/// Whom a walk shows what it meets; one for each thread.
pub(crate) trait Visitor: Send {
    /// Something was met.
    fn meet(&mut self, entry: &Entry<'_>) -> Go;

    /// A file that was to be searched.
    fn search(&mut self, entry: &Entry<'_>) {
        let _ = entry;
    }
}

/// Something a walk met.
#[derive(Debug)]
pub(crate) struct Entry<'a> {
    folder: BorrowedFd<'a>,
    /// Its path from where the walk began.
    pub(crate) path: &'a [u8],
    /// Its name, the last part of the path.
    pub(crate) name: &'a [u8],
    pub(crate) kind: Kind,
}

impl Entry<'_> {
    /// What the system knows of it, not of what a link leads to.
    pub(crate) fn stat(&self) -> rustix::io::Result<Stat> {
        rustix::fs::statat(self.folder, self.name, AtFlags::SYMLINK_NOFOLLOW)
    }

    /// Opens it, without following a link or waiting for anybody.
    pub(crate) fn open(&self) -> rustix::io::Result<std::fs::File> {
        folder::open_file(self.folder, self.name).map(std::fs::File::from)
    }
}

/// What a walk did not show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unseen {
    /// Files and folders the rules hide; what is in such a folder is not counted.
    pub(crate) ignored: u64,
    /// Folders that could not be read, or lie too deep for any walk.
    pub(crate) unreadable: u64,
    /// Folders that lie deeper than so many levels.
    pub(crate) deeper: u64,
}

/// Walks the tree beneath a folder, with a visitor for each thread.
pub(crate) fn walk<V: Visitor>(
    start: &Start,
    options: &WalkOptions,
    stop: &Stop<'_>,
    visitor: impl Fn() -> V,
) -> (Vec<V>, Unseen) {
    let open = Arc::new(AtomicUsize::new(0));
    let Ok(handle) = folder::open_folder(start.as_fd(), b".") else {
        let unseen = Unseen {
            unreadable: 1,
            ..Unseen::default()
        };
        return (Vec::new(), unseen);
    };
    let first = Folder::new(handle, Step::first(), &open);
    let sight = match options.include_ignored {
        true => Sight::Everything,
        false => Sight::Rules(start.rules.clone()),
    };
    let threads = std::thread::available_parallelism()
        .map_or(2, usize::from)
        .clamp(2, 8);
    let queue = Queue::new(threads, Task::Here(Arc::clone(&first), sight));
    let shared = Shared {
        queue: &queue,
        first: &first,
        base: &start.base,
        private: &start.private,
        options,
        stop,
        open: &open,
    };
    let mut workers: Vec<Worker<'_, V>> = Vec::new();
    std::thread::scope(|scope| {
        let mut running = Vec::new();
        for _ in 1..threads {
            let mut worker = Worker::new(shared, visitor());
            let begun = std::thread::Builder::new()
                .name("search".to_owned())
                .spawn_scoped(scope, move || {
                    worker.run();
                    worker
                });
            match begun {
                Ok(thread) => running.push(thread),
                Err(_) => queue.one_less(),
            }
        }
        let mut worker = Worker::new(shared, visitor());
        worker.run();
        workers.push(worker);
        for thread in running {
            match thread.join() {
                Ok(worker) => workers.push(worker),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    let mut unseen = Unseen::default();
    let mut visitors = Vec::new();
    for worker in workers {
        unseen.ignored += worker.unseen.ignored;
        unseen.unreadable += worker.unseen.unreadable;
        unseen.deeper += worker.unseen.deeper;
        visitors.push(worker.visitor);
    }
    (visitors, unseen)
}

/// What is shown of a folder.
#[derive(Clone, Debug)]
enum Sight {
    Everything,
    Rules(Option<Arc<Rules>>),
}

/// Something left to do.
#[derive(Debug)]
enum Task {
    /// A folder that is open.
    Here(Arc<Folder>, Sight),
    /// A folder in one that is open.
    Into(Arc<Folder>, Arc<Step>, Sight),
    /// Folders in one that was closed, because too many were open.
    Back(Arc<Step>, Vec<(Arc<Step>, Sight)>),
    /// Files to be searched.
    Files(Arc<Folder>, Vec<Box<[u8]>>),
}

/// What all threads of a walk see.
#[derive(Clone, Copy)]
struct Shared<'a> {
    queue: &'a Queue<Task>,
    first: &'a Folder,
    base: &'a [u8],
    private: &'a [Vec<u8>],
    options: &'a WalkOptions,
    stop: &'a Stop<'a>,
    open: &'a AtomicUsize,
}

struct Worker<'a, V> {
    shared: Shared<'a>,
    visitor: V,
    pile: Vec<Task>,
    listing: Listing,
    /// A path from the root of the workspace.
    path: Vec<u8>,
    unseen: Unseen,
}

impl<'a, V: Visitor> Worker<'a, V> {
    fn new(shared: Shared<'a>, visitor: V) -> Self {
        Self {
            shared,
            visitor,
            pile: Vec::new(),
            listing: Listing::default(),
            path: Vec::new(),
            unseen: Unseen::default(),
        }
    }

    fn run(&mut self) {
        // A visitor that panics must not leave the others waiting.
        let _end = EndOnPanic(self.shared.queue);
        let mut buffer = folder::entry_buffer();
        while let Some(task) = self.pile.pop().or_else(|| self.shared.queue.take()) {
            if self.shared.stop.is_due() {
                self.pile.clear();
                self.shared.queue.end();
                return;
            }
            match task {
                Task::Here(folder, sight) => self.list(&folder, sight, &mut buffer),
                Task::Into(parent, step, sight) => match parent.enter(step) {
                    Ok(folder) => {
                        drop(parent);
                        self.list(&folder, sight, &mut buffer);
                    }
                    Err(_) => self.unseen.unreadable += 1,
                },
                Task::Back(step, inner) => match self.shared.first.reopen(step) {
                    Ok(folder) => {
                        let inner = inner.into_iter();
                        let tasks =
                            inner.map(|(step, sight)| Task::Into(Arc::clone(&folder), step, sight));
                        self.pile.extend(tasks);
                    }
                    Err(_) => self.unseen.unreadable += inner.len() as u64,
                },
                Task::Files(folder, names) => self.search(&folder, &names),
            }
            self.shared.queue.share(&mut self.pile);
        }
    }

    /// Shows what is in a folder.
    fn list(
        &mut self,
        folder: &Arc<Folder>,
        sight: Sight,
        buffer: &mut [std::mem::MaybeUninit<u8>],
    ) {
        let mut raw = RawDir::new(folder.as_fd(), buffer);
        let mut listing = std::mem::take(&mut self.listing);
        let mut sight = sight;
        let mut inner = Inner::default();
        let mut is_first = true;
        loop {
            let read = match listing.fill(&mut raw, folder.as_fd()) {
                Ok(read) => read,
                Err(_) => {
                    self.unseen.unreadable += 1;
                    break;
                }
            };
            // What was searched meanwhile has written over it.
            self.path.clear();
            self.path.extend_from_slice(self.shared.base);
            folder.step.write(&mut self.path);
            if is_first && let Sight::Rules(above) = &mut sight {
                let above = above.take();
                let present = match read {
                    Read::All => Present::of(&listing),
                    Read::Some => Present::UNKNOWN,
                };
                sight = Sight::Rules(Rules::load(above, folder.as_fd(), self.path.len(), present));
            }
            is_first = false;
            if !self.show(folder, &sight, &listing, &mut inner) || read == Read::All {
                break;
            }
            self.put_off(folder, &mut inner);
        }
        self.listing = listing;
        self.put_off(folder, &mut inner);
    }

    /// Shows a part of a folder; tells whether to go on.
    fn show(
        &mut self,
        folder: &Arc<Folder>,
        sight: &Sight,
        listing: &Listing,
        inner: &mut Inner,
    ) -> bool {
        let base = self.path.len();
        let level = folder.step.level + 1;
        for (index, (name, kind)) in listing.iter().enumerate() {
            if index % ENTRIES_AT_ONCE == ENTRIES_AT_ONCE - 1 && self.shared.stop.is_due() {
                return false;
            }
            if name == GIT && !self.shared.options.git {
                continue;
            }
            let named = self.shared.options.way.is_named(level, name, kind);
            let is_dotted = !self.shared.options.hidden && name[0] == b'.';
            if named == Named::Aside || (is_dotted && named == Named::No) {
                continue;
            }
            let mut may_enter = name != GIT && !(is_dotted && named == Named::Itself);
            self.path.truncate(base);
            self.path.extend_from_slice(name);
            if self.shared.private.contains(&self.path) {
                continue;
            }
            let mut beneath = sight;
            if let Sight::Rules(Some(rules)) = sight
                && rules.hide(&self.path, kind)
            {
                match named {
                    Named::Yes => beneath = &Sight::Everything,
                    // It is shown, but nothing that is in it.
                    Named::Itself => {
                        self.unseen.ignored += 1;
                        may_enter = false;
                    }
                    Named::No | Named::Aside => {
                        self.unseen.ignored += 1;
                        continue;
                    }
                }
            }
            let entry = Entry {
                folder: folder.as_fd(),
                path: &self.path[self.shared.base.len()..],
                name,
                kind,
            };
            match (self.visitor.meet(&entry), kind) {
                (Go::On, Kind::Folder) if !may_enter => {}
                (Go::On, Kind::Folder) if level >= self.shared.options.levels => {
                    self.unseen.deeper += 1;
                }
                (Go::On, Kind::Folder) => match folder.step.enter(name) {
                    Some(step) => inner.folders.push((step, beneath.clone())),
                    None => self.unseen.unreadable += 1,
                },
                (Go::Search, Kind::File) => inner.files.push(name.into()),
                _ => {}
            }
        }
        self.path.truncate(base);
        true
    }

    /// Puts what was found in a folder on the pile.
    fn put_off(&mut self, folder: &Arc<Folder>, inner: &mut Inner) {
        let folders = std::mem::take(&mut inner.folders);
        if self.shared.open.load(Ordering::Relaxed) > MOST_OPEN && folders.len() > 1 {
            let mut folders = folders;
            // One is entered at once, while the way there is open.
            let last = folders.pop();
            self.pile
                .push(Task::Back(Arc::clone(&folder.step), folders));
            let last = last.map(|(step, sight)| Task::Into(Arc::clone(folder), step, sight));
            self.pile.extend(last);
        } else {
            let folders = folders.into_iter();
            let tasks = folders.map(|(step, sight)| Task::Into(Arc::clone(folder), step, sight));
            self.pile.extend(tasks);
        }
        let files = std::mem::take(&mut inner.files);
        if files.len() <= FILES_AT_ONCE {
            self.search(folder, &files);
            return;
        }
        let mut files = files.into_iter().peekable();
        while files.peek().is_some() {
            let some = files.by_ref().take(FILES_AT_ONCE).collect();
            self.pile.push(Task::Files(Arc::clone(folder), some));
        }
    }

    fn search(&mut self, folder: &Arc<Folder>, names: &[Box<[u8]>]) {
        self.path.clear();
        folder.step.write(&mut self.path);
        let base = self.path.len();
        for name in names {
            if self.shared.stop.is_due() {
                return;
            }
            self.path.truncate(base);
            self.path.extend_from_slice(name);
            self.visitor.search(&Entry {
                folder: folder.as_fd(),
                path: &self.path,
                name,
                kind: Kind::File,
            });
        }
    }
}

/// What a folder holds that is dealt with later.
#[derive(Default)]
struct Inner {
    folders: Vec<(Arc<Step>, Sight)>,
    files: Vec<Box<[u8]>>,
}

/// Whether a pattern names something literally.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Named {
    /// It does, and so it is shown whatever the rules say.
    Yes,
    /// It does, and means a folder anywhere, which is shown itself and nothing in it.
    Itself,
    /// It names nothing, or what is above.
    No,
    /// It names something else beside this.
    Aside,
}

struct EndOnPanic<'a>(&'a Queue<Task>);

impl Drop for EndOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.end();
        }
    }
}
