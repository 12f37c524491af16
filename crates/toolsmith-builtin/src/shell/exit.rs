//! What an exit status means, in words a model can act on.

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

/// The status of a command whose time ran out, as `timeout` has it.
pub(crate) const TIMED_OUT: i32 = 124;

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exit {
    /// What a shell would call its status: that of the program, or 128 and the signal.
    pub(crate) code: i32,
    /// The signal that ended it.
    pub(crate) signal: Option<i32>,
}

impl Exit {
    pub(crate) fn of(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Self { code, signal: None },
            (None, signal) => Self {
                code: 128 + signal.unwrap_or(0),
                signal,
            },
        }
    }

    pub(crate) fn is_success(self) -> bool {
        self.code == 0
    }

    /// The name of the signal that ended it.
    pub(crate) fn signal_name(self) -> Option<String> {
        self.signal.map(signal_name)
    }

    /// How it ended and, where there is something to say, what that means.
    pub(crate) fn told(self) -> String {
        if let Some(signal) = self.signal {
            let meaning = signal_meaning(signal);
            let name = signal_name(signal);
            return match meaning {
                "" => format!("was ended by {name}"),
                meaning => format!("was ended by {name} ({meaning})"),
            };
        }
        let meaning = match self.code {
            126 => {
                " (a program was found, and may not be run: it is not executable, or is no program)"
                    .to_owned()
            }
            127 => {
                " (command not found: check the spelling, or whether it is installed)".to_owned()
            }
            TIMED_OUT => " (what `timeout` exits with when time runs out)".to_owned(),
            code @ 129..=192 => format!(
                " (in a shell: a command was ended by {})",
                signal_name(code - 128)
            ),
            _ => String::new(),
        };
        format!("exited with status {}{meaning}", self.code)
    }
}

/// The usual name of a signal, in Linux's numbering.
fn signal_name(signal: i32) -> String {
    let name = match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        10 => "SIGUSR1",
        11 => "SIGSEGV",
        12 => "SIGUSR2",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        16 => "SIGSTKFLT",
        24 => "SIGXCPU",
        25 => "SIGXFSZ",
        31 => "SIGSYS",
        other => return format!("signal {other}"),
    };
    name.to_owned()
}

fn signal_meaning(signal: i32) -> &'static str {
    match signal {
        4 => "an instruction the processor does not know",
        6 => "it gave up by itself: a failed assertion, or an error nobody caught",
        7 | 11 => "it used memory that is not its own",
        8 => "a calculation without a result, such as a division by zero",
        9 => "somebody killed it; where nobody did, the system may have been out of memory",
        13 => "nobody read its output any more",
        24 => "it used more processor time than it may",
        25 => "it wrote a larger file than it may",
        31 => "it made a system call it may not make",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exit_says_what_it_means() {
        let told = |raw: i32| Exit::of(ExitStatus::from_raw(raw)).told();
        assert_eq!(told(3 << 8), "exited with status 3");
        assert!(told(127 << 8).contains("command not found"));
        assert!(told(126 << 8).contains("may not be run"));
        assert!(told(139 << 8).contains("a command was ended by SIGSEGV"));
        assert!(told(9).starts_with("was ended by SIGKILL"));
        assert_eq!(told(15), "was ended by SIGTERM");
        assert_eq!(Exit::of(ExitStatus::from_raw(11)).code, 139);
    }
}
