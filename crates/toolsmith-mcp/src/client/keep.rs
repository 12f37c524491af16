//! Keeping one upstream: reached, listed, and reached again.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{ServerNotification, SubscriptionFilter};
use rmcp::service::Subscription;
use tokio::sync::Semaphore;
use tokio::time::Instant;
use toolsmith_core::event::Redact;
use toolsmith_core::{CancellationToken, Source, ToolDef, duration};
use toolsmith_runtime::Toolbox;
use toolsmith_runtime::registry::Refreshed;

use super::authorize::Authorization;
use super::connect::{Connection, Live, connect};
use super::error::ConnectError;
use super::news::Told;
use super::{Era, Reach, State, Upstream};

/// How long a server may take to say its era: first, and once that went wrong.
const PATIENCE: Duration = Duration::from_millis(1500);
const MORE_PATIENCE: Duration = Duration::from_secs(10);

/// The shortest and the longest pause before an upstream is reached again.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LAST_PAUSE: Duration = Duration::from_secs(60);

/// A connection that lasted this long was a good one.
const GOOD: Duration = Duration::from_secs(10);

/// How long a child may take to leave by itself.
const LEAVE: Duration = Duration::from_secs(2);

/// How many characters of what went wrong are told.
const TOLD: usize = 2000;

/// How long news are gathered before the tools are listed again.
const GATHER: Duration = Duration::from_millis(50);

/// Keeps one upstream.
pub(super) struct Keeper {
    pub(super) upstream: Upstream,
    pub(super) toolbox: Toolbox,
    /// How many are reached at once.
    pub(super) places: Arc<Semaphore>,
    pub(super) stop: CancellationToken,
}

impl Keeper {
    pub(super) async fn keep(self) {
        let mut failures = 0_u32;
        loop {
            let patience = if failures == 0 {
                PATIENCE
            } else {
                MORE_PATIENCE
            };
            let began = Instant::now();
            let error = self.once(patience).await;
            self.upstream.inner.live.store(None);
            if self.stop.is_cancelled() {
                break;
            }
            failures = if began.elapsed() > GOOD {
                1
            } else {
                failures + 1
            };
            self.note_failure(&error, failures);
            tokio::select! {
                () = self.stop.cancelled() => break,
                () = tokio::time::sleep(pause(failures)) => {}
            }
        }
        self.upstream.inner.live.store(None);
        self.upstream.inner.pool.end();
        self.upstream
            .inner
            .status
            .send_modify(|status| status.state = State::Stopped);
    }

    /// Reaches the upstream and stays with it until it is gone; says why it is.
    async fn once(&self, patience: Duration) -> ConnectError {
        let options = &self.upstream.inner.options;
        let waits = match &options.reach {
            Reach::Http(http) => http.authorization.as_deref().map(Authorization::waits),
            Reach::Child(_) => None,
        };
        let limit = options.start_time.saturating_add(waits.unwrap_or_default());
        let slow = || ConnectError::Slow(duration::format(limit));
        let connection = {
            let reaching = async {
                let _place = self.places.acquire().await;
                tokio::time::timeout(limit, self.reach(patience)).await
            };
            let reached = tokio::select! {
                reached = reaching => reached,
                () = self.stop.cancelled() => return ConnectError::Ended(String::new()),
            };
            match reached {
                Ok(Ok(connection)) => connection,
                Ok(Err(error)) => return error,
                Err(_) => return slow(),
            }
        };
        self.stay(connection).await
    }

    /// Reaches the upstream and lists its tools.
    async fn reach(&self, patience: Duration) -> Result<Connection, ConnectError> {
        let upstream = &self.upstream;
        let connection = connect(&upstream.inner.options, upstream.authorizer()?, patience).await?;
        self.upstream.inner.pool.renewed();
        self.upstream
            .inner
            .live
            .store(Some(Arc::clone(&connection.live)));
        self.refresh(&connection.live).await?;
        self.tell(&Told {
            prompts: true,
            resources: true,
            ..Told::default()
        });
        Ok(connection)
    }

    /// Puts the upstream's tools into the toolbox, in one step.
    async fn refresh(&self, live: &Live) -> Result<(), ConnectError> {
        let began = Instant::now();
        let refreshed = self.toolbox.refresh(&self.upstream).await;
        let refreshed =
            refreshed.map_err(|error| ConnectError::List(error.message().to_owned()))?;
        let Refreshed::Replaced { refused, .. } = refreshed else {
            // A later list is there already.
            return Ok(());
        };
        for error in &refused {
            tracing::warn!(
                target: "toolsmith::mcp",
                "a tool of {} was left out: {error}", self.upstream.name()
            );
        }
        let latency = began.elapsed();
        let registered = self.toolbox.registry().all();
        let ours = |tool: &&Arc<ToolDef>| matches!(&tool.source, Source::Mcp { server } if server == self.upstream.name());
        let tools = registered.iter().filter(ours).count();
        self.upstream.inner.status.send_modify(|status| {
            status.state = State::Ready;
            status.era = Some(live.era);
            status.server.clone_from(&live.server);
            status.latency = Some(latency);
            status.tools = tools;
            status.failures = 0;
            status.error = None;
            status.unauthorized = false;
        });
        Ok(())
    }

    /// Stays with an upstream until it is gone.
    async fn stay(&self, connection: Connection) -> ConnectError {
        let Connection {
            live,
            service,
            mut child,
            news,
        } = connection;
        let end = service.cancellation_token();
        let mut listening = tokio::select! {
            listening = listen(&live) => listening,
            () = self.stop.cancelled() => None,
        };
        let mut gone = std::pin::pin!(service.waiting());
        loop {
            let heard = tokio::select! {
                _ = &mut gone => break,
                () = self.stop.cancelled() => {
                    end.cancel();
                    let _ = gone.await;
                    break;
                }
                heard = news.heard() => heard,
                heard = next(&mut listening) => heard,
            };
            self.tell(&heard);
            if heard.tools {
                tokio::time::sleep(GATHER).await;
                // One that does not answer keeps the tools it had.
                let limit = self.upstream.inner.options.start_time;
                let listed = tokio::select! {
                    listed = tokio::time::timeout(limit, self.refresh(&live)) => listed,
                    () = self.stop.cancelled() => continue,
                };
                if let Ok(Err(error)) = listed {
                    let told = self.told(&error);
                    tracing::warn!(target: "toolsmith::mcp", "{}: {told}", self.upstream.name());
                }
            }
        }
        self.upstream.inner.live.store(None);
        ended(child.take()).await
    }

    /// Tells clients what changed beside the tools.
    fn tell(&self, told: &Told) {
        let Some(notifier) = self.upstream.inner.notifier.get() else {
            return;
        };
        if told.prompts {
            notifier.prompts_changed();
        }
        if told.resources {
            notifier.resources_changed();
        }
        for uri in &told.updated {
            notifier.resource_updated(super::beside::address(self.upstream.name(), uri));
        }
    }

    /// An error in words for a person. An upstream may repeat what it was started with, and
    /// talk without end.
    fn told(&self, error: &impl fmt::Display) -> String {
        let told = error.to_string();
        let told = self.toolbox.redactor().redact(&told);
        told.chars().take(TOLD).collect()
    }

    fn note_failure(&self, error: &ConnectError, failures: u32) {
        let unauthorized = matches!(
            error,
            ConnectError::Authorize(_)
                | ConnectError::Handshake {
                    unauthorized: true,
                    ..
                }
        );
        let told = self.told(error);
        tracing::warn!(target: "toolsmith::mcp", "{}: {told}", self.upstream.name());
        // Before anybody hears that it was tried in vain, and calls.
        let upstream = &self.upstream;
        upstream.tell_missing(&self.toolbox, State::Failed, unauthorized);
        upstream.inner.status.send_modify(|status| {
            status.state = State::Failed;
            status.failures = failures;
            status.error = Some(told);
            status.unauthorized = unauthorized;
        });
    }
}

/// Asks a stateless upstream to tell of changes; many cannot.
async fn listen(live: &Live) -> Option<Subscription> {
    if live.era != Era::Stateless {
        return None;
    }
    let capabilities = &live.capabilities;
    let mut filter = SubscriptionFilter::default();
    let listed = |changed: Option<bool>| (changed == Some(true)).then_some(true);
    filter.tools_list_changed = listed(
        capabilities
            .tools
            .as_ref()
            .and_then(|tools| tools.list_changed),
    );
    filter.prompts_list_changed = listed(
        capabilities
            .prompts
            .as_ref()
            .and_then(|prompts| prompts.list_changed),
    );
    filter.resources_list_changed = listed(
        capabilities
            .resources
            .as_ref()
            .and_then(|resources| resources.list_changed),
    );
    if filter == SubscriptionFilter::default() {
        return None;
    }
    let listening = live.peer.listen(filter);
    match tokio::time::timeout(MORE_PATIENCE, listening).await {
        Ok(Ok(subscription)) => Some(subscription),
        _ => None,
    }
}

/// The next news of a subscription; none for ever where there is none.
async fn next(listening: &mut Option<Subscription>) -> Told {
    let Some(subscription) = listening else {
        return std::future::pending().await;
    };
    let mut told = Told::default();
    match subscription.next().await {
        Ok(Some(ServerNotification::ToolListChangedNotification(_))) => told.tools = true,
        Ok(Some(ServerNotification::PromptListChangedNotification(_))) => told.prompts = true,
        Ok(Some(ServerNotification::ResourceListChangedNotification(_))) => told.resources = true,
        Ok(Some(_)) => {}
        // It hears no more; what was missed is looked up once.
        Ok(None) | Err(_) => {
            *listening = None;
            told.tools = true;
        }
    }
    told
}

/// Ends what is left of a child, and says how it ended.
async fn ended(child: Option<toolsmith_process::Running>) -> ConnectError {
    let Some(child) = child else {
        return ConnectError::Ended(", or its connection did".to_owned());
    };
    let stderr = child.stderr();
    let ending = child.end(LEAVE).await;
    let mut told = match ending.status {
        Some(status) => format!(" ({status})"),
        None => String::new(),
    };
    if !ending.survived.is_empty() {
        told.push_str(&format!("; still running: {:?}", ending.survived));
    }
    let words = stderr.text();
    let words = toolsmith_runtime::shape::clean(words.trim());
    if let Some(last) = words.lines().next_back() {
        let last: String = last.chars().take(300).collect();
        told.push_str(&format!("; it wrote last: {last}"));
    }
    ConnectError::Ended(told)
}

/// How long to wait after so many failures in a row, never quite the same.
fn pause(failures: u32) -> Duration {
    let doubled = FIRST_PAUSE.saturating_mul(1 << failures.saturating_sub(1).min(16));
    let pause = doubled.min(LAST_PAUSE);
    let mut byte = [0_u8];
    let _ = getrandom::fill(&mut byte);
    // Between three and five quarters.
    pause.mul_f64(0.75 + f64::from(byte[0]) / 512.0)
}
