//! Paths that cut a part out of JSON: `/items/0/name`, `items[0].name`, `items[].name`.
//!
//! A star or empty brackets mean every element of a list or value of an object.

use serde_json::Value;

/// How many steps a path has, and how long it is.
const MOST_STEPS: usize = 32;
const LONGEST: usize = 500;

/// How many values come of stars.
const MOST_VALUES: usize = 10_000;

/// How many keys of an object are told where one is missing, and how long each is.
const SHOWN_KEYS: usize = 10;
const LONGEST_SHOWN: usize = 60;

/// A part of a value.
#[derive(Debug)]
pub(crate) struct SelectPath(Vec<Step>);

#[derive(Debug, PartialEq)]
enum Step {
    Key(String),
    All,
}

/// Why a path cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct PathError(String);

impl SelectPath {
    /// Reads a path.
    pub(crate) fn parse(text: &str) -> Result<Self, PathError> {
        if text.len() > LONGEST {
            return Err(PathError(format!("it is longer than {LONGEST} characters")));
        }
        let steps = match text.strip_prefix('/') {
            Some(pointer) => pointer
                .split('/')
                .map(|step| key(&step.replace("~1", "/").replace("~0", "~")))
                .collect(),
            None if text.is_empty() => Vec::new(),
            None => dotted(text)?,
        };
        match steps.len() > MOST_STEPS {
            true => Err(PathError(format!("it has more than {MOST_STEPS} steps"))),
            false => Ok(Self(steps)),
        }
    }

    /// What lies there, or where the way ends and what is there instead.
    pub(crate) fn find(&self, value: &Value) -> Result<Value, PathError> {
        let mut found: Vec<&Value> = vec![value];
        let is_many = self.0.contains(&Step::All);
        for step in &self.0 {
            let mut next = Vec::new();
            for value in &found {
                match step {
                    Step::All => match value {
                        Value::Array(list) => next.extend(list),
                        Value::Object(map) => next.extend(map.values()),
                        _ => {}
                    },
                    Step::Key(key) => next.extend(child(value, key)),
                }
                if next.len() > MOST_VALUES {
                    return Err(PathError(format!("more than {MOST_VALUES} values fit")));
                }
            }
            if next.is_empty() && !is_many {
                return Err(missing(
                    step,
                    found.first().copied().unwrap_or(&Value::Null),
                ));
            }
            found = next;
        }
        match is_many {
            true => Ok(Value::Array(found.into_iter().cloned().collect())),
            false => Ok(found.first().copied().cloned().unwrap_or(Value::Null)),
        }
    }
}

fn child<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    match value {
        Value::Object(map) => map.get(key),
        Value::Array(list) => list.get(key.parse::<usize>().ok()?),
        _ => None,
    }
}

fn missing(step: &Step, value: &Value) -> PathError {
    let Step::Key(key) = step else {
        return PathError("there is nothing".to_owned());
    };
    let there = match value {
        Value::Object(map) => {
            let keys: Vec<String> = map.keys().take(SHOWN_KEYS).map(|key| shown(key)).collect();
            let more = match map.len().saturating_sub(SHOWN_KEYS) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            match keys.is_empty() {
                true => "an empty object".to_owned(),
                false => format!("an object with {}{more}", keys.join(", ")),
            }
        }
        Value::Array(list) => format!("a list of {}", list.len()),
        Value::String(_) => "a text".to_owned(),
        other => other.to_string(),
    };
    PathError(format!("there is no `{key}` in {there}"))
}

/// A key of a server's, as far as a note repeats it.
fn shown(key: &str) -> String {
    let mut letters = key.escape_debug();
    let shown: String = letters.by_ref().take(LONGEST_SHOWN).collect();
    let more = if letters.next().is_some() { "…" } else { "" };
    format!("`{shown}{more}`")
}

fn key(text: &str) -> Step {
    match text {
        "*" => Step::All,
        _ => Step::Key(text.to_owned()),
    }
}

/// Reads `a.b[0].c`; a leading `.` or `$` is what other tools write.
fn dotted(text: &str) -> Result<Vec<Step>, PathError> {
    let mut steps = Vec::new();
    let mut rest = text.strip_prefix('$').unwrap_or(text);
    rest = rest.strip_prefix('.').unwrap_or(rest);
    while !rest.is_empty() {
        if let Some(inside) = rest.strip_prefix('[') {
            if let Some((name, after)) = quoted(inside)? {
                steps.push(Step::Key(name.to_owned()));
                rest = after.strip_prefix('.').unwrap_or(after);
                continue;
            }
            let end = inside
                .find(']')
                .ok_or_else(|| PathError("a `]` is missing".to_owned()))?;
            let name = &inside[..end];
            steps.push(if name.is_empty() {
                Step::All
            } else {
                key(name)
            });
            rest = &inside[end + 1..];
            rest = rest.strip_prefix('.').unwrap_or(rest);
            continue;
        }
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        if end == 0 {
            return Err(PathError("a name is missing before `.`".to_owned()));
        }
        steps.push(key(&rest[..end]));
        rest = &rest[end..];
        rest = rest.strip_prefix('.').unwrap_or(rest);
    }
    Ok(steps)
}

/// Reads a key in quotes with the bracket after it, and what follows. Such a key is never
/// a star, and may hold any sign but its own quote.
fn quoted(inside: &str) -> Result<Option<(&str, &str)>, PathError> {
    let Some(quote) = inside.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
        return Ok(None);
    };
    let Some((name, after)) = inside[1..].split_once(quote) else {
        return Err(PathError(format!("a `{quote}` is missing")));
    };
    match after.strip_prefix(']') {
        Some(after) => Ok(Some((name, after))),
        None => Err(PathError(format!("a `]` is missing after `{quote}`"))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parts_are_cut_out() {
        let value = json!({"items": [{"name": "a", "x/y": 1, "k]'": 4}, {"name": "b"}], "n": {"p": 1, "q": 2}, "": 3, "*": 5});
        for (path, part) in [
            ("", value.clone()),
            ("$", value.clone()),
            ("/items/0/name", json!("a")),
            ("/items/0/x~1y", json!(1)),
            ("/", json!(3)),
            ("items[1].name", json!("b")),
            (".items[0]['x/y']", json!(1)),
            ("items[0][\"k]'\"]", json!(4)),
            ("['*']", json!(5)),
            ("['']", json!(3)),
            ("$.items.1.name", json!("b")),
            ("items[].name", json!(["a", "b"])),
            ("items.*.name", json!(["a", "b"])),
            ("n.*", json!([1, 2])),
            ("/items/*/nothing", json!([])),
        ] {
            assert_eq!(
                SelectPath::parse(path).unwrap().find(&value).unwrap(),
                part,
                "{path}"
            );
        }
        for (path, told) in [
            ("/items/5", "there is no `5` in a list of 2"),
            ("n.z", "there is no `z` in an object with `p`, `q`"),
            ("n.p.r", "there is no `r` in 1"),
        ] {
            let error = SelectPath::parse(path).unwrap().find(&value).unwrap_err();
            assert_eq!(error.to_string(), told);
        }
        let many: serde_json::Map<String, Value> = (0..50)
            .map(|number| (format!("{number}{}", "\n".repeat(100)), Value::Null))
            .collect();
        let error = SelectPath::parse("z").unwrap().find(&Value::Object(many));
        let told = error.unwrap_err().to_string();
        assert!(told.ends_with(" and 40 more"), "{told}");
        assert!(told.len() < 900 && !told.contains('\n'), "{told}");
        for path in [
            "a[",
            "a['b]",
            "a['b'",
            "a..b",
            &"a.".repeat(40),
            &"a".repeat(600),
        ] {
            assert!(SelectPath::parse(path).is_err(), "{path}");
        }
    }
}
