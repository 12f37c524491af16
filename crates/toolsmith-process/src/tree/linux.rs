//! Finds and kills every process of one launch on Linux.
//!
//! A sweep takes one look at `/proc`, decides who belongs to the tree, and kills them by
//! handle, so that a number used anew never hits a stranger. Sweeps repeat until two in a
//! row find nobody, because a process may fork while it is being looked for. Orphans
//! that this process adopted are reaped one by one and never by "any child", which
//! would take the exits of children that others wait for.

use std::collections::BTreeSet;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{
    PidfdFlags, Signal, WaitOptions, getpid, kill_process, kill_process_group, pidfd_open,
    pidfd_send_signal, set_child_subreaper, wait, waitpid,
};

use super::proc::{self, Process};
use super::{Leader, Swept, pid};

/// How many looks in a row must find nobody.
const QUIET_LOOKS: u32 = 2;
/// How long to wait between two looks at first, and at most.
const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(20));

static IS_SUBREAPER: AtomicBool = AtomicBool::new(false);
/// The launches that have not ended, so that none takes another's processes for its own.
static LAUNCHES: Mutex<Vec<Launched>> = Mutex::new(Vec::new());

/// A launch that was started and not yet forgotten.
#[derive(Debug)]
struct Launched {
    origin: Origin,
    mark: String,
    /// Its processes are being killed, so it no longer claims those that hide.
    is_ending: bool,
}

/// The child of one launch: its number and the moment it started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Origin {
    id: u32,
    start: u64,
}

/// A child and whatever descends from it.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    origin: Origin,
    mark: String,
}

impl Tree {
    /// Notes the child that `spawn` starts.
    ///
    /// No look at the processes happens in between: a child not yet noted would look like
    /// a stranger in a session of its own.
    pub(crate) fn grow<C>(
        mark: String,
        spawn: impl FnOnce() -> io::Result<(C, u32)>,
    ) -> io::Result<(C, Self)> {
        let mut launches = launches();
        let (child, id) = spawn()?;
        // Without /proc only the group is killed, and the moment does not matter.
        let seen = proc::read(id).ok().flatten();
        let start = seen.map_or(0, |process| process.start);
        let origin = Origin { id, start };
        launches.push(Launched {
            origin,
            mark: mark.clone(),
            is_ending: false,
        });
        Ok((child, Self { origin, mark }))
    }

    pub(crate) fn adopt_orphans() -> io::Result<()> {
        set_child_subreaper(Some(getpid()))?;
        IS_SUBREAPER.store(true, Ordering::Relaxed);
        Ok(())
    }

    pub(crate) fn id(&self) -> u32 {
        self.origin.id
    }

    /// Asks the group to end.
    ///
    /// For a child whose exit was not taken, so that the number is still its own.
    pub(crate) fn request_end(&self) {
        if let Some(group) = pid(self.origin.id) {
            let _ = kill_process_group(group, Signal::TERM);
        }
    }

    /// Kills whoever belongs to the tree, for as long as it takes or until the limit.
    pub(crate) fn kill(&self, leader: Leader, limit: Duration) -> Swept {
        let deadline = Instant::now() + limit;
        self.give_up_claims();
        let mut killed = BTreeSet::new();
        let mut quiet_looks = 0;
        let mut pause = PAUSES.0;
        loop {
            let looked = self.look(leader, &killed);
            let is_quiet = matches!(&looked, Ok(found) if found.is_empty());
            let found = looked.unwrap_or_default();
            quiet_looks = if is_quiet { quiet_looks + 1 } else { 0 };
            if quiet_looks >= QUIET_LOOKS {
                return Swept::new(killed, Vec::new());
            }
            // One call for the whole group leaves its members no time to fork.
            let group = pid(self.origin.id).filter(|_| leader == Leader::Unreaped);
            let is_group_killed =
                group.is_some_and(|group| kill_process_group(group, Signal::KILL).is_ok());
            // Some die with the group without being of it: those of its namespaces.
            let hit = found
                .iter()
                .filter(|process| end(process) || (is_group_killed && !is_alive(process)));
            killed.extend(hit.map(|process| process.id));
            if Instant::now() >= deadline {
                let survived = found.iter().filter(|process| is_alive(process));
                return Swept::new(killed, survived.map(|process| process.id).collect());
            }
            if !is_quiet {
                thread::sleep(pause);
                pause = (pause * 2).min(PAUSES.1);
            }
        }
    }

    /// Returns who of the tree is alive beside the child, by number and name.
    pub(crate) fn living(&self, leader: Leader) -> Vec<(u32, String)> {
        let found = self.look(leader, &BTreeSet::new()).unwrap_or_default();
        let others = found.iter().filter(|process| process.id != self.origin.id);
        let named = others.map(|process| (process.id, proc::name(process.id)));
        named.collect()
    }

    /// Says that the launch has ended, and its processes with it.
    pub(crate) fn forget(&self) {
        launches().retain(|launch| launch.origin != self.origin);
    }

    /// Of several launches that end at once, the last to get here must see the others gone.
    fn give_up_claims(&self) {
        for launch in launches().iter_mut() {
            launch.is_ending |= launch.origin == self.origin;
        }
    }

    /// Returns the living processes of the tree, and reaps dead ones that were adopted.
    ///
    /// # Errors
    /// When nobody can be seen, which does not mean that nobody is there.
    fn look(&self, leader: Leader, killed: &BTreeSet<u32>) -> io::Result<Vec<Process>> {
        // Held while looking: see `grow`.
        let launches = launches();
        let processes = proc::since(self.origin.start)?;
        let me = Adopter::new()?;
        let is_number_reused = leader == Leader::Reaped
            && processes.iter().any(|process| process.id == self.origin.id);
        let is_root = |process: &&Process| {
            let is_in_session = process.session == self.origin.id && !is_number_reused;
            let is_killed_orphan =
                process.parent == me.id && process.is_zombie && killed.contains(&process.id);
            is_in_session
                || is_killed_orphan
                || match proc::mark(process.id) {
                    Some(mark) if mark == self.mark => true,
                    Some(mark) if launches.iter().any(|launch| launch.mark == mark) => false,
                    // Without a mark, or with one that it made up or got from a launcher
                    // that is gone.
                    _ => me.has_adopted_for(self.origin, process, &launches),
                }
        };
        let roots = processes.iter().filter(is_root).copied().collect();
        let (dead, living): (Vec<_>, Vec<_>) = with_descendants(roots, &processes)
            .into_iter()
            .partition(|process| process.is_zombie);
        for process in dead {
            let is_child_of_a_launch = launches.iter().any(|launch| launch.origin.id == process.id);
            // Whoever started the child waits for it.
            if process.parent == me.id && !is_child_of_a_launch && process.id != self.origin.id {
                let _ = waitpid(pid(process.id), WaitOptions::NOHANG);
            }
        }
        Ok(living)
    }
}

impl Swept {
    fn new(mut killed: BTreeSet<u32>, survived: Vec<u32>) -> Self {
        killed.retain(|id| !survived.contains(id));
        Self {
            killed: killed.into_iter().collect(),
            survived,
        }
    }
}

/// This process, to which orphans may have come.
#[derive(Debug)]
struct Adopter {
    id: u32,
    session: u32,
}

impl Adopter {
    fn new() -> io::Result<Self> {
        let id = std::process::id();
        let session = proc::read(id)?.map_or(0, |process| process.session);
        Ok(Self { id, session })
    }

    /// Tells whether this process adopted the orphan, and no other launch can have lost it.
    ///
    /// An orphan without a launch's mark, in a session of neither ours nor a launch's, has
    /// hidden its origin. It goes with the last launch from which it can have come.
    fn has_adopted_for(&self, origin: Origin, process: &Process, launches: &[Launched]) -> bool {
        let is_of_a_launch = |launch: &Launched| {
            let other = launch.origin;
            other.id == process.id
                || other.id == process.session
                || (other != origin && !launch.is_ending && other.start <= process.start)
        };
        IS_SUBREAPER.load(Ordering::Relaxed)
            && process.parent == self.id
            && process.session != self.session
            && process.start >= origin.start
            && !launches.iter().any(is_of_a_launch)
    }
}

/// Kills whatever descends from this process, and takes its exits, until nobody is left.
///
/// For the keeper of a sandbox, which adopts all orphans and has no other children.
pub(crate) fn kill_descendants(limit: Duration) {
    let me = std::process::id();
    let deadline = Instant::now() + limit;
    loop {
        let nobody_is_left = loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => break false,
                Err(_) => break true,
            }
        };
        if nobody_is_left || Instant::now() >= deadline {
            return;
        }
        // Who has no descriptor left to look with tries again until the limit.
        let processes = proc::since(0).unwrap_or_default();
        let myself = processes.iter().filter(|process| process.id == me);
        let found = with_descendants(myself.copied().collect(), &processes);
        for process in found.iter().filter(|process| process.id != me) {
            end(process);
        }
        thread::sleep(PAUSES.0);
    }
}

fn launches() -> MutexGuard<'static, Vec<Launched>> {
    LAUNCHES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Tells whether a process that was seen lives; one that cannot be looked at may.
fn is_alive(process: &Process) -> bool {
    match proc::read(process.id) {
        Ok(now) => now.is_some_and(|now| now.start == process.start && !now.is_zombie),
        Err(_) => true,
    }
}

/// Adds the children of those found, and theirs, and so on.
fn with_descendants(mut found: Vec<Process>, processes: &[Process]) -> Vec<Process> {
    let mut ids: BTreeSet<u32> = found.iter().map(|process| process.id).collect();
    let mut next = 0;
    while let Some(parent) = found.get(next).map(|process| process.id) {
        let children = processes.iter().filter(|process| process.parent == parent);
        found.extend(children.filter(|process| ids.insert(process.id)));
        next += 1;
    }
    found
}

/// Sends `SIGKILL` to the process that was seen, and to no other with its number.
fn end(process: &Process) -> bool {
    let Some(id) = pid(process.id) else {
        return false;
    };
    match pidfd_open(id, PidfdFlags::empty()) {
        Ok(handle) => {
            // The handle is of whoever has the number now; from here on that cannot change.
            let now = proc::read(process.id).ok().flatten();
            let is_same = now.is_some_and(|now| now.start == process.start);
            is_same && pidfd_send_signal(handle, Signal::KILL).is_ok()
        }
        // Linux before 5.3 has no such handles.
        Err(Errno::NOSYS) => kill_process(id, Signal::KILL).is_ok(),
        Err(_) => false,
    }
}
