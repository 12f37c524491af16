//! What opens a block, what closes it, and what is neither call nor prose.
//!
//! Tables of marks. Each look at a place in a text reads a bounded number of bytes.

use super::TextFormat;
use super::calls;

/// A kind of block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `<tool_call>`: Hermes, Qwen3-coder and GLM, told apart by what follows.
    Tag,
    /// `<tool_call name="…">`.
    NamedTag,
    /// `<function=…>`, without a tag around it.
    Function,
    DeepSeek,
    Kimi,
    Mistral,
    /// JSON with nothing around it.
    Bare,
    /// A list of calls in Python's words.
    Pythonic,
}

/// A mark that ends a block.
#[derive(Debug)]
pub(super) struct Closer {
    pub(super) mark: &'static str,
    /// Whether it belongs to the block; what opens the next one does not.
    pub(super) consumed: bool,
}

const fn end(mark: &'static str) -> Closer {
    Closer {
        mark,
        consumed: true,
    }
}

const fn next(mark: &'static str) -> Closer {
    Closer {
        mark,
        consumed: false,
    }
}

impl Kind {
    const ALL: [Self; 8] = [
        Self::Tag,
        Self::NamedTag,
        Self::Function,
        Self::DeepSeek,
        Self::Kimi,
        Self::Mistral,
        Self::Bare,
        Self::Pythonic,
    ];

    /// What ends it. Blocks without a mark end where their brackets do.
    pub(super) const fn closers(self) -> &'static [Closer] {
        const TAG: &[Closer] = &[end("</tool_call>"), next("<tool_call>")];
        const NAMED_TAG: &[Closer] = &[end("</tool_call>")];
        const FUNCTION: &[Closer] = &[end("</function>")];
        const DEEPSEEK: &[Closer] = &[
            end("<｜tool▁call▁end｜>"),
            next("<｜tool▁call▁begin｜>"),
            next("<｜tool▁calls▁end｜>"),
        ];
        const KIMI: &[Closer] = &[
            end("<|tool_call_end|>"),
            next("<|tool_call_begin|>"),
            next("<|tool_calls_section_end|>"),
        ];
        match self {
            Self::Tag => TAG,
            Self::NamedTag => NAMED_TAG,
            Self::Function => FUNCTION,
            Self::DeepSeek => DEEPSEEK,
            Self::Kimi => KIMI,
            Self::Mistral | Self::Bare | Self::Pythonic => &[],
        }
    }

    /// Whether no mark opens it.
    pub(super) const fn is_bare(self) -> bool {
        matches!(self, Self::Bare | Self::Pythonic)
    }

    /// The formats written in such blocks.
    const fn formats(self) -> &'static [TextFormat] {
        match self {
            Self::Tag => &[TextFormat::Hermes, TextFormat::QwenCoder, TextFormat::Glm],
            Self::NamedTag => &[TextFormat::Xml],
            Self::Function => &[TextFormat::QwenCoder, TextFormat::Llama3],
            Self::DeepSeek => &[TextFormat::DeepSeekV3, TextFormat::DeepSeekV31],
            Self::Kimi => &[TextFormat::Kimi],
            Self::Mistral => &[TextFormat::Mistral],
            Self::Bare => &[TextFormat::Json, TextFormat::Jsonl, TextFormat::Llama3],
            Self::Pythonic => &[TextFormat::Pythonic],
        }
    }

    /// The kinds of block some formats are written in.
    pub(super) fn of(formats: &[TextFormat]) -> Vec<Self> {
        let wanted = |kind: &Self| kind.formats().iter().any(|format| formats.contains(format));
        Self::ALL.into_iter().filter(wanted).collect()
    }
}

/// What begins and ends reasoning.
const REASONING: [(&str, &str); 6] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
];

/// Marks around calls and at the end of a turn. Beside a call, and at the end, they say
/// nothing.
const SILENT: [&str; 24] = [
    "<|tool_calls_section_begin|>",
    "<|tool_calls_section_end|>",
    "<|tool_call_end|>",
    "<｜tool▁calls▁begin｜>",
    "<｜tool▁calls▁end｜>",
    "<｜tool▁call▁end｜>",
    "<｜end▁of▁sentence｜>",
    "<|python_tag|>",
    "<|python_start|>",
    "<|python_end|>",
    "<|im_end|>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|eot|>",
    "<tool_calls>",
    "</tool_calls>",
    "<function_calls>",
    "</function_calls>",
    "</tool_call>",
    "</function>",
    "[/TOOL_CALLS]",
    "</s>",
];

/// What stands at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// Nothing but a character.
    Prose,
    /// More must come to tell.
    More,
    /// So many bytes that say nothing beside a call.
    Silent(usize),
    /// So many bytes that begin reasoning, and what ends it.
    Reasoning(usize, &'static str),
    /// So many bytes that end reasoning which was begun before the text.
    ReasoningEnds(usize),
    /// So many bytes that open a block.
    Opener(Kind, usize),
}

/// The longest name, and the longest stretch of spaces, that are looked past.
const REACH: usize = 256;

/// Looks at what begins a text. `fresh_line`: only spaces stand before it in its line.
pub(super) fn look(rest: &str, kinds: &[Kind], fresh_line: bool, ended: bool) -> Seen {
    let mut more = false;
    let mut mark = |mark: &str| {
        more |= rest.len() < mark.len() && mark.starts_with(rest);
        rest.starts_with(mark)
    };
    let marks = rest.starts_with(['<', '[']);
    for (open, close) in REASONING.into_iter().filter(|_| marks) {
        if mark(open) {
            return Seen::Reasoning(open.len(), close);
        }
        if mark(close) {
            return Seen::ReasoningEnds(close.len());
        }
    }
    for silent in SILENT.into_iter().filter(|_| marks) {
        if mark(silent) {
            return Seen::Silent(silent.len());
        }
    }
    for &kind in kinds {
        match opener(rest, kind, fresh_line) {
            Seen::Prose => {}
            Seen::More => more = true,
            seen => return seen,
        }
    }
    if more && !ended {
        Seen::More
    } else {
        Seen::Prose
    }
}

fn opener(rest: &str, kind: Kind, fresh_line: bool) -> Seen {
    let simple = |mark: &str| {
        if rest.starts_with(mark) {
            Seen::Opener(kind, mark.len())
        } else if mark.starts_with(rest) {
            Seen::More
        } else {
            Seen::Prose
        }
    };
    match kind {
        Kind::Tag => simple("<tool_call>"),
        Kind::DeepSeek => simple("<｜tool▁call▁begin｜>"),
        Kind::Kimi => simple("<|tool_call_begin|>"),
        Kind::Mistral => simple("[TOOL_CALLS]"),
        Kind::NamedTag => tag(rest, "<tool_call name=", kind),
        Kind::Function => tag(rest, "<function=", kind),
        Kind::Bare => bare(rest),
        Kind::Pythonic if fresh_line => pythonic(rest),
        Kind::Pythonic => Seen::Prose,
    }
}

/// A tag with something in it, up to its end in the same line.
fn tag(rest: &str, mark: &str, kind: Kind) -> Seen {
    let Some(inside) = rest.strip_prefix(mark) else {
        return if mark.starts_with(rest) {
            Seen::More
        } else {
            Seen::Prose
        };
    };
    match inside
        .bytes()
        .take(4 * REACH)
        .position(|byte| matches!(byte, b'>' | b'\n'))
    {
        Some(end) if inside.as_bytes()[end] == b'>' => Seen::Opener(kind, mark.len() + end + 1),
        None if inside.len() < 4 * REACH => Seen::More,
        _ => Seen::Prose,
    }
}

/// An object, or a list of them, whose first key may be that of a call.
fn bare(rest: &str) -> Seen {
    let mut inside = match rest.as_bytes().first() {
        Some(b'{') => &rest[1..],
        Some(b'[') => match skip(&rest[1..]) {
            Some("") => return Seen::More,
            Some(inside) if inside.starts_with('{') => &inside[1..],
            _ => return Seen::Prose,
        },
        _ => return Seen::Prose,
    };
    inside = match skip(inside) {
        Some("") => return Seen::More,
        Some(inside) => inside,
        None => return Seen::Prose,
    };
    let quote = inside.starts_with(['"', '\'']);
    let key = if quote { &inside[1..] } else { inside };
    let length = key
        .bytes()
        .take_while(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
        .count();
    let (word, after) = key.split_at(length);
    if after.is_empty() {
        return if calls::may_go_on(word) {
            Seen::More
        } else {
            Seen::Prose
        };
    }
    let ends = if quote {
        after.starts_with(['"', '\''])
    } else {
        after.starts_with(':')
    };
    if ends && calls::may_begin(word) {
        Seen::Opener(Kind::Bare, 1)
    } else {
        Seen::Prose
    }
}

/// `[name(`.
fn pythonic(rest: &str) -> Seen {
    let Some(inside) = rest.strip_prefix('[') else {
        return Seen::Prose;
    };
    let inside = match skip(inside) {
        Some("") => return Seen::More,
        Some(inside) => inside,
        None => return Seen::Prose,
    };
    let name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    let length = inside.bytes().take(REACH).take_while(name).count();
    match inside.as_bytes().get(length) {
        Some(b'(') if length > 0 => Seen::Opener(Kind::Pythonic, 1),
        None => Seen::More,
        Some(_) => Seen::Prose,
    }
}

/// What follows the spaces, where there are not too many.
pub(super) fn skip(text: &str) -> Option<&str> {
    let spaces = text
        .bytes()
        .take(REACH)
        .take_while(u8::is_ascii_whitespace)
        .count();
    (spaces < REACH).then(|| &text[spaces..])
}
