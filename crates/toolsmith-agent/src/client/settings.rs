//! How long a model may take, how much it may say and how often it is asked again.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use toolsmith_provider::Support;

/// The bounds of requests to a model, and what is done at them.
///
/// Whole answers come when they are done, and a model may think for minutes before its
/// first word: the times are those of the providers' own packages, not those of a web page.
#[derive(Clone)]
pub struct HttpSettings {
    pub(super) connect_time: Duration,
    pub(super) first_byte_time: Duration,
    pub(super) idle_time: Duration,
    pub(super) largest_answer: usize,
    pub(super) tries: u32,
    pub(super) longest_wait: Duration,
    pub(super) max_tokens: u64,
    pub(super) support: Option<Support>,
    observer: Option<Observer>,
}

type Observer = Arc<dyn Fn(&Retrying) + Send + Sync>;

/// A request that failed and is about to be made again.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Retrying {
    /// Which try failed, from 1.
    pub attempt: u32,
    /// How long is waited before the next.
    pub wait: Duration,
    /// Why it failed, in words.
    pub reason: String,
}

impl Default for HttpSettings {
    fn default() -> Self {
        Self {
            connect_time: Duration::from_secs(10),
            first_byte_time: Duration::from_secs(600),
            idle_time: Duration::from_secs(300),
            largest_answer: 32 << 20,
            tries: 4,
            longest_wait: Duration::from_secs(60),
            max_tokens: 8192,
            support: None,
            observer: None,
        }
    }
}

impl HttpSettings {
    /// For the name, the connection and its encryption; 10 seconds.
    #[must_use]
    pub fn with_connect_time(mut self, time: Duration) -> Self {
        self.connect_time = time;
        self
    }

    /// From a request to the first byte of its answer; ten minutes.
    #[must_use]
    pub fn with_first_byte_time(mut self, time: Duration) -> Self {
        self.first_byte_time = time;
        self
    }

    /// From one piece of an answer to the next; five minutes.
    #[must_use]
    pub fn with_idle_time(mut self, time: Duration) -> Self {
        self.idle_time = time;
        self
    }

    /// How many bytes of an answer are read; 32 MiB. A whole answer that is longer is an
    /// error, a streamed one breaks off.
    #[must_use]
    pub fn with_largest_answer(mut self, bytes: usize) -> Self {
        self.largest_answer = bytes;
        self
    }

    /// How often a request is made at the most; four times, and never less than once.
    #[must_use]
    pub fn with_tries(mut self, tries: u32) -> Self {
        self.tries = tries.max(1);
        self
    }

    /// How long is waited for a server that asks for time; a minute. Where it asks for
    /// more, the error says so at once.
    #[must_use]
    pub fn with_longest_wait(mut self, wait: Duration) -> Self {
        self.longest_wait = wait;
        self
    }

    /// How many tokens an answer may have where a request does not say and its provider
    /// wants it said, as Anthropic does; 8192.
    #[must_use]
    pub fn with_max_tokens(mut self, tokens: u64) -> Self {
        self.max_tokens = tokens;
        self
    }

    /// Says whether the model can call functions, whatever the table has of its name.
    #[must_use]
    pub fn with_support(mut self, support: Support) -> Self {
        self.support = Some(support);
        self
    }

    /// Tells of each request that is about to be made again.
    #[must_use]
    pub fn on_retry(mut self, observer: impl Fn(&Retrying) + Send + Sync + 'static) -> Self {
        self.observer = Some(Arc::new(observer));
        self
    }

    pub(super) fn tell(&self, retrying: &Retrying) {
        if let Some(observer) = &self.observer {
            observer(retrying);
        }
    }
}

impl fmt::Debug for HttpSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpSettings")
            .field("connect_time", &self.connect_time)
            .field("first_byte_time", &self.first_byte_time)
            .field("idle_time", &self.idle_time)
            .field("largest_answer", &self.largest_answer)
            .field("tries", &self.tries)
            .field("longest_wait", &self.longest_wait)
            .field("max_tokens", &self.max_tokens)
            .field("support", &self.support)
            .finish_non_exhaustive()
    }
}
