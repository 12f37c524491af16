//! Where an API is: a scheme, a host, a port, and the beginning of a path.
//!
//! None of the first three ever comes from an argument.

use url::Url;

use super::template::PathTemplate;

/// Where an API is.
#[derive(Clone)]
pub(crate) struct Address {
    /// Scheme, host and port, without a slash at the end.
    pub(crate) origin: String,
    /// The path requests begin with.
    pub(crate) base: PathTemplate,
    url: Url,
}

impl Address {
    /// Reads the address of an API.
    ///
    /// # Errors
    /// Says what is wrong with it, without repeating it: it may hold a secret.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let lower = text.to_ascii_lowercase();
        let scheme = ["http://", "https://"]
            .into_iter()
            .find(|scheme| lower.starts_with(scheme))
            .ok_or("it is no URL of http or https; write it as https://host/path")?;
        if text.contains(|c: char| c == '\\' || c.is_control() || c.is_whitespace()) {
            return Err("it holds a space, a backslash or a line break".to_owned());
        }
        let end = text[scheme.len()..].find(['/', '?', '#']);
        let end = end.map_or(text.len(), |end| end + scheme.len());
        let (origin, path) = text.split_at(end);
        if origin.contains('@') {
            let message = "it holds a user name or a password; write them under `auth`";
            return Err(message.to_owned());
        }
        if origin.contains(['{', '}']) {
            return Err("which host is asked cannot depend on an argument".to_owned());
        }
        let url = Url::parse(origin).map_err(|error| format!("it is no URL: {error}"))?;
        let base = PathTemplate::parse(path)?;
        let origin = url.origin().ascii_serialization();
        Ok(Self { origin, base, url })
    }

    /// Tells whether a URL leads to the same scheme, host and port.
    pub(crate) fn is_origin_of(&self, url: &Url) -> bool {
        let parts = |url: &Url| {
            let host = url.host_str().map(str::to_owned);
            (url.scheme().to_owned(), host, url.port_or_known_default())
        };
        parts(&self.url) == parts(url) && url.username().is_empty() && url.password().is_none()
    }

    /// What rates are counted by.
    pub(crate) fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }
}
