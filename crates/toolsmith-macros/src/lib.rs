//! The `#[tool]` attribute.
use proc_macro::TokenStream;
/// Makes a tool of a function.
#[proc_macro_attribute]
pub fn tool(_attribute: TokenStream, item: TokenStream) -> TokenStream {
    item
}
