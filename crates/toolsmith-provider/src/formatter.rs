//! The formatter: from an offer and a model to a declaration, the way the configuration
//! and the model allow.

use toolsmith_core::Offer;

use crate::capability::{Support, matches};
use crate::client::ModelClient;
use crate::declare::{self, Declared, FormatError, Options};
use crate::provider::Provider;
use crate::strategy::{OutputStrategy, StrategyError, Way};
use crate::text::{self, TextFormat};

/// What decides how a model is asked for calls, and writes it down.
///
/// A host may bring its own; [`ToolFormatter`] is what there is.
pub trait Formatter: Send + Sync {
    /// The way to ask this model for calls.
    fn detect_strategy(&self, client: &dyn ModelClient) -> Result<Way, StrategyError>;

    /// The way that is left when the model has refused to take tools.
    fn after_refusal(&self, client: &dyn ModelClient) -> Result<Way, StrategyError>;

    /// The tools of an offer in the words of the model's provider.
    fn format(
        &self,
        client: &dyn ModelClient,
        way: Way,
        offer: &Offer,
    ) -> Result<Declared, FormatError>;
}

/// Formats by the configuration's strategy and what is known of models.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ToolFormatter {
    /// Which ways may be used.
    pub strategy: OutputStrategy,
    /// How tools are declared.
    pub options: Options,
    /// What the configuration says of models; the first that fits decides.
    pub models: Vec<ModelTerms>,
}

/// What a configuration says of a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelTerms {
    /// Whose models; everybody's where not set.
    pub provider: Option<Provider>,
    /// Which, with `*` for anything.
    pub pattern: String,
    /// Whether they can call functions, whatever the table says.
    pub function_calling: Option<bool>,
    /// The format calls are asked for in where they come as text.
    pub text_format: Option<TextFormat>,
}

impl ModelTerms {
    /// Says nothing yet of the models `PROVIDER/PATTERN`, or `PATTERN` of any provider.
    pub fn of(models: &str) -> Self {
        let parts = models.split_once('/');
        let named = parts.and_then(|(word, rest)| Some((word.parse().ok()?, rest)));
        let (provider, pattern) = match named {
            Some((provider, pattern)) => (Some(provider), pattern),
            // Names of models hold slashes too.
            None => (None, models),
        };
        Self {
            provider,
            pattern: pattern.to_owned(),
            ..Self::default()
        }
    }

    /// Says whether they can call functions.
    #[must_use]
    pub fn with_function_calling(mut self, can: Option<bool>) -> Self {
        self.function_calling = can;
        self
    }

    /// Says which format they write calls in as text.
    #[must_use]
    pub fn with_text_format(mut self, format: Option<TextFormat>) -> Self {
        self.text_format = format;
        self
    }

    /// How closely it names models: of two that fit, the closer one decides.
    pub fn closeness(&self) -> (usize, bool) {
        (self.pattern.len(), self.provider.is_some())
    }

    fn fits(&self, client: &dyn ModelClient) -> bool {
        let Some(provider) = self.provider else {
            return matches(&self.pattern, client.model());
        };
        if provider == client.provider() {
            return matches(&self.pattern, client.model());
        }
        // Whoever passes requests on calls models by whose they are: `openai/gpt-5`.
        let rest = client.model().split_once('/');
        rest.is_some_and(|(whose, model)| whose == provider.word() && matches(&self.pattern, model))
    }
}

impl ToolFormatter {
    /// Formats by a strategy, with what else is usual.
    pub fn new(strategy: OutputStrategy) -> Self {
        Self {
            strategy,
            ..Self::default()
        }
    }

    /// Sets how tools are declared.
    #[must_use]
    pub fn with_options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// Sets what is said of models.
    #[must_use]
    pub fn with_models(mut self, models: Vec<ModelTerms>) -> Self {
        self.models = models;
        self
    }

    /// What is known of a model: the configuration's word, then the client's.
    fn support(&self, client: &dyn ModelClient) -> Support {
        let mut said = self.models.iter().filter(|terms| terms.fits(client));
        match said.find_map(|terms| terms.function_calling) {
            Some(true) => Support::Yes,
            Some(false) => Support::No,
            None => client.supports_function_calling(),
        }
    }

    /// The format a model is asked for calls in.
    fn text_format(&self, client: &dyn ModelClient) -> TextFormat {
        let mut said = self.models.iter().filter(|terms| terms.fits(client));
        (said.find_map(|terms| terms.text_format))
            .or(self.options.format)
            .unwrap_or_else(|| text::format_for(client.provider(), client.model()))
    }
}

impl Formatter for ToolFormatter {
    fn detect_strategy(&self, client: &dyn ModelClient) -> Result<Way, StrategyError> {
        self.strategy.choose(self.support(client))
    }

    fn after_refusal(&self, _client: &dyn ModelClient) -> Result<Way, StrategyError> {
        self.strategy.after_refusal()
    }

    fn format(
        &self,
        client: &dyn ModelClient,
        way: Way,
        offer: &Offer,
    ) -> Result<Declared, FormatError> {
        match way {
            Way::Native => declare::declare(client.provider(), offer, &self.options),
            Way::Structured => {
                let options = Options {
                    format: Some(self.text_format(client)),
                    // What the provider would run itself goes with its own format only.
                    hosted: Vec::new(),
                    ..self.options.clone()
                };
                declare::declare_as_text(client.provider(), offer, &options)
            }
        }
    }
}
