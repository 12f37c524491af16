//! Sources that tell their tools over the network, and do not.

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use toolsmith_core::{ErrorKind, RawCall};
use toolsmith_manager::Remotes;
use toolsmith_runtime::Caller;

use crate::sets::load;

/// The address of a server that answers every request with this status; of none where
/// there is no status.
async fn answering(status: Option<u16>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    if let Some(status) = status {
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let _ = stream.read(&mut [0; 4096]).await;
                let answer = format!(
                    "HTTP/1.1 {status} X\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
                );
                let _ = stream.write_all(answer.as_bytes()).await;
            }
        });
    }
    format!("http://{address}")
}

#[tokio::test]
async fn tools_of_a_source_that_lists_none_are_not_unknown() {
    for (status, expected) in [
        (Some(401), ErrorKind::PermissionDenied),
        (Some(403), ErrorKind::PermissionDenied),
        (Some(500), ErrorKind::Unavailable),
        (Some(404), ErrorKind::Unavailable),
        (None, ErrorKind::Unavailable),
    ] {
        let url = answering(status).await;
        let legacy = format!("name: legacy\nadapter: execute\napi_url: {url}\nretries: 0\n");
        let documents = format!(
            "openapi:\n  shop: {{ url: {url}/openapi.json }}\n  \
             any: {{ url: {url}/any.json, prefix: '' }}\n"
        );
        let manager = load(&[
            ("toolsmith.yaml", &documents),
            ("tools/native/legacy.yaml", &legacy),
        ]);
        let remotes = Remotes::start(manager.remotes(), manager.toolbox());
        let kind = async |tool: &str| {
            let call = RawCall::new(tool, json!({}));
            let reply = manager.toolbox().run(call, &Caller::new("test")).await;
            reply.into_outcome().error.map(|error| error.kind)
        };
        assert_eq!(kind("legacy_add").await, Some(ErrorKind::Unavailable));
        remotes.settled().await;
        for tool in ["legacy_add", "shop_list"] {
            assert_eq!(kind(tool).await, Some(expected), "{tool} {status:?}");
        }
        assert_eq!(kind("list").await, Some(ErrorKind::UnknownTool));
        remotes.set([]);
        assert_eq!(kind("legacy_add").await, Some(ErrorKind::UnknownTool));
    }
}
