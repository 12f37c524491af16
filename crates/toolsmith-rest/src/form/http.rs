//! How a tool's arguments become a request, and an answer its outcome.

use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::placed::Placed;

/// A method of HTTP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
#[expect(missing_docs, reason = "the names are HTTP's own")]
pub enum HttpMethod {
    #[default]
    #[serde(alias = "get")]
    Get,
    #[serde(alias = "head")]
    Head,
    #[serde(alias = "options")]
    Options,
    #[serde(alias = "post")]
    Post,
    #[serde(alias = "put")]
    Put,
    #[serde(alias = "patch")]
    Patch,
    #[serde(alias = "delete")]
    Delete,
}

/// By its name in capitals, as HTTP writes it.
impl FromStr for HttpMethod {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(match text {
            "GET" => Self::Get,
            "HEAD" => Self::Head,
            "OPTIONS" => Self::Options,
            "POST" => Self::Post,
            "PUT" => Self::Put,
            "PATCH" => Self::Patch,
            "DELETE" => Self::Delete,
            _ => return Err("write GET, HEAD, OPTIONS, POST, PUT, PATCH or DELETE".to_owned()),
        })
    }
}

/// Where an argument goes: a word, or the word with details.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected path, query, header, cookie, body or whole_body, or one of these as `in` with `name`, `list` and `object`"
)]
pub enum PlaceForm {
    /// Under its own name.
    Plain(PlaceName),
    /// The place with the name an argument has there, and how lists and objects are written.
    Detailed {
        /// Where.
        #[serde(rename = "in")]
        place: PlaceName,
        /// The name it has there; its own unless set.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// How a list is written in a path, a query or a header.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        list: Option<ListStyle>,
        /// How an object is written in a query.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        object: Option<ObjectStyle>,
    },
}

/// The places of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PlaceName {
    /// A segment of the path, where the template names it in braces.
    Path,
    /// The query.
    Query,
    /// A header.
    Header,
    /// A cookie.
    Cookie,
    /// A field of the body.
    Body,
    /// The body itself.
    WholeBody,
}

/// How a list is written where there is one text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ListStyle {
    /// `a=1&a=2`, in a query; as `comma` elsewhere.
    #[default]
    Repeat,
    /// `a=1,2`
    Comma,
    /// `a=1%202`
    Space,
    /// `a=1|2`
    Pipe,
    /// `a[]=1&a[]=2`
    Brackets,
}

/// How an object is written in a query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ObjectStyle {
    /// Each field by itself: `x=1&y=2`.
    #[default]
    Form,
    /// `a[x]=1&a[y]=2`
    Deep,
    /// As JSON: `a={"x":1}`.
    Json,
}

/// How a body is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BodyForm {
    /// JSON.
    #[default]
    Json,
    /// As a web form.
    Form,
    /// As a web form with parts.
    Multipart,
    /// As it is, where the body is one argument.
    Text,
}

/// What becomes of an answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct ResponseForm {
    /// The part of it that is returned, as a JSON pointer such as `/data/items`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub select: Option<Placed<String>>,
    /// How it is read; by its content type unless set.
    #[serde(rename = "as", skip_serializing_if = "Option::is_none")]
    pub kind: Option<ResponseKind>,
    /// The text a model gets, as a minijinja template over `value` and `status`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template: Option<Placed<String>>,
    /// The JSON Schema of what is returned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<Placed<Value>>,
}

/// How an answer is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ResponseKind {
    /// As JSON, whatever its type says.
    Json,
    /// As text.
    Text,
}

/// How the pages of a list are gone through.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct PaginationForm {
    /// What the next page is asked for by.
    pub style: PaginationStyle,
    /// The query parameter that asks for it: `page`, `offset` or `cursor` unless set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameter: Option<String>,
    /// The number of the first page or entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<u64>,
    /// Where the entries of a page stand, as a JSON pointer; the whole answer unless set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<Placed<String>>,
    /// Where the next cursor or address stands, as a JSON pointer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Placed<String>>,
    /// How many pages one call asks for at most; 10 unless set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_pages: Option<u32>,
}

/// What the next page is asked for by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PaginationStyle {
    /// Its number.
    Page,
    /// How many entries come before it.
    Offset,
    /// What the page before it says under `next`.
    Cursor,
    /// The address the page before it gives under `next`, or in its `Link` header.
    Link,
}

/// Which sort of server it is, where it is none that a request is written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Adapter {
    /// One that tells its tools itself and runs them at one address.
    Execute,
}
