//! A person who agrees: forms come back with their defaults, and with a yes where
//! there is none.

use std::pin::Pin;

use serde_json::{Value, json};
use toolsmith_core::reply::{Inquiry, Question, Response};
use toolsmith_runtime::Inquirer;

use super::arguments;

/// Answers every question.
#[derive(Clone, Copy, Debug)]
pub(super) struct Agreeable;

impl Inquirer for Agreeable {
    fn inquire(
        &self,
        inquiries: Vec<Inquiry>,
    ) -> Pin<Box<dyn Future<Output = Vec<Response>> + Send + '_>> {
        let answers = inquiries.iter().map(|each| answer(&each.question));
        Box::pin(std::future::ready(answers.collect()))
    }
}

fn answer(question: &Question) -> Response {
    match question {
        Question::Form { schema, .. } => Response::Given(arguments::sample(schema.as_value())),
        Question::Visit { .. } => Response::Given(Value::Null),
        Question::Sample { .. } => Response::Given(json!({
            "role": "assistant",
            "content": { "type": "text", "text": "Agreed." },
            "model": "conformance",
        })),
        Question::Roots => Response::Given(json!({ "roots": [] })),
        _ => Response::Unavailable,
    }
}
