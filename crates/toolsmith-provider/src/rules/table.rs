//! The table: one constant per provider and mode, with its source.
//!
//! A catalogue. "Reported" means threads of people whom the provider refused; "unverified"
//! means that nobody has shown it to be refused, and that keeping to it costs little.

use super::{
    Budget, Choices, Keyword as K, Keywords, Limits, Names, Objects, Recursion, RequestRules,
    Rules, Strict, Types,
};
use crate::provider::Provider;

pub(super) const fn of(provider: Provider) -> &'static RequestRules {
    match provider {
        Provider::OpenAi | Provider::OpenAiResponses => &OPENAI,
        Provider::OpenAiFunctions => &OPENAI_FUNCTIONS,
        Provider::OpenAiCompatible => &OPENAI_COMPATIBLE,
        Provider::Anthropic => &ANTHROPIC,
        Provider::Gemini => &GEMINI,
        Provider::Bedrock => &BEDROCK,
        Provider::Mistral => &MISTRAL,
        Provider::Cohere => &COHERE,
        Provider::Ollama => &OLLAMA,
        Provider::DeepSeek => &DEEPSEEK,
        Provider::Qwen => &QWEN,
        Provider::Mcp => &MCP,
        Provider::Text => &TEXT,
    }
}

/// What every provider accepts.
const COMMON_NAMES: Names = Names {
    more: b"-",
    begins_with_letter: true,
    longest: 64,
};

/// Every keyword that needs no definitions.
const ALL: Keywords = Keywords::new(&[
    K::Title,
    K::Default,
    K::Examples,
    K::Deprecated,
    K::ReadOnly,
    K::WriteOnly,
    K::Format,
    K::Pattern,
    K::MinLength,
    K::MaxLength,
    K::ContentEncoding,
    K::ContentMediaType,
    K::Minimum,
    K::Maximum,
    K::ExclusiveMinimum,
    K::ExclusiveMaximum,
    K::MultipleOf,
    K::MinItems,
    K::MaxItems,
    K::UniqueItems,
    K::MinProperties,
    K::MaxProperties,
]);

const NO_LIMITS: Limits = Limits {
    properties: 0,
    depth: 0,
    characters: 0,
    choices: 0,
    long_list: (0, 0),
    required: 0,
};

const OPEN: Objects = Objects {
    closed: false,
    all_required: false,
    additional: true,
    empty: true,
    listed: true,
};

const NO_BUDGET: Budget = Budget {
    tools: 0,
    optional: 0,
    unions: 0,
};

/// JSON Schema at large, with an object at the root.
const JSON_SCHEMA: Rules = Rules {
    source: "openai SDK: parameters are a JSON Schema object; lists without items and objects \
             without properties are refused (reported: kagent#1888)",
    whole: true,
    keywords: ALL,
    formats: None,
    lookaround: true,
    min_items: None,
    types: Types::List,
    untyped: true,
    choices: Choices::Scalars,
    beside_union: true,
    recursion: Recursion::Kept,
    objects: OPEN,
    properties: None,
    limits: NO_LIMITS,
};

const OPENAI_STRICT: Rules = Rules {
    source: "OpenAI's strict subset as transcribed in February 2026 (unverified): closed \
             objects, all required, no allOf, not, if, dependent*; formats and string lengths \
             as pydantic-ai leaves them out; limits from the same transcript",
    whole: false,
    keywords: Keywords::new(&[
        K::Pattern,
        K::Format,
        K::Minimum,
        K::Maximum,
        K::ExclusiveMinimum,
        K::ExclusiveMaximum,
        K::MultipleOf,
        K::MinItems,
        K::MaxItems,
    ]),
    formats: Some(&[
        "date-time",
        "time",
        "date",
        "duration",
        "email",
        "hostname",
        "ipv4",
        "ipv6",
        "uuid",
    ]),
    lookaround: false,
    min_items: None,
    types: Types::ListWithNull,
    untyped: false,
    choices: Choices::Scalars,
    beside_union: true,
    recursion: Recursion::Kept,
    objects: Objects {
        closed: true,
        all_required: true,
        additional: true,
        empty: true,
        listed: true,
    },
    properties: None,
    limits: Limits {
        properties: 5_000,
        depth: 10,
        characters: 120_000,
        choices: 1_000,
        long_list: (250, 15_000),
        required: 0,
    },
};

const OPENAI: RequestRules = RequestRules {
    source: "openai SDK: names of a-z, A-Z, 0-9, _ and -, at most 64; reported: 128 tools \
             (zed#32946, zed#42393, openai-dotnet#317)",
    names: COMMON_NAMES,
    tools: Some(128),
    description: false,
    plain: Some(&JSON_SCHEMA),
    strict: Some(Strict {
        rules: &OPENAI_STRICT,
        all_or_none: false,
        budget: NO_BUDGET,
    }),
};

const OPENAI_FUNCTIONS: RequestRules = RequestRules {
    strict: None,
    ..OPENAI
};

const OPENAI_COMPATIBLE: RequestRules = RequestRules {
    source: "whatever the server accepts; OpenAI's names are safe",
    tools: None,
    strict: None,
    ..OPENAI
};

/// Names of properties on Anthropic's API.
const ANTHROPIC_PROPERTIES: Names = Names {
    more: b".-",
    begins_with_letter: false,
    longest: 64,
};

const ANTHROPIC_PLAIN: Rules = Rules {
    source: "anthropic SDK: input_schema is an object; reported: root combinators are refused \
             (claude-code#5319, huly-mcp#66), names of properties are [A-Za-z0-9_.-]{1,64} \
             (OmniRoute#13552)",
    objects: Objects {
        listed: false,
        ..OPEN
    },
    properties: Some(ANTHROPIC_PROPERTIES),
    ..JSON_SCHEMA
};

const ANTHROPIC_STRICT: Rules = Rules {
    source: "anthropic SDK transform_schema: closed objects, ten formats, minItems of 0 or 1, \
             everything else in words, no untyped places; recursion unverified, so cut",
    whole: false,
    keywords: Keywords::new(&[K::Format, K::MinItems]),
    formats: Some(&[
        "date-time",
        "time",
        "date",
        "duration",
        "email",
        "hostname",
        "uri",
        "ipv4",
        "ipv6",
        "uuid",
    ]),
    lookaround: false,
    min_items: Some(1),
    types: Types::ListWithNull,
    untyped: false,
    choices: Choices::Scalars,
    beside_union: true,
    recursion: Recursion::Cut,
    objects: Objects {
        closed: true,
        all_required: false,
        additional: true,
        empty: true,
        listed: true,
    },
    properties: Some(ANTHROPIC_PROPERTIES),
    limits: NO_LIMITS,
};

const ANTHROPIC: RequestRules = RequestRules {
    source: "reported: names ^[a-zA-Z0-9_-]{1,128}$, and 64 in references and elsewhere \
             (claude-code#21492, claude-code#5132); strict: 20 tools, 24 optional parameters, 16 \
             unions in a request (camel#4171, genkit#5230)",
    names: COMMON_NAMES,
    tools: None,
    description: false,
    plain: Some(&ANTHROPIC_PLAIN),
    strict: Some(Strict {
        rules: &ANTHROPIC_STRICT,
        all_or_none: false,
        budget: Budget {
            tools: 20,
            optional: 24,
            unions: 16,
        },
    }),
};

const GEMINI_PLAIN: Rules = Rules {
    source: "google-genai SDK: Schema is a subset of OpenAPI 3.0, enum is a list of strings, \
             names of parameters [A-Za-z_][A-Za-z0-9_]{0,63}; reported: definitions, references \
             and other formats are refused (pydantic-ai#1598), any_of stands alone",
    whole: false,
    keywords: Keywords::new(&[
        K::Title,
        K::Format,
        K::Pattern,
        K::MinLength,
        K::MaxLength,
        K::Minimum,
        K::Maximum,
        K::MinItems,
        K::MaxItems,
        K::MinProperties,
        K::MaxProperties,
    ]),
    formats: Some(&["date-time", "float", "double", "int32", "int64"]),
    lookaround: false,
    min_items: None,
    types: Types::Nullable,
    untyped: false,
    choices: Choices::Texts,
    beside_union: false,
    recursion: Recursion::Cut,
    objects: Objects {
        closed: false,
        all_required: false,
        additional: false,
        empty: false,
        listed: false,
    },
    properties: Some(Names {
        more: b"",
        begins_with_letter: true,
        longest: 64,
    }),
    limits: NO_LIMITS,
};

const GEMINI: RequestRules = RequestRules {
    source: "google-genai SDK and documentation: names begin with a letter or _, 64 are safe; \
             512 functions (unverified)",
    names: COMMON_NAMES,
    tools: Some(512),
    description: true,
    plain: Some(&GEMINI_PLAIN),
    strict: None,
};

const BEDROCK_PLAIN: Rules = Rules {
    source: "botocore: inputSchema.json is a document; reported: the root must be an object \
             (spring-ai-alibaba#3082); what it reaches the model through is the model's own API, \
             so Anthropic's names of properties hold",
    types: Types::ListWithNull,
    recursion: Recursion::Cut,
    objects: Objects {
        listed: false,
        ..OPEN
    },
    properties: Some(ANTHROPIC_PROPERTIES),
    ..JSON_SCHEMA
};

const BEDROCK: RequestRules = RequestRules {
    source: "botocore: names [a-zA-Z0-9_-]{1,64}, a description of at least one character \
             (reported: litellm#24668); strict as Anthropic's (unverified)",
    names: COMMON_NAMES,
    tools: None,
    description: true,
    plain: Some(&BEDROCK_PLAIN),
    strict: Some(Strict {
        rules: &ANTHROPIC_STRICT,
        all_or_none: false,
        budget: Budget {
            tools: 20,
            optional: 24,
            unions: 16,
        },
    }),
};

const MISTRAL: RequestRules = RequestRules {
    source: "mistralai SDK: as OpenAI's, parameters required, strict per function; its subset is \
             not written down, so OpenAI's is kept to (unverified)",
    tools: None,
    ..OPENAI
};

const COHERE_PLAIN: Rules = Rules {
    source: "cohere SDK: parameters are a JSON Schema; definitions unverified, so cut",
    recursion: Recursion::Cut,
    ..JSON_SCHEMA
};

const COHERE_STRICT: Rules = Rules {
    source: "Cohere's structured outputs (unverified): no ranges and lengths, a few formats, at \
             least one required parameter",
    whole: false,
    keywords: Keywords::new(&[K::Pattern, K::Format]),
    formats: Some(&["date-time", "uuid", "date", "time"]),
    types: Types::Union,
    recursion: Recursion::Cut,
    objects: Objects {
        closed: true,
        all_required: false,
        additional: true,
        empty: true,
        listed: true,
    },
    limits: Limits {
        required: 1,
        ..NO_LIMITS
    },
    ..OPENAI_STRICT
};

const COHERE: RequestRules = RequestRules {
    source: "cohere SDK: as OpenAI's; strict_tools holds for the request",
    names: COMMON_NAMES,
    tools: None,
    description: false,
    plain: Some(&COHERE_PLAIN),
    strict: Some(Strict {
        rules: &COHERE_STRICT,
        all_or_none: true,
        budget: NO_BUDGET,
    }),
};

const OLLAMA_PLAIN: Rules = Rules {
    source: "ollama SDK: of a property it keeps type, items, description and enum; what it does \
             not keep is dropped in silence, so it is said in words",
    whole: false,
    keywords: Keywords::new(&[]),
    formats: None,
    recursion: Recursion::Cut,
    objects: Objects {
        closed: false,
        all_required: false,
        additional: false,
        empty: true,
        listed: true,
    },
    ..JSON_SCHEMA
};

const OLLAMA: RequestRules = RequestRules {
    source: "ollama SDK; names as everywhere",
    names: COMMON_NAMES,
    tools: None,
    description: false,
    plain: Some(&OLLAMA_PLAIN),
    strict: None,
};

const DEEPSEEK_STRICT: Rules = Rules {
    source: "api-docs.deepseek.com/guides/tool_calls: closed objects, all required; rig: five \
             formats, no references within unions, no empty objects, lists of types split",
    whole: false,
    keywords: Keywords::new(&[
        K::Pattern,
        K::Format,
        K::Minimum,
        K::Maximum,
        K::ExclusiveMinimum,
        K::ExclusiveMaximum,
        K::MultipleOf,
    ]),
    formats: Some(&["email", "hostname", "ipv4", "ipv6", "uuid"]),
    types: Types::Union,
    recursion: Recursion::Cut,
    objects: Objects {
        closed: true,
        all_required: true,
        additional: true,
        empty: false,
        listed: false,
    },
    limits: NO_LIMITS,
    ..OPENAI_STRICT
};

const DEEPSEEK: RequestRules = RequestRules {
    source: "api-docs.deepseek.com: as OpenAI's; strict is beta, and all tools must be",
    plain: Some(&JSON_SCHEMA),
    strict: Some(Strict {
        rules: &DEEPSEEK_STRICT,
        all_or_none: true,
        budget: NO_BUDGET,
    }),
    ..OPENAI
};

const QWEN: RequestRules = RequestRules {
    source: "DashScope: as OpenAI's; reported: names of at most 64 (Qwen3-VL#2069)",
    tools: None,
    strict: None,
    ..OPENAI
};

const MCP: RequestRules = RequestRules {
    source: "MCP: tools/list; names of 1 to 128 of A-Z, a-z, 0-9, _, - and .",
    names: Names {
        more: b"-.",
        begins_with_letter: false,
        longest: 128,
    },
    tools: None,
    description: false,
    plain: None,
    strict: None,
};

const TEXT: RequestRules = RequestRules {
    source: "none: names that every text format can carry",
    names: COMMON_NAMES,
    tools: None,
    description: false,
    plain: None,
    strict: None,
};
