//! The template a guide is rendered by: the shipped one, or one that users bring.
//!
//! A template gets plain texts and lists, reads no files, and is stopped when it takes too
//! many steps or writes more than there is room for.

use std::fmt;
use std::sync::{Arc, LazyLock};

use minijinja::{Environment, ErrorKind, UndefinedBehavior, Value};

use super::json::Bounded;

/// How many steps one piece may take: a loop over a long list takes some thousands.
const FUEL: u64 = 200_000;

/// How large a template may be.
const MOST_BYTES: usize = 256 << 10;

/// The name the template has among itself.
const NAME: &str = "guide";

/// The source of the shipped template.
pub(crate) const SHIPPED_SOURCE: &str = include_str!("guide.md.j2");

static SHIPPED: LazyLock<Arc<Template>> = LazyLock::new(|| {
    let shipped = Template::new("guide.md.j2", SHIPPED_SOURCE);
    Arc::new(shipped.expect("the shipped template is one"))
});

/// What is wrong with a template.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name}{}: {message}", .line.map(|line| format!(":{line}")).unwrap_or_default())]
#[non_exhaustive]
pub struct TemplateError {
    /// The template, as it was named.
    pub name: String,
    /// The line, where one is to blame.
    pub line: Option<usize>,
    /// What is wrong.
    pub message: String,
}

/// A template, compiled.
pub(crate) struct Template {
    name: String,
    environment: Environment<'static>,
}

impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Template").field(&self.name).finish()
    }
}

impl Template {
    pub(crate) fn shipped() -> Arc<Self> {
        Arc::clone(&SHIPPED)
    }

    pub(crate) fn new(name: &str, source: &str) -> Result<Self, TemplateError> {
        if source.len() > MOST_BYTES {
            return Err(TemplateError {
                name: name.to_owned(),
                line: None,
                message: format!("it is larger than {MOST_BYTES} bytes"),
            });
        }
        let mut environment = Environment::new();
        environment.set_fuel(Some(FUEL));
        // A misspelt variable is an error with a line rather than a gap.
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment
            .add_template_owned(NAME, source.replace("\r\n", "\n"))
            .map_err(|error| error_of(name, &error))?;
        Ok(Self {
            name: name.to_owned(),
            environment,
        })
    }

    /// One piece, trimmed; none where it takes more than `most` bytes.
    pub(super) fn render(
        &self,
        context: Value,
        most: usize,
    ) -> Result<Option<String>, TemplateError> {
        let mut writer = Bounded {
            bytes: Vec::new(),
            // White space at the ends is trimmed, and a template may have much of it.
            most: most.saturating_add(4 << 10),
        };
        let template = self.environment.get_template(NAME);
        let rendered = template.and_then(|t| t.render_captured_to(context, &mut writer).map(drop));
        match rendered {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::WriteFailure => return Ok(None),
            Err(error) => return Err(error_of(&self.name, &error)),
        }
        let text = String::from_utf8_lossy(&writer.bytes);
        let text = text.trim();
        Ok((text.len() <= most).then(|| text.to_owned()))
    }
}

fn error_of(name: &str, error: &minijinja::Error) -> TemplateError {
    let message = match error.detail() {
        Some(detail) => format!("{}: {detail}", error.kind()),
        None => error.kind().to_string(),
    };
    TemplateError {
        name: name.to_owned(),
        line: error.line(),
        message: crate::validate::bounded(&message, 300),
    }
}
