//! What every built-in tool has: typed arguments, a typed value, a text for the model
//! and a line for the person.

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use toolsmith_core::plan::Access;
use toolsmith_core::tool::FunctionTool;
use toolsmith_core::{
    AnyTool, Binding, Block, Example, Hints, Outcome, Plan, Schema, ToolContext, ToolDef, Touch,
};

use crate::budget;
use crate::refusal::Refusal;
use crate::workspace::Workspace;

/// The longest list that is metadata too; longer ones are in the value alone.
const LISTED: usize = 100;

/// A built-in tool. It blocks its thread, and looks at the context's cancellation in
/// every loop that may be long.
pub(crate) trait BuiltIn: Send + Sync + 'static {
    /// What it is called with.
    type Arguments: DeserializeOwned + JsonSchema + Send + 'static;
    /// What it answers with.
    type Value: Serialize + JsonSchema;

    /// Whether the value is metadata too, as it is where the text is the answer and the
    /// value says how it came about.
    const HAS_METADATA: bool = false;

    /// What it is, but for the schemas, which the types tell.
    fn define() -> ToolDef;

    /// How it is run unless configuration says otherwise.
    fn binding() -> Binding {
        Binding::default()
    }

    /// Where it works.
    fn workspace(&self) -> &Workspace;

    /// What a call would do.
    fn plan(&self, arguments: &Self::Arguments) -> Result<Plan, Refusal>;

    /// Does it.
    fn call(
        &self,
        arguments: Self::Arguments,
        context: &ToolContext,
    ) -> Result<Answer<Self::Value>, Refusal>;
}

/// What a tool answers.
pub(crate) struct Answer<V> {
    value: V,
    blocks: Vec<Block>,
    display: String,
    room: Option<usize>,
}

impl<V> Answer<V> {
    /// A value, and the line a person reads: action, path, amount.
    pub(crate) fn new(value: V, display: impl Into<String>) -> Self {
        Self {
            value,
            blocks: Vec::new(),
            display: display.into(),
            room: None,
        }
    }

    /// Adds what the model reads; without any it reads the value.
    pub(crate) fn block(mut self, block: Block) -> Self {
        self.blocks.push(block);
        self
    }

    /// Changes the value.
    pub(crate) fn map<W>(self, change: impl FnOnce(V) -> W) -> Answer<W> {
        Answer {
            value: change(self.value),
            blocks: self.blocks,
            display: self.display,
            room: self.room,
        }
    }

    /// Says how many bytes the caller asked for.
    pub(crate) fn within(mut self, bytes: usize) -> Self {
        self.room = Some(budget::room(bytes));
        self
    }

    /// Adds a text for the model.
    pub(crate) fn text(self, text: impl Into<String>) -> Self {
        self.block(Block::text(text))
    }
}

/// The tool as registries hold it.
pub(crate) fn tool<T: BuiltIn>(tool: T) -> AnyTool {
    let tool = std::sync::Arc::new(tool);
    let planner = std::sync::Arc::clone(&tool);
    let definition = T::define()
        .with_input(Schema::arguments_of::<T::Arguments>())
        .with_output(Schema::value_of::<T::Value>());
    let definition = with_usual_aliases(definition);
    FunctionTool::new(definition)
        .with_binding(T::binding())
        .with_plan(move |arguments| {
            let mut plan = planner.plan(arguments)?;
            for touch in &mut plan.touches {
                planner.workspace().put_into_forms(touch);
            }
            Ok(with_consent(plan, planner.workspace()))
        })
        .into_blocking(
            move |arguments, context| match tool.call(arguments, &context) {
                Ok(answer) => outcome(answer, T::HAS_METADATA),
                Err(refusal) => Outcome::failure(refusal),
            },
        )
}

/// Has a person asked where a call would change what decides about programs and tools.
fn with_consent(plan: Plan, workspace: &Workspace) -> Plan {
    let changed = plan.touches.iter();
    let changed = changed.filter(|touch| touch.access != Access::Read);
    let mut deciding = changed.filter_map(|touch| workspace.decides(&touch.path));
    match deciding.next() {
        Some(path) => {
            let reason = format!("{} decides what programs and tools do", path.display());
            plan.confirmed_because(reason)
        }
        None => plan,
    }
}

/// What models call the paths of other tools they know.
fn with_usual_aliases(mut definition: ToolDef) -> ToolDef {
    let usual: [(&str, &[&str]); 3] = [
        ("file_path", &["path", "filePath", "filename", "file"]),
        ("file_paths", &["paths", "filePaths", "files"]),
        (
            "path",
            &["file_path", "filePath", "directory", "dir", "folder"],
        ),
    ];
    for (argument, aliases) in usual {
        let has = |name: &str| {
            definition.input.as_value()["properties"]
                .get(name)
                .is_some()
        };
        let aliases: Vec<&str> = aliases.iter().copied().filter(|name| !has(name)).collect();
        if has(argument) {
            definition = definition.with_aliases(argument, &aliases);
        }
    }
    definition
}

/// What an answer is told as.
pub(crate) fn outcome<V: Serialize>(answer: Answer<V>, has_metadata: bool) -> Outcome {
    let value = match serde_json::to_value(&answer.value) {
        Ok(value) => value,
        Err(error) => {
            return Outcome::failure(toolsmith_core::ToolError::internal(format!(
                "the answer could not be told: {error}"
            )));
        }
    };
    let mut outcome = Outcome::nothing().with_display(answer.display);
    outcome.room = answer.room;
    if let (true, Value::Object(facts)) = (has_metadata, &value) {
        let is_short = |fact: &Value| fact.as_array().is_none_or(|list| list.len() <= LISTED);
        // The text is in the value and in what the model reads; that is enough.
        let facts = facts
            .iter()
            .filter(|(name, fact)| *name != "content" && is_short(fact));
        outcome.metadata = facts
            .map(|(name, fact)| (name.clone(), fact.clone()))
            .collect();
    }
    for block in answer.blocks {
        outcome = outcome.with_block(block);
    }
    outcome.with_value(value)
}

/// Begins a definition: the name, what people see instead of it, where it stands in lists
/// and what it is found by.
pub(crate) fn described(name: &str, title: &str, category: &str, tags: &[&str]) -> ToolDef {
    let mut definition = ToolDef::new(name)
        .expect("the names of built-in tools are names")
        .with_title(title);
    definition.meta.version = Some(env!("CARGO_PKG_VERSION").to_owned());
    definition.meta.category = Some(category.to_owned());
    definition.meta.tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
    definition
}

/// Adds hints for using it well.
pub(crate) fn noted(mut definition: ToolDef, notes: &[&str]) -> ToolDef {
    let notes = notes.iter().map(|note| (*note).to_owned());
    definition.description.usage_notes.extend(notes);
    definition
}

/// A call that shows how a tool is used.
pub(crate) fn example(comment: &str, arguments: Value) -> Example {
    let Value::Object(arguments) = arguments else {
        return Example::new(serde_json::Map::new()).with_comment(comment);
    };
    Example::new(arguments).with_comment(comment)
}

/// Hints of a tool that only looks.
pub(crate) fn idempotent() -> Hints {
    let mut hints = Hints::default();
    hints.idempotent = Some(true);
    hints.open_world = Some(false);
    hints
}

/// The plan of a call that only reads what an argument names; `summary` says so of the
/// path as a caller is shown it.
pub(crate) fn reading(
    workspace: &Workspace,
    argument: &str,
    path: &str,
    summary: impl FnOnce(&str) -> String,
) -> Result<Plan, Refusal> {
    let place = workspace.place(path)?;
    let touch = Touch::read(workspace.whole(&place)).from_argument(argument);
    Ok(Plan::new(summary(&workspace.shown(&place))).touching(touch))
}
