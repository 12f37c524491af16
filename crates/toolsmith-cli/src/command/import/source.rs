//! Where a document comes from: a file, standard input, or an address.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use toolsmith_manager::servers::{HttpError, check_url};
use toolsmith_rest::openapi::{self, ReadLimits};

use crate::failure::Failure;

/// A document's bytes, and where they come from.
pub(super) struct Source {
    pub(super) bytes: Vec<u8>,
    /// As it is named in messages.
    pub(super) shown: String,
    /// As it is named in a file others may read.
    pub(super) told: String,
    /// What addresses in it may be relative to.
    pub(super) base: Option<String>,
}

/// Gets a document.
pub(super) async fn get(document: &str) -> Result<Source, Failure> {
    let source = if is_url(document) {
        fetched(document).await?
    } else if document == "-" {
        let bytes = bounded(io::stdin().lock());
        let bytes = bytes.map_err(|error| Failure::usage(format!("standard input: {error}")))?;
        let shown = "standard input".to_owned();
        Source {
            bytes,
            told: "a document".to_owned(),
            shown,
            base: None,
        }
    } else {
        read(document)?
    };
    let first = source.bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    let shown = &source.shown;
    match first {
        None => Err(Failure::usage(format!("{shown}: it is empty"))),
        Some(b'<') => Err(Failure::usage(format!(
            "{shown}: it is a page in HTML or XML, and no OpenAPI document; name the document \
             itself, which is often called openapi.json or openapi.yaml"
        ))),
        Some(_) => Ok(source),
    }
}

fn is_url(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, _)| {
        !scheme.is_empty() && scheme.chars().all(|c| c.is_ascii_alphanumeric())
    })
}

async fn fetched(url: &str) -> Result<Source, Failure> {
    // An address may hold a key, so it is told without what follows its path.
    let shown = url.split(['?', '#']).next().unwrap_or_default().to_owned();
    check_url(url).map_err(|error| match error {
        HttpError::Userinfo => Failure::usage(
            "the URL holds a user name or a password; fetch the document by other means, and \
             import the file",
        ),
        error => Failure::usage(format!("the URL: {error}")),
    })?;
    let fetched = openapi::fetch(url).await;
    let bytes = fetched.map_err(|error| Failure::failed(format!("{shown}: {error}")))?;
    Ok(Source {
        bytes,
        told: shown.clone(),
        base: Some(shown.clone()),
        shown,
    })
}

fn read(document: &str) -> Result<Source, Failure> {
    let path = Path::new(document);
    let failed = |why: &str| Failure::usage(format!("{document}: {why}"));
    // Looked at before it is opened: opening a FIFO would wait for a writer.
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => {
            return Err(failed("it is a folder; name the document in it"));
        }
        Ok(metadata) if !metadata.is_file() => return Err(failed("it is no regular file")),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(failed("there is no such file"));
        }
        Err(error) => return Err(failed(&format!("it cannot be read: {error}"))),
    }
    let bytes = File::open(path).and_then(bounded);
    let bytes = bytes.map_err(|error| failed(&format!("it cannot be read: {error}")))?;
    let name = path.file_name().unwrap_or_default();
    Ok(Source {
        bytes,
        shown: document.to_owned(),
        told: name.to_string_lossy().into_owned(),
        base: None,
    })
}

/// Reads to the end, if that comes before it is too much.
fn bounded(from: impl Read) -> io::Result<Vec<u8>> {
    let limit = ReadLimits::default().json_bytes;
    let mut bytes = Vec::new();
    from.take(limit as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > limit {
        let message = format!("it is larger than {limit} bytes; import a smaller part of the API");
        return Err(io::Error::other(message));
    }
    Ok(bytes)
}
