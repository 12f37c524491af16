//! What stands between the brackets of `#[tool(…)]`.

use std::collections::BTreeSet;

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::{Error, Expr, ExprLit, Ident, Lit, LitBool, LitStr, Path, Result, Token, bracketed};

use crate::value;

/// Every name the attribute knows.
const NAMES: [&str; 23] = [
    "name",
    "title",
    "kind",
    "effect",
    "category",
    "tags",
    "consent",
    "consent_reason",
    "timeout",
    "prefix",
    "version",
    "id",
    "documentation_url",
    "returns",
    "usage_notes",
    "important",
    "destructive",
    "idempotent",
    "open_world",
    "confirm",
    "plan",
    "declare",
    "crate",
];

const KINDS: [&str; 10] = [
    "read", "edit", "delete", "move", "search", "execute", "network", "think", "external", "other",
];
const EFFECTS: [&str; 4] = ["read", "write", "execute", "network"];

/// What the attribute says. Texts are kept as literals for their spans.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) name: Option<LitStr>,
    pub(crate) title: Option<LitStr>,
    pub(crate) kind: Option<String>,
    pub(crate) effect: Option<String>,
    pub(crate) category: Option<LitStr>,
    pub(crate) tags: Vec<LitStr>,
    pub(crate) consent: Option<LitStr>,
    pub(crate) consent_reason: Option<LitStr>,
    pub(crate) timeout: Option<u64>,
    pub(crate) prefix: Option<LitStr>,
    pub(crate) version: Option<LitStr>,
    pub(crate) id: Option<LitStr>,
    pub(crate) documentation_url: Option<LitStr>,
    pub(crate) returns: Option<LitStr>,
    pub(crate) usage_notes: Vec<LitStr>,
    pub(crate) important: Vec<LitStr>,
    pub(crate) destructive: Option<bool>,
    pub(crate) idempotent: Option<bool>,
    pub(crate) open_world: Option<bool>,
    pub(crate) confirm: Option<String>,
    pub(crate) plan: Option<Path>,
    pub(crate) declare: bool,
}

impl Options {
    pub(crate) fn parse(attribute: TokenStream) -> Result<Self> {
        Self::from_stream.parse2(attribute)
    }

    fn from_stream(input: ParseStream<'_>) -> Result<Self> {
        let mut options = Self::default();
        let mut seen = BTreeSet::new();
        let mut reason_span = None;
        let mut effect_span = None;
        while !input.is_empty() {
            let key = Ident::parse_any(input)?;
            let name = key.unraw().to_string();
            if !NAMES.contains(&name.as_str()) {
                return Err(unknown(&name, key.span()));
            }
            if !seen.insert(name.clone()) {
                return Err(Error::new(
                    key.span(),
                    format!("`{name}` is given twice; keep one of them"),
                ));
            }
            if name == "consent_reason" {
                reason_span = Some(key.span());
            }
            if name == "effect" {
                effect_span = Some(key.span());
            }
            options.set(&name, key.span(), input)?;
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        if let Some(span) = effect_span {
            options.agree(span)?;
        }
        match reason_span {
            Some(span) if options.consent.is_none() => Err(Error::new(
                span,
                "`consent_reason` needs a consent to explain; add `consent = \"DO_IT\"`",
            )),
            _ => Ok(options),
        }
    }

    /// A kind has an effect of its own, and what contradicts it misleads whoever
    /// reads only one of the two. Doing it over the network is no contradiction.
    fn agree(&self, span: Span) -> Result<()> {
        let (Some(kind), Some(effect)) = (self.kind.as_deref(), self.effect.as_deref()) else {
            return Ok(());
        };
        let own = match kind {
            "read" | "search" | "think" => "read",
            "edit" | "delete" | "move" => "write",
            "execute" | "network" => kind,
            _ => return Ok(()),
        };
        if effect == own || effect == "network" {
            return Ok(());
        }
        Err(Error::new(
            span,
            format!(
                "the effect {effect:?} contradicts the kind {kind:?}, whose effect is {own:?}; \
                 leave one of them out, or use the kind \"other\""
            ),
        ))
    }

    fn set(&mut self, name: &str, span: Span, input: ParseStream<'_>) -> Result<()> {
        match name {
            "name" => {
                let literal = text(name, span, input)?;
                value::name(&literal.value(), literal.span())?;
                self.name = Some(literal);
            }
            "title" => self.title = Some(text(name, span, input)?),
            "kind" => self.kind = Some(value::word(&text(name, span, input)?, "kind", &KINDS)?),
            "effect" => {
                self.effect = Some(value::word(&text(name, span, input)?, "effect", &EFFECTS)?);
            }
            "category" => self.category = Some(text(name, span, input)?),
            "tags" => self.tags = texts(name, span, input)?,
            "consent" => self.consent = Some(consent(name, span, input)?),
            "consent_reason" => self.consent_reason = Some(text(name, span, input)?),
            "timeout" => self.timeout = Some(value::nanoseconds(&text(name, span, input)?)?),
            "prefix" => self.prefix = Some(text(name, span, input)?),
            "version" => self.version = Some(text(name, span, input)?),
            "id" => self.id = Some(text(name, span, input)?),
            "documentation_url" => self.documentation_url = Some(text(name, span, input)?),
            "returns" => self.returns = Some(text(name, span, input)?),
            "usage_notes" => self.usage_notes = texts(name, span, input)?,
            "important" => self.important = texts(name, span, input)?,
            "destructive" => self.destructive = Some(flag(name, input)?),
            "idempotent" => self.idempotent = Some(flag(name, input)?),
            "open_world" => self.open_world = Some(flag(name, input)?),
            "confirm" => {
                let literal = text(name, span, input)?;
                self.confirm = Some(value::word(&literal, "answer", &["always", "never"])?);
            }
            "plan" => {
                equals(name, span, "path::to::function", input)?;
                self.plan = Some(input.parse().map_err(|error| {
                    Error::new(
                        error.span(),
                        "write `plan = path::to::function`, without quotes",
                    )
                })?);
            }
            "declare" => self.declare = flag(name, input)?,
            _ => {
                // Only checked: `crate_path` has read it already.
                let literal = text(name, span, input)?;
                literal.parse_with(Path::parse_mod_style).map_err(|_| {
                    Error::new(
                        literal.span(),
                        "write the path of a crate, such as `crate = \"toolsmith_core\"`",
                    )
                })?;
            }
        }
        Ok(())
    }
}

/// The path that `crate = "…"` gives. It is read apart from the rest, for it is
/// needed even where the rest is wrong.
pub(crate) fn crate_path(attribute: &TokenStream) -> Option<Path> {
    let tokens: Vec<TokenTree> = attribute.clone().into_iter().collect();
    tokens.windows(3).find_map(|tokens| match tokens {
        [
            TokenTree::Ident(key),
            TokenTree::Punct(equals),
            TokenTree::Literal(path),
        ] if key == "crate" && equals.as_char() == '=' => {
            let path: LitStr = syn::parse_str(&path.to_string()).ok()?;
            path.parse_with(Path::parse_mod_style).ok()
        }
        _ => None,
    })
}

fn unknown(name: &str, span: Span) -> Error {
    let hint = match value::nearest(name, &NAMES) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!(
            "it takes {}",
            NAMES.map(|name| format!("`{name}`")).join(", ")
        ),
    };
    Error::new(span, format!("`#[tool]` takes no `{name}`; {hint}"))
}

fn equals(name: &str, span: Span, example: &str, input: ParseStream<'_>) -> Result<()> {
    if !input.peek(Token![=]) {
        return Err(Error::new(span, format!("write `{name} = {example}`")));
    }
    input.parse::<Token![=]>()?;
    Ok(())
}

fn text(name: &str, span: Span, input: ParseStream<'_>) -> Result<LitStr> {
    equals(name, span, "\"…\"", input)?;
    literal(name, input)
}

fn literal(name: &str, input: ParseStream<'_>) -> Result<LitStr> {
    // The whole expression is read, so that the error covers all of it.
    let value: Expr = input.parse()?;
    match value {
        Expr::Lit(ExprLit {
            lit: Lit::Str(literal),
            ..
        }) => Ok(literal),
        other => Err(Error::new_spanned(
            other.to_token_stream(),
            format!("`{name}` takes a text: write `{name} = \"…\"`"),
        )),
    }
}

fn texts(name: &str, span: Span, input: ParseStream<'_>) -> Result<Vec<LitStr>> {
    let example = "[\"…\", \"…\"]";
    equals(name, span, example, input)?;
    if !input.peek(syn::token::Bracket) {
        return Err(Error::new(
            input.span(),
            format!("`{name}` takes a list: write `{name} = {example}`"),
        ));
    }
    let list;
    bracketed!(list in input);
    let list = list.parse_terminated(<LitStr as Parse>::parse, Token![,])?;
    Ok(list.into_iter().collect())
}

fn consent(name: &str, span: Span, input: ParseStream<'_>) -> Result<LitStr> {
    let literal = text(name, span, input)?;
    if literal.value().trim().is_empty() {
        return Err(Error::new(
            literal.span(),
            "a consent cannot be empty; write the word the caller must say, such as `consent = \"DELETE_FILE\"`",
        ));
    }
    Ok(literal)
}

/// A bare word means yes.
fn flag(name: &str, input: ParseStream<'_>) -> Result<bool> {
    if !input.peek(Token![=]) {
        return Ok(true);
    }
    input.parse::<Token![=]>()?;
    let literal: LitBool = input.parse().map_err(|error| {
        Error::new(
            error.span(),
            format!("`{name}` is `true` or `false`; the bare `{name}` means `true`"),
        )
    })?;
    Ok(literal.value)
}
