//! What `#[tool]` writes: the function as it was, a type of the same name beside
//! it, and two functions on that type.
//!
//! Every path begins with `::` and every name that could meet one of the user's
//! is unusual, for a macro's items are resolved where it is used. Tokens made here
//! are marked as the macro's, also where they are placed at the user's types, so
//! that lints do not judge them.

mod arguments;
mod definition;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Error, FnArg, Ident, Item, ItemFn, Path, Result, parse_quote};

use crate::function::Function;
use crate::options::{self, Options};
use crate::parameter::{self, Argument, Parameter};

/// Expands the attribute; what is wrong becomes one compile error, and the item
/// stays so that it causes no others.
pub(crate) fn tool(attribute: TokenStream, item: &TokenStream) -> TokenStream {
    let function = match syn::parse2::<Item>(item.clone()) {
        Ok(Item::Fn(function)) => function,
        Ok(other) => {
            let error = Error::new(start(&other), "`#[tool]` goes on a function");
            let error = error.into_compile_error();
            return quote!(#error #item);
        }
        Err(error) => return error.into_compile_error(),
    };
    let plain = without_our_attributes(&function);
    let private = private(options::crate_path(&attribute).as_ref());
    let expanded = Options::parse(attribute)
        .and_then(|options| Expansion::new(&function, options, private.clone()))
        .map(|expansion| expansion.write());
    let beside = expanded.unwrap_or_else(|error| failed(&function, &error, &private));
    quote!(#plain #beside)
}

/// The token a person would point at.
fn start(item: &Item) -> Span {
    match item {
        Item::Struct(item) => item.struct_token.span,
        Item::Enum(item) => item.enum_token.span,
        Item::Impl(item) => item.impl_token.span,
        Item::Trait(item) => item.trait_token.span,
        Item::Mod(item) => item.mod_token.span,
        other => other.span(),
    }
}

/// The function as rustc accepts it, and clippy leaves it alone.
fn without_our_attributes(function: &ItemFn) -> ItemFn {
    let mut plain = function.clone();
    // What these advise, a tool cannot follow: its arguments are owned, there is
    // one parameter for each, and `async` says on which threads it runs.
    plain.attrs.push(parse_quote! {
        #[allow(clippy::needless_pass_by_value, clippy::too_many_arguments, clippy::unused_async)]
    });
    for input in &mut plain.sig.inputs {
        if let FnArg::Typed(input) = input {
            input
                .attrs
                .retain(|attribute| !parameter::is_ours(attribute));
        }
    }
    plain
}

/// The error, and a type that keeps `name::tool()` from being a second one.
fn failed(function: &ItemFn, error: &Error, private: &TokenStream) -> TokenStream {
    let error = error.to_compile_error();
    if function.sig.receiver().is_some() {
        return error;
    }
    let name = ours(&function.sig.ident);
    let visibility = &function.vis;
    quote! {
        #error
        #[doc(hidden)]
        #visibility struct #name {}
        #[doc(hidden)]
        impl #name {
            #[doc(hidden)]
            pub fn tool() -> #private::AnyTool { ::core::panic!() }
            #[doc(hidden)]
            pub fn definition() -> #private::ToolDef { ::core::panic!() }
        }
    }
}

/// A user's name, marked as written by the macro.
fn ours(name: &Ident) -> Ident {
    let mut name = name.clone();
    name.set_span(Span::call_site().located_at(name.span()));
    name
}

struct Expansion<'a> {
    item: &'a ItemFn,
    function: Function,
    options: Options,
    private: TokenStream,
}

impl<'a> Expansion<'a> {
    fn new(item: &'a ItemFn, options: Options, private: TokenStream) -> Result<Self> {
        let function = Function::new(item, &options)?;
        Ok(Self {
            item,
            function,
            options,
            private,
        })
    }

    fn write(&self) -> TokenStream {
        let private = &self.private;
        let name = ours(&self.item.sig.ident);
        let visibility = &self.item.vis;
        let about = format!(
            "The tool `{}`, made of the function of the same name.",
            self.item.sig.ident.unraw()
        );
        let arguments = self.arguments();
        let definition = self.definition();
        let tool = self.tool();
        let declare = self
            .options
            .declare
            .then(|| quote!(#private::declare!(#name::tool);));
        quote! {
            #[doc = #about]
            #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
            #visibility struct #name {}

            const _: () = {
                #arguments
                impl #name {
                    /// What the tool is.
                    #[must_use]
                    pub fn definition() -> #private::ToolDef { #definition }

                    /// The tool itself.
                    #[must_use]
                    pub fn tool() -> #private::AnyTool { #tool }
                }
                #declare
            };
        }
    }

    fn fields(&self) -> impl Iterator<Item = &Argument> {
        self.function
            .parameters
            .iter()
            .filter_map(|parameter| match parameter {
                Parameter::Argument(argument) => Some(&**argument),
                _ => None,
            })
    }

    fn whole(&self) -> Option<&syn::Type> {
        self.function
            .parameters
            .iter()
            .find_map(|parameter| match parameter {
                Parameter::Whole(kind) => Some(&**kind),
                _ => None,
            })
    }

    /// The type whose schema is the input's.
    fn described(&self) -> TokenStream {
        match self.whole() {
            Some(kind) => kind.to_token_stream(),
            None => quote!(ToolsmithArguments),
        }
    }

    /// The type a call's arguments are read into.
    fn read(&self) -> TokenStream {
        let private = &self.private;
        match self.whole() {
            Some(kind) if self.options.consent.is_some() => {
                quote!(#private::Consented<#kind>)
            }
            _ => self.described(),
        }
    }

    fn tool(&self) -> TokenStream {
        let private = &self.private;
        let read = self.read();
        let binding = self.binding();
        let plan = self.plan();
        let function = &self.item.sig.ident;
        let (arguments, context) = (
            format_ident!("toolsmith_arguments"),
            format_ident!("toolsmith_context"),
        );
        let values = self
            .function
            .parameters
            .iter()
            .map(|parameter| match parameter {
                Parameter::Argument(argument) => {
                    let field = ours(&argument.field);
                    quote!(#arguments.#field)
                }
                Parameter::Whole(_) => self.whole_of(&arguments),
                Parameter::Context { by_reference: true } => quote!(&#context),
                Parameter::Context {
                    by_reference: false,
                } => quote!(#context),
            });
        // Placed at the return type, so that this is where the compiler points
        // when it cannot be returned.
        let place = self
            .function
            .returns
            .as_ref()
            .map_or_else(Span::call_site, |kind| {
                Span::call_site().located_at(kind.span())
            });
        let placed = at(place, private);
        let call = quote!(#function(#(#values),*));
        let has_context = self
            .function
            .parameters
            .iter()
            .any(|parameter| matches!(parameter, Parameter::Context { .. }));
        let has_arguments = self.whole().is_some() || self.fields().next().is_some();
        let arguments = if has_arguments {
            quote!(#arguments)
        } else {
            quote!(_)
        };
        let context = if has_context {
            quote!(#context)
        } else {
            quote!(_)
        };
        let start = quote! {
            #private::FunctionTool::<#read>::new(Self::definition()) #binding #plan
        };
        if self.item.sig.asyncness.is_some() {
            let outcome = quote_spanned!(place=> #placed::outcome!(#call.await));
            quote!(#start.into_async(|#arguments, #context| async move { #outcome }))
        } else {
            let outcome = quote_spanned!(place=> #placed::outcome!(#call));
            quote!(#start.into_blocking(|#arguments, #context| { #outcome }))
        }
    }

    /// The user's own argument struct, out of what was read.
    fn whole_of(&self, arguments: &Ident) -> TokenStream {
        match self.options.consent {
            Some(_) => quote!(#arguments.0),
            None => quote!(#arguments),
        }
    }

    fn binding(&self) -> TokenStream {
        let private = &self.private;
        let option = |value: Option<TokenStream>| match value {
            Some(value) => quote!(::core::option::Option::Some(#value)),
            None => quote!(::core::option::Option::None),
        };
        if self.options.timeout.is_none() && self.options.prefix.is_none() {
            return TokenStream::new();
        }
        let timeout = option(self.options.timeout.map(|nanos| quote!(#nanos)));
        let prefix = option(self.options.prefix.as_ref().map(|prefix| quote!(#prefix)));
        quote!(.with_binding(#private::binding(#timeout, #prefix)))
    }

    fn plan(&self) -> TokenStream {
        let private = &self.private;
        let confirm = match self.options.confirm.as_deref() {
            Some("always") => quote!(#private::always()),
            Some(_) => quote!(#private::Confirm::Never),
            None => quote!(#private::Confirm::Unspecified),
        };
        let Some(function) = &self.options.plan else {
            if self.options.confirm.is_none() {
                return TokenStream::new();
            }
            let plan = quote!(<#private::Plan as ::core::default::Default>::default());
            return quote!(.with_plan(|_| #private::planned(#plan, #confirm)));
        };
        let arguments = format_ident!("toolsmith_arguments");
        let values: Vec<TokenStream> = self
            .function
            .parameters
            .iter()
            .filter_map(|parameter| match parameter {
                Parameter::Argument(argument) => {
                    let field = ours(&argument.field);
                    Some(quote!(&#arguments.#field))
                }
                Parameter::Whole(_) if self.options.consent.is_some() => {
                    Some(quote!(&#arguments.0))
                }
                Parameter::Whole(_) => Some(quote!(#arguments)),
                Parameter::Context { .. } => None,
            })
            .collect();
        let pattern = if values.is_empty() {
            quote!(_)
        } else {
            quote!(#arguments)
        };
        let place = Span::call_site().located_at(function.span());
        let placed = at(place, private);
        let plan = quote_spanned!(place=> #placed::planned(#function(#(#values),*), #confirm));
        quote!(.with_plan(|#pattern| #plan))
    }
}

/// The same tokens in another place.
fn at(place: Span, tokens: &TokenStream) -> TokenStream {
    let placed = tokens.clone().into_iter().map(|mut token| {
        token.set_span(place);
        token
    });
    placed.collect()
}

/// The path of the one module the expansion uses, in the crate that was named or
/// in `toolsmith`. A plain name is a crate, whatever modules are called.
fn private(path: Option<&Path>) -> TokenStream {
    let Some(path) = path else {
        return quote!(::toolsmith::__private);
    };
    let first = path
        .segments
        .first()
        .map(|segment| segment.ident.to_string());
    let is_local = matches!(first.as_deref(), Some("crate" | "self" | "super"));
    if is_local || path.leading_colon.is_some() {
        quote!(#path::__private)
    } else {
        quote!(::#path::__private)
    }
}
