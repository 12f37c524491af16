//! What a page tells its reader to do, step by step. How it is written stands with the parent.

use std::ops::Range;

/// One thing to do.
#[derive(Debug, PartialEq)]
pub(super) enum Step {
    File { path: String, content: String },
    Run(Command),
}

/// A command and what the page shows of it.
#[derive(Debug, PartialEq)]
pub(super) struct Command {
    /// Its line in the page, from 1.
    pub(super) line: usize,
    pub(super) text: String,
    pub(super) shown: Vec<String>,
    /// Where in the page that stands, by lines from 0.
    pub(super) output: Range<usize>,
    pub(super) answers: Vec<Answer>,
}

/// What a person types, and what they have seen then.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Answer {
    pub(super) after: String,
    pub(super) typed: String,
}

/// What a comment says about the block that follows.
#[derive(Debug, PartialEq)]
enum Note {
    File(String),
    Answer(Answer),
    NotRun,
}

/// A line and what is wrong with it.
type Problem = (usize, &'static str);

/// Reads a page.
pub(super) fn read(page: &str) -> Result<Vec<Step>, Problem> {
    let lines: Vec<&str> = page.lines().collect();
    let (mut steps, mut notes) = (Vec::new(), Vec::new());
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        if let Some(note) = note(line).map_err(|problem| (at + 1, problem))? {
            notes.push(note);
        } else if line.starts_with("```") {
            let fence = &line[..line.len() - line.trim_start_matches('`').len()];
            let language = line[fence.len()..].split([' ', ',']).next();
            let begin = at + 1;
            let length = lines[begin..].iter().position(|line| *line == fence);
            let end = begin + length.ok_or((at + 1, "this block has no end"))?;
            let block = Block {
                lines: &lines[begin..end],
                begin,
                is_console: language == Some("console"),
            };
            block.read(std::mem::take(&mut notes), &mut steps)?;
            at = end;
        } else if !line.is_empty() && !notes.is_empty() {
            return Err((at + 1, "a block must follow the comment above"));
        }
        at += 1;
    }
    Ok(steps)
}

/// What a comment says, if the line is one that says something here.
fn note(line: &str) -> Result<Option<Note>, &'static str> {
    let Some(said) = line.strip_prefix("<!-- ") else {
        return Ok(None);
    };
    let said = said.strip_suffix(" -->").unwrap_or_default();
    if let Some(path) = said.strip_prefix("file: ") {
        return Ok(Some(Note::File(path.to_owned())));
    }
    if said == "not run" {
        return Ok(Some(Note::NotRun));
    }
    if said.starts_with("after ") {
        let ["after ", after, " type ", typed, ""] = said.split('"').collect::<Vec<_>>()[..] else {
            return Err("an answer is written <!-- after \"TEXT\" type \"ANSWER\" -->");
        };
        let (after, typed) = (after.to_owned(), typed.to_owned());
        return Ok(Some(Note::Answer(Answer { after, typed })));
    }
    Ok(None)
}

/// What stands between two fences.
struct Block<'p> {
    lines: &'p [&'p str],
    /// The first of the lines, from 0.
    begin: usize,
    is_console: bool,
}

impl Block<'_> {
    /// Adds what is to be done.
    fn read(&self, notes: Vec<Note>, steps: &mut Vec<Step>) -> Result<(), Problem> {
        let mut answers = Vec::new();
        for note in notes {
            match note {
                Note::File(path) => {
                    let content = self.lines.iter().flat_map(|line| [line, "\n"]).collect();
                    steps.push(Step::File { path, content });
                    return Ok(());
                }
                Note::NotRun => return Ok(()),
                Note::Answer(answer) => answers.push(answer),
            }
        }
        if self.is_console {
            self.read_commands(answers, steps)
        } else if answers.is_empty() {
            Ok(())
        } else {
            Err((self.begin, "answers belong to a block of commands"))
        }
    }

    fn read_commands(&self, answers: Vec<Answer>, steps: &mut Vec<Step>) -> Result<(), Problem> {
        let mut answers = answers.into_iter().peekable();
        let mut at = 0;
        while let Some(line) = self.lines.get(at) {
            let line_in_page = self.begin + at + 1;
            let first = line.strip_prefix("$ ");
            let mut text = first
                .ok_or((line_in_page, "a command begins with `$ `"))?
                .to_owned();
            at += 1;
            while let Some(more) = self.lines.get(at).and_then(|line| line.strip_prefix("> ")) {
                text = text + "\n" + more;
                at += 1;
            }
            let output = &self.lines[at..];
            let length = output.iter().position(|line| line.starts_with("$ "));
            let output = &output[..length.unwrap_or(output.len())];
            // An answer is for the command that shows its question.
            let asks = |answer: &Answer| {
                let question = format!("{}{}", answer.after, answer.typed);
                output.iter().any(|line| line.contains(&question))
            };
            let mut own = Vec::new();
            while let Some(answer) = answers.next_if(asks) {
                own.push(answer);
            }
            steps.push(Step::Run(Command {
                line: line_in_page,
                text,
                shown: output.iter().map(|line| (*line).to_owned()).collect(),
                output: self.begin + at..self.begin + at + output.len(),
                answers: own,
            }));
            at += output.len();
        }
        match answers.peek() {
            Some(_) => Err((self.begin, "no command shows the question with its answer")),
            None => Ok(()),
        }
    }
}
