//! The `#[tool]` attribute of Toolsmith.
//!
//! Reads a function (`function`, `parameter`) and what the attribute says about it
//! (`options`, `value`), and writes a type of the same name beside it (`expand`). All that
//! happens at run time is in `toolsmith-core`; the expansion only calls it.

mod docs;
mod expand;
mod function;
mod options;
mod parameter;
mod value;

use proc_macro::TokenStream;

/// Makes a tool of a function.
///
/// The doc comment becomes the description, the parameters become the schema of
/// the arguments, the return type becomes the schema of the value. The function
/// stays as it is; a type of the same name beside it has `tool()` and
/// `definition()`.
///
/// ```ignore
/// /// Adds two numbers.
/// #[tool(kind = "think")]
/// async fn add(
///     /// The first.
///     a: f64,
///     /// The second.
///     #[arg(default = 1.0)]
///     b: f64,
/// ) -> f64 {
///     a + b
/// }
///
/// let toolbox = Toolbox::new([add::tool()])?;
/// ```
///
/// # What the attribute takes
///
/// | attribute | sets |
/// |---|---|
/// | `name = "add"` | the name, instead of the function's |
/// | `title = "…"` | what people see instead of the name |
/// | `kind = "read"` | `read`, `edit`, `delete`, `move`, `search`, `execute`, `network`, `think`, `external` or `other` |
/// | `effect = "write"` | `read`, `write`, `execute` or `network`, where the kind does not tell it; the two may not contradict each other |
/// | `destructive`, `idempotent`, `open_world` | finer statements about the effect; also `= false` |
/// | `category = "…"`, `tags = ["…"]` | where it stands in lists |
/// | `consent = "DELETE_FILE"`, `consent_reason = "…"` | the literal a caller must say, and why |
/// | `timeout = "5s"`, `prefix = ""` | how it is run and offered by default |
/// | `confirm = "always"` | whether a person is asked: `always` or `never` |
/// | `plan = path::to::function` | the function that plans a call from references to the arguments |
/// | `returns = "…"`, `usage_notes = ["…"]`, `important = ["…"]` | more for the description |
/// | `version`, `id`, `documentation_url` | metadata |
/// | `declare` | adds the tool to the declared ones |
/// | `crate = "…"` | the path of the crate, where it is not `toolsmith` |
///
/// # What a parameter takes
///
/// A doc comment; `#[arg(name = "…")]`, `#[arg(default = EXPRESSION)]` and
/// `#[arg(literal = "…")]`; any field attribute of serde and schemars. `#[args]`
/// makes one struct of all the arguments. A parameter of type `ToolContext` or
/// `&ToolContext` is the tool's side of the call and no argument.
#[proc_macro_attribute]
pub fn tool(attribute: TokenStream, item: TokenStream) -> TokenStream {
    expand::tool(attribute.into(), &item.into()).into()
}
