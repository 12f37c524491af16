//! The body of a request: which of its forms is sent, and what of it are arguments.

use serde_json::{Map, Value, json};

use super::arguments::Argument;
use super::notes::Notes;
use super::outline::Place;
use super::parameters::{Shape, shape};
use super::schema::{Field, Piece, Pool, plain_object};
use super::{refer, text};
use crate::form::{BodyForm, ListStyle, ObjectStyle, PlaceName};

/// How many forms of a body are looked at.
const MAX_KINDS: usize = 100;

/// What a body comes to.
#[derive(Debug, Default)]
pub(super) struct Body {
    pub(super) form: Option<BodyForm>,
    /// A content type that is not the usual one of the form.
    pub(super) content_type: Option<String>,
    pub(super) arguments: Vec<Argument>,
}

/// The body of an operation, or why it cannot be sent.
pub(super) fn body<'d>(
    root: &'d Value,
    place: &Place<'d>,
    whole: &str,
    pool: &mut Pool<'d>,
    notes: &mut Notes,
) -> Result<Body, String> {
    let given = match place.operation.get("requestBody") {
        None | Some(Value::Null) => return Ok(Body::default()),
        Some(given) => refer::follow(root, given)
            .map_err(|problem| format!("its body cannot be found: {problem}"))?,
    };
    let is_required = refer::is_true(given, "required");
    if matches!(place.method.as_str(), "GET" | "HEAD") {
        if is_required {
            return Err(format!(
                "a {} request that needs a body is not supported",
                place.method
            ));
        }
        notes.add(format!(
            "{whole}: the body is optional and left out, as such requests have none"
        ));
        return Ok(Body::default());
    }
    let Some(content) = refer::object(given, "content").filter(|content| !content.is_empty())
    else {
        return Err("its body has no `content`".to_owned());
    };
    let (kind, form, media) = choose(content)?;
    if content.len() > 1 {
        notes.add(format!(
            "{whole}: of {} forms of the body, {kind} is sent",
            content.len()
        ));
    }
    let mut sender = Sender {
        root,
        whole,
        is_required,
        description: refer::string(given, "description"),
        media,
        pool,
        notes,
    };
    let arguments = match form {
        BodyForm::Json => sender.json(),
        BodyForm::Text => vec![sender.text()],
        BodyForm::Form | BodyForm::Multipart => sender.form(form)?,
    };
    // Patches and the like are told apart by their type.
    let is_special = form == BodyForm::Json && kind.ends_with("+json");
    let is_special =
        is_special || (form == BodyForm::Text && kind != "text/plain" && !kind.contains('*'));
    Ok(Body {
        form: Some(form).filter(|form| *form != BodyForm::Json),
        content_type: is_special.then_some(kind),
        arguments,
    })
}

/// The form that is sent: JSON where there is a choice.
fn choose(content: &Map<String, Value>) -> Result<(String, BodyForm, &Value), String> {
    let rank = |kind: &str| match kind {
        "application/json" | "text/json" => Some((0, BodyForm::Json)),
        "*/*" | "application/*" => Some((1, BodyForm::Json)),
        kind if kind.ends_with("+json") && is_kind(kind) => Some((2, BodyForm::Json)),
        "application/x-www-form-urlencoded" => Some((3, BodyForm::Form)),
        "multipart/form-data" => Some((4, BodyForm::Multipart)),
        "text/plain" | "text/*" => Some((5, BodyForm::Text)),
        kind if kind.starts_with("text/") && is_kind(kind) => Some((6, BodyForm::Text)),
        _ => None,
    };
    let usable = content.iter().take(MAX_KINDS).filter_map(|(kind, media)| {
        let kind = kind.split(';').next().unwrap_or_default();
        let kind = kind.trim().to_ascii_lowercase();
        let (rank, form) = rank(&kind)?;
        Some((rank, kind, form, media))
    });
    let best = usable.min_by_key(|(rank, ..)| *rank);
    best.map(|(_, kind, form, media)| (kind, form, media))
        .ok_or_else(|| {
            let kinds: Vec<String> = content
                .keys()
                .take(5)
                .map(|kind| text::line(kind, 60))
                .collect();
            format!("its body is {}, which is not supported", kinds.join(" or "))
        })
}

fn is_kind(kind: &str) -> bool {
    kind.len() <= 100
        && kind
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"/+.-_".contains(&b))
}

struct Sender<'s, 'd> {
    root: &'d Value,
    whole: &'s str,
    is_required: bool,
    description: Option<&'d str>,
    media: &'d Value,
    pool: &'s mut Pool<'d>,
    notes: &'s mut Notes,
}

impl<'d> Sender<'_, 'd> {
    fn json(&mut self) -> Vec<Argument> {
        let fields = self.fields();
        // Fields one by one cannot say that all of them may be missing, but not some.
        let fields =
            fields.filter(|fields| self.is_required || !fields.iter().any(|f| f.is_required));
        match fields {
            Some(fields) => fields.iter().map(|field| self.field(field)).collect(),
            None => vec![self.whole_body(None)],
        }
    }

    fn fields(&self) -> Option<Vec<Field<'d>>> {
        plain_object(self.root, self.media.get("schema")?)
    }

    fn field(&mut self, field: &Field<'d>) -> Argument {
        Argument {
            wire: field.name.to_owned(),
            place: PlaceName::Body,
            list: None,
            object: None,
            is_required: field.is_required,
            piece: self.pool.convert(field.schema, self.notes),
        }
    }

    fn text(&mut self) -> Argument {
        let piece = Piece::default().with_value(json!({ "type": "string" }));
        self.whole_body(Some(piece))
    }

    fn whole_body(&mut self, piece: Option<Piece>) -> Argument {
        let mut piece = piece.unwrap_or_else(|| match self.media.get("schema") {
            Some(schema) => self.pool.convert(schema, self.notes),
            None => Piece::default().with_value(json!({})),
        });
        if let (Value::Object(object), Some(description)) = (&mut piece.value, self.description)
            && !object.contains_key("description")
        {
            let description = text::bounded(description, 1000);
            object.insert("description".to_owned(), description.into());
        }
        Argument {
            wire: "body".to_owned(),
            place: PlaceName::WholeBody,
            list: None,
            object: None,
            is_required: self.is_required,
            piece,
        }
    }

    fn form(&mut self, form: BodyForm) -> Result<Vec<Argument>, String> {
        let Some(fields) = self.fields() else {
            return Err("its body is a form, and not described by plain fields".to_owned());
        };
        let mut arguments = Vec::new();
        for field in fields {
            if is_file(self.root, field.schema) {
                let name = text::line(field.name, 60);
                if field.is_required {
                    return Err(format!(
                        "it needs a file in `{name}`, and files are not supported"
                    ));
                }
                self.notes.add(format!(
                    "{}: `{name}` takes a file; it is optional and left out",
                    self.whole
                ));
                continue;
            }
            let mut argument = self.field(&field);
            argument.is_required &= self.is_required;
            if form == BodyForm::Form {
                (argument.list, argument.object) = self.encoding(&field);
            }
            arguments.push(argument);
        }
        Ok(arguments)
    }

    /// How a field of a form is written that is more than a text.
    fn encoding(&self, field: &Field<'d>) -> (Option<ListStyle>, Option<ObjectStyle>) {
        let encoding = refer::object(self.media, "encoding").and_then(|map| map.get(field.name));
        let style = encoding.and_then(|encoding| refer::string(encoding, "style"));
        let explode = encoding.and_then(|encoding| encoding.get("explode")?.as_bool());
        let is_deep = style == Some("deepObject");
        match shape(self.root, field.schema) {
            Shape::Plain => (None, None),
            Shape::List => match (style, explode) {
                (Some("deepObject"), _) => (Some(ListStyle::Brackets), None),
                (Some("spaceDelimited"), _) => (Some(ListStyle::Space), None),
                (Some("pipeDelimited"), _) => (Some(ListStyle::Pipe), None),
                (_, Some(false)) => (Some(ListStyle::Comma), None),
                _ => (None, None),
            },
            Shape::Object if is_deep => (None, Some(ObjectStyle::Deep)),
            Shape::Object if style == Some("form") => (None, Some(ObjectStyle::Form)),
            Shape::Object => (None, Some(ObjectStyle::Json)),
        }
    }
}

/// Tells whether a field takes a file, or files.
fn is_file(root: &Value, schema: &Value) -> bool {
    let is_binary = |schema: &Value| {
        let Ok(schema) = refer::follow(root, schema) else {
            return false;
        };
        let kind = refer::string(schema, "contentMediaType").unwrap_or_default();
        let is_other = !kind.is_empty() && !kind.starts_with("text/") && !kind.contains("json");
        refer::string(schema, "format") == Some("binary")
            || (is_other && refer::string(schema, "contentEncoding").is_none())
    };
    let items = refer::follow(root, schema)
        .ok()
        .and_then(|schema| schema.get("items"));
    is_binary(schema) || items.is_some_and(is_binary)
}
