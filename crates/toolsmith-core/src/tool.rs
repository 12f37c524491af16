//! The interface every tool has, and every source of tools.
//!
//! Two static traits a person would happily implement by hand, [`Tool`] and
//! [`BlockingTool`], and one erased form, [`AnyTool`], which is all that
//! registries hold. `#[tool]` and [`AnyTool::from_fn`] make it from a function.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde::de::DeserializeOwned;

use crate::binding::Binding;
use crate::call::Arguments;
use crate::context::ToolContext;
use crate::definition::ToolDef;
use crate::error::{ErrorKind, ToolError};
use crate::outcome::Outcome;
use crate::plan::Plan;

/// A tool that runs asynchronously.
///
/// Implemented by tool authors and adapters. The runtime promises: `plan` and
/// `call` see arguments that fit `definition().input` with defaults filled in;
/// `call` runs only after the plan was permitted; when the context's cancellation
/// fires, the future has a short grace before it is dropped. A panic harms this
/// call only.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU64, Ordering};
/// use toolsmith_core::name::NameError;
/// use toolsmith_core::{AnyTool, Arguments, Kind, Outcome, Tool, ToolContext, ToolDef};
///
/// /// A tool with a state of its own, which a function has not.
/// struct Counter {
///     definition: Arc<ToolDef>,
///     calls: AtomicU64,
/// }
///
/// impl Counter {
///     fn new() -> Result<Self, NameError> {
///         let definition = ToolDef::new("count_calls")?
///             .with_description("Tells how often it was called.")
///             .with_kind(Kind::Think);
///         Ok(Self { definition: Arc::new(definition), calls: AtomicU64::new(0) })
///     }
/// }
///
/// impl Tool for Counter {
///     fn definition(&self) -> Arc<ToolDef> {
///         Arc::clone(&self.definition)
///     }
///
///     async fn call(&self, _arguments: Arguments, _context: ToolContext) -> Outcome {
///         Outcome::ok(self.calls.fetch_add(1, Ordering::Relaxed) + 1)
///     }
/// }
///
/// let tool = AnyTool::new(Counter::new()?);
/// assert!(!tool.is_blocking());
/// # Ok::<(), NameError>(())
/// ```
pub trait Tool: Send + Sync + 'static {
    /// What the tool is. It must not change while the tool is registered.
    fn definition(&self) -> Arc<ToolDef>;

    /// How it is run unless configuration says otherwise.
    fn binding(&self) -> Binding {
        Binding::default()
    }

    /// Tells what a call would do, without doing any of it.
    fn plan(&self, arguments: &Arguments) -> Result<Plan, ToolError> {
        let _ = arguments;
        Ok(Plan::default())
    }

    /// Does it.
    fn call(
        &self,
        arguments: Arguments,
        context: ToolContext,
    ) -> impl Future<Output = Outcome> + Send;
}

/// A tool that blocks its thread: it computes, or uses a synchronous library.
///
/// As [`Tool`], but it runs on a bounded pool of threads of its own. Nothing can
/// stop it from outside, so a long one should look at
/// [`ToolContext::is_cancelled`] now and then.
pub trait BlockingTool: Send + Sync + 'static {
    /// What the tool is. It must not change while the tool is registered.
    fn definition(&self) -> Arc<ToolDef>;

    /// How it is run unless configuration says otherwise.
    fn binding(&self) -> Binding {
        Binding::default()
    }

    /// Tells what a call would do, without doing any of it.
    fn plan(&self, arguments: &Arguments) -> Result<Plan, ToolError> {
        let _ = arguments;
        Ok(Plan::default())
    }

    /// Does it.
    fn call(&self, arguments: Arguments, context: ToolContext) -> Outcome;
}

/// Any tool, its type erased: what registries hold.
#[derive(Clone)]
pub struct AnyTool(Arc<dyn Erased>);

impl AnyTool {
    /// Erases an asynchronous tool.
    pub fn new(tool: impl Tool) -> Self {
        Self(Arc::new(Async(Arc::new(tool))))
    }

    /// Erases a blocking tool.
    pub fn blocking(tool: impl BlockingTool) -> Self {
        Self(Arc::new(Blocking(Arc::new(tool))))
    }

    /// Makes a tool from a definition and an asynchronous function of typed
    /// arguments.
    ///
    /// ```
    /// use toolsmith_core::{AnyTool, Outcome, Schema, ToolDef};
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Greeting {
    ///     /// Who is greeted.
    ///     name: String,
    /// }
    ///
    /// let definition = ToolDef::new("greet")?
    ///     .with_description("Greets somebody by name.")
    ///     .with_input(Schema::arguments_of::<Greeting>());
    /// let tool = AnyTool::from_fn(definition, async |greeting: Greeting, _context| {
    ///     Outcome::ok(format!("Hello, {}!", greeting.name))
    /// });
    /// assert_eq!(tool.definition().name, "greet");
    /// # Ok::<(), toolsmith_core::name::NameError>(())
    /// ```
    pub fn from_fn<A, F, R>(definition: ToolDef, function: F) -> Self
    where
        A: DeserializeOwned + Send + 'static,
        F: Fn(A, ToolContext) -> R + Send + Sync + 'static,
        R: Future<Output = Outcome> + Send + 'static,
    {
        FunctionTool::new(definition).into_async(function)
    }

    /// As [`AnyTool::from_fn`], for a function that blocks.
    pub fn from_blocking_fn<A, F>(definition: ToolDef, function: F) -> Self
    where
        A: DeserializeOwned + Send + 'static,
        F: Fn(A, ToolContext) -> Outcome + Send + Sync + 'static,
    {
        FunctionTool::new(definition).into_blocking(function)
    }

    /// What the tool is.
    pub fn definition(&self) -> Arc<ToolDef> {
        self.0.definition()
    }

    /// How it is run unless configuration says otherwise.
    pub fn binding(&self) -> Binding {
        self.0.binding()
    }

    /// Tells what a call would do.
    pub fn plan(&self, arguments: &Arguments) -> Result<Plan, ToolError> {
        self.0.plan(arguments)
    }

    /// The same tool with another definition: what it is called, is for, and is taken to
    /// do. The arguments it gets are checked against the definition it is registered by.
    #[must_use]
    pub fn redefined(&self, change: impl FnOnce(&mut ToolDef)) -> Self {
        let mut definition = (*self.definition()).clone();
        change(&mut definition);
        Self(Arc::new(Retold {
            definition: Arc::new(definition),
            mark: self.mark().into(),
            tool: self.clone(),
        }))
    }

    /// The same tool with a mark of what stands behind it: the program it runs, the address
    /// it asks. What a person approves, and answers that are kept, are for that alone.
    #[must_use]
    pub fn marked(&self, mark: impl Into<Arc<str>>) -> Self {
        Self(Arc::new(Retold {
            definition: self.definition(),
            mark: mark.into(),
            tool: self.clone(),
        }))
    }

    /// The mark of what stands behind it; empty for a function of this program.
    pub fn mark(&self) -> &str {
        self.0.mark()
    }

    /// Tells whether a call blocks a thread.
    pub fn is_blocking(&self) -> bool {
        self.0.is_blocking()
    }

    /// Tells whether this is a clone of the other, and not merely a tool like it.
    pub fn is_same_as(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// The work of one call, not yet begun. Nothing has been checked here: only
    /// the runtime's execute stage, which has seen the permission, may use it.
    pub fn work_unguarded(&self, arguments: Arguments, context: ToolContext) -> Work {
        self.0.work(arguments, context)
    }
}

impl fmt::Debug for AnyTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AnyTool")
            .field(&self.definition().name)
            .finish()
    }
}

/// The work of one call.
pub enum Work {
    /// To be polled.
    Future(Pin<Box<dyn Future<Output = Outcome> + Send>>),
    /// To be run on a thread that may block.
    Blocking(Box<dyn FnOnce() -> Outcome + Send>),
}

impl fmt::Debug for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Future(_) => "Work::Future",
            Self::Blocking(_) => "Work::Blocking",
        })
    }
}

/// What of a tool does not depend on its type.
trait Erased: Send + Sync {
    fn definition(&self) -> Arc<ToolDef>;
    fn binding(&self) -> Binding;
    fn plan(&self, arguments: &Arguments) -> Result<Plan, ToolError>;
    fn is_blocking(&self) -> bool;
    fn mark(&self) -> &str {
        ""
    }
    fn work(&self, arguments: Arguments, context: ToolContext) -> Work;
}

struct Async<T>(Arc<T>);

impl<T: Tool> Erased for Async<T> {
    fn definition(&self) -> Arc<ToolDef> {
        self.0.definition()
    }
    fn binding(&self) -> Binding {
        self.0.binding()
    }
    fn plan(&self, arguments: &Arguments) -> Result<Plan, ToolError> {
        self.0.plan(arguments)
    }
    fn is_blocking(&self) -> bool {
        false
    }
    fn work(&self, arguments: Arguments, context: ToolContext) -> Work {
        let tool = Arc::clone(&self.0);
        Work::Future(Box::pin(async move { tool.call(arguments, context).await }))
    }
}

struct Blocking<T>(Arc<T>);

impl<T: BlockingTool> Erased for Blocking<T> {
    fn definition(&self) -> Arc<ToolDef> {
        self.0.definition()
    }
    fn binding(&self) -> Binding {
        self.0.binding()
    }
    fn plan(&self, arguments: &Arguments) -> Result<Plan, ToolError> {
        self.0.plan(arguments)
    }
    fn is_blocking(&self) -> bool {
        true
    }
    fn work(&self, arguments: Arguments, context: ToolContext) -> Work {
        let tool = Arc::clone(&self.0);
        Work::Blocking(Box::new(move || tool.call(arguments, context)))
    }
}

/// A tool that is told of otherwise than it tells of itself.
struct Retold {
    definition: Arc<ToolDef>,
    mark: Arc<str>,
    tool: AnyTool,
}

impl Erased for Retold {
    fn definition(&self) -> Arc<ToolDef> {
        Arc::clone(&self.definition)
    }
    fn binding(&self) -> Binding {
        self.tool.binding()
    }
    fn plan(&self, arguments: &Arguments) -> Result<Plan, ToolError> {
        self.tool.plan(arguments)
    }
    fn is_blocking(&self) -> bool {
        self.tool.is_blocking()
    }
    fn mark(&self) -> &str {
        &self.mark
    }
    fn work(&self, arguments: Arguments, context: ToolContext) -> Work {
        self.tool.0.work(arguments, context)
    }
}

/// How a function's calls are planned, from its typed arguments.
type Planner<A> = Box<dyn Fn(&A) -> Result<Plan, ToolError> + Send + Sync>;

/// A tool made of a definition and a function, step by step.
pub struct FunctionTool<A> {
    definition: Arc<ToolDef>,
    binding: Binding,
    planner: Option<Planner<A>>,
}

impl<A: DeserializeOwned + Send + 'static> FunctionTool<A> {
    /// Starts with the definition.
    pub fn new(definition: ToolDef) -> Self {
        Self {
            definition: Arc::new(definition),
            binding: Binding::default(),
            planner: None,
        }
    }

    /// Sets how it is run by default.
    #[must_use]
    pub fn with_binding(mut self, binding: Binding) -> Self {
        self.binding = binding;
        self
    }

    /// Sets how a call is planned.
    #[must_use]
    pub fn with_plan(
        mut self,
        planner: impl Fn(&A) -> Result<Plan, ToolError> + Send + Sync + 'static,
    ) -> Self {
        self.planner = Some(Box::new(planner));
        self
    }

    /// Finishes with an asynchronous function.
    pub fn into_async<F, R>(self, function: F) -> AnyTool
    where
        F: Fn(A, ToolContext) -> R + Send + Sync + 'static,
        R: Future<Output = Outcome> + Send + 'static,
    {
        AnyTool::new(Typed {
            parts: self,
            function,
        })
    }

    /// Finishes with a function that blocks.
    pub fn into_blocking<F>(self, function: F) -> AnyTool
    where
        F: Fn(A, ToolContext) -> Outcome + Send + Sync + 'static,
    {
        AnyTool::blocking(Typed {
            parts: self,
            function,
        })
    }

    fn plan(&self, arguments: &Arguments) -> Result<Plan, ToolError> {
        match &self.planner {
            Some(planner) => planner(&typed(arguments)?),
            None => Ok(Plan::default()),
        }
    }
}

impl<A> fmt::Debug for FunctionTool<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FunctionTool")
            .field("name", &self.definition.name)
            .finish_non_exhaustive()
    }
}

struct Typed<A, F> {
    parts: FunctionTool<A>,
    function: F,
}

impl<A, F, R> Tool for Typed<A, F>
where
    A: DeserializeOwned + Send + 'static,
    F: Fn(A, ToolContext) -> R + Send + Sync + 'static,
    R: Future<Output = Outcome> + Send + 'static,
{
    fn definition(&self) -> Arc<ToolDef> {
        Arc::clone(&self.parts.definition)
    }
    fn binding(&self) -> Binding {
        self.parts.binding.clone()
    }
    fn plan(&self, arguments: &Arguments) -> Result<Plan, ToolError> {
        self.parts.plan(arguments)
    }
    async fn call(&self, arguments: Arguments, context: ToolContext) -> Outcome {
        match typed(&arguments) {
            Ok(arguments) => (self.function)(arguments, context).await,
            Err(error) => Outcome::failure(error),
        }
    }
}

impl<A, F> BlockingTool for Typed<A, F>
where
    A: DeserializeOwned + Send + 'static,
    F: Fn(A, ToolContext) -> Outcome + Send + Sync + 'static,
{
    fn definition(&self) -> Arc<ToolDef> {
        Arc::clone(&self.parts.definition)
    }
    fn binding(&self) -> Binding {
        self.parts.binding.clone()
    }
    fn plan(&self, arguments: &Arguments) -> Result<Plan, ToolError> {
        self.parts.plan(arguments)
    }
    fn call(&self, arguments: Arguments, context: ToolContext) -> Outcome {
        match typed(&arguments) {
            Ok(arguments) => (self.function)(arguments, context),
            Err(error) => Outcome::failure(error),
        }
    }
}

/// Reads arguments into their Rust type. What fits the schema can still fail
/// here, where a type checks more than its schema can say.
fn typed<A: DeserializeOwned>(arguments: &Arguments) -> Result<A, ToolError> {
    A::deserialize(arguments.as_value()).map_err(|error| {
        ToolError::new(
            ErrorKind::InvalidParameters,
            format!("the arguments do not fit: {error}"),
        )
    })
}

/// Where tools come from: a list of functions, a folder of files, a server.
///
/// Implemented by adapters. The runtime asks for all tools again when told that
/// they changed and swaps them in one step; a slow answer that was overtaken by a
/// newer one is dropped.
pub trait ToolSource: Send + Sync + 'static {
    /// What the source is called in lists and events; unique in a toolbox.
    fn name(&self) -> &str;

    /// All tools the source has now.
    fn tools(&self) -> impl Future<Output = Result<Vec<AnyTool>, SourceError>> + Send;
}

/// Why a source could not list its tools.
#[derive(Debug, thiserror::Error)]
#[error("source `{source_name}` could not list its tools: {message}")]
pub struct SourceError {
    source_name: String,
    message: String,
}

impl SourceError {
    /// The source of that name failed, and why.
    pub fn new(source_name: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            source_name: source_name.into(),
            message: message.into(),
        }
    }

    /// Why, without saying of whom.
    pub fn message(&self) -> &str {
        &self.message
    }
}
