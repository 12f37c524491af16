//! Texts and numbers of Python's literal syntax.

use serde_json::{Number, Value};

use super::python::{Read, Reader};

impl Reader<'_> {
    /// A text, or several one after the other, which are one.
    pub(super) fn texts(&mut self) -> Read<String> {
        let mut text = String::new();
        loop {
            self.text(&mut text)?;
            self.space();
            let rest = self.rest();
            let prefix = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(0);
            if prefix > 2 || !rest[prefix..].starts_with(['"', '\'']) {
                return Ok(text);
            }
        }
    }

    /// One text, with its prefix and its quotes.
    fn text(&mut self, into: &mut String) -> Read<()> {
        let prefix = self.take_while(|c| c.is_ascii_alphabetic());
        let is_raw = match prefix {
            "" | "u" | "U" => false,
            "r" | "R" => true,
            _ => return Err(self.problem(&format!("a text with the prefix `{prefix}` is none"))),
        };
        let quotes = ["\"\"\"", "'''", "\"", "'"];
        let Some(quote) = quotes.into_iter().find(|quote| self.take(quote)) else {
            return Err(self.problem("a text is missing"));
        };
        loop {
            if self.take(quote) {
                return Ok(());
            }
            match self.next() {
                None => return Err(self.problem("a text has no end")),
                Some('\n') if quote.len() == 1 => {
                    return Err(self.problem("a text ends with its line"));
                }
                // Python knows one line ending.
                Some('\r') if self.peek() == Some('\n') => {}
                Some('\\') if is_raw => {
                    into.push('\\');
                    into.extend(self.next());
                }
                Some('\\') => self.escape(into)?,
                Some(c) => into.push(c),
            }
        }
    }

    /// What follows a backslash.
    fn escape(&mut self, into: &mut String) -> Read<()> {
        let Some(c) = self.next() else {
            return Err(self.problem("a text has no end"));
        };
        let code = match c {
            '\n' => return Ok(()),
            '\r' => {
                self.take("\n");
                return Ok(());
            }
            '\\' | '\'' | '"' => c.into(),
            'a' => 0x07,
            'b' => 0x08,
            'f' => 0x0c,
            'n' => 0x0a,
            'r' => 0x0d,
            't' => 0x09,
            'v' => 0x0b,
            '0'..='7' => {
                let mut code = c.to_digit(8).unwrap_or_default();
                for _ in 0..2 {
                    let Some(digit) = self.peek().and_then(|c| c.to_digit(8)) else {
                        break;
                    };
                    self.next();
                    code = code * 8 + digit;
                }
                code
            }
            'x' => self.hexadecimal(2)?,
            'u' => self.hexadecimal(4)?,
            'U' => self.hexadecimal(8)?,
            'N' => return Err(self.problem("characters by name, \\N{…}, are not read")),
            // Python leaves what it does not know as it stands.
            other => {
                into.extend(['\\', other]);
                return Ok(());
            }
        };
        match char::from_u32(code) {
            Some(c) => into.push(c),
            None => return Err(self.problem(&format!("{code:#x} is no character"))),
        }
        Ok(())
    }

    fn hexadecimal(&mut self, digits: usize) -> Read<u32> {
        let mut code = 0_u32;
        for _ in 0..digits {
            let digit = self.peek().and_then(|c| c.to_digit(16));
            let Some(digit) = digit else {
                return Err(self.problem(&format!("an escape wants {digits} digits")));
            };
            self.next();
            code = code.wrapping_mul(16) + digit;
        }
        Ok(code)
    }

    /// A number, with its sign.
    pub(super) fn number(&mut self) -> Read<Value> {
        let sign = self.take_while(|c| matches!(c, '-' | '+' | ' ' | '\t'));
        let is_negative = sign.matches('-').count() % 2 == 1;
        let token = self.numeral();
        let number = match based(&token) {
            Some((digits, base)) => integer(digits, base, is_negative),
            None if token.contains(['.', 'e', 'E']) => floating(&token, is_negative),
            None => decimal(&token, is_negative),
        };
        number.map(Value::Number).ok_or_else(|| {
            let token: String = token.chars().take(40).collect();
            self.problem(&format!("`{sign}{token}` is no number that can be told"))
        })
    }

    /// All that could belong to a number, which an exponent may have its own sign in.
    fn numeral(&mut self) -> String {
        let belongs = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
        let mut token = self.take_while(belongs).to_owned();
        let is_based = based(&token).is_some();
        if token.ends_with(['e', 'E']) && !is_based && matches!(self.peek(), Some('-' | '+')) {
            token.extend(self.next());
            token.push_str(self.take_while(belongs));
        }
        token
    }
}

/// The digits and the base of a number that is not decimal.
fn based(token: &str) -> Option<(&str, u32)> {
    let digits = token.get(2..)?;
    let base = match token.get(..2)? {
        "0x" | "0X" => 16,
        "0o" | "0O" => 8,
        "0b" | "0B" => 2,
        _ => return None,
    };
    // `0x_ff` is as good as `0xff`.
    Some((digits.strip_prefix('_').unwrap_or(digits), base))
}

fn decimal(token: &str, is_negative: bool) -> Option<Number> {
    // Python refuses 012, which once was octal.
    let is_zero = token.chars().all(|c| matches!(c, '0' | '_'));
    if token.starts_with('0') && !is_zero {
        return None;
    }
    integer(token, 10, is_negative)
}

fn integer(digits: &str, base: u32, is_negative: bool) -> Option<Number> {
    let size = u64::from_str_radix(&plain(digits)?, base).ok()?;
    if !is_negative {
        return Some(size.into());
    }
    let value = i64::try_from(-i128::from(size)).ok()?;
    Some(value.into())
}

fn floating(token: &str, is_negative: bool) -> Option<Number> {
    let (mantissa, exponent) = match token.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (token, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = |part: &str| match part {
        "" => Some(String::new()),
        part => plain(part).filter(|part| part.bytes().all(|b| b.is_ascii_digit())),
    };
    let (whole, fraction) = (digits(whole)?, digits(fraction)?);
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let exponent = match exponent {
        Some(exponent) => {
            let sign = if exponent.starts_with('-') { "-" } else { "" };
            let size = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
            format!("e{sign}{}", digits(size).filter(|size| !size.is_empty())?)
        }
        None => String::new(),
    };
    let value: f64 = format!("0{whole}.{fraction}0{exponent}").parse().ok()?;
    Number::from_f64(if is_negative { -value } else { value })
}

/// Digits without the underscores between them; none where one stands elsewhere.
fn plain(digits: &str) -> Option<String> {
    let misplaced = digits.starts_with('_') || digits.ends_with('_') || digits.contains("__");
    // A sign is no digit, though `from_str_radix` takes it.
    let is_plain = !digits.is_empty() && !misplaced && !digits.contains(['+', '-']);
    is_plain.then(|| digits.replace('_', ""))
}
