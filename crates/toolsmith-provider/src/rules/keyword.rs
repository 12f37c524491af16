//! The keywords of JSON Schema that say something about a value without holding a schema
//! a model must see, and sets of them.
//!
//! What carries structure (`properties`, `items`, `anyOf`, `$ref` and their kind) is not
//! here: the walker treats each of those by itself.

/// A keyword that is either passed on as it is or put into words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keyword {
    Title,
    Default,
    Examples,
    Deprecated,
    ReadOnly,
    WriteOnly,
    Format,
    Pattern,
    MinLength,
    MaxLength,
    ContentEncoding,
    ContentMediaType,
    Minimum,
    Maximum,
    ExclusiveMinimum,
    ExclusiveMaximum,
    MultipleOf,
    MinItems,
    MaxItems,
    UniqueItems,
    MinProperties,
    MaxProperties,
    // Those below hold schemas, whose references would lead nowhere once the definitions
    // are gone; nobody is sent them.
    ContentSchema,
    Contains,
    MinContains,
    MaxContains,
    UnevaluatedItems,
    PropertyNames,
    PatternProperties,
    DependentRequired,
    DependentSchemas,
    Dependencies,
    Not,
    If,
    Then,
    Else,
}

/// What a keyword speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    Anything,
    Text,
    Number,
    List,
    Object,
}

impl Keyword {
    pub(crate) fn of(word: &str) -> Option<Self> {
        Some(match word {
            "title" => Self::Title,
            "default" => Self::Default,
            "examples" | "example" => Self::Examples,
            "deprecated" => Self::Deprecated,
            "readOnly" => Self::ReadOnly,
            "writeOnly" => Self::WriteOnly,
            "format" => Self::Format,
            "pattern" => Self::Pattern,
            "minLength" => Self::MinLength,
            "maxLength" => Self::MaxLength,
            "contentEncoding" => Self::ContentEncoding,
            "contentMediaType" => Self::ContentMediaType,
            "minimum" => Self::Minimum,
            "maximum" => Self::Maximum,
            "exclusiveMinimum" => Self::ExclusiveMinimum,
            "exclusiveMaximum" => Self::ExclusiveMaximum,
            "multipleOf" => Self::MultipleOf,
            "minItems" => Self::MinItems,
            "maxItems" => Self::MaxItems,
            "uniqueItems" => Self::UniqueItems,
            "minProperties" => Self::MinProperties,
            "maxProperties" => Self::MaxProperties,
            "contentSchema" => Self::ContentSchema,
            "contains" => Self::Contains,
            "minContains" => Self::MinContains,
            "maxContains" => Self::MaxContains,
            "unevaluatedItems" => Self::UnevaluatedItems,
            "propertyNames" => Self::PropertyNames,
            "patternProperties" => Self::PatternProperties,
            "dependentRequired" => Self::DependentRequired,
            "dependentSchemas" => Self::DependentSchemas,
            "dependencies" => Self::Dependencies,
            "not" => Self::Not,
            "if" => Self::If,
            "then" => Self::Then,
            "else" => Self::Else,
            _ => return None,
        })
    }

    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Default => "default",
            Self::Examples => "examples",
            Self::Deprecated => "deprecated",
            Self::ReadOnly => "readOnly",
            Self::WriteOnly => "writeOnly",
            Self::Format => "format",
            Self::Pattern => "pattern",
            Self::MinLength => "minLength",
            Self::MaxLength => "maxLength",
            Self::ContentEncoding => "contentEncoding",
            Self::ContentMediaType => "contentMediaType",
            Self::Minimum => "minimum",
            Self::Maximum => "maximum",
            Self::ExclusiveMinimum => "exclusiveMinimum",
            Self::ExclusiveMaximum => "exclusiveMaximum",
            Self::MultipleOf => "multipleOf",
            Self::MinItems => "minItems",
            Self::MaxItems => "maxItems",
            Self::UniqueItems => "uniqueItems",
            Self::MinProperties => "minProperties",
            Self::MaxProperties => "maxProperties",
            Self::ContentSchema => "contentSchema",
            Self::Contains => "contains",
            Self::MinContains => "minContains",
            Self::MaxContains => "maxContains",
            Self::UnevaluatedItems => "unevaluatedItems",
            Self::PropertyNames => "propertyNames",
            Self::PatternProperties => "patternProperties",
            Self::DependentRequired => "dependentRequired",
            Self::DependentSchemas => "dependentSchemas",
            Self::Dependencies => "dependencies",
            Self::Not => "not",
            Self::If => "if",
            Self::Then => "then",
            Self::Else => "else",
        }
    }

    pub(crate) const fn scope(self) -> Scope {
        match self {
            Self::Format
            | Self::Pattern
            | Self::MinLength
            | Self::MaxLength
            | Self::ContentEncoding
            | Self::ContentMediaType
            | Self::ContentSchema => Scope::Text,
            Self::Minimum
            | Self::Maximum
            | Self::ExclusiveMinimum
            | Self::ExclusiveMaximum
            | Self::MultipleOf => Scope::Number,
            Self::MinItems
            | Self::MaxItems
            | Self::UniqueItems
            | Self::Contains
            | Self::MinContains
            | Self::MaxContains
            | Self::UnevaluatedItems => Scope::List,
            Self::MinProperties
            | Self::MaxProperties
            | Self::PropertyNames
            | Self::PatternProperties
            | Self::DependentRequired
            | Self::DependentSchemas
            | Self::Dependencies => Scope::Object,
            _ => Scope::Anything,
        }
    }

    /// Whether it speaks about the place, rather than about what may stand there.
    pub(crate) const fn is_annotation(self) -> bool {
        matches!(
            self,
            Self::Title
                | Self::Default
                | Self::Examples
                | Self::Deprecated
                | Self::ReadOnly
                | Self::WriteOnly
        )
    }
}

/// A set of keywords.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Keywords(u64);

impl Keywords {
    pub(crate) const fn new(list: &[Keyword]) -> Self {
        let mut bits = 0;
        let mut index = 0;
        while index < list.len() {
            bits |= 1 << list[index] as u64;
            index += 1;
        }
        Self(bits)
    }

    pub(crate) const fn has(self, keyword: Keyword) -> bool {
        self.0 & (1 << keyword as u64) != 0
    }
}
