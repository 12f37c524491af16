//! Gets a token where one is needed, once for all who wait for it.
//!
//! One authorization runs at a time: whoever was refused with a token that is no
//! longer the current one just tries again. Metadata is read anew each time, so that
//! an upstream may change its authorization server; what one server granted is then
//! not shown to the next.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::transport::auth::CredentialStore as _;
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationMetadata, AuthorizationMetadataSource,
    InMemoryCredentialStore, OAuthClientConfig, StoredCredentials,
};
use serde_json::json;
use url::Url;

use super::credentials::{Client, Credential, add};
use super::grants::{Asked, read_token};
use super::web::Web;
use super::{Authorization, AuthorizeError, Grant};

/// How many authorizations in a row may be in vain.
const MOST: u32 = 3;

/// Lets one upstream's requests in. Cheap to clone.
#[derive(Clone)]
pub(in crate::client) struct Authorizer(pub(super) Arc<Inner>);

pub(super) struct Inner {
    pub(super) options: Authorization,
    /// The address of the upstream, as the user wrote it.
    url: String,
    pub(super) web: Arc<Web>,
    current: Mutex<Option<Arc<Credential>>>,
    /// What the upstream said when it refused the question for its era.
    refusal: Mutex<Option<Refusal>>,
    turn: tokio::sync::Mutex<()>,
    in_vain: AtomicU32,
    /// Whether what is kept is older than what is in use, for it could not be replaced.
    outdated: AtomicBool,
}

/// A request that was not let in.
#[derive(Clone, Debug, Default)]
pub(in crate::client) struct Refusal {
    /// The token it had.
    pub(in crate::client) token: Option<String>,
    /// What the upstream said.
    pub(in crate::client) challenge: Option<String>,
    /// The permissions it wants beyond those it was given.
    pub(in crate::client) scope: Option<String>,
    /// Whether the token was renewed for this request, so that to do it again is in vain.
    pub(in crate::client) renewed: bool,
}

/// What was got for a request that was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::client) enum Gained {
    /// The token somebody else got meanwhile.
    Nothing,
    /// A fresh token for what was granted before.
    Renewed,
    /// A new authorization.
    Authorized,
}

/// Who grants authorization.
pub(super) struct Found {
    pub(super) manager: AuthorizationManager,
    pub(super) metadata: AuthorizationMetadata,
    pub(super) issuer: String,
}

impl Authorizer {
    pub(in crate::client) fn new(
        url: &str,
        options: &Authorization,
    ) -> Result<Self, AuthorizeError> {
        let web = Arc::new(Web::new(url, options)?);
        let authorizer = Self(Arc::new(Inner {
            options: options.clone(),
            url: url.to_owned(),
            web,
            current: Mutex::new(None),
            refusal: Mutex::new(None),
            turn: tokio::sync::Mutex::new(()),
            in_vain: AtomicU32::new(0),
            outdated: AtomicBool::new(false),
        }));
        authorizer.reload();
        Ok(authorizer)
    }

    /// Takes what was kept meanwhile, by another process of the same user perhaps.
    fn reload(&self) {
        let Some(store) = &self.0.options.credentials else {
            return;
        };
        if self.0.outdated.load(Ordering::Relaxed) {
            return;
        }
        match store.load(&self.0.url) {
            Ok(Some(kept)) if kept.resource == self.0.url => {
                *lock(&self.0.current) = Some(Arc::new(kept));
            }
            Ok(_) => {}
            Err(error) => {
                tracing::warn!(target: "toolsmith::mcp", "kept credentials are not used: {error}");
            }
        }
    }

    /// The token to send; renewed where it is about to end and can be.
    pub(in crate::client) async fn token(&self) -> Option<String> {
        let credential = self.current()?;
        if !credential.is_stale(self.0.options.now()) || credential.refresh_token.is_none() {
            return Some(credential.access_token.clone());
        }
        let _turn = self.0.turn.lock().await;
        self.reload();
        let credential = self.current()?;
        if credential.is_stale(self.0.options.now())
            && let Ok(mut found) = self.find(None).await
            && let Err(error) = self.renew(&mut found, &credential).await
        {
            tracing::debug!(target: "toolsmith::mcp", "the token was not renewed: {error}");
        }
        self.current().map(|now| now.access_token.clone())
    }

    /// Notes that the question for the era was refused, for [`settle`](Self::settle).
    pub(in crate::client) fn note(&self, refusal: Refusal) {
        *lock(&self.0.refusal) = Some(refusal);
    }

    /// Gets a token for what was refused before; says whether there was anything.
    pub(in crate::client) async fn settle(&self) -> Result<bool, AuthorizeError> {
        let refusal = lock(&self.0.refusal).take();
        match refusal {
            Some(refusal) => self.admit(&refusal).await.map(|_| true),
            None => Ok(false),
        }
    }

    /// Gets a token with which a request that was refused may be let in.
    pub(in crate::client) async fn admit(
        &self,
        refusal: &Refusal,
    ) -> Result<Gained, AuthorizeError> {
        let _turn = self.0.turn.lock().await;
        self.reload();
        let current = self.current();
        if let Some(current) = &current
            && refusal.token.as_deref() != Some(&current.access_token)
        {
            return Ok(Gained::Nothing);
        }
        let can_renew = refusal.scope.is_none() && !refusal.renewed;
        let renewable = |current: &Credential| can_renew && current.refresh_token.is_some();
        if let Some(reason) = self.0.options.absent()
            && !current.as_deref().is_some_and(renewable)
        {
            return Err(AuthorizeError::Consent(reason));
        }
        let challenge = refusal.challenge.as_deref();
        let (Some(wanted), Some(current)) = (&refusal.scope, &current) else {
            let mut found = self.find(challenge).await?;
            if let Some(current) = &current
                && renewable(current)
                && self.renew(&mut found, current).await.is_ok()
            {
                return Ok(Gained::Renewed);
            }
            let scopes = found.manager.select_initial_scopes(&[]).await;
            self.authorize(found, scopes, current.as_deref()).await?;
            return Ok(Gained::Authorized);
        };
        let mut scopes = current.scopes.clone();
        add(&mut scopes, wanted.split_whitespace());
        if scopes.len() == current.scopes.len() {
            let wanted = wanted.chars().take(200).collect();
            return Err(AuthorizeError::Scope(wanted));
        }
        let found = self.find(challenge).await?;
        self.authorize(found, scopes, Some(current)).await?;
        Ok(Gained::Authorized)
    }

    /// Notes that what was authorized was let in.
    pub(in crate::client) fn admitted(&self) {
        self.0.in_vain.store(0, Ordering::Relaxed);
    }

    /// Finds who grants authorization for the upstream.
    async fn find(&self, challenge: Option<&str>) -> Result<Found, AuthorizeError> {
        let unfound = |error: &AuthError| AuthorizeError::Metadata(told(error));
        let web = Arc::clone(&self.0.web);
        let url = self.0.url.as_str();
        let manager = AuthorizationManager::new_with_oauth_http_client(url, web).await;
        let mut manager = manager.map_err(|error| unfound(&error))?;
        let resolved = manager.resolve_metadata_from_challenge(challenge).await;
        let resolved = resolved.map_err(|error| unfound(&error))?;
        let unpublished = || AuthorizeError::Metadata("the server does not say where".to_owned());
        if resolved.source == AuthorizationMetadataSource::LegacyEndpointFallback {
            return Err(unpublished());
        }
        let metadata = resolved.metadata;
        let issuer = metadata.issuer.clone().ok_or_else(unpublished)?;
        manager.set_metadata(metadata.clone());
        Ok(Found {
            manager,
            metadata,
            issuer,
        })
    }

    /// Exchanges what was granted for a fresh token, at the issuer that granted it.
    async fn renew(&self, found: &mut Found, old: &Credential) -> Result<(), AuthorizeError> {
        let Found {
            manager, issuer, ..
        } = found;
        let failed = |error: &AuthError| AuthorizeError::Token {
            issuer: old.issuer.clone(),
            reason: told(error),
        };
        if *issuer != old.issuer {
            let reason = format!("the server now belongs to {issuer}");
            return Err(failed(&AuthError::AuthorizationFailed(reason)));
        }
        let token = json!({
            "access_token": old.access_token,
            "token_type": "bearer",
            "refresh_token": old.refresh_token,
        });
        let token = serde_json::from_value(token).ok();
        let id = old.client.id.clone();
        let stored = StoredCredentials::new(id, token, old.scopes.clone(), None);
        let store = InMemoryCredentialStore::new();
        let saved = store.save(stored.with_issuer(Some(issuer.clone()))).await;
        saved.map_err(|error| failed(&error))?;
        manager.set_credential_store(store);
        let client = self.configuration(&old.client);
        let configured = manager.configure_client(client);
        configured.map_err(|error| failed(&error))?;
        let token = manager.refresh_token().await;
        let token = token.map_err(|error| failed(&error))?;
        self.keep(issuer, old.client.clone(), &token, &old.scopes)
    }

    /// Authorizes anew.
    async fn authorize(
        &self,
        found: Found,
        mut scopes: Vec<String>,
        old: Option<&Credential>,
    ) -> Result<(), AuthorizeError> {
        if let Some(reason) = self.0.options.absent() {
            return Err(AuthorizeError::Consent(reason));
        }
        let before = self.0.in_vain.fetch_add(1, Ordering::Relaxed);
        if before >= MOST {
            self.0.in_vain.store(MOST, Ordering::Relaxed);
            return Err(AuthorizeError::InVain(MOST));
        }
        let Grant::Person(consent) = &self.0.options.grant else {
            // Nobody goes offline.
            scopes.retain(|scope| scope != "offline_access");
            return self.alone(found, &scopes).await;
        };
        let old = old.filter(|old| old.issuer == found.issuer);
        self.with_person(found, &**consent, &scopes, old).await
    }

    /// Authorizes by a grant that needs no person.
    async fn alone(&self, found: Found, scopes: &[String]) -> Result<(), AuthorizeError> {
        let Found {
            mut manager,
            metadata,
            issuer,
        } = found;
        let resource = self.resource(&mut manager).await?;
        let asked = Asked {
            web: &self.0.web,
            issuer: &issuer,
            metadata: &metadata,
            resource: &resource,
            scopes,
            now: self.0.options.now(),
        };
        let known = self.0.options.client_of(&issuer);
        let client = || {
            known.ok_or_else(|| AuthorizeError::Client {
                issuer: issuer.clone(),
                reason: "no client is registered there".to_owned(),
            })
        };
        let token = match &self.0.options.grant {
            Grant::Program => asked.program(client()?).await?,
            Grant::Workload(vouched) => asked.workload(known, vouched).await?,
            Grant::Enterprise(enterprise) => asked.enterprise(client()?, enterprise).await?,
            Grant::Person(_) => {
                let message = "a person was not asked".to_owned();
                return Err(AuthorizeError::Settings(message));
            }
        };
        let client = Client {
            id: known.map(|known| known.id.clone()).unwrap_or_default(),
            secret: None,
            redirect_uri: None,
        };
        let mut credential = Credential::new(
            &self.0.url,
            &issuer,
            client,
            token,
            scopes,
            self.0.options.now(),
        );
        // Asking again is as good, and needs nothing that would have to be kept.
        credential.refresh_token = None;
        self.replace(credential);
        Ok(())
    }

    /// What the token is for, as the upstream's metadata spells it. `rmcp` tells it in
    /// authorization addresses only.
    async fn resource(&self, manager: &mut AuthorizationManager) -> Result<String, AuthorizeError> {
        let untold = |error: &dyn std::fmt::Display| AuthorizeError::Metadata(error.to_string());
        let client = OAuthClientConfig::new("none", self.0.url.as_str());
        let configured = manager.configure_client(client);
        configured.map_err(|error| untold(&told(&error)))?;
        let page = manager.get_authorization_url(&[]).await;
        let page = page.map_err(|error| untold(&told(&error)))?;
        let page = Url::parse(&page).map_err(|error| untold(&error))?;
        let mut pairs = page.query_pairs();
        let resource = pairs.find(|(key, _)| key == "resource");
        let resource = resource.map(|(_, resource)| resource.into_owned());
        resource.ok_or_else(|| untold(&"it does not say for what"))
    }

    pub(super) fn configuration(&self, client: &Client) -> OAuthClientConfig {
        let redirect_uri = client.redirect_uri.as_deref().unwrap_or(&self.0.url);
        let configuration = OAuthClientConfig::new(&client.id, redirect_uri);
        match &client.secret {
            Some(secret) => configuration.with_client_secret(secret),
            None => configuration,
        }
    }

    /// Makes a token the current one.
    pub(super) fn keep(
        &self,
        issuer: &str,
        client: Client,
        token: &impl serde::Serialize,
        scopes: &[String],
    ) -> Result<(), AuthorizeError> {
        let token = serde_json::to_value(token).ok().and_then(read_token);
        let token = token.ok_or_else(|| AuthorizeError::Token {
            issuer: issuer.to_owned(),
            reason: "its answer is no bearer token".to_owned(),
        })?;
        let now = self.0.options.now();
        self.replace(Credential::new(
            &self.0.url,
            issuer,
            client,
            token,
            scopes,
            now,
        ));
        Ok(())
    }

    fn replace(&self, credential: Credential) {
        if let Some(store) = &self.0.options.credentials
            && let Err(error) = store.save(&credential)
        {
            self.0.outdated.store(true, Ordering::Relaxed);
            tracing::warn!(target: "toolsmith::mcp", "credentials could not be kept: {error}");
        }
        *lock(&self.0.current) = Some(Arc::new(credential));
    }

    fn current(&self) -> Option<Arc<Credential>> {
        lock(&self.0.current).clone()
    }
}

impl std::fmt::Debug for Authorizer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Authorizer")
            .field("options", &self.0.options)
            .field("current", &self.current())
            .finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An error in words a person may see.
pub(super) fn told(error: &AuthError) -> String {
    let told = error.to_string();
    let told = toolsmith_runtime::shape::clean(&told);
    told.chars().take(1000).collect()
}
