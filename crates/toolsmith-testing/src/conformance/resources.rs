//! The suite's resources.

use serde_json::json;
use toolsmith_core::ToolError;
use toolsmith_mcp::BoxFuture;
use toolsmith_mcp::server::{Contents, Resource, ResourceTemplate, Resources};

use super::PNG;

pub(super) struct Fixtures;

const TEXT: &str = "test://static-text";
const BINARY: &str = "test://static-binary";
const WATCHED: &str = "test://watched-resource";

impl Resources for Fixtures {
    fn list(&self) -> BoxFuture<'_, Result<Vec<Resource>, ToolError>> {
        let resources = vec![
            Resource::new(TEXT, "static-text")
                .with_description("A text.")
                .with_mime_type("text/plain"),
            Resource::new(BINARY, "static-binary")
                .with_description("An image.")
                .with_mime_type("image/png"),
            Resource::new(WATCHED, "watched-resource")
                .with_description("Something to follow.")
                .with_mime_type("text/plain"),
        ];
        Box::pin(std::future::ready(Ok(resources)))
    }

    fn templates(&self) -> BoxFuture<'_, Result<Vec<ResourceTemplate>, ToolError>> {
        let template = ResourceTemplate::new("test://template/{id}/data", "template")
            .with_description("Data by number.")
            .with_mime_type("application/json");
        Box::pin(std::future::ready(Ok(vec![template])))
    }

    fn read<'a>(&'a self, uri: &'a str) -> BoxFuture<'a, Result<Option<Vec<Contents>>, ToolError>> {
        let contents = match uri {
            TEXT => Some(Contents::text(
                uri,
                "This is the content of the static text resource.",
            )),
            BINARY => Some(Contents::blob(uri, PNG).with_mime_type("image/png")),
            WATCHED => Some(Contents::text(uri, "Watched resource content")),
            _ => templated(uri),
        };
        Box::pin(std::future::ready(Ok(contents.map(|each| vec![each]))))
    }

    fn can_follow<'a>(&'a self, uri: &'a str) -> BoxFuture<'a, bool> {
        Box::pin(std::future::ready(uri == WATCHED))
    }
}

fn templated(uri: &str) -> Option<Contents> {
    let id = uri
        .strip_prefix("test://template/")?
        .strip_suffix("/data")?;
    let data = json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
    Some(Contents::text(uri, data.to_string()).with_mime_type("application/json"))
}
