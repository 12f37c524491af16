//! The user's names do not get in the way of the attribute's, nor the reverse.
#![allow(dead_code, non_camel_case_types)]

extern crate toolsmith_core as toolsmith;

mod shadow {
    pub mod serde {}
    pub mod schemars {}
    pub mod std {}
    pub mod core {}
    pub mod toolsmith {}
    pub struct Result;
    pub struct Option;
    pub struct String;
    pub struct Vec;
    pub struct Ok;
    pub struct Err;
    pub struct Default;
    pub struct Clone;
    pub struct value;
    pub struct error;
    pub struct returned;

    #[derive(::toolsmith_core::__private::serde::Deserialize, ::toolsmith_core::__private::schemars::JsonSchema)]
    #[serde(crate = "::toolsmith_core::__private::serde")]
    #[schemars(crate = "::toolsmith_core::__private::schemars")]
    pub struct Arguments {
        pub number: u8,
    }

    /// Adds.
    #[::toolsmith_core::tool(timeout = "1s", tags = ["t"], id = "x", confirm = "always", consent = "A", declare)]
    pub fn add(
        arguments: u8,
        context: Arguments,
        #[arg(default = "text")] definition: ::std::string::String,
        tool: ::std::option::Option<::std::string::String>,
    ) -> ::std::result::Result<u8, ::std::string::String> {
        let _ = (definition, tool);
        ::std::result::Result::Ok(arguments + context.number)
    }

    #[::toolsmith_core::tool(crate = "::toolsmith_core")]
    pub async fn whole(#[args] arguments: Arguments) -> u8 {
        arguments.number
    }
}

fn main() {
    let definition = shadow::add::definition();
    assert_eq!(
        definition.input.as_value()["required"].to_string(),
        r#"["arguments","context","consent"]"#
    );
    let _ = shadow::whole::tool();
}
