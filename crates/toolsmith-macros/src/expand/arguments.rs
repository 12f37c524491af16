//! The struct a call's arguments are read into.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::{Expr, ExprLit, Lit};

use super::{Expansion, ours};
use crate::parameter::{Argument, Default};

impl Expansion<'_> {
    /// The struct the arguments are read into, where the user gave none.
    pub(super) fn arguments(&self) -> TokenStream {
        if self.whole().is_some() {
            return TokenStream::new();
        }
        let private = &self.private;
        let serde = quote!(#private::serde).to_string();
        let schemars = quote!(#private::schemars).to_string();
        let closed = (!self.fields().any(|field| field.flattened))
            .then(|| quote!(#[serde(deny_unknown_fields)]));
        let (mut fields, mut functions) = (Vec::new(), Vec::new());
        for (index, argument) in self.fields().enumerate() {
            let (field, function) = field(index, argument);
            fields.push(field);
            functions.extend(function);
            if !argument.customised {
                let kind = &argument.kind;
                functions.push(quote!(const _: fn() = #private::argument::<#kind>;));
            }
        }
        // The literal is in the schema already, with a better description than a
        // field could give it.
        let has_own = self.fields().any(|field| field.name == "consent");
        if self.options.consent.is_some() && !has_own {
            fields.push(quote! {
                #[serde(rename = "consent")]
                #[schemars(skip)]
                toolsmith_consent: #private::serde::de::IgnoredAny
            });
        }
        quote! {
            #[derive(#private::serde::Deserialize, #private::schemars::JsonSchema)]
            #[serde(crate = #serde)]
            #[schemars(crate = #schemars)]
            #closed
            struct ToolsmithArguments { #(#fields,)* }
            #(#functions)*
        }
    }
}

/// A field, and the function that gives its default.
fn field(index: usize, argument: &Argument) -> (TokenStream, Option<TokenStream>) {
    let name = ours(&argument.field);
    let kind = &argument.kind;
    let attributes = &argument.attributes;
    let literal = argument
        .literal
        .as_ref()
        .map(|literal| quote!(#[schemars(extend("const" = #literal))]));
    let (default, function) = match &argument.default {
        None => (None, None),
        Some(Default::OfType) => (Some(quote!(#[serde(default)])), None),
        Some(Default::Expression(value)) => {
            let function = format_ident!("toolsmith_default_{index}");
            let path = function.to_string();
            let value = converted(value);
            (
                Some(quote!(#[serde(default = #path)])),
                Some(quote!(fn #function() -> #kind { #value })),
            )
        }
    };
    (
        quote!(#(#attributes)* #literal #default #name: #kind),
        function,
    )
}

/// A text in quotes may stand for any type made from text; everything else is
/// taken as written.
fn converted(value: &Expr) -> TokenStream {
    match value {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) => quote!(::core::convert::Into::into(#text)),
        value => value.to_token_stream(),
    }
}
