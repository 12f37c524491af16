//! Pins over the wire: what a server says is compared as it came, also what nobody sees.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use toolsmith_mcp::client::Upstreams;
use toolsmith_runtime::Toolbox;
use toolsmith_runtime::registry::pin::{PinStore, Pinned, Pins, Why};

use crate::support::{soon, until};
use crate::upstream::{opening, script};

/// Pins in memory. Clones share it.
#[derive(Clone, Default)]
struct MemoryPins(Arc<Mutex<BTreeMap<String, Arc<Pins>>>>);

impl PinStore for MemoryPins {
    fn pinned(&self, source: &str) -> Pinned {
        match self.0.lock().unwrap().get(source) {
            Some(pins) => Pinned::Known(Arc::clone(pins)),
            None => Pinned::FirstUse,
        }
    }

    fn pin_first(&self, source: &str, pins: Pins) -> Pinned {
        let mut all = self.0.lock().unwrap();
        let pins = all.entry(source.to_owned()).or_insert(Arc::new(pins));
        Pinned::Known(Arc::clone(pins))
    }
}

/// A toolbox with the tools that a server lists.
async fn listing(store: &MemoryPins, tools: &Value) -> (Toolbox, Upstreams) {
    let builder = Toolbox::builder().without_log().pins(store.clone());
    let toolbox = builder.build().unwrap();
    let words = format!("{} sleep 1000", opening(tools));
    let upstreams = Upstreams::start([script("up", &words)], &toolbox);
    soon(upstreams.settled()).await;
    (toolbox, upstreams)
}

fn tool() -> Value {
    json!({
        "name": "look",
        "title": "Look",
        "description": "Looks at something.",
        "inputSchema": { "type": "object", "properties": { "at": { "type": "string" } } },
        "annotations": { "title": "Look", "readOnlyHint": true },
        "icons": [{ "src": "https://example.com/a.png" }],
        "_meta": { "team": "eyes" },
    })
}

fn with(pointer: &str, value: Value) -> Value {
    let mut tool = tool();
    *tool.pointer_mut(pointer).unwrap() = value;
    tool
}

#[tokio::test]
async fn what_nobody_sees_is_a_change_and_is_shown_to_nobody() {
    let hidden = "Look\u{200b}\u{202e}\u{e0041}";
    for (pointer, value) in [
        ("/title", json!(hidden)),
        ("/description", json!("Looks at\u{200b} something.")),
        ("/inputSchema/properties/at/type", json!(["string", "null"])),
        ("/annotations/title", json!(hidden)),
        ("/annotations/readOnlyHint", json!(false)),
        ("/icons/0/src", json!("https://example.com/a.png\u{200b}")),
        ("/_meta/team", json!("eyes\u{feff}")),
    ] {
        let store = MemoryPins::default();
        let (toolbox, _upstreams) = listing(&store, &json!([tool()])).await;
        assert!(toolbox.registry().has("mcp__up__look"));
        // The same server, when it is started the next time.
        let (toolbox, _upstreams) = listing(&store, &json!([with(pointer, value.clone())])).await;
        let withheld = toolbox.registry().withheld();
        assert_eq!(withheld.len(), 1, "{pointer}");
        assert_eq!(withheld[0].why, Why::Changed, "{pointer}");

        // Approved, it is used without what hides.
        let store = MemoryPins::default();
        let (toolbox, _upstreams) = listing(&store, &json!([with(pointer, value)])).await;
        let definition = toolbox.registry().get("mcp__up__look").unwrap();
        let text = serde_json::to_string(&*definition).unwrap();
        for hides in ['\u{200b}', '\u{202e}', '\u{e0041}', '\u{feff}'] {
            assert!(!text.contains(hides), "{pointer}: {text}");
        }
    }
}

#[tokio::test]
async fn a_changed_list_is_compared_too() {
    let changed = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
    let list = json!({ "tools": [with("/description", json!("Looks at everything."))] });
    let list = json!({ "jsonrpc": "2.0", "id": 2, "result": list });
    let words = format!(
        "{} echo '{changed}'; read a; echo '{list}'; sleep 1000",
        opening(&json!([tool()]))
    );
    let builder = Toolbox::builder().without_log().pins(MemoryPins::default());
    let toolbox = builder.build().unwrap();
    let upstreams = Upstreams::start([script("up", &words)], &toolbox);
    soon(upstreams.settled()).await;
    until(|| !toolbox.registry().withheld().is_empty()).await;
    assert!(!toolbox.registry().has("mcp__up__look"));
}

/// A name with a character nobody sees is another name here, and looks like the first.
#[tokio::test]
async fn a_look_alike_of_another_tool_is_withheld_at_once() {
    let store = MemoryPins::default();
    let twin = with("/name", json!("lo\u{200b}ok"));
    let (toolbox, _upstreams) = listing(&store, &json!([twin, tool()])).await;
    assert!(toolbox.registry().has("mcp__up__look"));
    let withheld = toolbox.registry().withheld();
    let of = "mcp__up__look".to_owned();
    assert_eq!(withheld.len(), 1);
    assert_eq!(withheld[0].why, Why::LookAlike { of });
}
