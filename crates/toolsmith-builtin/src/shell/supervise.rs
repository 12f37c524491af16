//! Stays with a program from its start to the end of everything it started.
//!
//! One task waits for its end or for the order to end it, one reads each of its outputs,
//! one feeds it. Whichever way it goes, nothing stays: when the tasks are dropped with
//! their runtime, so is the child, and that kills its whole tree.
//!
//! Whoever floods is slowed down, not killed: once a file is full, reading goes on at a
//! rate that costs other calls nothing, and the program waits for its reader.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustix::fs::{FileType, Mode, OFlags};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::ChildStdin;
use tokio::sync::{OwnedSemaphorePermit, mpsc, watch};
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::{Instant, sleep, timeout};
use toolsmith_core::CancellationToken;
use toolsmith_process::Running;

use super::exit::Exit;
use super::launch::{Input, Order, Streams};
use super::output::{Keeper, Writing};
use super::process::{Ended, Named, Phase, Process, Shared, Which};
use super::temporary::Temporary;
use crate::refusal::{Reason, Refusal};

/// How long the rest of the output may take to arrive when the program has ended.
const TO_DRAIN: Duration = Duration::from_millis(100);

/// How often is looked whether what a program left behind still runs.
const LOOK: Duration = Duration::from_millis(500);

/// How long removing the temporary folder may hold up the answer.
const TO_REMOVE: Duration = Duration::from_millis(100);

/// How much is read at a time.
const CHUNK: usize = 64 << 10;

/// How many bytes are read at full speed.
const FULL_SPEED: u64 = 64 << 20;

/// How long to wait after each piece once that is over: 16 MiB a second.
const PAUSE: Duration = Duration::from_millis(4);

/// How many texts may wait to be read by a program.
const TYPED: usize = 16;

/// The file in a job's folder in which a shell notes where it was at its end.
pub(crate) const FOLDER_NOTE: &str = ".toolsmith-folder";

/// The longest path a system takes, and a line end.
const LONGEST_PATH: u64 = 4097;

/// Starts what was ordered, in a place among those that may run at once, and begins to
/// stay with it.
pub(crate) async fn start(
    order: Order,
    keeper: Keeper,
    slot: OwnedSemaphorePermit,
) -> Result<Process, Refusal> {
    let began = Instant::now();
    let starting = spawn_blocking(move || order.start().map(|running| (running, order)));
    let (mut running, order) = starting
        .await
        .map_err(|_| Refusal::new(Reason::Failed, "the program could not be started"))??;
    let (typed, to_type) = mpsc::channel(TYPED);
    let shared = Arc::new(Shared {
        id: running.id(),
        streams: order.streams,
        layers: running.layers().cloned(),
        began,
        state: Default::default(),
        version: watch::Sender::new(0),
        kill: watch::Sender::new(None),
        leaves: order.leaves,
        keeper: tokio::sync::Mutex::new(keeper),
        input: Default::default(),
        slot: Mutex::new(Some(slot)),
    });
    let feeding = running.take_stdin().map(|stdin| match &order.input {
        Input::Text(text) => tokio::spawn(feed(stdin, text.clone().into_bytes(), None)),
        _ => {
            *super::process::lock(&shared.input) = Some(typed);
            tokio::spawn(feed(stdin, Vec::new(), Some(to_type)))
        }
    });
    let stop = CancellationToken::new();
    let out = running
        .take_stdout()
        .map(|stream| tokio::spawn(read(Arc::clone(&shared), stream, Which::Out, stop.clone())));
    let err = running
        .take_stderr()
        .map(|stream| tokio::spawn(read(Arc::clone(&shared), stream, Which::Err, stop.clone())));
    let tasks = Tasks {
        feeding,
        reading: out.into_iter().chain(err).collect(),
        stop,
    };
    let process = Process(Arc::clone(&shared));
    tokio::spawn(stay(shared, running, tasks, order.temporary));
    Ok(process)
}

/// What goes on beside the program.
struct Tasks {
    feeding: Option<JoinHandle<()>>,
    reading: Vec<JoinHandle<()>>,
    stop: CancellationToken,
}

impl Tasks {
    /// Waits a moment for everything that was written.
    async fn drain(&mut self) {
        let reading = &mut self.reading;
        let all = async {
            while let Some(task) = reading.last_mut() {
                let _ = task.await;
                reading.pop();
            }
        };
        let _ = timeout(TO_DRAIN, all).await;
    }

    /// Ends them, and waits until what was read is where it belongs.
    async fn end(mut self) {
        self.drain().await;
        self.stop.cancel();
        for task in self.reading {
            let _ = task.await;
        }
        if let Some(feeding) = self.feeding {
            feeding.abort();
        }
    }
}

/// From the start of a program to the end of everything.
async fn stay(shared: Arc<Shared>, mut running: Running, mut tasks: Tasks, folder: Temporary) {
    let mut kill = shared.kill.subscribe();
    let exited = tokio::select! {
        biased;
        patience = wanted(&mut kill) => Err(patience),
        status = running.wait() => Ok(status.ok().map(Exit::of)),
    };
    let mut left = Vec::new();
    let (exit, after, ending) = match exited {
        Ok(exit) => {
            let after = shared.began.elapsed();
            tasks.drain().await;
            (running, left) = look(running).await;
            if !left.is_empty() && shared.leaves {
                (running, left) = stay_on(&shared, running, exit, left, &mut kill).await;
            }
            (exit, after, running.end(Duration::ZERO).await)
        }
        Err(patience) => {
            let ending = running.stop(patience).await;
            (ending.status.map(Exit::of), shared.began.elapsed(), ending)
        }
    };
    tasks.end().await;
    let noted = folder.path().join(FOLDER_NOTE);
    let noted = spawn_blocking(move || note_of(&noted)).await.ok().flatten();
    let _ = timeout(TO_REMOVE, spawn_blocking(move || drop(folder))).await;
    let ended = Ended {
        exit,
        after,
        was_ended: exited.is_err(),
        left,
        killed: ending.killed,
        survived: ending.survived,
        folder: noted,
    };
    {
        let mut keeper = shared.keeper.lock().await;
        let writing = keeper.last(&shared.state().all, false);
        if let Some(writing) = writing {
            write(&mut keeper, writing).await;
        }
        let mut state = shared.state();
        state.kept = keeper.kept().clone();
        state.all.settle();
        state.out.text.settle();
        state.err.text.settle();
    }
    shared.enter(Phase::Ended(Arc::new(ended)));
}

/// Waits for what a program left behind, until it is gone or is to be ended; tells what is
/// left of it then.
async fn stay_on(
    shared: &Shared,
    mut running: Running,
    exit: Option<Exit>,
    mut left: Vec<Named>,
    kill: &mut watch::Receiver<Option<Duration>>,
) -> (Running, Vec<Named>) {
    while !left.is_empty() {
        shared.enter(Phase::Left {
            exit,
            left: left.clone(),
        });
        tokio::select! {
            biased;
            _ = wanted(kill) => break,
            () = sleep(LOOK) => {}
        }
        (running, left) = look(running).await;
    }
    (running, left)
}

/// What the program started and still runs.
async fn look(running: Running) -> (Running, Vec<Named>) {
    // The look itself neither panics nor is it given up.
    let looking = spawn_blocking(move || {
        let left = running.descendants();
        (running, left)
    });
    match looking.await {
        Ok(looked) => looked,
        // The runtime goes down and takes this task with it.
        Err(_) => std::future::pending().await,
    }
}

/// Waits until somebody wants the program to end.
async fn wanted(kill: &mut watch::Receiver<Option<Duration>>) -> Duration {
    match kill
        .wait_for(Option::is_some)
        .await
        .map(|patience| *patience)
    {
        Ok(patience) => patience.unwrap_or_default(),
        Err(_) => Duration::ZERO,
    }
}

/// Reads one output until it ends.
async fn read(
    shared: Arc<Shared>,
    mut stream: impl AsyncRead + Unpin,
    which: Which,
    stop: CancellationToken,
) {
    let mut chunk = vec![0; CHUNK];
    let mut total = 0;
    loop {
        let length = tokio::select! {
            biased;
            () = stop.cancelled() => 0,
            length = stream.read(&mut chunk) => length.unwrap_or(0),
        };
        if length == 0 {
            return take(&shared, which, None).await;
        }
        take(&shared, which, Some(&chunk[..length])).await;
        total += length as u64;
        if total > FULL_SPEED {
            sleep(PAUSE).await;
        }
    }
}

/// Takes what was read of an output, or that it has ended.
async fn take(shared: &Shared, which: Which, bytes: Option<&[u8]>) {
    // Held throughout, so that the file has everything in the same order.
    let mut keeper = shared.keeper.lock().await;
    let writing = {
        let mut state = shared.state();
        let mut lines = String::new();
        let stream = match which {
            Which::Out => &mut state.out,
            Which::Err => &mut state.err,
        };
        match bytes {
            Some(bytes) => {
                stream.bytes += bytes.len() as u64;
                stream.screen.feed(bytes, &mut lines);
            }
            None => stream.screen.finish(&mut lines),
        }
        let is_shown = which == Which::Out || shared.streams != Streams::OutputOnly;
        if shared.streams != Streams::Merged && is_shown {
            stream.text.push(&lines);
        }
        if bytes.is_some() {
            state.last_output = Some(Instant::now());
        }
        if is_shown {
            state.all.push(&lines);
            keeper.take(&state.all, &lines)
        } else {
            None
        }
    };
    if let Some(writing) = writing {
        write(&mut keeper, writing).await;
        shared.state().kept = keeper.kept().clone();
    }
    shared.changed();
}

/// Writes to the file of an output.
pub(super) async fn write(keeper: &mut Keeper, writing: Writing) {
    let wrote = spawn_blocking(move || writing.run()).await;
    keeper.wrote(wrote.unwrap_or_else(|error| Err(std::io::Error::other(error))));
}

/// Gives a program what it reads. One that reads nothing holds up nobody else.
async fn feed(mut stdin: ChildStdin, text: Vec<u8>, typed: Option<mpsc::Receiver<Vec<u8>>>) {
    // A program that wants no more is no failure: `head` never does.
    if stdin.write_all(&text).await.is_err() {
        return;
    }
    let Some(mut typed) = typed else {
        return;
    };
    while let Some(text) = typed.recv().await {
        if stdin.write_all(&text).await.is_err() {
            return;
        }
    }
}

/// What a shell noted of its folder. Its processes are gone; what they left in place of
/// the note may be anything.
fn note_of(path: &Path) -> Option<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let handle = rustix::fs::open(path, flags, Mode::empty()).ok()?;
    let stat = rustix::fs::fstat(&handle).ok()?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return None;
    }
    let mut note = Vec::new();
    let file = std::fs::File::from(handle);
    file.take(LONGEST_PATH).read_to_end(&mut note).ok()?;
    Some(note)
}

/// Where the note is written.
pub(crate) fn note_in(folder: &Path) -> PathBuf {
    folder.join(FOLDER_NOTE)
}
