//! robots.txt as RFC 9309 reads it: groups by user agent, the longest rule that fits
//! decides, and of two of one length the one that allows.

/// How much of a file is read.
pub(super) const MOST_BYTES: usize = 500 << 10;

/// How many rules are kept, and how long one is.
const MOST_RULES: usize = 5_000;
const LONGEST_RULE: usize = 2_000;

/// What a site says to one user agent.
#[derive(Clone, Debug, Default)]
pub(super) struct Rules(Vec<Rule>);

#[derive(Clone, Debug)]
struct Rule {
    allows: bool,
    pattern: String,
}

impl Rules {
    /// Reads what a file says to a user agent, named by the first word of its name.
    pub(super) fn parse(text: &str, agent: &str) -> Self {
        let agent = product(agent);
        let (mut own, mut others) = (Vec::new(), Vec::new());
        let mut has_own = false;
        // Lines of agents that follow each other begin one group.
        let (mut is_own, mut is_others, mut in_rules) = (false, false, true);
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        for line in text.split(['\n', '\r']) {
            let line = line.split('#').next().unwrap_or_default();
            let Some((key, value)) = line.split_once(':') else {
                continue;
            };
            let value = value.trim();
            match key.trim().to_ascii_lowercase().as_str() {
                "user-agent" => {
                    if in_rules {
                        (is_own, is_others, in_rules) = (false, false, false);
                    }
                    is_own |= product(value) == agent && value != "*";
                    is_others |= value == "*";
                    has_own |= is_own;
                }
                key @ ("allow" | "disallow") => {
                    in_rules = true;
                    // An empty rule says nothing.
                    if value.is_empty() || value.len() > LONGEST_RULE {
                        continue;
                    }
                    let rule = Rule {
                        allows: key == "allow",
                        pattern: normal(value),
                    };
                    if is_own && own.len() < MOST_RULES {
                        own.push(rule);
                    } else if is_others && others.len() < MOST_RULES {
                        others.push(rule);
                    }
                }
                _ => {}
            }
        }
        Self(if has_own { own } else { others })
    }

    /// Tells whether a path, with its query, may be asked for.
    pub(super) fn permit(&self, path: &str) -> bool {
        let path = normal(path);
        let fitting = self.0.iter().filter(|rule| fits(&rule.pattern, &path));
        let strongest = fitting.max_by_key(|rule| (rule.pattern.len(), rule.allows));
        path == "/robots.txt" || strongest.is_none_or(|rule| rule.allows)
    }
}

/// The first word of a user agent's name, in lower case.
fn product(agent: &str) -> String {
    let is_word = |c: &char| c.is_ascii_alphabetic() || matches!(c, '-' | '_');
    agent
        .chars()
        .take_while(is_word)
        .collect::<String>()
        .to_ascii_lowercase()
}

/// Escapes in one spelling, so that `%7e` and `~` are one path.
fn normal(path: &str) -> String {
    let bytes = path.as_bytes();
    let mut normal = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let escape = bytes.get(at + 1..at + 3);
        let escape = escape.and_then(|digits| str::from_utf8(digits).ok());
        let escape = escape.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (bytes[at], escape) {
            (b'%', Some(byte)) if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) => {
                normal.push(byte);
                at += 3;
            }
            (b'%', Some(_)) => {
                normal.extend(bytes[at..at + 3].to_ascii_uppercase());
                at += 3;
            }
            (byte, _) if byte.is_ascii() => {
                normal.push(byte);
                at += 1;
            }
            (byte, _) => {
                normal.extend(format!("%{byte:02X}").into_bytes());
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&normal).into_owned()
}

/// Whether a path begins as a pattern says; `*` is anything, `$` at the end the end.
/// The first place each part fits is as good as any later one, so there is no going back.
fn fits(pattern: &str, path: &str) -> bool {
    let (pattern, is_whole) = match pattern.strip_suffix('$') {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = path.strip_prefix(first) else {
        return false;
    };
    let mut parts: Vec<&str> = parts.collect();
    let last = if is_whole { parts.pop() } else { None };
    for part in parts {
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = &rest[at + part.len()..];
    }
    match (is_whole, last) {
        (true, Some(last)) => rest.ends_with(last),
        (true, None) => rest.is_empty(),
        (false, _) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "\
# a site
User-agent: other
Disallow: /

User-Agent: *
Disallow: /private
Allow: /private/open
Disallow: /*.gif$
Disallow: /a*b*c
Disallow:
Crawl-delay: 5

user-agent: Toolsmith
user-agent: somebody
Disallow: /tools # not these
Allow: /tools
Disallow: /%7Ejoe/ä
";

    #[test]
    fn the_longest_rule_decides_and_allowing_wins_ties() {
        let everybody = Rules::parse(FILE, "nobody/1.0");
        for (path, permitted) in [
            ("/", true),
            ("/private", false),
            ("/private/x", false),
            ("/private/open/x", true),
            ("/x.gif", false),
            ("/x.gif?y", true),
            ("/a1b2c3", false),
            ("/acb", true),
            ("/robots.txt", true),
        ] {
            assert_eq!(everybody.permit(path), permitted, "{path}");
        }
        let own = Rules::parse(FILE, "toolsmith/0.1");
        for (path, permitted) in [
            ("/private", true),
            ("/tools", true),
            ("/~joe/%c3%a4", false),
            ("/%7ejoe/ä", false),
            ("/~joe", true),
        ] {
            assert_eq!(own.permit(path), permitted, "{path}");
        }
        assert!(!Rules::parse(FILE, "other").permit("/x"));
        assert!(Rules::parse("", "any").permit("/x"));
        for file in [
            "\u{feff}User-agent: *\nDisallow: /",
            "User-agent: *\rDisallow: /\r",
        ] {
            assert!(!Rules::parse(file, "any").permit("/x"), "{file:?}");
        }
        assert!(Rules::parse("\u{feff}garbage\0:::\nDisallow: /", "any").permit("/x"));
        let stars = format!("User-agent: *\nDisallow: /{}x", "*a".repeat(900));
        assert!(Rules::parse(&stars, "any").permit(&format!("/{}", "a".repeat(800))));
    }
}
