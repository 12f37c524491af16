//! `toolsmith ask`: a question to a model that has the tools.

mod events;
mod shown;

use std::io::IsTerminal as _;
use std::path::Path;
use std::time::SystemTime;

use toolsmith_agent::{Conversation, End, Limit, Report};
use toolsmith_core::ErrorKind;
use toolsmith_manager::View;
use toolsmith_manager::conversations::{ConversationError, Kept};

use self::events::Events;
use self::shown::Shown;
use crate::arguments;
use crate::cli::{Ask, Cli};
use crate::environment;
use crate::failure::Failure;
use crate::print;
use crate::session::{Session, project_root};

/// How much is read from standard input.
const LONGEST: usize = 16 << 20;

pub(crate) async fn run(session: &Session, cli: &Cli, ask: &Ask) -> Result<u8, Failure> {
    let question = question(ask)?;
    let place = environment::conversations(&project_root(cli));
    let mut terms = ask.terms();
    let resumed = match (&ask.resume, &place) {
        (None, _) => None,
        (Some(_), Some(place)) => Some(place.resume(ask.conversation())?),
        (Some(_), None) => {
            return Err(Failure::usage(
                "there is no folder with conversations; set HOME or XDG_STATE_HOME",
            ));
        }
    };
    if let (Some(kept), None) = (&resumed, &terms.model) {
        terms.model.clone_from(&kept.head.model);
        // What was said to one server is not for another, unless somebody says so.
        if terms.url.is_none() {
            terms.url.clone_from(&kept.head.url);
        }
    }
    let view = view(session, resumed.as_ref())?;
    if !cli.json {
        terms.http = terms.http.on_retry(|retrying| {
            let wait = retrying.wait.as_secs_f64();
            print::note(&format!("{}; once more in {wait:.1} s", retrying.reason));
        });
    }
    let agent = session.manager.agent(&view, &terms);
    let (name, agent) = agent.map_err(|error| Failure::usage(error.to_string()))?;
    let (id, mut conversation) = match (resumed, &place) {
        (
            Some(Kept {
                head, conversation, ..
            }),
            _,
        ) => (Some(head.id), conversation),
        (None, Some(place)) => {
            let of_agent = match &view {
                View::Agent(agent) => Some(agent.as_str()),
                View::Usual | View::Set(_) => None,
            };
            let (model, url) = (name.to_string(), ask.url.as_deref());
            let kept = place.begin(of_agent, &model, url, SystemTime::now())?;
            (Some(kept.head.id), kept.conversation)
        }
        (None, None) => {
            print::warning("the conversation is not kept: set HOME or XDG_STATE_HOME");
            (None, Conversation::new())
        }
    };
    // Tasks that name no model are done by the one that is asked.
    let mut of_tasks = ask.terms();
    (of_tasks.model, of_tasks.url) = (terms.model, terms.url);
    session.employ(of_tasks);
    for note in conversation.notes() {
        print::warning(&print::visible(note));
    }
    let agent = match cli.json {
        true => agent.with_observer(Events::new(id.clone())),
        false => agent.with_observer(Shown::new(cli.verbose > 0)),
    };
    let caller = session.caller_of(cli, &view);
    let report = match &question {
        Some(question) => agent.answer(&mut conversation, question, &caller).await,
        None => agent.resume(&mut conversation, &caller).await,
    };
    if !cli.json {
        close(&report, id.as_deref())?;
    }
    Ok(status(&report.end))
}

/// Whose tools and rules count. A conversation goes on as it was begun, unless another agent is
/// named: without its agent it might do more than that may.
fn view(session: &Session, resumed: Option<&Kept>) -> Result<View, Failure> {
    let begun = resumed.and_then(|kept| kept.head.agent.as_ref());
    let (View::Usual, Some(agent)) = (&session.view, begun) else {
        return Ok(session.view.clone());
    };
    let view = View::Agent(agent.clone());
    match session.manager.selection(&view) {
        Ok(_) => Ok(view),
        Err(error) => {
            let error = format!("the conversation was begun with the agent {agent:?}: {error}");
            Err(Failure::usage(error).with_advice("--agent goes on with another"))
        }
    }
}

/// The question: what was written, or what comes in; nothing where a conversation is
/// simply gone on with.
fn question(ask: &Ask) -> Result<Option<String>, Failure> {
    let comes_in = match ask.question.as_deref() {
        Some("-") => true,
        Some(question) => return said(question.to_owned()),
        None if ask.resume.is_some() => return Ok(None),
        None => !std::io::stdin().is_terminal(),
    };
    if !comes_in {
        let failure = Failure::usage("there is no question");
        return Err(failure.with_advice("write toolsmith ask \"…\", or pipe it in"));
    }
    let bytes = arguments::file_or_input(Path::new("-"), LONGEST, "the question")?;
    let question = String::from_utf8(bytes);
    said(question.map_err(|_| Failure::usage("the question is not UTF-8"))?)
}

/// A question that says something.
fn said(question: String) -> Result<Option<String>, Failure> {
    match question.trim() {
        "" => Err(Failure::usage("the question is empty")),
        _ => Ok(Some(question)),
    }
}

/// The answer where it was not shown while it grew, and the closing line.
fn close(report: &Report, id: Option<&str>) -> Result<(), Failure> {
    if !std::io::stdout().is_terminal() && !report.text.is_empty() {
        print::line(&toolsmith_runtime::shape::clean(&report.text))?;
    }
    if report.end != End::Answered {
        print::error(&report.end.to_string());
    }
    let mut line = format!(
        "{} · {}",
        print::counted(report.turns as usize, "turn"),
        print::counted(report.calls as usize, "call")
    );
    if report.failed > 0 {
        line.push_str(&format!(" ({} failed)", report.failed));
    }
    let usage = &report.usage;
    if usage.total() > 0 {
        let (read, written) = (usage.input_tokens, usage.output_tokens);
        line.push_str(&format!(" · {read} tokens read, {written} written"));
    }
    if let Some(cost) = report.cost {
        line.push_str(&format!(" · cost {cost:.4}"));
    }
    line.push_str(&format!(" · {:.1} s", report.took.as_secs_f64()));
    if let Some(id) = id {
        line.push_str(&format!(" · conversation {id}"));
    }
    print::note(&line);
    Ok(())
}

/// The status the program ends with.
fn status(end: &End) -> u8 {
    match end {
        End::Answered => 0,
        End::Cancelled => ErrorKind::Cancelled.exit_status(),
        End::Limit(Limit::Time) => ErrorKind::Timeout.exit_status(),
        End::Failed { kind, .. } => kind.exit_status(),
        _ => ErrorKind::Failed.exit_status(),
    }
}

impl From<ConversationError> for Failure {
    fn from(error: ConversationError) -> Self {
        Self::usage(error.to_string())
    }
}
