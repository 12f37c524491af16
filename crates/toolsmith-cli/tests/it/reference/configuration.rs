//! The files people write, from the schemas the program has of them.
//!
//! An object is a section with a table of its keys, under the path that leads there. One
//! that is the same elsewhere has one section, to which the others lead.

use serde_json::Value;

use super::{check, head, row};
use crate::support::newcomer;

const OPENING: &str = "\
# Configuration

Every file a project can have, and every key of each. [Tools from files](../tools-from-files.md) shows them by
example; `toolsmith schema FILE` prints the JSON Schemas this page is made of, for editors, and
`toolsmith check` tells whether your files are in order. A file that is not there is no error.

A *duration* is written as `500ms`, `30s`, `5m` or `1h`; a *rate* as `5/s`, `100/min`, `1000/h` or `10000/d`. Where a
text may hold a secret, `${env:NAME}` and `${file:PATH}` stand for a variable and for the content of a file.
`NAME` in a heading stands for a name you choose, `[]` for each entry of a list.

";

#[test]
fn the_page_of_configuration() {
    let user = newcomer();
    let sorts = user.runs(["schema", "--json"]).ends_with(0).json();
    let sorts = sorts.as_array().unwrap();
    let mut page = Page {
        text: OPENING.to_owned(),
        ..Page::default()
    };
    page.text += &head(["file", "what it is"]);
    let mut schemas = Vec::new();
    for sort in sorts {
        let (name, files) = (sort["name"].as_str().unwrap(), sort["files"].as_str());
        let schema = user.runs(["schema", name, "--json"]).ends_with(0).json();
        let files = format!("`{}`", files.unwrap());
        let link = format!("[{files}](#{})", id(&files));
        page.text += &row([&link, &description(&schema)]);
        schemas.push((files, schema));
    }
    for (files, schema) in &schemas {
        page.file(files, schema);
    }
    check("configuration.md", &page.text);
}

/// A page under way.
#[derive(Default)]
struct Page {
    text: String,
    /// The identifiers of headings so far, without the numbers that repetitions get.
    headings: Vec<String>,
    /// Objects that have a section, or will have: how they are written, and the link there.
    known: Vec<(Value, String)>,
}

/// An object that still needs a section.
struct Further<'s> {
    path: String,
    forms: Vec<&'s Value>,
    description: String,
}

impl Page {
    fn file(&mut self, files: &str, schema: &Value) {
        self.heading("##", files);
        self.text += &format!("{}\n\n", description(schema));
        let mut file = File {
            root: schema,
            page: self,
            further: Vec::new(),
        };
        match schema.get("properties") {
            Some(_) => file.table("", &[schema]),
            None => file.entries(schema),
        }
        while !file.further.is_empty() {
            let further = file.further.remove(0);
            let rest = std::mem::take(&mut file.further);
            file.section(&further);
            // What is within an object comes before what follows it.
            file.further.extend(rest);
        }
    }

    fn heading(&mut self, level: &str, title: &str) {
        self.text += &format!("\n{level} {title}\n\n");
        self.headings.push(id(title));
    }

    /// The link to a heading that is still to come. A path is there once in a file, and
    /// those of other files have come before.
    fn link(&self, title: &str) -> String {
        let id = id(title);
        match self.headings.iter().filter(|other| **other == id).count() {
            0 => format!("#{id}"),
            number => format!("#{id}-{number}"),
        }
    }
}

/// A file of a page.
struct File<'s, 'p> {
    root: &'s Value,
    page: &'p mut Page,
    further: Vec<Further<'s>>,
}

impl<'s> File<'s, '_> {
    /// A section for an object.
    fn section(&mut self, further: &Further<'s>) {
        self.page.heading("###", &format!("`{}`", further.path));
        if !further.description.is_empty() {
            self.page.text += &format!("{}\n\n", further.description);
        }
        self.table(&further.path, &further.forms);
    }

    /// A file that has entries of any name.
    fn entries(&mut self, schema: &'s Value) {
        let Some(entry) = schema.get("additionalProperties") else {
            panic!("neither keys nor entries: {schema}");
        };
        let words = self.words("NAME", entry);
        let text = format!("Each entry has the name of a tool, and is {words}.\n");
        self.page.text += &text;
    }

    /// The keys of an object, which has one of the forms.
    fn table(&mut self, path: &str, forms: &[&'s Value]) {
        self.page.text += &head(["key", "value", "meaning"]);
        for form in forms {
            let required = form.get("required").and_then(Value::as_array);
            let properties = form.get("properties").and_then(Value::as_object);
            for (key, property) in properties.into_iter().flatten() {
                let path = match path {
                    "" => key.clone(),
                    path => format!("{path}.{key}"),
                };
                let words = self.words(&path, property);
                let mut meaning = description(property);
                // A choice of one key is described as a choice.
                if meaning.is_empty() {
                    meaning = description(form);
                }
                meaning += &choices(self.target(property));
                if let Some(default) = default(property) {
                    meaning += &format!(" Unless set: `{default}`.");
                }
                let is_needed =
                    required.is_some_and(|keys| keys.iter().any(|needed| needed == key));
                let needed = match is_needed && forms.len() == 1 {
                    true => ", needed",
                    false => "",
                };
                let row = row([&format!("`{key}`{needed}"), &words, meaning.trim()]);
                self.page.text += &row;
            }
        }
    }

    /// What a value is, in words; objects in it get their sections.
    fn words(&mut self, path: &str, schema: &'s Value) -> String {
        let is_root = |schema: &Value| schema.get("$ref").is_some_and(|link| link == "#");
        if is_root(schema) {
            return "objects with the keys of this file".to_owned();
        }
        let alternatives = self.alternatives(schema);
        let (objects, others): (Vec<&'s Value>, Vec<&'s Value>) = alternatives
            .into_iter()
            .partition(|schema| schema.get("properties").is_some());
        let mut words: Vec<String> = Vec::new();
        let types: Vec<Option<&str>> = others.iter().map(|schema| type_of(schema)).collect();
        // A text for which YAML has other ideas is a text all the same.
        if types == [Some("string"), Some("number"), Some("boolean")] {
            return "text".to_owned();
        }
        for schema in others {
            let word = self.word(path, schema);
            if !words.contains(&word) {
                words.push(word);
            }
        }
        if !objects.is_empty() {
            words.push(self.object(path, objects));
        }
        either(&words)
    }

    /// Words for an object, which gets a section.
    fn object(&mut self, path: &str, forms: Vec<&'s Value>) -> String {
        let text = match &forms[..] {
            [form] => description(form),
            _ => "One of these keys.".to_owned(),
        };
        let whole: Vec<Value> = forms.iter().map(|form| self.whole(form)).collect();
        let whole = Value::from(whole);
        if let Some((_, link)) = self.page.known.iter().find(|(known, _)| *known == whole) {
            return link.clone();
        }
        let link = format!("[`{path}`]({})", self.page.link(path));
        self.page.known.push((whole, link.clone()));
        self.further.push(Further {
            path: path.to_owned(),
            forms,
            description: text,
        });
        link
    }

    /// Words for what is neither a choice nor an object with keys.
    fn word(&mut self, path: &str, schema: &'s Value) -> String {
        if let Some(word) = schema.get("const") {
            return format!("`{}`", plain(word));
        }
        if let Some(words) = schema.get("enum").and_then(Value::as_array) {
            return enumeration(words);
        }
        let range = range(schema);
        match type_of(schema) {
            Some("string") => match schema.get("title").and_then(Value::as_str) {
                Some(title) => title.to_owned(),
                None => "text".to_owned(),
            },
            Some("boolean") => "`true` or `false`".to_owned(),
            Some("integer") => format!("whole number{range}"),
            Some("number") => format!("number{range}"),
            Some("array") => match schema.get("items") {
                Some(items) => {
                    let words = self.words(&format!("{path}[]"), items);
                    format!("list of {}", plural(&words))
                }
                None => "list".to_owned(),
            },
            Some("object") => match entries(schema) {
                Some(entries) => {
                    let words = self.words(&format!("{path}.NAME"), entries);
                    format!("{} by name", plural(&words))
                }
                None => "object".to_owned(),
            },
            _ => "anything".to_owned(),
        }
    }

    /// What a value may be, references and choices resolved, without `null`: a key without a
    /// value is as one that is not there.
    fn alternatives(&self, schema: &'s Value) -> Vec<&'s Value> {
        let schema = self.target(schema);
        if is_enumeration(schema) {
            return schema["oneOf"].as_array().unwrap().iter().collect();
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(branches) = schema.get(keyword).and_then(Value::as_array) {
                return branches
                    .iter()
                    .filter(|branch| branch.get("type").is_none_or(|word| word != "null"))
                    .flat_map(|branch| self.alternatives(branch))
                    .collect();
            }
        }
        vec![schema]
    }

    /// What a schema refers to, or itself.
    fn target(&self, schema: &'s Value) -> &'s Value {
        let link = schema.get("$ref").and_then(Value::as_str);
        match link.and_then(|link| link.strip_prefix('#')) {
            Some("") => schema,
            Some(pointer) => self.target(self.root.pointer(pointer).unwrap()),
            None => match optional(schema) {
                Some(target) => self.target(target),
                None => schema,
            },
        }
    }

    /// A schema with what it refers to in it, to compare it with those of other files.
    fn whole(&self, schema: &Value) -> Value {
        match schema {
            Value::Object(fields) => match fields.get("$ref").and_then(Value::as_str) {
                Some(link) if link != "#" => {
                    let target = self.root.pointer(link.trim_start_matches('#')).unwrap();
                    self.whole(target)
                }
                _ => {
                    let fields = fields.iter();
                    fields
                        .map(|(key, value)| (key.clone(), self.whole(value)))
                        .collect()
                }
            },
            Value::Array(items) => items.iter().map(|item| self.whole(item)).collect(),
            other => other.clone(),
        }
    }
}

/// The type of a value that is there.
fn type_of(schema: &Value) -> Option<&str> {
    let types = match schema.get("type")? {
        Value::Array(types) => &types[..],
        one => std::slice::from_ref(one),
    };
    let mut types = types.iter().filter_map(Value::as_str);
    types.find(|word| *word != "null")
}

/// What `anyOf: [X, null]` is about.
fn optional(schema: &Value) -> Option<&Value> {
    let branches = schema.get("anyOf")?.as_array()?;
    let [first, second] = &branches[..] else {
        return None;
    };
    (second.get("type")? == "null").then_some(first)
}

/// Whether all a schema says is which words there are, each with its meaning.
fn is_enumeration(schema: &Value) -> bool {
    let choices = schema.get("oneOf").and_then(Value::as_array);
    let is_word = |choice: &Value| choice.get("const").is_some() || choice.get("enum").is_some();
    choices.is_some_and(|choices| choices.iter().all(is_word))
}

/// What the words of an enumeration mean.
fn choices(schema: &Value) -> String {
    if !is_enumeration(schema) {
        return String::new();
    }
    let choices = schema["oneOf"].as_array().unwrap();
    let meaning = |choice: &Value| {
        let words = match choice.get("enum").and_then(Value::as_array) {
            Some(words) => enumeration(words),
            None => format!("`{}`", plain(&choice["const"])),
        };
        format!("<br>{words}: {}", description(choice))
    };
    choices.iter().map(meaning).collect()
}

/// The words that may stand somewhere; capitals make no difference where both are taken.
fn enumeration(words: &[Value]) -> String {
    let words: Vec<String> = words.iter().map(plain).collect();
    let is_first = |word: &&String| {
        let capitals = word.to_ascii_uppercase();
        **word == capitals || !words.contains(&capitals)
    };
    let words: Vec<String> = words
        .iter()
        .filter(is_first)
        .map(|word| format!("`{word}`"))
        .collect();
    either(&words)
}

/// One of several.
fn either(words: &[String]) -> String {
    match words {
        [first @ .., second, last] => {
            let first: String = first.iter().map(|word| format!("{word}, ")).collect();
            format!("{first}{second} or {last}")
        }
        words => words.concat(),
    }
}

/// The schema of entries of any name.
fn entries(schema: &Value) -> Option<&Value> {
    if let Some(patterns) = schema.get("patternProperties").and_then(Value::as_object) {
        return patterns.values().next();
    }
    schema
        .get("additionalProperties")
        .filter(|entry| entry.is_object())
}

/// The bounds of a number, where they tell something.
fn range(schema: &Value) -> String {
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    // Beyond this a bound is that of a type.
    let most = bound("maximum").filter(|most| *most < 1e9);
    match (bound("minimum"), most, bound("exclusiveMinimum")) {
        (Some(least), Some(most), _) => format!(" from {least} to {most}"),
        (Some(least), None, _) => format!(" from {least}"),
        (None, Some(most), Some(above)) => format!(" above {above}, up to {most}"),
        (None, Some(most), None) => format!(" up to {most}"),
        _ => String::new(),
    }
}

/// The default, where it is more than nothing.
fn default(schema: &Value) -> Option<String> {
    let default = schema.get("default")?;
    let is_nothing = default.is_null() || *default == false || *default == "";
    let is_empty = default.as_array().is_some_and(Vec::is_empty);
    (!is_nothing && !is_empty).then(|| plain(default))
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn plural(words: &str) -> String {
    match words {
        "text" => "texts".to_owned(),
        "object" => "objects".to_owned(),
        other => other.to_owned(),
    }
}

fn description(schema: &Value) -> String {
    let text = schema.get("description").and_then(Value::as_str);
    let text = text.unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What a heading is linked by.
fn id(title: &str) -> String {
    let title = title.to_lowercase();
    let kept = title.chars().filter_map(|c| match c {
        ' ' => Some('-'),
        c if c.is_alphanumeric() || matches!(c, '_' | '-') => Some(c),
        _ => None,
    });
    kept.collect()
}
