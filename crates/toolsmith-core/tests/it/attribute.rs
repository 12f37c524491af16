//! What `#[tool]` makes of a function: its definition, binding, plan and work.

use serde_json::json;
use toolsmith::{
    Binding, Confirm, Description, Effect, ErrorKind, Kind, Plan, ToolContext, ToolDef, ToolError,
    Touch, tool,
};

use crate::support::{arguments, call};

/// Adds two numbers.
///
/// Both may be negative.
///
/// The sum may overflow.
#[tool(kind = "think")]
async fn add(
    /// The first number.
    ///
    ///   Indented: kept.
    a: f64,
    b: f64,
) -> f64 {
    a + b
}

#[test]
fn doc_comments_and_types_become_the_definition() {
    let mut expected = ToolDef::new("add")
        .unwrap()
        .with_kind(Kind::Think)
        .with_description(Description::from(
            "Adds two numbers.\n\nBoth may be negative.\n\nThe sum may overflow.",
        ));
    expected.input = serde_json::from_value(json!({
        "type": "object",
        "properties": {
            "a": {"type": "number", "description": "The first number.\n\n  Indented: kept."},
            "b": {"type": "number"},
        },
        "required": ["a", "b"],
        "additionalProperties": false,
    }))
    .unwrap();
    expected.output = Some(serde_json::from_value(json!({"type": "number"})).unwrap());
    assert_eq!(add::definition(), expected);
    assert_eq!(*add::tool().definition(), expected);
    assert_eq!(add::definition().description.short, "Adds two numbers.");
    assert_eq!(
        add::definition().description.long,
        "Both may be negative.\n\nThe sum may overflow."
    );
}

#[test]
fn the_function_stays_a_function_and_the_tool_calls_it() {
    assert_eq!(crate::support::block_on(add(1.0, 2.0)), 3.0);
    let outcome = call(&add::tool(), json!({"a": 1.0, "b": 2.5}));
    assert_eq!(outcome.value, Some(json!(3.5)));
}

#[tool]
fn nothing() {}

#[test]
fn no_parameters_are_a_closed_empty_object() {
    assert_eq!(
        nothing::definition().input,
        toolsmith::Schema::no_arguments()
    );
    let outcome = call(&nothing::tool(), json!({}));
    assert_eq!(outcome, toolsmith::Outcome::nothing());
    let outcome = call(&nothing::tool(), json!({"x": 1}));
    assert_eq!(outcome.error.unwrap().kind, ErrorKind::InvalidParameters);
}

/// Shows every way to take an argument.
#[tool]
fn every(
    context: &ToolContext,
    mut count: u32,
    r#type: String,
    #[arg(name = "self")] own: Option<bool>,
    #[arg(default = 7)] days: u8,
    #[arg(default = "here")] place: String,
    #[arg(default)] list: Vec<String>,
    #[arg(literal = "YES")] sure: String,
    #[schemars(range(min = 1, max = 10))]
    /// How much.
    amount: u8,
    #[serde(rename = "renamed", alias = "other")] by_serde: Option<i64>,
) -> String {
    count += 1;
    assert!(!context.is_cancelled());
    let kind = r#type;
    format!("{count} {kind} {own:?} {days} {place} {list:?} {sure} {amount} {by_serde:?}")
}

#[test]
fn parameters_become_properties() {
    assert_eq!(
        *every::definition().input.as_value(),
        json!({
            "type": "object",
            "properties": {
                "count": {"type": "integer", "minimum": 0, "maximum": u32::MAX},
                "type": {"type": "string"},
                "self": {"type": "boolean"},
                "days": {"type": "integer", "minimum": 0, "maximum": 255, "default": 7},
                "place": {"type": "string", "default": "here"},
                "list": {"type": "array", "items": {"type": "string"}, "default": []},
                "sure": {"type": "string", "const": "YES"},
                "amount": {"type": "integer", "description": "How much.", "minimum": 1, "maximum": 10},
                "renamed": {"type": "integer"},
            },
            "required": ["count", "type", "sure", "amount"],
            "additionalProperties": false,
        })
    );
    let properties = every::definition().input.as_value()["properties"].clone();
    let order: Vec<&String> = properties.as_object().unwrap().keys().collect();
    assert_eq!(
        order,
        [
            "count", "type", "self", "days", "place", "list", "sure", "amount", "renamed"
        ]
    );
}

#[test]
fn arguments_reach_their_parameters() {
    let outcome = call(
        &every::tool(),
        json!({"count": 1, "type": "t", "sure": "YES", "amount": 3, "other": 5}),
    );
    assert_eq!(
        outcome.value,
        Some(json!("2 t None 7 here [] YES 3 Some(5)"))
    );
    let outcome = call(
        &every::tool(),
        json!({"count": 1, "type": "t", "sure": "YES", "amount": 3, "self": true, "days": 1, "place": "p", "list": ["x"]}),
    );
    assert_eq!(
        outcome.value,
        Some(json!("2 t Some(true) 1 p [\"x\"] YES 3 None"))
    );
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Everything {
    /// Where to look.
    path: String,
    depth: Option<u8>,
}

fn look(everything: &Everything) -> Plan {
    Plan::new(format!("Read {}", everything.path)).touching(Touch::read(&everything.path))
}

/// Takes one struct.
#[tool(plan = look)]
async fn whole(#[args] everything: Everything, context: ToolContext) -> String {
    format!(
        "{} {:?} {}",
        everything.path,
        everything.depth,
        context.is_cancelled()
    )
}

#[tool(plan = look, consent = "LOOK")]
async fn whole_with_consent(#[args] everything: Everything) -> String {
    everything.path
}

#[test]
fn one_struct_can_take_all_arguments() {
    assert_eq!(
        *whole::definition().input.as_value(),
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "Where to look."},
                "depth": {"type": "integer", "minimum": 0, "maximum": 255},
            },
            "required": ["path"],
            "additionalProperties": false,
        })
    );
    let outcome = call(&whole::tool(), json!({"path": "p", "depth": 2}));
    assert_eq!(outcome.value, Some(json!("p Some(2) false")));
    let plan = whole::tool()
        .plan(&arguments(json!({"path": "p"})))
        .unwrap();
    assert_eq!(plan, Plan::new("Read p").touching(Touch::read("p")));
}

#[test]
fn one_struct_need_not_know_the_consent() {
    let tool = whole_with_consent::tool();
    let given = json!({"path": "p", "consent": "LOOK"});
    assert_eq!(call(&tool, given.clone()).value, Some(json!("p")));
    assert_eq!(tool.plan(&arguments(given)).unwrap().summary, "Read p");
    assert_eq!(
        tool.definition().input.as_value()["required"],
        json!(["path", "consent"])
    );
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Page {
    /// Where to begin.
    offset: u32,
}

#[tool(consent = "LIST")]
fn listed(folder: String, #[serde(flatten)] page: Page) -> String {
    format!("{folder} {}", page.offset)
}

#[test]
fn a_flattened_parameter_brings_its_own_arguments() {
    let definition = listed::definition();
    let names: Vec<&String> = definition.input.as_value()["properties"]
        .as_object()
        .unwrap()
        .keys()
        .collect();
    assert_eq!(names, ["folder", "offset", "consent"]);
    let given = json!({"folder": "f", "offset": 3, "consent": "LIST"});
    assert_eq!(call(&listed::tool(), given).value, Some(json!("f 3")));
}

/// Deletes a file.
#[tool(
    name = "remove_file",
    title = "Remove",
    kind = "delete",
    effect = "network",
    category = "files",
    tags = ["disk", "danger"],
    consent = "DELETE_FILE",
    consent_reason = "It is gone then.",
    timeout = "1.5s",
    prefix = "",
    version = "2.0",
    id = "remove-file",
    documentation_url = "https://example.com",
    returns = "Nothing.",
    usage_notes = ["Look first."],
    important = ["No undo."],
    destructive,
    idempotent = false,
    open_world = true,
    confirm = "always",
    crate = "toolsmith_core"
)]
fn delete(path: String) {
    drop(path);
}

#[test]
fn the_attribute_sets_the_rest() {
    assert_eq!(
        serde_json::to_value(delete::definition()).unwrap(),
        json!({
            "name": "remove_file",
            "title": "Remove",
            "source": {"type": "builtin"},
            "kind": "delete",
            "effect": "network",
            "hints": {"destructive": true, "idempotent": false, "open_world": true},
            "description": {
                "short": "Deletes a file.",
                "usage_notes": ["Look first."],
                "important": ["No undo."],
            },
            "input": {
                "type": "object",
                "properties": {
                    "path": {"type": "string"},
                    "consent": {
                        "type": "string",
                        "description": "Say this only when the user explicitly asked for it.",
                        "const": "DELETE_FILE",
                    },
                },
                "required": ["path", "consent"],
                "additionalProperties": false,
            },
            "returns": "Nothing.",
            "consent": {"argument": "consent", "literal": "DELETE_FILE", "reason": "It is gone then."},
            "meta": {
                "id": "remove-file",
                "version": "2.0",
                "category": "files",
                "tags": ["disk", "danger"],
                "documentation_url": "https://example.com",
            },
        })
    );
    let binding = Binding::default()
        .with_timeout(std::time::Duration::from_millis(1500))
        .with_prefix("");
    assert_eq!(delete::tool().binding(), binding);
    let given = json!({"path": "p", "consent": "DELETE_FILE"});
    assert!(call(&delete::tool(), given).is_success());
    // The literal is required by the type as well as by the schema.
    let outcome = call(&delete::tool(), json!({"path": "p"}));
    assert_eq!(outcome.error.unwrap().kind, ErrorKind::InvalidParameters);
}

#[tool(effect = "write")]
fn only_effect() {}

#[tool(consent = "DO_IT")]
fn own_consent(
    /// Say it.
    consent: String,
) -> String {
    consent
}

#[test]
fn an_effect_alone_implies_the_kind() {
    let definition = only_effect::definition();
    assert_eq!(
        (definition.kind, definition.effect),
        (Kind::Edit, Effect::Write)
    );
    assert_eq!(only_effect::tool().binding(), Binding::default());
}

#[test]
fn a_parameter_named_consent_carries_it() {
    assert_eq!(
        own_consent::definition().input.as_value()["properties"],
        json!({"consent": {"type": "string", "description": "Say it.", "const": "DO_IT"}})
    );
    let outcome = call(&own_consent::tool(), json!({"consent": "DO_IT"}));
    assert_eq!(outcome.value, Some(json!("DO_IT")));
}

fn careful(path: &str, force: &Option<bool>) -> Result<Plan, ToolError> {
    if path.is_empty() {
        return Err(ToolError::invalid("the path is empty"));
    }
    let plan = Plan::new(format!("Touch {path}"));
    Ok(if force.is_some() {
        plan.confirmed_because("it is forced")
    } else {
        plan
    })
}

#[tool(plan = careful, confirm = "never")]
async fn planned(_context: ToolContext, path: String, force: Option<bool>) {
    let _ = (path, force);
}

#[test]
fn a_plan_is_made_from_the_arguments() {
    let plan = |value| planned::tool().plan(&arguments(value));
    let quiet = plan(json!({"path": "p"})).unwrap();
    assert_eq!(
        (quiet.summary.as_str(), quiet.confirm),
        ("Touch p", Confirm::Never)
    );
    let forced = plan(json!({"path": "p", "force": true})).unwrap();
    let reason = "it is forced".to_owned();
    assert_eq!(forced.confirm, Confirm::Required { reason });
    let error = plan(json!({"path": ""})).unwrap_err();
    assert_eq!(error, ToolError::invalid("the path is empty"));
    let always = delete::tool()
        .plan(&arguments(json!({"path": "p", "consent": "DELETE_FILE"})))
        .unwrap();
    let reason = "the tool always asks".to_owned();
    assert_eq!(always.confirm, Confirm::Required { reason });
}

mod of_every_kind {
    use toolsmith::tool;

    #[tool(kind = "read")]
    pub(super) fn read() {}
    #[tool(kind = "edit")]
    pub(super) fn edit() {}
    #[tool(kind = "delete")]
    pub(super) fn delete() {}
    #[tool(kind = "move")]
    pub(super) fn r#move() {}
    #[tool(kind = "search")]
    pub(super) fn search() {}
    #[tool(kind = "execute")]
    pub(super) fn execute() {}
    #[tool(kind = "network")]
    pub(super) fn network() {}
    #[tool(kind = "think")]
    pub(super) fn think() {}
    #[tool(kind = "external")]
    pub(super) fn external() {}
    #[tool(kind = "other")]
    pub(super) fn other() {}
}

#[test]
fn the_attribute_takes_every_kind() {
    use of_every_kind as of;
    let made = [
        of::read::tool().definition(),
        of::edit::tool().definition(),
        of::delete::tool().definition(),
        of::r#move::tool().definition(),
        of::search::tool().definition(),
        of::execute::tool().definition(),
        of::network::tool().definition(),
        of::think::tool().definition(),
        of::external::tool().definition(),
        of::other::tool().definition(),
    ];
    for tool in made {
        // Each is named after its kind.
        assert_eq!(json!(tool.kind), json!(tool.name), "{}", tool.name);
        assert_eq!(tool.effect, tool.kind.effect(), "{}", tool.name);
    }
}

#[test]
fn the_attribute_knows_every_kind() {
    // The words are written in the macro as well; this fails when core gains one.
    let error = serde_json::from_value::<Kind>(json!("no such kind")).unwrap_err();
    for word in [
        "read", "edit", "delete", "move", "search", "execute", "network", "think", "external",
        "other",
    ] {
        assert!(error.to_string().contains(&format!("`{word}`")), "{word}");
    }
    assert_eq!(error.to_string().matches('`').count(), 22);
}
