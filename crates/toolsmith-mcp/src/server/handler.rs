//! From the protocol's methods to the files that answer them.

#![expect(
    deprecated,
    reason = "clients with a handshake still set levels and follow resources"
)]

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{
    CacheScope, CallToolRequestMethod, CallToolRequestParams, CallToolResponse,
    CompleteRequestMethod, CompleteRequestParams, CompleteResult, ConstString, CustomRequest,
    CustomResult, DiscoverResult, ErrorCode, ErrorData, GetPromptRequestMethod,
    GetPromptRequestParams, GetPromptResponse, Implementation, ListPromptsRequestMethod,
    ListPromptsResult, ListResourceTemplatesRequestMethod, ListResourceTemplatesResult,
    ListResourcesRequestMethod, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestMethod, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities,
    ServerConfig, SetLevelRequestMethod, SetLevelRequestParams, SubscribeRequestMethod,
    SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use serde_json::json;
use tokio_util::sync::DropGuard;
use toolsmith_core::context::Level;
use toolsmith_core::{CancellationToken, ToolError};

use super::Shared;
use super::changes::{Changed, Changes, tell, tell_listener};
use super::client::{Client, Era};
use super::lists::LIST_TTL_MS;
use super::page::page;
use super::prompts::PromptText;
use crate::wire;

/// What comes of making a prompt.
pub(super) type Made = Result<Option<PromptText>, ToolError>;

/// How many resources one session may follow.
const MOST_FOLLOWED: usize = 1000;

/// One connection, or one request where there are no connections.
pub(super) struct Connection {
    shared: Arc<Shared>,
    session: Arc<Mutex<Session>>,
    /// Ends with the connection, and what runs beside it too.
    ended: CancellationToken,
    _ends: DropGuard,
}

/// What a client with a handshake has set.
#[derive(Debug, Default)]
struct Session {
    level: Option<Level>,
    followed: BTreeSet<String>,
}

impl Connection {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        let ended = CancellationToken::new();
        Self {
            shared,
            session: Arc::default(),
            _ends: ended.clone().drop_guard(),
            ended,
        }
    }

    fn session(&self) -> MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn client(&self, context: &RequestContext<RoleServer>) -> Client {
        Client::of(context, self.session().level)
    }

    fn has_resources<M: ConstString>(&self) -> Result<(), ErrorData> {
        offered::<M>(!self.shared.resources.is_empty())
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

impl ServerHandler for Connection {
    fn get_info(&self) -> ServerConfig {
        let identity = &self.shared.identity;
        let mut implementation =
            Implementation::new(identity.name.clone(), identity.version.clone());
        implementation.title.clone_from(&identity.title);
        let mut info = ServerConfig::new(self.shared.capabilities());
        info.server_info = implementation;
        info.instructions.clone_from(&identity.instructions);
        info
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
        if self.shared.listing().definition(&request.name).is_none() {
            self.shared.ready().await;
        }
        let client = self.client(&context);
        self.shared.call(request, &context, &client).await
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.shared.listing().find(name).cloned()
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.has_resources::<ListResourcesRequestMethod>()?;
        self.shared.ready().await;
        self.shared.resources(request.as_ref()).await
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.has_resources::<ListResourceTemplatesRequestMethod>()?;
        self.shared.ready().await;
        self.shared.templates(request.as_ref()).await
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.has_resources::<ReadResourceRequestMethod>()?;
        self.shared.ready().await;
        self.shared.read(&request).await.map(Into::into)
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.has_resources::<SubscribeRequestMethod>()?;
        if !self.shared.can_follow(&request.uri).await {
            let message = "changes of this resource cannot be followed";
            return Err(ErrorData::resource_not_found(
                message,
                Some(json!({ "uri": request.uri })),
            ));
        }
        let mut session = self.session();
        if session.followed.len() >= MOST_FOLLOWED {
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
        self.shared.prompts(request.as_ref()).await
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        self.has_prompts::<GetPromptRequestMethod>()?;
        self.shared.ready().await;
        let client = self.client(&context);
        self.shared.prompt(request, &context, &client).await
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        offered::<CompleteRequestMethod>(self.shared.completes())?;
        self.shared.completion(&request).await
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
        let known = |methods: &[&str]| methods.contains(&request.method.as_str());
        if known(KNOWN) || (known(WITH_A_HANDSHAKE) && Era::of(&context) == Era::Handshake) {
            let message = format!("the parameters do not fit {}", request.method);
            return Err(ErrorData::invalid_params(message, None));
        }
        let method: String = request.method.chars().take(200).collect();
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None))
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
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
        let mut changes = Changes::of(&self.shared);
        loop {
            let next = tokio::select! {
                next = changes.next() => next,
                () = context.cancelled() => None,
                () = self.shared.draining.cancelled() => None,
            };
            let Some(next) = next else { return Ok(()) };
            for change in next {
                if !tell_listener(context.sink(), change).await {
                    return Ok(());
                }
            }
        }
    }
}

impl Shared {
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
        if self.completes() {
            capabilities["completions"] = json!({});
        }
        serde_json::from_value(capabilities).unwrap_or_default()
    }
}

/// The methods whose parameters have a shape.
const KNOWN: &[&str] = &[
    CallToolRequestMethod::VALUE,
    CompleteRequestMethod::VALUE,
    GetPromptRequestMethod::VALUE,
    ListPromptsRequestMethod::VALUE,
    ListResourceTemplatesRequestMethod::VALUE,
    ListResourcesRequestMethod::VALUE,
    ReadResourceRequestMethod::VALUE,
    "server/discover",
    "subscriptions/listen",
    "tools/list",
];

/// Those the stateless era has no more.
const WITH_A_HANDSHAKE: &[&str] = &[
    SetLevelRequestMethod::VALUE,
    SubscribeRequestMethod::VALUE,
    "initialize",
    "ping",
    "resources/unsubscribe",
];
