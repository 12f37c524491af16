//! Asks the person at the terminal.
//!
//! The question goes to the terminal itself, not to stdin and stdout: those may be
//! pipes. Without a terminal nobody can be asked, which means no.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, IsTerminal, Read as _, Write};

use toolsmith_core::plan::Access;
use toolsmith_runtime::permit::{
    Approval, ApprovalRequest, Approver, Covers, Lasts, Remember, Rule, Verdict,
};

use crate::print::{visible, visible_lines, visible_path};

/// How many bytes of the arguments are shown.
const SHOWN: usize = 4000;

/// How often a rule is asked for that cannot be used.
const TRIES: usize = 3;

/// How long a line may be that somebody types.
const LONGEST_LINE: u64 = 4096;

/// Asks at the terminal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TerminalApprover;

impl Approver for TerminalApprover {
    async fn approve(&self, requests: &[ApprovalRequest]) -> Vec<Approval> {
        let (Some(terminal), true) = (terminal(), std::io::stderr().is_terminal()) else {
            let reason = "there is no terminal to ask on".to_owned();
            return vec![Approval::Unavailable { reason }; requests.len()];
        };
        let asked = requests.to_vec();
        // Reading a line blocks; if the wait is given up, the thread ends with the
        // program.
        let answers = tokio::task::spawn_blocking(move || ask(&terminal, &asked)).await;
        match answers {
            Ok(Ok(answers)) => answers,
            _ => {
                let reason = "the terminal could not be read".to_owned();
                vec![Approval::Unavailable { reason }; requests.len()]
            }
        }
    }
}

/// Questions to the person at the terminal, one after the other.
#[derive(Debug)]
pub(crate) struct Dialogue(BufReader<File>);

impl Dialogue {
    /// None where there is nobody to ask.
    pub(crate) fn begin() -> Option<Self> {
        let is_seen = std::io::stderr().is_terminal();
        terminal().filter(|_| is_seen).map(BufReader::new).map(Self)
    }

    /// Asks for one of several words, each with what it means; nothing is the usual one.
    pub(crate) fn choose(
        &mut self,
        question: &str,
        words: &[(&str, &str)],
        usual: &str,
    ) -> std::io::Result<String> {
        let width = words.iter().map(|(word, _)| word.len()).max();
        let width = width.unwrap_or_default();
        let mut text = format!("{question}\n");
        for (word, meaning) in words {
            text.push_str(&format!("  {word:width$}  {meaning}\n"));
        }
        self.say(&text)?;
        loop {
            let answer = self.answer(&format!("Your choice [{usual}]: "))?;
            if answer.is_empty() {
                return Ok(usual.to_owned());
            }
            if words.iter().any(|(word, _)| *word == answer) {
                return Ok(answer);
            }
        }
    }

    /// Asks for a yes or a no; nothing is a yes.
    pub(crate) fn agrees(&mut self, question: &str) -> std::io::Result<bool> {
        loop {
            match self.answer(&format!("{question} [Y/n]: "))?.as_str() {
                "" | "y" | "yes" => return Ok(true),
                "n" | "no" => return Ok(false),
                _ => {}
            }
        }
    }

    fn answer(&mut self, question: &str) -> std::io::Result<String> {
        self.say(question)?;
        let mut line = String::new();
        // Without a line there is no answer, and never will be.
        match self.0.read_line(&mut line)? {
            0 => Err(std::io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(line.trim().to_lowercase()),
        }
    }

    fn say(&mut self, text: &str) -> std::io::Result<()> {
        let mut out = self.0.get_ref();
        write!(out, "{text}")?;
        out.flush()
    }
}

fn terminal() -> Option<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).open("/dev/tty").ok()
}

fn ask(terminal: &File, requests: &[ApprovalRequest]) -> std::io::Result<Vec<Approval>> {
    let mut lines = BufReader::new(terminal);
    let mut answers = Vec::new();
    let mut yes_to_all = false;
    for (index, request) in requests.iter().enumerate() {
        if yes_to_all {
            answers.push(request.grant("user"));
            continue;
        }
        let further = if requests.len() - index > 1 {
            ", [a]ll of them"
        } else {
            ""
        };
        let choices = format!("[y]es, [n]o{further}, always in this [r]un or [p]roject");
        let mut out = terminal;
        write!(out, "{}\nAllow it? {choices}: ", question(request))?;
        let granted = request.grant("user");
        answers.push(match Choice::of(&line(&mut out, &mut lines)?) {
            Choice::Once => granted,
            Choice::All => {
                yes_to_all = true;
                granted
            }
            Choice::Always(lasts) => match covered(&mut out, &mut lines, request)? {
                Some(covers) => granted.remembering(Remember::new(lasts, covers)),
                None => granted,
            },
            Choice::No => Approval::Refused {
                by: "user".to_owned(),
                reason: "the user said no".to_owned(),
            },
        });
    }
    Ok(answers)
}

/// What a person answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    Once,
    All,
    Always(Lasts),
    No,
}

impl Choice {
    /// What is none of the words is a no.
    fn of(line: &str) -> Self {
        match line.to_lowercase().as_str() {
            "y" | "yes" => Self::Once,
            "a" | "all" => Self::All,
            "r" | "run" => Self::Always(Lasts::Run),
            "p" | "project" => Self::Always(Lasts::Project),
            _ => Self::No,
        }
    }
}

/// Asks which calls are meant; none where no rule came of it, and the call is allowed once.
fn covered(
    out: &mut impl Write,
    lines: &mut impl BufRead,
    request: &ApprovalRequest,
) -> std::io::Result<Option<Covers>> {
    let Some(proposal) = request.proposal() else {
        // Calls like this one are asked for one by one.
        return Ok(Some(Covers::Call));
    };
    let shown = visible(&proposal);
    writeln!(out, "Which calls? Press Enter for the rule {shown},")?;
    writeln!(out, "type another rule, or = for this exact call only.")?;
    for _ in 0..TRIES {
        write!(out, "Rule: ")?;
        // Whoever hangs up here has chosen nothing.
        let Some(answer) = whole_line(out, lines)? else {
            break;
        };
        let text = match answer.as_str() {
            "=" => return Ok(Some(Covers::Call)),
            "" => proposal.as_str(),
            other => other,
        };
        let rule = Rule::parse(Verdict::Allow, text).map_err(|error| error.to_string());
        match rule.and_then(|rule| request.accepts(&rule).map(|()| rule)) {
            Ok(rule) => return Ok(Some(Covers::rule(rule))),
            Err(why) => writeln!(out, "That does not do: {}", visible(&why))?,
        }
    }
    writeln!(out, "It is allowed this once, and nothing is remembered.")?;
    Ok(None)
}

/// Reads one line, after all that was written is seen; none where it has no end.
fn whole_line(out: &mut impl Write, lines: &mut impl BufRead) -> std::io::Result<Option<String>> {
    out.flush()?;
    let mut line = String::new();
    lines.take(LONGEST_LINE).read_line(&mut line)?;
    Ok(line.ends_with('\n').then(|| line.trim().to_owned()))
}

/// Reads one line, after all that was written is seen.
fn line(out: &mut impl Write, lines: &mut impl BufRead) -> std::io::Result<String> {
    out.flush()?;
    let mut line = String::new();
    lines.take(LONGEST_LINE).read_line(&mut line)?;
    Ok(line.trim().to_owned())
}

/// What the person must know: the tool, what it would do, with what, to which
/// paths, and why it is asked. What a model wrote must neither steer the terminal it
/// is judged on nor hide what runs, so it is spelled out.
fn question(request: &ApprovalRequest) -> String {
    let effect = format!("{:?}", request.effect).to_lowercase();
    let summary = visible(&request.plan.summary);
    let mut text = format!("\n{} ({effect}): {summary}\n", request.tool);
    let arguments = serde_json::to_string_pretty(&request.arguments).unwrap_or_default();
    let end = arguments.floor_char_boundary(SHOWN.min(arguments.len()));
    text.push_str(&visible_lines(&arguments[..end]));
    if end < arguments.len() {
        text.push_str(&format!("\n… and {} bytes more", arguments.len() - end));
    }
    for touch in &request.plan.touches {
        let access = match touch.access {
            Access::Read => "reads",
            Access::Write => "writes",
            Access::Delete => "deletes",
        };
        text.push_str(&format!("\n  {access} {}", visible_path(&touch.path)));
    }
    text.push_str(&format!("\nAsked because {}.", visible(&request.reason)));
    text
}
