//! What is said of models, and which tools their providers run themselves.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use toolsmith_agent::Price;
use toolsmith_provider::capability::matches;
use toolsmith_provider::formatter::ModelTerms;
use toolsmith_provider::text::TextFormat;
use toolsmith_provider::{OutputStrategy, Provider, ToolFormatter};

use super::few;

/// What is said of models, by `PROVIDER/PATTERN`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelsConfig {
    terms: Vec<ModelTerms>,
    prices: Vec<(ModelTerms, Price)>,
}

impl ModelsConfig {
    /// What is said of each, the longest pattern first: that is the one that decides.
    pub fn terms(&self) -> &[ModelTerms] {
        &self.terms
    }

    /// What the tokens of a model cost, where that is said.
    pub fn price(&self, provider: Provider, model: &str) -> Option<Price> {
        let mut prices = self.prices.iter();
        let found = prices.find(|(terms, _)| {
            terms.provider.is_none_or(|whose| whose == provider) && matches(&terms.pattern, model)
        });
        found.map(|(_, price)| *price)
    }

    /// A formatter that knows of them.
    pub fn formatter(&self, strategy: OutputStrategy) -> ToolFormatter {
        ToolFormatter::new(strategy).with_models(self.terms.clone())
    }
}

impl<'de> Deserialize<'de> for ModelsConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let forms = Option::<BTreeMap<String, ModelForm>>::deserialize(deserializer)?;
        let forms = forms.unwrap_or_default();
        few::<D::Error>(forms.len(), "models")?;
        let mut config = Self::default();
        for (models, form) in forms {
            let terms = ModelTerms::of(&models)
                .with_function_calling(form.function_calling)
                .with_text_format(form.text_format.map(|word| word.0));
            if let Some(price) = form.price {
                let is_price = |price: f64| price.is_finite() && price >= 0.0;
                if !is_price(price.input) || !is_price(price.output) {
                    return Err(D::Error::custom("a price is not below nought"));
                }
                config.prices.push((terms.clone(), price));
            }
            config.terms.push(terms);
        }
        config.terms.sort_by_key(|terms| Reverse(terms.closeness()));
        config
            .prices
            .sort_by_key(|(terms, _)| Reverse(terms.closeness()));
        Ok(config)
    }
}

/// What is said of one.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ModelForm {
    function_calling: Option<bool>,
    text_format: Option<Word>,
    price: Option<Price>,
}

struct Word(TextFormat);

impl<'de> Deserialize<'de> for Word {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        word.parse().map(Self).map_err(D::Error::custom)
    }
}

/// Tools that a provider runs itself, such as its own search of the web, in its own words.
/// They are declared and never run here.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostedTools(BTreeMap<Provider, Vec<Value>>);

impl HostedTools {
    /// Those of one provider.
    pub fn of(&self, provider: Provider) -> &[Value] {
        self.0.get(&provider).map_or(&[], Vec::as_slice)
    }
}

/// Whether a provider has a place for tools that it runs itself.
fn runs_tools(provider: Provider) -> bool {
    use Provider::{Mcp, OpenAiFunctions, Text};
    !matches!(provider, Mcp | Text | OpenAiFunctions)
}

impl<'de> Deserialize<'de> for HostedTools {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        type Forms = BTreeMap<Provider, Vec<Map<String, Value>>>;
        let forms = Option::<Forms>::deserialize(deserializer)?.unwrap_or_default();
        if let Some(none) = forms.keys().find(|provider| !runs_tools(**provider)) {
            return Err(D::Error::custom(format!("{none} runs no tools of its own")));
        }
        let count = forms.values().map(Vec::len).sum();
        few::<D::Error>(count, "hosted tools")?;
        let tools = |tools: Vec<Map<_, _>>| tools.into_iter().map(Value::Object).collect();
        let by_provider = forms
            .into_iter()
            .map(|(provider, all)| (provider, tools(all)));
        Ok(Self(by_provider.collect()))
    }
}
