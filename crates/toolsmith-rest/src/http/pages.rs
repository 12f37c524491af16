//! Goes through the pages of a list and puts their entries together.
//!
//! It ends where the pages do, after so many pages or bytes, where a server repeats
//! itself, and where it points to another server. Where there is more, it says so.

use serde_json::Value;
use toolsmith_core::{Progress, ToolContext, ToolError};
use url::Url;

use super::answer::{self, Content, MAX_BYTES};
use super::failure;
use super::request::Prepared;
use super::service::{Answer, Service};
use super::shape::{self, Shape};
use super::weight::MAX_WEIGHT;
use crate::form::{PaginationForm, PaginationStyle};
use crate::make::Problem;

/// How many pages one call asks for unless the file says otherwise.
const DEFAULT_PAGES: u32 = 10;

/// However many the file says, no more.
const MOST_PAGES: u32 = 1000;

/// How long a cursor may be.
const LONGEST_CURSOR: usize = 8 << 10;

/// How the pages of a list are gone through.
#[derive(Debug)]
pub(crate) struct Pages {
    style: PaginationStyle,
    parameter: String,
    start: u64,
    items: String,
    next: Option<String>,
    most: u32,
}

/// The entries of all pages.
#[derive(Debug)]
pub(crate) struct Entries {
    pub(crate) items: Vec<Value>,
    pub(crate) pages: u32,
    pub(crate) status: u16,
    /// Why it ended before the pages did.
    pub(crate) stopped: Option<String>,
}

/// What comes after a page.
enum Next {
    End,
    Ask(Box<Prepared>),
    Stop(String),
}

impl Pages {
    /// Checks what the file says.
    ///
    /// # Errors
    /// What is no pointer, and what a style needs and is not there.
    pub(crate) fn read(form: &PaginationForm, select: Option<&str>) -> Result<Self, Vec<Problem>> {
        let mut problems = Vec::new();
        let mut pointer = |key, placed: Option<&_>| {
            let read = placed.map(|placed| shape::pointer(key, placed)).transpose();
            read.unwrap_or_else(|problem| {
                problems.push(problem);
                None
            })
        };
        let items = pointer("pagination.items", form.items.as_ref());
        let next = pointer("pagination.next", form.next.as_ref());
        if form.style == PaginationStyle::Cursor && form.next.is_none() {
            let message =
                "`pagination.style: cursor` needs `next`, the JSON pointer of the next cursor";
            problems.push(Problem::new(message));
        }
        let (parameter, start) = match form.style {
            PaginationStyle::Page => ("page", 1),
            PaginationStyle::Offset => ("offset", 0),
            PaginationStyle::Cursor | PaginationStyle::Link => ("cursor", 0),
        };
        let pages = Self {
            style: form.style,
            parameter: form
                .parameter
                .clone()
                .unwrap_or_else(|| parameter.to_owned()),
            start: form.start.unwrap_or(start),
            items: items
                .or_else(|| select.map(str::to_owned))
                .unwrap_or_default(),
            next,
            most: form.max_pages.unwrap_or(DEFAULT_PAGES).clamp(1, MOST_PAGES),
        };
        if problems.is_empty() {
            Ok(pages)
        } else {
            Err(problems)
        }
    }

    /// Asks for page after page.
    ///
    /// # Errors
    /// When one of them fails, or has no entries where they should be.
    pub(crate) async fn gather(
        &self,
        service: &Service,
        shape: &Shape,
        mut request: Prepared,
        context: &ToolContext,
    ) -> Result<Entries, ToolError> {
        let mut number = self.first(&mut request);
        let (mut gathered, mut bytes, mut weight) = (Vec::new(), 0, 0_usize);
        let mut pages = 0;
        let mut asked: Vec<String> = Vec::new();
        loop {
            let current = request.url()?;
            asked.push(current.to_string());
            let answer = service.ask(&request).await?;
            let link = linked(&answer);
            let read = answer::read(answer, shape.kind, MAX_BYTES).await?;
            pages += 1;
            bytes += read.bytes;
            weight = weight.saturating_add(read.weight);
            let mut value = match read.content {
                Content::Json(value) => value,
                Content::Nothing => Value::Array(Vec::new()),
                Content::Text(_) | Content::Media(_) => {
                    let line = service.hush.scrub(&request.line()).into_owned();
                    return Err(ToolError::failed(format!(
                        "{line}: page {pages} is no JSON"
                    )));
                }
            };
            let next = self
                .next
                .as_ref()
                .and_then(|pointer| value.pointer(pointer))
                .cloned();
            read.hush.scrub_value(&mut value);
            let mut items = match shape::take(&mut value, &self.items)? {
                Value::Array(items) => items,
                Value::Null => Vec::new(),
                _ => {
                    let message = "the entries of a page are no list; name where they stand \
                                   in `pagination.items`";
                    return Err(ToolError::failed(message));
                }
            };
            let count = items.len();
            gathered.append(&mut items);
            context.progress(Progress::done(f64::from(pages)).of(f64::from(self.most)));
            number = match self.style {
                PaginationStyle::Offset => number.saturating_add(count as u64),
                _ => number.saturating_add(1),
            };
            let follow = self.follow(service, &request, &current, number, count, next, link)?;
            let stopped = match follow {
                Next::End => None,
                Next::Stop(why) => Some(why),
                Next::Ask(_) if pages >= self.most => {
                    Some(format!("only the first {pages} pages were asked for"))
                }
                Next::Ask(_) if bytes >= MAX_BYTES => {
                    Some(format!("the first {pages} pages have {bytes} bytes"))
                }
                // The next one may take as much as one may.
                Next::Ask(_) if weight >= MAX_WEIGHT / 2 => {
                    Some(format!("the first {pages} pages have very many values"))
                }
                Next::Ask(next) if asked.contains(&next.url()?.to_string()) => {
                    Some("the server named a page that was read already".to_owned())
                }
                Next::Ask(next) => {
                    request = *next;
                    continue;
                }
            };
            return Ok(Entries {
                items: gathered,
                pages,
                status: read.status,
                stopped,
            });
        }
    }

    /// Asks for the first page, or for the one an argument names, and returns its number.
    fn first(&self, request: &mut Prepared) -> u64 {
        if !matches!(self.style, PaginationStyle::Page | PaginationStyle::Offset) {
            return 0;
        }
        match request.query.get(&self.parameter) {
            Some(named) => named.parse().unwrap_or(self.start),
            None => {
                request.query.set(&self.parameter, &self.start.to_string());
                self.start
            }
        }
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "each of them is a way to the next page"
    )]
    fn follow(
        &self,
        service: &Service,
        request: &Prepared,
        current: &Url,
        number: u64,
        count: usize,
        next: Option<Value>,
        link: Option<String>,
    ) -> Result<Next, ToolError> {
        let mut follow = request.clone();
        match self.style {
            PaginationStyle::Page | PaginationStyle::Offset => {
                if count == 0 || next.as_ref().is_some_and(says_no) {
                    return Ok(Next::End);
                }
                follow.query.set(&self.parameter, &number.to_string());
            }
            PaginationStyle::Cursor => {
                let cursor = match next {
                    Some(Value::String(cursor)) if !cursor.is_empty() => cursor,
                    Some(Value::Number(number)) => number.to_string(),
                    _ => return Ok(Next::End),
                };
                if cursor.len() > LONGEST_CURSOR {
                    return Ok(Next::Stop("the next cursor is too long".to_owned()));
                }
                follow.query.set(&self.parameter, &cursor);
            }
            PaginationStyle::Link => {
                let address = match next {
                    Some(Value::String(address)) if !address.is_empty() => address,
                    _ if self.next.is_some() => return Ok(Next::End),
                    _ => match link {
                        Some(link) => link,
                        None => return Ok(Next::End),
                    },
                };
                let Ok(url) = current.join(&address) else {
                    return Ok(Next::Stop(
                        "the address of the next page is none".to_owned(),
                    ));
                };
                // Credentials go where the user's file says, wherever a server points.
                if !service.address.is_origin_of(&url) {
                    let other = url.origin().ascii_serialization();
                    let other = failure::excerpt(&service.hush.scrub(&other));
                    let message = format!("the next page is at another server, {other}");
                    return Ok(Next::Stop(message));
                }
                follow.turn_to(&url);
            }
        }
        Ok(Next::Ask(Box::new(follow)))
    }
}

/// Tells whether what stands where the next page would be named says there is none.
fn says_no(next: &Value) -> bool {
    match next {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        _ => false,
    }
}

/// The address of the next page in the `Link` headers: `<…>; rel="next"`.
fn linked(answer: &Answer) -> Option<String> {
    let headers = answer.response.headers().get_all("link");
    headers
        .iter()
        .filter_map(|value| value.to_str().ok())
        .find_map(next_of)
}

fn next_of(header: &str) -> Option<String> {
    let mut rest = header;
    while let Some((_, after)) = rest.split_once('<') {
        let (address, after) = after.split_once('>')?;
        let (parameters, _) = after.split_once('<').unwrap_or((after, ""));
        let is_next = parameters.split([';', ',']).any(|parameter| {
            let Some((key, value)) = parameter.split_once('=') else {
                return false;
            };
            let mut names = value.trim().trim_matches('"').split_whitespace();
            key.trim().eq_ignore_ascii_case("rel")
                && names.any(|it| it.eq_ignore_ascii_case("next"))
        });
        if is_next {
            return Some(address.to_owned());
        }
        rest = after;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_page_of_a_link_header() {
        for (header, expected) in [
            (
                "<https://a/?page=2>; rel=\"next\"",
                Some("https://a/?page=2"),
            ),
            ("</?page=2>;rel=next", Some("/?page=2")),
            ("</1>; rel=\"prev\", </3>; rel=\"next last\"", Some("/3")),
            ("</a,b>; title=\"x\"; REL=Next", Some("/a,b")),
            ("</1>; rel=\"prev\"", None),
            ("</1>; rel=\"nextish\"", None),
            ("</1; rel=next", None),
            ("", None),
        ] {
            assert_eq!(next_of(header).as_deref(), expected, "{header}");
        }
    }
}
