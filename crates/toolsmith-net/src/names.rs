//! From names to addresses that were judged.
//!
//! A name is looked up once for each connection, and the connection goes to the very
//! answer that was judged: a name that answers differently the next time gains nothing.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::gate;
use crate::reach::Reach;

/// The addresses of a name, on their way.
pub type Lookup = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>>;

/// Looks names up. The system does ([`SystemNames`]); tests and other resolvers may.
///
/// What it returns is judged like any answer, so it need not be trusted.
pub trait Names: fmt::Debug + Send + Sync {
    /// Returns every address of the name.
    fn lookup(&self, name: &str) -> Lookup;
}

/// Asks the system, as other programs do.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemNames;

impl Names for SystemNames {
    fn lookup(&self, name: &str) -> Lookup {
        let name = name.to_owned();
        Box::pin(async move {
            let found = tokio::net::lookup_host((name, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

/// Hands out what was judged, and nothing else.
#[derive(Debug)]
pub(crate) struct JudgedNames {
    pub(crate) names: Arc<dyn Names>,
    pub(crate) reach: Arc<Reach>,
}

impl Resolve for JudgedNames {
    fn resolve(&self, name: Name) -> Resolving {
        if let Some(target) = gate::refused_target(name.as_str()) {
            let judged = self.reach.vet(&target);
            // Somebody may have written such a name for a target that is within reach.
            let nowhere = io::Error::new(io::ErrorKind::NotFound, "no such name");
            return Box::pin(async move {
                judged?;
                Err(nowhere.into())
            });
        }
        let looking = self.names.lookup(name.as_str());
        let reach = self.reach.clone();
        Box::pin(async move {
            let addresses = looking.await?;
            reach.judge_answer(name.as_str(), &addresses)?;
            let judged = addresses
                .into_iter()
                .map(|address| SocketAddr::new(address, 0));
            Ok(Box::new(judged) as Addrs)
        })
    }
}
