//! From the protocol's methods to the files that answer them.

#![expect(
    deprecated,
    reason = "clients with a handshake still set levels and follow resources"
)]

use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use futures_util::FutureExt;
use rmcp::model::{
    CacheScope, CallToolRequestMethod, CallToolRequestParams, CallToolResponse, CancelTaskMethod,
    CancelTaskParams, CompleteRequestMethod, CompleteRequestParams, CompleteResult, ConstString,
    CustomRequest, CustomResult, DiscoverResult, ErrorCode, ErrorData, GetPromptRequestMethod,
    GetPromptRequestParams, GetPromptResponse, GetTaskMethod, GetTaskParams, GetTaskResult,
    Implementation, InitializeRequestParams, InitializeResult, ListPromptsRequestMethod,
    ListPromptsResult, ListResourceTemplatesRequestMethod, ListResourceTemplatesResult,
    ListResourcesRequestMethod, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestMethod, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities,
    ServerConfig, SetLevelRequestMethod, SetLevelRequestParams, SubscribeRequestMethod,
    SubscribeRequestParams, SubscriptionFilter, TASKS_EXTENSION_ID, Tool, UnsubscribeRequestParams,
    UpdateTaskMethod, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use serde_json::json;
use tokio_util::sync::DropGuard;
use toolsmith_core::context::Level;
use toolsmith_core::{CancellationToken, ToolError};

use super::changes::{Changed, Changes, tell, tell_listener};
use super::client::{Client, Era, Introduced};
use super::lanes::{Lanes, Seat};
use super::lists::LIST_TTL_MS;
use super::page::page;
use super::prompts::PromptText;
use super::tasks::Tasks;
use super::{Life, Shared};
use crate::wire;

/// What comes of making a prompt.
pub(super) type Made = Result<Option<PromptText>, ToolError>;

/// What a server says about itself.
pub(super) type Introduction = ServerConfig;

/// How many resources one session may follow.
const MOST_FOLLOWED: usize = 1000;

/// How long the address of a resource a session follows may be.
const LONGEST_FOLLOWED: usize = 8 << 10;

/// One connection, or one request where there are no connections.
pub(super) struct Connection {
    shared: Arc<Shared>,
    number: u64,
    session: Arc<Mutex<Session>>,
    introduced: OnceLock<Introduced>,
    life: Life,
    lanes: Lanes,
    /// Ends with the connection, and what runs beside it too.
    ended: CancellationToken,
    _ends: DropGuard,
}

/// What a client with a handshake has set.
#[derive(Debug, Default)]
struct Session {
    /// Whether there was a handshake; there is one at most.
    begun: bool,
    /// Where its requests are, over HTTP.
    seat: Option<Seat>,
    /// Whether it is told of changes already.
    told: bool,
    level: Option<Level>,
    followed: BTreeSet<String>,
}

impl Connection {
    pub(super) fn new(shared: Arc<Shared>, life: Life, lanes: Lanes) -> Self {
        let ended = CancellationToken::new();
        Self {
            number: shared.connections.fetch_add(1, Ordering::Relaxed) + 1,
            shared,
            session: Arc::default(),
            introduced: OnceLock::new(),
            life,
            lanes,
            _ends: ended.clone().drop_guard(),
            ended,
        }
    }

    fn session(&self) -> MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn client(&self, context: &RequestContext<RoleServer>) -> Arc<Client> {
        let introduced = match Era::of(context) {
            Era::Stateless => Introduced::by(context),
            Era::Handshake => self.introduced(context),
        };
        let level = self.session().level;
        Arc::new(Client::new(introduced, context, level))
    }

    /// Who the client of this session said it is.
    fn introduced(&self, context: &RequestContext<RoleServer>) -> Introduced {
        match context.peer.peer_info() {
            Some(handshake) => {
                let introduce = || Introduced::at(&handshake).in_session(self.number);
                self.introduced.get_or_init(introduce).clone()
            }
            None => Introduced::by(context).in_session(self.number),
        }
    }

    fn has_resources<M: ConstString>(&self) -> Result<(), ErrorData> {
        offered::<M>(!self.shared.resources.is_empty())
    }

    fn tasks<M: ConstString>(&self) -> Result<&Tasks, ErrorData> {
        let missing = ErrorData::method_not_found::<M>;
        self.shared.tasks.as_ref().ok_or_else(missing)
    }

    /// Tells of changes until either side wants no more of it.
    async fn tell_changes(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = Changes::of(&self.shared);
        loop {
            let next = tokio::select! {
                next = changes.next() => next,
                () = context.cancelled() => None,
                () = self.life.draining.cancelled() => None,
            };
            let Some(next) = next else { return Ok(()) };
            for change in next {
                if !tell_listener(context.sink(), change).await {
                    return Ok(());
                }
            }
        }
    }

    fn has_prompts<M: ConstString>(&self) -> Result<(), ErrorData> {
        offered::<M>(!self.shared.prompts.is_empty())
    }
}

/// A method is there, or it is not found.
fn offered<M: ConstString>(is_offered: bool) -> Result<(), ErrorData> {
    if is_offered {
        Ok(())
    } else {
        Err(ErrorData::method_not_found::<M>())
    }
}

/// Work of the host's. A panic in it is the end of this request only.
///
/// In a box: the protocol moves each request about, with room for the largest of all methods.
fn guarded<'w, T>(
    work: impl Future<Output = Result<T, ErrorData>> + Send + 'w,
) -> impl Future<Output = Result<T, ErrorData>> + Send + 'w {
    let work = AssertUnwindSafe(Box::pin(work)).catch_unwind();
    async {
        work.await.unwrap_or_else(|_| {
            let message = "the server failed at this request";
            Err(ErrorData::internal_error(message, None))
        })
    }
}

impl ServerHandler for Connection {
    fn get_info(&self) -> ServerConfig {
        let introduce = || self.shared.introduce();
        self.shared.introduction.get_or_init(introduce).clone()
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        {
            let mut session = self.session();
            if std::mem::replace(&mut session.begun, true) {
                let message = "there was a handshake already";
                return Err(ErrorData::invalid_request(message, None));
            }
            session.seat = self.lanes.session_here();
        }
        context.peer.set_peer_info(request.clone());
        self.negotiate_initialize(&request)
    }

    async fn discover(
        &self,
        _context: RequestContext<RoleServer>,
    ) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        let mut result = DiscoverResult::from_server_info(versions, self.get_info());
        result.ttl_ms = LIST_TTL_MS;
        result.cache_scope = CacheScope::Private;
        Ok(result)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.shared.ready().await;
        self.shared.current().await;
        let listing = self.shared.listing();
        let tools = listing.tools(Era::of(&context));
        let (part, next) = page(tools, request.as_ref(), self.shared.page)?;
        let mut result = ListToolsResult::with_all_items(part)
            .with_ttl_ms(LIST_TTL_MS)
            .with_cache_scope(CacheScope::Private);
        result.next_cursor = next;
        Ok(result)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let client = self.client(&context);
        guarded(self.shared.call(request, &context, &client, &self.life)).await
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.shared.listing().head(name)
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.has_resources::<ListResourcesRequestMethod>()?;
        self.shared.ready().await;
        guarded(self.shared.resources(request.as_ref())).await
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.has_resources::<ListResourceTemplatesRequestMethod>()?;
        self.shared.ready().await;
        guarded(self.shared.templates(request.as_ref())).await
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.has_resources::<ReadResourceRequestMethod>()?;
        self.shared.ready().await;
        guarded(self.shared.read(&request)).await.map(Into::into)
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.has_resources::<SubscribeRequestMethod>()?;
        if request.uri.len() > LONGEST_FOLLOWED {
            let message = format!("an address may have at most {LONGEST_FOLLOWED} bytes");
            return Err(ErrorData::invalid_params(message, None));
        }
        if !guarded(async { Ok(self.shared.can_follow(&request.uri).await) }).await? {
            let message = "changes of this resource cannot be followed";
            return Err(ErrorData::resource_not_found(
                message,
                Some(json!({ "uri": request.uri })),
            ));
        }
        let mut session = self.session();
        let is_new = !session.followed.contains(&request.uri);
        if is_new && session.followed.len() >= MOST_FOLLOWED {
            let message = format!("more than {MOST_FOLLOWED} resources cannot be followed at once");
            return Err(ErrorData::invalid_request(message, None));
        }
        session.followed.insert(request.uri);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.has_resources::<SubscribeRequestMethod>()?;
        self.session().followed.remove(&request.uri);
        Ok(())
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.has_prompts::<ListPromptsRequestMethod>()?;
        self.shared.ready().await;
        guarded(self.shared.prompts(request.as_ref())).await
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        self.has_prompts::<GetPromptRequestMethod>()?;
        self.shared.ready().await;
        let client = self.client(&context);
        guarded(self.shared.prompt(request, &context, &client, &self.life)).await
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        offered::<CompleteRequestMethod>(self.shared.completes())?;
        guarded(self.shared.completion(&request)).await
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        // Without a session there is nothing to set; each request says its own.
        offered::<SetLevelRequestMethod>(Era::of(&context) == Era::Handshake)?;
        self.session().level = Some(wire::log::from_wire(request.level));
        Ok(())
    }

    /// A request whose parameters do not fit its method arrives here as well.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = request.method.as_str();
        let era = Era::of(&context);
        let known = match method {
            "subscriptions/listen" => era == Era::Stateless,
            "resources/subscribe" | "resources/unsubscribe" => {
                era == Era::Handshake && !self.shared.resources.is_empty()
            }
            "completion/complete" => self.shared.completes(),
            _ if method.starts_with("resources/") => {
                KNOWN.contains(&method) && !self.shared.resources.is_empty()
            }
            _ if method.starts_with("prompts/") => {
                KNOWN.contains(&method) && !self.shared.prompts.is_empty()
            }
            _ => {
                KNOWN.contains(&method)
                    || (WITH_A_HANDSHAKE.contains(&method) && era == Era::Handshake)
            }
        };
        if known {
            let message = format!("the parameters do not fit {}", request.method);
            return Err(ErrorData::invalid_params(message, None));
        }
        let method: String = request.method.chars().take(200).collect();
        let message = format!("there is no method {method:?}");
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None))
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        self.tasks::<GetTaskMethod>()?.get(&request.task_id)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let tasks = self.tasks::<UpdateTaskMethod>()?;
        tasks.update(&request.task_id, request.input_responses)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.tasks::<CancelTaskMethod>()?.cancel(&request.task_id)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        if std::mem::replace(&mut self.session().told, true) {
            return;
        }
        let mut changes = Changes::of(&self.shared);
        let (session, ended) = (Arc::clone(&self.session), self.ended.clone());
        tokio::spawn(async move {
            loop {
                let next = tokio::select! {
                    next = changes.next() => next,
                    () = ended.cancelled() => None,
                };
                let Some(next) = next else { return };
                for change in next {
                    if let Changed::Resource(uri) = &change {
                        let session = session.lock().unwrap_or_else(PoisonError::into_inner);
                        if !session.followed.contains(uri) {
                            continue;
                        }
                    }
                    if tell(&context.peer, change).await.is_err() {
                        return;
                    }
                }
            }
        });
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        guarded(self.tell_changes(context)).await
    }
}

impl Shared {
    fn introduce(&self) -> Introduction {
        let identity = &self.identity;
        let mut implementation =
            Implementation::new(identity.name.clone(), identity.version.clone());
        implementation.title.clone_from(&identity.title);
        let mut info = ServerConfig::new(self.capabilities());
        info.server_info = implementation;
        info.instructions.clone_from(&identity.instructions);
        info
    }

    fn completes(&self) -> bool {
        !self.prompts.is_empty() || !self.resources.is_empty()
    }

    /// What is declared is what is there.
    fn capabilities(&self) -> ServerCapabilities {
        let mut capabilities = json!({ "tools": { "listChanged": true }, "logging": {} });
        if !self.resources.is_empty() {
            capabilities["resources"] = json!({ "listChanged": true, "subscribe": true });
        }
        if !self.prompts.is_empty() {
            capabilities["prompts"] = json!({ "listChanged": true });
        }
        if self.tasks.is_some() {
            capabilities["extensions"] = json!({ TASKS_EXTENSION_ID: {} });
        }
        if self.completes() {
            capabilities["completions"] = json!({});
        }
        serde_json::from_value(capabilities).unwrap_or_default()
    }
}

/// The methods whose parameters have a shape.
const KNOWN: &[&str] = &[
    CallToolRequestMethod::VALUE,
    GetPromptRequestMethod::VALUE,
    ListPromptsRequestMethod::VALUE,
    ListResourceTemplatesRequestMethod::VALUE,
    ListResourcesRequestMethod::VALUE,
    ReadResourceRequestMethod::VALUE,
    "server/discover",
    "tools/list",
];

/// Those the stateless era has no more.
const WITH_A_HANDSHAKE: &[&str] = &[SetLevelRequestMethod::VALUE, "initialize", "ping"];
