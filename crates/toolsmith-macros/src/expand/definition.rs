//! The body of `definition()`.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::visit::Visit;
use syn::{Ident, TypeImplTrait};

use super::Expansion;
use crate::docs;

impl Expansion<'_> {
    pub(super) fn definition(&self) -> TokenStream {
        let private = &self.private;
        let options = &self.options;
        let name = &self.function.name;
        let description = docs::text(&self.item.attrs).unwrap_or_else(|| quote!(""));
        let described = self.described();
        let output = match &self.function.returns {
            Some(kind) if !is_opaque(kind) => {
                quote!(#private::output!(#kind))
            }
            _ => quote!(::core::option::Option::None),
        };
        let mut definition = quote! {
            #private::define(
                #name,
                #description,
                #private::input::<#described>(),
                #output,
            )
        };
        if let Some(title) = &options.title {
            definition.extend(quote!(.with_title(#title)));
        }
        let variant = |word: &String| Ident::new(&camel(word), Span::call_site());
        match (
            options.kind.as_ref().map(variant),
            options.effect.as_ref().map(variant),
        ) {
            (Some(kind), None) => definition.extend(quote!(.with_kind(#private::Kind::#kind))),
            (None, Some(effect)) => definition
                .extend(quote!(.with_kind(#private::Kind::of_effect(#private::Effect::#effect)))),
            (Some(kind), Some(effect)) => definition.extend(
                quote!(.with_kind(#private::Kind::#kind).with_effect(#private::Effect::#effect)),
            ),
            (None, None) => {}
        }
        if let Some(returns) = &options.returns {
            definition.extend(quote!(.with_returns(#returns)));
        }
        if let Some(consent) = &options.consent {
            let because = options
                .consent_reason
                .as_ref()
                .map(|reason| quote!(.because(#reason)));
            definition.extend(quote!(.with_consent(#private::Consent::new(#consent) #because)));
        }
        let changes = self.changes();
        if changes.is_empty() {
            return definition;
        }
        quote! {
            let mut toolsmith_definition = #definition;
            #(toolsmith_definition.#changes;)*
            toolsmith_definition
        }
    }

    /// What has no method of its own: plain fields of the definition.
    fn changes(&self) -> Vec<TokenStream> {
        let private = &self.private;
        let options = &self.options;
        let mut changes = Vec::new();
        for (field, value) in [
            (quote!(meta.category), &options.category),
            (quote!(meta.version), &options.version),
            (quote!(meta.documentation_url), &options.documentation_url),
        ] {
            changes.extend(
                value
                    .as_ref()
                    .map(|text| quote!(#field = #private::some(#text))),
            );
        }
        if let Some(id) = &options.id {
            changes.push(quote!(meta.id = ::std::string::String::from(#id)));
        }
        for (field, list) in [
            (quote!(meta.tags), &options.tags),
            (quote!(description.usage_notes), &options.usage_notes),
            (quote!(description.important), &options.important),
        ] {
            if !list.is_empty() {
                changes.push(quote!(#field = #private::texts(&[#(#list),*])));
            }
        }
        for (field, flag) in [
            (quote!(hints.destructive), options.destructive),
            (quote!(hints.idempotent), options.idempotent),
            (quote!(hints.open_world), options.open_world),
        ] {
            changes.extend(flag.map(|flag| quote!(#field = ::core::option::Option::Some(#flag))));
        }
        changes
    }
}

/// Tells whether a type has no name.
fn is_opaque(kind: &syn::Type) -> bool {
    struct Opaque(bool);
    impl<'ast> Visit<'ast> for Opaque {
        fn visit_type_impl_trait(&mut self, _: &'ast TypeImplTrait) {
            self.0 = true;
        }
    }
    let mut opaque = Opaque(false);
    opaque.visit_type(kind);
    opaque.0
}

fn camel(word: &str) -> String {
    let mut letters = word.chars();
    letters
        .next()
        .map(|first| first.to_ascii_uppercase())
        .into_iter()
        .chain(letters)
        .collect()
}
