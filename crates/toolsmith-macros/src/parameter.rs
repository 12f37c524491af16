//! The parameters of a function: arguments one by one, all of them in one struct,
//! or the context.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{
    Attribute, Error, Expr, Ident, Lifetime, LitStr, Meta, Pat, PatType, Result, Token, Type,
    TypeImplTrait, TypeReference,
};

use crate::docs;
use crate::value;

/// One parameter.
pub(crate) enum Parameter {
    /// An argument of its own.
    Argument(Box<Argument>),
    /// All arguments in one struct: `#[args]`.
    Whole(Box<Type>),
    /// The tool's side of the call, by value or by reference.
    Context { by_reference: bool },
}

/// An argument, as a field of the struct that is read.
pub(crate) struct Argument {
    pub(crate) field: Ident,
    pub(crate) kind: Type,
    /// What callers call it.
    pub(crate) name: String,
    pub(crate) name_span: Span,
    pub(crate) default: Option<Default>,
    pub(crate) literal: Option<LitStr>,
    /// What serde, schemars and doc comments say about the field.
    pub(crate) attributes: Vec<TokenStream>,
    /// It has attributes of serde or schemars, which may do without its type.
    pub(crate) customised: bool,
    /// It stands for many arguments, which deny_unknown_fields cannot know.
    pub(crate) flattened: bool,
}

/// The default of an argument.
pub(crate) enum Default {
    /// That of its type.
    OfType,
    Expression(Box<Expr>),
}

/// Tells whether an attribute of a parameter is read here, and must not stay on
/// the function, where rustc would refuse it.
pub(crate) fn is_ours(attribute: &Attribute) -> bool {
    ["doc", "arg", "args", "serde", "schemars"]
        .iter()
        .any(|name| attribute.path().is_ident(name))
}

pub(crate) fn parse(parameter: &PatType) -> Result<Parameter> {
    if let Some(conditional) = parameter
        .attrs
        .iter()
        .find(|attribute| attribute.path().is_ident("cfg") || attribute.path().is_ident("cfg_attr"))
    {
        return Err(Error::new_spanned(
            conditional,
            "a parameter of a tool cannot be conditional; put `#[cfg]` on two functions instead",
        ));
    }
    if let Some(by_reference) = context(&parameter.ty)? {
        return Ok(Parameter::Context { by_reference });
    }
    owned(&parameter.ty)?;
    if let Some(args) = find(parameter, "args") {
        if !matches!(args.meta, Meta::Path(_)) {
            return Err(Error::new_spanned(args, "write the bare `#[args]`"));
        }
        return Ok(Parameter::Whole(parameter.ty.clone()));
    }
    argument(parameter).map(|argument| Parameter::Argument(Box::new(argument)))
}

fn find<'a>(parameter: &'a PatType, name: &str) -> Option<&'a Attribute> {
    parameter
        .attrs
        .iter()
        .find(|attribute| attribute.path().is_ident(name))
}

/// A type whose last word is `ToolContext` is the context, however it was
/// imported.
fn context(kind: &Type) -> Result<Option<bool>> {
    let is_context = |kind: &Type| match kind {
        Type::Path(path) => path
            .path
            .segments
            .last()
            .is_some_and(|segment| segment.ident == "ToolContext"),
        _ => false,
    };
    match kind {
        Type::Reference(reference) if is_context(&reference.elem) => match &reference.mutability {
            Some(_) => Err(Error::new_spanned(
                kind,
                "the context is never changed; take `&ToolContext` or `ToolContext`",
            )),
            None => Ok(Some(true)),
        },
        kind if is_context(kind) => Ok(Some(false)),
        _ => Ok(None),
    }
}

fn argument(parameter: &PatType) -> Result<Argument> {
    let field = match &*parameter.pat {
        Pat::Ident(pattern) if pattern.by_ref.is_none() && pattern.subpat.is_none() => {
            pattern.ident.clone()
        }
        pattern => {
            return Err(Error::new_spanned(
                pattern,
                "an argument needs a name; take it as `name: Type` and take it apart in the body",
            ));
        }
    };
    let mut argument = Argument {
        name: field.unraw().to_string(),
        name_span: field.span(),
        field,
        kind: (*parameter.ty).clone(),
        default: None,
        literal: None,
        attributes: Vec::new(),
        customised: false,
        flattened: false,
    };
    if let Some(text) = docs::text(&parameter.attrs) {
        argument
            .attributes
            .push(quote!(#[schemars(description = #text)]));
    }
    for attribute in &parameter.attrs {
        if attribute.path().is_ident("arg") {
            attribute.parse_args_with(|input: ParseStream<'_>| argument.read(input))?;
        } else if attribute.path().is_ident("serde") {
            argument.customised = true;
            argument.look_at_serde(attribute);
            argument.attributes.push(attribute.to_token_stream());
        } else if attribute.path().is_ident("schemars") {
            argument.customised = true;
            argument.attributes.push(attribute.to_token_stream());
        }
    }
    if let Some(literal) = &argument.literal
        && !is_text(&argument.kind)
    {
        return Err(Error::new_spanned(
            &argument.kind,
            format!(
                "the literal {:?} is text; make the parameter a `String`",
                literal.value()
            ),
        ));
    }
    Ok(argument)
}

impl Argument {
    /// Reads `#[arg(…)]`.
    fn read(&mut self, input: ParseStream<'_>) -> Result<()> {
        const NAMES: [&str; 3] = ["name", "default", "literal"];
        while !input.is_empty() {
            let key = Ident::parse_any(input)?;
            let twice = match key.to_string().as_str() {
                "name" => {
                    input.parse::<Token![=]>()?;
                    let name: LitStr = input.parse()?;
                    if name.value().is_empty() {
                        return Err(Error::new(
                            name.span(),
                            "an argument's name cannot be empty",
                        ));
                    }
                    let twice = self.field.unraw() != self.name;
                    self.name = name.value();
                    self.name_span = name.span();
                    self.attributes.push(quote!(#[serde(rename = #name)]));
                    twice
                }
                "default" if input.peek(Token![=]) => {
                    input.parse::<Token![=]>()?;
                    let value = Default::Expression(Box::new(input.parse()?));
                    self.default.replace(value).is_some()
                }
                "default" => self.default.replace(Default::OfType).is_some(),
                "literal" => {
                    input.parse::<Token![=]>()?;
                    self.literal.replace(input.parse()?).is_some()
                }
                other => {
                    let hint = match value::nearest(other, &NAMES) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => "it takes `name`, `default` and `literal`".to_owned(),
                    };
                    return Err(Error::new(
                        key.span(),
                        format!("`#[arg]` takes no `{other}`; {hint}"),
                    ));
                }
            };
            if twice {
                return Err(Error::new(
                    key.span(),
                    format!("`{key}` is given twice; keep one of them"),
                ));
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(())
    }

    /// Notes what of serde's own attributes matters here. Anything else, and
    /// anything wrong, is serde's to judge.
    fn look_at_serde(&mut self, attribute: &Attribute) {
        let _ = attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("flatten") {
                self.flattened = true;
            } else if meta.path.is_ident("rename") && meta.input.peek(Token![=]) {
                let name: LitStr = meta.value()?.parse()?;
                self.name = name.value();
                self.name_span = name.span();
            } else if meta.input.peek(Token![=]) {
                meta.value()?.parse::<Expr>()?;
            } else if meta.input.peek(syn::token::Paren) {
                meta.parse_nested_meta(|_| Ok(()))?;
            }
            Ok(())
        });
    }
}

/// Tells whether a type is spelled `String` or `Option<String>`.
pub(crate) fn is_text(kind: &Type) -> bool {
    let text = kind.to_token_stream().to_string().replace(' ', "");
    text == "String" || text.ends_with("::String") || text.ends_with("Option<String>")
}

/// Refuses what cannot be the type of a field that is read.
fn owned(kind: &Type) -> Result<()> {
    let mut borrowed = Borrowed(None);
    borrowed.visit_type(kind);
    borrowed.0.map_or(Ok(()), Err)
}

struct Borrowed(Option<Error>);

impl<'ast> Visit<'ast> for Borrowed {
    fn visit_type_reference(&mut self, reference: &'ast TypeReference) {
        let target = reference.elem.to_token_stream().to_string();
        let instead = match (&*reference.elem, target.as_str()) {
            (_, "str") => "`String`".to_owned(),
            (_, "Path" | "std :: path :: Path") => "`PathBuf`".to_owned(),
            (Type::Slice(slice), _) => {
                format!("`Vec<{}>`", slice.elem.to_token_stream())
            }
            _ => format!("`{target}`"),
        };
        self.refuse(
            reference.span(),
            format!("an argument cannot be borrowed: a call brings its own values; take {instead}"),
        );
    }

    fn visit_type_impl_trait(&mut self, kind: &'ast TypeImplTrait) {
        self.refuse(
            kind.span(),
            "an argument needs a concrete type, for its schema is made from it; name one instead of `impl …`".to_owned(),
        );
    }

    fn visit_lifetime(&mut self, lifetime: &'ast Lifetime) {
        if lifetime.ident != "static" {
            self.refuse(
                lifetime.span(),
                "an argument cannot be borrowed: a call brings its own values; take an owned type"
                    .to_owned(),
            );
        }
        visit::visit_lifetime(self, lifetime);
    }
}

impl Borrowed {
    fn refuse(&mut self, span: Span, message: String) {
        self.0.get_or_insert_with(|| Error::new(span, message));
    }
}
