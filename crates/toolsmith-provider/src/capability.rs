//! Which models can call functions: a table by provider and pattern, and what a
//! configuration says over it.
//!
//! A row is there because a provider's own list says so; what is in no row is unknown, and
//! unknown means that it is tried, never that it cannot.

use crate::provider::Provider;

/// Whether a model can call functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// It can.
    Yes,
    /// It cannot.
    No,
    /// Nobody here knows.
    Unknown,
}

/// Looks a model up in the table.
///
/// ```
/// use toolsmith_provider::{Provider, Support, capability::support};
///
/// assert_eq!(support(Provider::Anthropic, "claude-2.1"), Support::No);
/// assert_eq!(support(Provider::OpenAiCompatible, "my-own"), Support::Unknown);
/// ```
pub fn support(provider: Provider, model: &str) -> Support {
    let rows = TABLE.iter().filter(|row| row.provider == provider);
    let fits = |row: &&Row| row.patterns.iter().any(|glob| matches(glob, model));
    match { rows }.find(fits) {
        Some(row) if row.can => Support::Yes,
        Some(_) => Support::No,
        None => Support::Unknown,
    }
}

/// Tells whether a model takes instructions apart from what the user says.
pub fn takes_instructions(provider: Provider, model: &str) -> bool {
    let rows = { WITHOUT_INSTRUCTIONS.iter() }.filter(|(whose, _)| *whose == provider);
    !{ rows }.any(|(_, patterns)| patterns.iter().any(|glob| matches(glob, model)))
}

/// Tells whether a model's name fits a pattern, in which `*` stands for anything. Case does
/// not matter.
pub fn matches(pattern: &str, model: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = strip_start(model, first) else {
        return false;
    };
    let mut pieces = pieces.peekable();
    if pieces.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(piece) = pieces.next() {
        if pieces.peek().is_none() {
            let start = rest.len().checked_sub(piece.len());
            return start.is_some_and(|start| same(&rest.as_bytes()[start..], piece));
        }
        let Some(after) = find(rest, piece) else {
            return false;
        };
        rest = after;
    }
    true
}

fn same(bytes: &[u8], text: &str) -> bool {
    bytes.eq_ignore_ascii_case(text.as_bytes())
}

fn strip_start<'m>(model: &'m str, start: &str) -> Option<&'m str> {
    let (head, rest) = model.split_at_checked(start.len())?;
    same(head.as_bytes(), start).then_some(rest)
}

/// What follows the first place where `piece` stands.
fn find<'m>(model: &'m str, piece: &str) -> Option<&'m str> {
    if piece.is_empty() {
        return Some(model);
    }
    let windows = model.as_bytes().windows(piece.len());
    let at = { windows }.position(|window| same(window, piece))?;
    model.get(at + piece.len()..)
}

/// One row: models of a provider that can, or that cannot.
struct Row {
    provider: Provider,
    patterns: &'static [&'static str],
    can: bool,
}

const fn can(provider: Provider, patterns: &'static [&'static str]) -> Row {
    Row {
        provider,
        patterns,
        can: true,
    }
}

const fn cannot(provider: Provider, patterns: &'static [&'static str]) -> Row {
    Row {
        provider,
        patterns,
        can: false,
    }
}

/// The first row that fits decides. By the providers' lists of models, late 2026.
static TABLE: &[Row] = &[
    cannot(Provider::OpenAi, OPENAI_CANNOT),
    can(Provider::OpenAi, OPENAI_CAN),
    cannot(Provider::OpenAiResponses, OPENAI_CANNOT),
    can(Provider::OpenAiResponses, OPENAI_CAN),
    cannot(Provider::OpenAiFunctions, OPENAI_CANNOT),
    can(Provider::OpenAiFunctions, &["gpt-3.5-turbo*", "gpt-4*"]),
    cannot(Provider::Anthropic, &["claude-2*", "claude-instant*"]),
    can(Provider::Anthropic, &["claude-*"]),
    cannot(
        Provider::Gemini,
        &[
            "gemma-*",
            "models/gemma-*",
            "*-image*",
            "*-tts*",
            "*embedding*",
        ],
    ),
    can(Provider::Gemini, &["gemini-*", "models/gemini-*"]),
    cannot(
        Provider::Bedrock,
        &[
            "*amazon.titan*",
            "*anthropic.claude-v2*",
            "*anthropic.claude-instant*",
            "*meta.llama2*",
            "*meta.llama3-8b*",
            "*meta.llama3-70b*",
            "*mistral.mistral-7b*",
            "*mistral.mixtral-8x7b*",
            "*ai21.j2*",
            "*cohere.command-text*",
            "*cohere.command-light*",
        ],
    ),
    can(
        Provider::Bedrock,
        &[
            "*anthropic.claude*",
            "*amazon.nova*",
            "*cohere.command-r*",
            "*meta.llama3-1*",
            "*meta.llama3-2-11b*",
            "*meta.llama3-2-90b*",
            "*meta.llama3-3*",
            "*meta.llama4*",
            "*mistral.mistral-large*",
            "*mistral.mistral-small*",
            "*mistral.pixtral*",
            "*ai21.jamba-1-5*",
        ],
    ),
    cannot(
        Provider::Mistral,
        &["open-mistral-7b", "open-mixtral-8x7b", "mistral-embed*"],
    ),
    can(
        Provider::Mistral,
        &[
            "mistral-*",
            "ministral-*",
            "magistral-*",
            "codestral-*",
            "devstral-*",
            "pixtral-*",
            "open-mistral-nemo*",
            "open-mixtral-8x22b*",
        ],
    ),
    can(Provider::Cohere, &["command-r*", "command-a*"]),
    cannot(
        Provider::Cohere,
        &["command", "command-light*", "command-nightly", "c4ai-aya*"],
    ),
    cannot(
        Provider::Ollama,
        &[
            "llama2*",
            "llama3:*",
            "llama3",
            "codellama*",
            "gemma",
            "gemma:*",
            "gemma2*",
            "gemma3:*",
            "gemma3",
            "phi3*",
            "phi",
            "phi:*",
            "tinyllama*",
            "vicuna*",
            "mixtral:8x7b*",
        ],
    ),
    can(
        Provider::Ollama,
        &[
            "llama3.1*",
            "llama3.2*",
            "llama3.3*",
            "llama4*",
            "qwen2*",
            "qwen3*",
            "mistral*",
            "mixtral*",
            "command-r*",
            "command-a*",
            "firefunction*",
            "granite3*",
            "granite4*",
            "gpt-oss*",
            "hermes3*",
            "nemotron*",
            "devstral*",
            "deepseek-v3.1*",
            "cogito*",
        ],
    ),
    can(Provider::DeepSeek, &["deepseek-chat", "deepseek-reasoner"]),
    cannot(Provider::Qwen, &["qvq*", "qwen-mt*", "qwen-audio*"]),
    can(
        Provider::Qwen,
        &["qwen-*", "qwen2*", "qwen3*", "qwq*", "qwen-vl*"],
    ),
    can(Provider::Mcp, &["*"]),
    cannot(Provider::Text, &["*"]),
];

/// Models that refuse a request with instructions of its own place. Gemma: rig#788,
/// adk-python#3900; Bedrock: the table of what each model of Converse takes.
static WITHOUT_INSTRUCTIONS: &[(Provider, &[&str])] = &[
    (Provider::Gemini, &["gemma-*", "models/gemma-*"]),
    (Provider::OpenAi, &["o1-mini*", "o1-preview*"]),
    (Provider::OpenAiFunctions, &["o1-mini*", "o1-preview*"]),
    (
        Provider::Bedrock,
        &[
            "*amazon.titan*",
            "*ai21.j2*",
            "*cohere.command-text*",
            "*cohere.command-light*",
            "*mistral.mistral-7b*",
            "*mistral.mixtral-8x7b*",
        ],
    ),
];

const OPENAI_CAN: &[&str] = &[
    "gpt-3.5-turbo*",
    "gpt-4*",
    "gpt-5*",
    "gpt-oss*",
    "o1*",
    "o3*",
    "o4*",
    "codex-*",
];
const OPENAI_CANNOT: &[&str] = &[
    "gpt-3.5-turbo-instruct*",
    "davinci*",
    "babbage*",
    "text-*",
    "o1-mini*",
    "o1-preview*",
    "chatgpt-4o-latest",
    "gpt-4-vision-preview",
    "gpt-4o-*transcribe*",
    "gpt-4o-mini-tts*",
    "gpt-5-chat*",
    "gpt-image*",
];
