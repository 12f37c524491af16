//! Which model writes which format: a table of names.
//!
//! The first row whose word stands in the name of a model counts. What no row knows is
//! asked for JSON and may answer in anything.

use super::TextFormat;
use crate::Provider;

/// A family of models.
struct Family {
    /// What stands in the names of its models, in small letters.
    words: &'static [&'static str],
    /// What its answers may hold, what it was trained on first.
    formats: &'static [TextFormat],
}

const QWEN_CODER: &[TextFormat] = &[
    TextFormat::QwenCoder,
    TextFormat::Hermes,
    TextFormat::Json,
    TextFormat::Jsonl,
];
const HERMES: &[TextFormat] = &[
    TextFormat::Hermes,
    TextFormat::QwenCoder,
    TextFormat::Json,
    TextFormat::Jsonl,
];
const PYTHONIC: &[TextFormat] = &[
    TextFormat::Pythonic,
    TextFormat::Llama3,
    TextFormat::Json,
    TextFormat::Jsonl,
];
const LLAMA3: &[TextFormat] = &[
    TextFormat::Llama3,
    TextFormat::Pythonic,
    TextFormat::Json,
    TextFormat::Jsonl,
];
const DEEPSEEK_V31: &[TextFormat] = &[
    TextFormat::DeepSeekV31,
    TextFormat::DeepSeekV3,
    TextFormat::Json,
    TextFormat::Jsonl,
];
const DEEPSEEK_V3: &[TextFormat] = &[
    TextFormat::DeepSeekV3,
    TextFormat::DeepSeekV31,
    TextFormat::Json,
    TextFormat::Jsonl,
];
const KIMI: &[TextFormat] = &[TextFormat::Kimi, TextFormat::Json, TextFormat::Jsonl];
const GLM: &[TextFormat] = &[
    TextFormat::Glm,
    TextFormat::Hermes,
    TextFormat::Json,
    TextFormat::Jsonl,
];
const MISTRAL: &[TextFormat] = &[TextFormat::Mistral, TextFormat::Json, TextFormat::Jsonl];

/// The chat templates published with the models are the source of every row. Distilled
/// models keep the template of the model they come from, so DeepSeek stands before Qwen
/// and Llama only where its own models are meant.
const FAMILIES: &[Family] = &[
    Family {
        words: &["qwen3-coder", "qwen3.5", "nemotron-3"],
        formats: QWEN_CODER,
    },
    Family {
        words: &["hermes", "deepseek-r1-distill-qwen"],
        formats: HERMES,
    },
    Family {
        words: &["deepseek-r1-distill-llama"],
        formats: LLAMA3,
    },
    Family {
        words: &[
            "deepseek-v3.1",
            "deepseek-v3.2",
            "deepseek-chat",
            "deepseek-reasoner",
        ],
        formats: DEEPSEEK_V31,
    },
    Family {
        words: &["deepseek"],
        formats: DEEPSEEK_V3,
    },
    Family {
        words: &["kimi", "moonshot"],
        formats: KIMI,
    },
    Family {
        words: &["glm-4", "glm4", "glm-5", "chatglm"],
        formats: GLM,
    },
    Family {
        words: &["llama-4", "llama4"],
        formats: PYTHONIC,
    },
    Family {
        words: &["llama"],
        formats: LLAMA3,
    },
    Family {
        words: &["qwen", "qwq"],
        formats: HERMES,
    },
    Family {
        words: &[
            "mistral",
            "mixtral",
            "ministral",
            "magistral",
            "devstral",
            "codestral",
            "pixtral",
        ],
        formats: MISTRAL,
    },
];

/// The format a model was trained to write calls in; JSON where that is not known.
///
/// ```
/// use toolsmith_provider::Provider;
/// use toolsmith_provider::text::{TextFormat, format_for};
///
/// let format = format_for(Provider::Ollama, "qwen3-coder:30b");
/// assert_eq!(format, TextFormat::QwenCoder);
/// assert_eq!(format_for(Provider::Text, "unheard-of"), TextFormat::Json);
/// ```
pub fn format_for(provider: Provider, model: &str) -> TextFormat {
    family(provider, model).map_or(TextFormat::Json, |formats| formats[0])
}

/// The formats whose marks a raw answer of a model may hold, the likeliest first.
pub fn formats_of(provider: Provider, model: &str) -> &'static [TextFormat] {
    family(provider, model).unwrap_or(&TextFormat::ALL)
}

fn family(provider: Provider, model: &str) -> Option<&'static [TextFormat]> {
    let model = model.to_ascii_lowercase();
    let known = |family: &&Family| family.words.iter().any(|word| model.contains(word));
    if let Some(family) = FAMILIES.iter().find(known) {
        return Some(family.formats);
    }
    // Whoever serves only its own models says enough.
    match provider {
        Provider::Mistral => Some(MISTRAL),
        Provider::DeepSeek => Some(DEEPSEEK_V31),
        Provider::Qwen => Some(HERMES),
        _ => None,
    }
}
