//! The client over standard streams: messages as lines, many of them in flight.

use std::io::{self, BufRead, BufReader, Write};
use std::process::{ChildStdin, ChildStdout};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::message::{Era, INITIALIZED, Request, is_answer};

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// The two ends of a program's streams.
#[derive(Debug)]
pub(crate) struct Pipes {
    write: ChildStdin,
    read: BufReader<ChildStdout>,
    unsent: Vec<u8>,
    line: Vec<u8>,
    asked: u64,
}

impl Pipes {
    pub(crate) fn new(write: ChildStdin, read: ChildStdout) -> Self {
        Self {
            write,
            read: BufReader::with_capacity(64 << 10, read),
            unsent: Vec::new(),
            line: Vec::new(),
            asked: 0,
        }
    }

    /// Does what comes before the first request of an era.
    pub(crate) fn begin(&mut self, era: Era) -> io::Result<()> {
        if era == Era::Handshake {
            self.ask(&Request::initialize())?;
            self.unsent.extend_from_slice(INITIALIZED.as_bytes());
            self.unsent.push(b'\n');
        }
        Ok(())
    }

    /// Sends a request and waits for its answer.
    pub(crate) fn ask(&mut self, request: &Request) -> io::Result<&[u8]> {
        self.put(request);
        self.answer(request)?;
        Ok(&self.line)
    }

    /// Keeps so many requests in flight for a while; returns how many were answered.
    pub(crate) fn keep_asking(
        &mut self,
        request: &Request,
        in_flight: u64,
        during: Duration,
    ) -> io::Result<u64> {
        let end = Instant::now() + during;
        let (mut asked, mut answered) = (0, 0);
        while asked < in_flight {
            self.put(request);
            asked += 1;
        }
        while answered < asked {
            self.answer(request)?;
            answered += 1;
            if Instant::now() < end {
                self.put(request);
                asked += 1;
            }
        }
        Ok(answered)
    }

    /// Sends so many requests at once, whether or not anything is answered yet, and
    /// waits for all answers, which it returns.
    pub(crate) fn ask_at_once(&mut self, request: &Request, many: u64) -> io::Result<Vec<Vec<u8>>> {
        for _ in 0..many {
            self.put(request);
        }
        let unsent = std::mem::take(&mut self.unsent);
        let (write, read) = (&mut self.write, &mut self.read);
        std::thread::scope(|scope| {
            let writing = scope.spawn(move || write.write_all(&unsent));
            let mut answers = Vec::new();
            while (answers.len() as u64) < many {
                let mut line = Vec::new();
                next_line(read, &mut line)?;
                if is_answer(request, &line)? {
                    answers.push(line);
                }
            }
            let wrote = writing.join();
            wrote.map_err(|_| io::Error::other("the writer failed"))??;
            Ok(answers)
        })
    }

    fn put(&mut self, request: &Request) {
        self.asked += 1;
        request.write(self.asked, &mut self.unsent);
        self.unsent.push(b'\n');
    }

    /// Reads until something is answered. What is to be sent goes out before there is
    /// anything to wait for.
    fn answer(&mut self, request: &Request) -> io::Result<()> {
        loop {
            if !self.unsent.is_empty() && !self.read.buffer().contains(&b'\n') {
                self.write.write_all(&self.unsent)?;
                self.unsent.clear();
            }
            self.line.clear();
            next_line(&mut self.read, &mut self.line)?;
            if is_answer(request, &self.line)? {
                return Ok(());
            }
        }
    }
}

fn next_line(read: &mut BufReader<ChildStdout>, line: &mut Vec<u8>) -> io::Result<()> {
    while line.last() != Some(&b'\n') {
        if read.buffer().is_empty() {
            wait_for(read.get_ref())?;
        }
        let available = read.fill_buf()?;
        if available.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let end = available.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(available.len(), |end| end + 1);
        line.extend_from_slice(&available[..taken]);
        read.consume(taken);
    }
    Ok(())
}

/// Waits until there is something to read, but not for ever.
fn wait_for(read: &ChildStdout) -> io::Result<()> {
    let patience = Timespec::try_from(PATIENCE).map_err(io::Error::other)?;
    let mut descriptors = [PollFd::new(read, PollFlags::IN)];
    match poll(&mut descriptors, Some(&patience))? {
        0 => Err(io::Error::new(io::ErrorKind::TimedOut, "no answer came")),
        _ => Ok(()),
    }
}
