//! Asks a site's robots.txt before a page, where that is wanted.
//!
//! It is fetched through the same guard. A site that has none permits everything; one
//! that cannot say is taken to forbid.

use std::collections::HashMap;
use std::sync::PoisonError;
use std::time::Duration;

use tokio::time::Instant;
use toolsmith_net::{Fetch, Fetcher, HeaderValue, Method};
use url::Url;

use super::State;
use super::rules::{MOST_BYTES, Rules};
use crate::refusal::{Reason, Refusal};

/// For how long an answer holds, and how many are kept.
const LIFETIME: Duration = Duration::from_secs(60 * 60);
const MOST: usize = 128;

/// How long a site has to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// What sites say, by origin.
pub(super) type Robots = HashMap<String, (Instant, Rules)>;

/// Refuses a URL that its site does not want programs to ask for.
pub(super) async fn ask(
    state: &State,
    fetcher: &Fetcher,
    url: &str,
    until: Instant,
) -> Result<(), Refusal> {
    let url = Url::parse(url).map_err(|_| forbidden("the URL cannot be read"))?;
    let origin = url.origin().ascii_serialization();
    let known = {
        let robots = state.robots.lock().unwrap_or_else(PoisonError::into_inner);
        let known = robots.get(&origin);
        known
            .filter(|(since, _)| since.elapsed() < LIFETIME)
            .map(|(_, rules)| rules.clone())
    };
    let rules = match known {
        Some(rules) => rules,
        None => {
            let rules = fetch(state, fetcher, &origin, until).await?;
            let mut robots = state.robots.lock().unwrap_or_else(PoisonError::into_inner);
            if robots.len() >= MOST {
                robots.clear();
            }
            robots.insert(origin.clone(), (Instant::now(), rules.clone()));
            rules
        }
    };
    let path = match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    };
    match rules.permit(&path) {
        true => Ok(()),
        false => Err(forbidden(&format!("the robots.txt of {origin} forbids it"))),
    }
}

async fn fetch(
    state: &State,
    fetcher: &Fetcher,
    origin: &str,
    until: Instant,
) -> Result<Rules, Refusal> {
    let mut request = Fetch::new(Method::GET, format!("{origin}/robots.txt"));
    request.redirects = state.settings.redirects;
    request.max_body = MOST_BYTES;
    request.total = until
        .saturating_duration_since(Instant::now())
        .min(PATIENCE);
    if let Ok(agent) = HeaderValue::from_str(state.user_agent()) {
        request.headers.insert("user-agent", agent);
    }
    match fetcher.fetch(request).await {
        Ok(fetched) if fetched.status.is_success() => {
            let text = String::from_utf8_lossy(&fetched.body);
            Ok(Rules::parse(&text, state.user_agent()))
        }
        Ok(fetched) if fetched.status.is_client_error() => Ok(Rules::default()),
        Ok(fetched) => {
            let status = fetched.status.as_u16();
            Err(forbidden(&format!(
                "the robots.txt of {origin} answered with status {status}"
            )))
        }
        Err(error) => Err(forbidden(&format!(
            "the robots.txt of {origin} cannot be read: {error}"
        ))),
    }
}

fn forbidden(why: &str) -> Refusal {
    Refusal::new(Reason::Denied, format!("not fetched: {why}"))
        .next("Use another source, or ask the user whether robots.txt may be ignored")
}
