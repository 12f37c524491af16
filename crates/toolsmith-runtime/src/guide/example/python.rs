//! Calls in Python's literal syntax: `name(key=value, …)`, and nothing that would have to
//! be computed. Texts and numbers are read in `literal`.
//!
//! Everything is inside the parentheses of the call, so line breaks and comments may stand
//! anywhere between its parts.

use serde_json::{Map, Value};

use super::DEEPEST;

/// What comes of reading, or why nothing does.
pub(super) type Read<T> = Result<T, String>;

/// Reads a call of the tool `name`.
pub(super) fn call(name: &str, code: &str) -> Read<Map<String, Value>> {
    let mut reader = Reader { text: code, at: 0 };
    let called = reader.name();
    reader.same_line_space();
    if called.is_empty() || !reader.take("(") {
        return Err(format!("it is no call of the form {name}(key=value, …)"));
    }
    if called != name {
        let called: String = called.chars().take(80).collect();
        return Err(format!("it calls `{called}`, not `{name}`"));
    }
    let arguments = reader.arguments()?;
    reader.space();
    if reader.rest().is_empty() {
        return Ok(arguments);
    }
    Err(reader.problem("there is more than one call"))
}

/// Where reading is.
pub(super) struct Reader<'s> {
    text: &'s str,
    at: usize,
}

impl<'s> Reader<'s> {
    pub(super) fn rest(&self) -> &'s str {
        &self.text[self.at..]
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    /// Goes past `text`, if it is next.
    pub(super) fn take(&mut self, text: &str) -> bool {
        let is_next = self.rest().starts_with(text);
        if is_next {
            self.at += text.len();
        }
        is_next
    }

    pub(super) fn take_while(&mut self, belongs: impl Fn(char) -> bool) -> &'s str {
        let rest = self.rest();
        let end = rest.find(|c| !belongs(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// What is wrong, and on which line.
    pub(super) fn problem(&self, what: &str) -> String {
        let line = self.text[..self.at].matches('\n').count() + 1;
        format!("{what}, in line {line}")
    }

    /// What a tool can be called.
    fn name(&mut self) -> &'s str {
        self.take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-'))
    }

    fn same_line_space(&mut self) {
        self.take_while(|c| matches!(c, ' ' | '\t'));
    }

    /// Spaces, line breaks and comments.
    pub(super) fn space(&mut self) {
        loop {
            self.take_while(|c| matches!(c, ' ' | '\t' | '\n' | '\r'));
            if self.peek() == Some('#') {
                self.take_while(|c| c != '\n');
            } else if !self.take("\\\n") && !self.take("\\\r\n") {
                return;
            }
        }
    }

    fn arguments(&mut self) -> Read<Map<String, Value>> {
        let mut arguments = Map::new();
        loop {
            self.space();
            if self.take(")") {
                return Ok(arguments);
            }
            if self.take("**") {
                self.space();
                if !self.take("{") {
                    return Err(self.problem("only {…} can follow **"));
                }
                for (key, value) in self.dict(1)? {
                    self.insert(&mut arguments, key, value)?;
                }
            } else {
                let key = self.key()?.to_owned();
                let value = self.value(1)?;
                self.insert(&mut arguments, key, value)?;
            }
            self.space();
            if !self.take(",") {
                if self.peek() == Some(')') {
                    continue;
                }
                return Err(self.problem("`,` or `)` is missing"));
            }
        }
    }

    /// A keyword and its `=`.
    fn key(&mut self) -> Read<&'s str> {
        let begin = self.at;
        let key = self.take_while(|c| c.is_alphanumeric() || c == '_');
        self.space();
        let is_keyword = self.rest().starts_with('=') && !self.rest().starts_with("==");
        if key.is_empty() || !is_keyword || key.starts_with(|c: char| c.is_numeric()) {
            self.at = begin;
            return Err(self.problem("arguments are written key=value"));
        }
        if RESERVED.contains(&key) {
            let instead = format!("`{key}` is a word of Python; write **{{\"{key}\": …}}");
            return Err(self.problem(&instead));
        }
        self.take("=");
        Ok(key)
    }

    fn insert(&self, object: &mut Map<String, Value>, key: String, value: Value) -> Read<()> {
        if object.contains_key(&key) {
            let key: String = key.chars().take(80).collect();
            return Err(self.problem(&format!("{key:?} is given twice")));
        }
        object.insert(key, value);
        Ok(())
    }

    /// A literal.
    fn value(&mut self, depth: usize) -> Read<Value> {
        if depth > DEEPEST {
            return Err(self.problem(&format!("it nests deeper than {DEEPEST} levels")));
        }
        self.space();
        match self.peek() {
            Some('"' | '\'') => self.texts().map(Value::String),
            Some('0'..='9' | '.' | '-' | '+') => self.number(),
            Some('[') => {
                self.next();
                self.items("]", depth).map(|(items, _)| Value::Array(items))
            }
            Some('(') => {
                self.next();
                // Without a comma, parentheses only group.
                let (mut items, comma) = self.items(")", depth)?;
                match items.pop() {
                    Some(only) if items.is_empty() && !comma => Ok(only),
                    last => {
                        items.extend(last);
                        Ok(Value::Array(items))
                    }
                }
            }
            Some('{') => {
                self.next();
                self.dict(depth).map(Value::Object)
            }
            Some(_) => self.word(),
            None => Err(self.problem("a value is missing")),
        }
    }

    /// The values up to `end`, and whether there was a comma after the last.
    fn items(&mut self, end: &str, depth: usize) -> Read<(Vec<Value>, bool)> {
        let mut items = Vec::new();
        let mut comma = false;
        loop {
            self.space();
            if self.take(end) {
                return Ok((items, comma));
            }
            if !items.is_empty() && !comma {
                return Err(self.problem(&format!("`,` or `{end}` is missing")));
            }
            items.push(self.value(depth + 1)?);
            self.space();
            comma = self.take(",");
        }
    }

    fn dict(&mut self, depth: usize) -> Read<Map<String, Value>> {
        let mut fields = Map::new();
        let mut comma = true;
        loop {
            self.space();
            if self.take("}") {
                return Ok(fields);
            }
            if !comma {
                return Err(self.problem("`,` or `}` is missing"));
            }
            let key = match self.value(depth + 1)? {
                Value::String(key) => key,
                _ => return Err(self.problem("keys are texts")),
            };
            self.space();
            if !self.take(":") {
                return Err(self.problem("`:` is missing"));
            }
            let value = self.value(depth + 1)?;
            self.insert(&mut fields, key, value)?;
            self.space();
            comma = self.take(",");
        }
    }

    /// A constant, or a text with a prefix.
    fn word(&mut self) -> Read<Value> {
        let begin = self.at;
        let word = self.take_while(|c| c.is_alphanumeric() || c == '_');
        if matches!(self.peek(), Some('"' | '\'')) && word.len() <= 2 {
            self.at = begin;
            return self.texts().map(Value::String);
        }
        match word {
            "True" => Ok(Value::Bool(true)),
            "False" => Ok(Value::Bool(false)),
            "None" => Ok(Value::Null),
            "" => {
                let found = self.peek().unwrap_or_default();
                Err(self.problem(&format!("{found:?} begins no value")))
            }
            word => {
                let word: String = word.chars().take(80).collect();
                Err(self.problem(&format!("`{word}` is no literal")))
            }
        }
    }
}

/// What Python takes for itself, and no keyword argument can be called.
pub(super) const RESERVED: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
    "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import",
    "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while",
    "with", "yield",
];
