//! Who is let in: the right Host, no foreign Origin, and the token.
//!
//! A web page can make a browser send requests to a server on this machine, under
//! a name of its own if it controls that name's address. It cannot choose the Host
//! and Origin headers, which is why both are checked on every request.

use std::net::SocketAddr;

use hyper::Request;
use hyper::header::{AUTHORIZATION, HOST, HeaderName, HeaderValue, ORIGIN, WWW_AUTHENTICATE};
use hyper::http::uri::Authority;
use hyper::{StatusCode, Uri};

use super::answer::{Answer, plain};
use super::{HttpOptions, Token};

/// The rules of one server.
#[derive(Debug)]
pub(super) struct Admission {
    port: u16,
    hosts: Vec<String>,
    origins: Vec<String>,
    token: Option<Token>,
}

impl Admission {
    pub(super) fn new(address: SocketAddr, options: &HttpOptions) -> Self {
        let mut hosts = vec!["localhost".to_owned(), "127.0.0.1".into(), "[::1]".into()];
        if !address.ip().is_unspecified() {
            hosts.push(match address {
                SocketAddr::V4(address) => address.ip().to_string(),
                SocketAddr::V6(address) => format!("[{}]", address.ip()),
            });
        }
        hosts.extend(options.hosts.iter().map(|host| host.to_ascii_lowercase()));
        Self {
            port: address.port(),
            hosts,
            origins: options.origins.clone(),
            token: options.token.clone(),
        }
    }

    /// Checks what a browser sets and a page cannot.
    pub(super) fn host_and_origin<B>(&self, request: &Request<B>) -> Result<(), Answer> {
        let host = match single(request, &HOST)? {
            Some(host) => host.to_str().ok().and_then(authority),
            None => None,
        };
        let Some(host) = host else {
            return Err(plain(StatusCode::BAD_REQUEST, "a Host header is needed\n"));
        };
        // A request may name the host a second time, in its target.
        let target = request.uri().authority();
        if !self.is_ours(&host) || target.is_some_and(|target| !self.is_ours(target)) {
            return Err(plain(
                StatusCode::FORBIDDEN,
                "this Host is not served here; start the server with --allow-host to serve it\n",
            ));
        }
        match single(request, &ORIGIN)? {
            Some(origin) if !self.may_come_from(origin) => Err(plain(
                StatusCode::FORBIDDEN,
                "requests from this Origin are refused; start the server with --allow-origin to take them\n",
            )),
            _ => Ok(()),
        }
    }

    /// Checks the token.
    pub(super) fn token<B>(&self, request: &Request<B>) -> Result<(), Answer> {
        let Some(token) = &self.token else {
            return Ok(());
        };
        let brought = single(request, &AUTHORIZATION)?.and_then(bearer);
        match brought {
            Some(brought) if token.is(brought) => Ok(()),
            Some(_) => Err(unauthorized(
                "Bearer realm=\"toolsmith\", error=\"invalid_token\"",
                "this token is not the server's\n",
            )),
            None => Err(unauthorized(
                "Bearer realm=\"toolsmith\"",
                "a token is needed: Authorization: Bearer TOKEN\n",
            )),
        }
    }

    fn is_ours(&self, authority: &Authority) -> bool {
        let port = authority.port_u16();
        let has_port = authority.as_str().len() != authority.host().len();
        // Also what stands in the place of a port and is none, and a user.
        if has_port && port.is_none() || authority.as_str().contains('@') {
            return false;
        }
        // A proxy in front may have another port; then the host was named by the user.
        self.hosts.iter().any(|host| {
            host.eq_ignore_ascii_case(authority.as_str())
                || (host.eq_ignore_ascii_case(authority.host())
                    && port.is_none_or(|port| port == self.port))
        })
    }

    fn may_come_from(&self, origin: &HeaderValue) -> bool {
        let Ok(origin) = origin.to_str() else {
            return false;
        };
        if self
            .origins
            .iter()
            .any(|allowed| allowed.eq_ignore_ascii_case(origin))
        {
            return true;
        }
        let Ok(uri) = origin.parse::<Uri>() else {
            return false;
        };
        let local = uri
            .scheme_str()
            .is_some_and(|scheme| scheme == "http" || scheme == "https");
        // The server's own pages: same host, and the very port, spelled out.
        local
            && uri.authority().is_some_and(|authority| {
                authority.port_u16() == Some(self.port)
                    && self.is_ours(authority)
                    && origin.ends_with(authority.as_str())
            })
    }
}

/// The value of a header that may be there once.
fn single<'r, B>(
    request: &'r Request<B>,
    name: &HeaderName,
) -> Result<Option<&'r HeaderValue>, Answer> {
    let mut values = request.headers().get_all(name).iter();
    match (values.next(), values.next()) {
        (value, None) => Ok(value),
        _ => Err(plain(
            StatusCode::BAD_REQUEST,
            format!("the header {name} may be there once\n"),
        )),
    }
}

/// A host and perhaps a port, and nothing else.
fn authority(text: &str) -> Option<Authority> {
    if text.contains('@') {
        return None;
    }
    text.parse().ok()
}

fn bearer(value: &HeaderValue) -> Option<&[u8]> {
    let bytes = value.as_bytes();
    let (scheme, token) = bytes.split_at_checked(7)?;
    scheme
        .eq_ignore_ascii_case(b"bearer ")
        .then(|| token.trim_ascii())
}

fn unauthorized(challenge: &'static str, text: &'static str) -> Answer {
    let mut answer = plain(StatusCode::UNAUTHORIZED, text);
    let challenge = HeaderValue::from_static(challenge);
    answer.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    answer
}
