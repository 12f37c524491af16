//! The function under the attribute: what it must be, and what it takes.

use std::collections::BTreeSet;

use quote::ToTokens;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Error, FnArg, ItemFn, Result, ReturnType, Type};

use crate::options::Options;
use crate::parameter::{self, Parameter};
use crate::value;

/// What is known of the function once it was found fit.
pub(crate) struct Function {
    /// The tool's name.
    pub(crate) name: String,
    pub(crate) parameters: Vec<Parameter>,
    /// The type returned, where one is written.
    pub(crate) returns: Option<Type>,
}

impl Function {
    pub(crate) fn new(item: &ItemFn, options: &Options) -> Result<Self> {
        shape(item)?;
        let name = match &options.name {
            Some(name) => name.value(),
            None => {
                let name = item.sig.ident.unraw().to_string();
                value::name(&name, item.sig.ident.span())?;
                name
            }
        };
        let returns = match &item.sig.output {
            ReturnType::Default => None,
            ReturnType::Type(_, kind) => Some((**kind).clone()),
        };
        Ok(Self {
            name,
            parameters: parameters(item, options)?,
            returns,
        })
    }
}

/// Refuses functions no call could be made to.
fn shape(item: &ItemFn) -> Result<()> {
    let signature = &item.sig;
    if let Some(receiver) = signature.receiver() {
        return Err(Error::new_spanned(
            receiver,
            "`#[tool]` goes on a free function, not on a method; implement `Tool` for a type that has state",
        ));
    }
    let refuse = |token: &dyn ToTokens, message: &str| {
        Err(Error::new_spanned(token.to_token_stream(), message))
    };
    if let Some(token) = &signature.constness {
        return refuse(token, "a tool cannot be `const`; remove it");
    }
    if let Some(token) = &signature.unsafety {
        return refuse(
            token,
            "a tool cannot be `unsafe`, for its caller is a model; make it safe to call",
        );
    }
    if let Some(token) = &signature.abi {
        return refuse(
            token,
            "a tool cannot be `extern`; call the foreign function from a plain one",
        );
    }
    if let Some(token) = &signature.variadic {
        return refuse(token, "a tool cannot be variadic; take a `Vec`");
    }
    if !signature.generics.params.is_empty() {
        return refuse(
            &signature.generics.params,
            "a tool cannot be generic, for its schema is made from concrete types; name the types",
        );
    }
    if let Some(clause) = &signature.generics.where_clause {
        return refuse(
            clause,
            "a tool cannot be generic; remove the `where` clause",
        );
    }
    Ok(())
}

fn parameters(item: &ItemFn, options: &Options) -> Result<Vec<Parameter>> {
    let mut parameters = Vec::new();
    let mut names = BTreeSet::new();
    let mut whole = false;
    let mut context = false;
    for input in &item.sig.inputs {
        let FnArg::Typed(input) = input else {
            continue;
        };
        let parameter = parameter::parse(input)?;
        match &parameter {
            Parameter::Context { .. } if context => {
                return Err(Error::new(
                    input.span(),
                    "a tool has one context; remove this one",
                ));
            }
            Parameter::Context { .. } => context = true,
            Parameter::Whole(_) if whole || !names.is_empty() => return Err(beside(input)),
            Parameter::Whole(_) => whole = true,
            Parameter::Argument(_) if whole => return Err(beside(input)),
            Parameter::Argument(argument) => {
                if !names.insert(argument.name.clone()) {
                    return Err(Error::new(
                        argument.name_span,
                        format!(
                            "two arguments are called `{}`; rename one of them",
                            argument.name
                        ),
                    ));
                }
                let is_consent = options.consent.is_some() && argument.name == "consent";
                if is_consent && !parameter::is_text(&argument.kind) {
                    return Err(Error::new_spanned(
                        &argument.kind,
                        "the consent is a text; make the parameter a `String`",
                    ));
                }
            }
        }
        parameters.push(parameter);
    }
    Ok(parameters)
}

fn beside(input: &syn::PatType) -> Error {
    Error::new(
        input.span(),
        "`#[args]` takes all the arguments; move the others into its struct",
    )
}
