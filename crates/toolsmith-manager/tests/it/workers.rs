//! Agents of a project that do tasks: whose words and limits count.

use std::sync::Arc;
use std::time::Duration;

use toolsmith_agent::task::Workers;
use toolsmith_core::ErrorKind;
use toolsmith_manager::config::{AskConfig, Positive, Span};
use toolsmith_manager::{AskTerms, Manager, ProjectWorkers, View};
use toolsmith_runtime::Caller;

use crate::sets::load;

fn reviewing() -> Arc<Manager> {
    let reviewer = "tools: [a]\nask: { instructions: Be strict., turns: 3, time: 10m }";
    Arc::new(load(&[("agents/reviewer.yaml", reviewer)]))
}

fn workers(manager: &Arc<Manager>, set: impl FnOnce(&mut AskTerms)) -> ProjectWorkers {
    let mut terms = AskTerms::default();
    set(&mut terms);
    ProjectWorkers::new(manager, View::Usual, terms)
}

#[test]
fn of_two_limits_the_lower_counts() {
    let manager = reviewing();
    let workers = workers(&manager, |terms| {
        terms.model = Some("ollama/x".to_owned());
        terms.ask.turns = Some(Positive(40));
        terms.ask.time = Some(Span(Duration::from_secs(60)));
    });
    let caller = Caller::new("cli");
    let named = workers.worker(Some("reviewer"), None, &caller).unwrap();
    let limits = named.agent.limits();
    let minute = Duration::from_secs(60);
    assert_eq!((limits.turns, limits.time), (3, Some(minute)));
    // Who is like the giver has the giver's.
    let alike = workers.worker(None, None, &caller).unwrap();
    assert_eq!(alike.agent.limits().turns, 40);
}

#[test]
fn an_agent_is_told_its_own_words() {
    let mut run = AskConfig::default();
    run.instructions = Some("Be brief.".to_owned());
    let mut own = AskConfig::default();
    assert_eq!(run.around(&own).instructions.as_deref(), Some("Be brief."));
    own.instructions = Some("Be strict.".to_owned());
    assert_eq!(run.around(&own).instructions.as_deref(), Some("Be strict."));
}

#[test]
fn who_cannot_do_it_is_told() {
    let manager = reviewing();
    let refused = |workers: &ProjectWorkers, name, model| {
        let caller = Caller::new("cli");
        workers.worker(name, model, &caller).unwrap_err()
    };
    let unnamed = workers(&manager, |_| {});
    let no_model = refused(&unnamed, None, None);
    assert_eq!(no_model.kind, ErrorKind::Unavailable);
    assert!(no_model.message.contains("no model is named"), "{no_model}");
    let named = workers(&manager, |terms| terms.model = Some("ollama/x".to_owned()));
    let nobody = refused(&named, Some("nobody"), None);
    assert_eq!(nobody.kind, ErrorKind::InvalidParameters);
    // What costs money is not the model's to choose.
    let dear = refused(&named, None, Some("openai/gpt-5"));
    assert_eq!(dear.kind, ErrorKind::InvalidParameters);
}
