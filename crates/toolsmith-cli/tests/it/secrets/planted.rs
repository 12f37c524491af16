//! A folder in which two secrets go wherever a secret can go, and servers that send back
//! everything they get.

use std::net::SocketAddr;
use std::sync::Mutex;

use serde_json::json;

use super::spelling::spellings;
use super::{FILED, PLAIN, PLANTED};
use crate::mock::{self, Answer, Request};
use crate::support::{User, newcomer};

/// What the servers were sent, to see that the secrets really went there.
pub(super) static SENT: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// A server that sends back everything in its answer, with the status its path names.
fn echoing() -> SocketAddr {
    mock::serve(|request: &Request| {
        let whole = request.whole();
        SENT.lock().unwrap().push(whole.clone());
        let path = request.path.split('?').next().unwrap_or_default();
        let name = path
            .trim_start_matches('/')
            .split('/')
            .next()
            .unwrap_or_default();
        match name {
            "token" => Answer::json(
                200,
                &json!({ "access_token": format!("token-{}", PLANTED.replace('"', "'").replace('\\', "|")), "token_type": "bearer", "scope": whole }),
            ),
            "refuse" => Answer::json(401, &json!({ "error": whole, "error_description": whole })),
            "move" => {
                let mut answer = Answer::text(302, whole);
                let coded = &spellings(FILED)[3];
                answer.more = format!("Location: /200/moved?raw={PLANTED}&coded={coded}\r\n");
                answer
            }
            "away" => {
                let (path, query) = (&spellings(PLANTED)[4], &spellings(FILED)[4]);
                let mut answer = Answer::text(302, whole);
                answer.more = format!("Location: http://192.168.77.7/{path}?{query}\r\n");
                answer
            }
            "schema" => Answer::json(
                200,
                &json!({ "tools": [{ "name": "remote_echo", "description": format!("Sends back what it got: {whole}"), "parameters": { "type": "object" } }] }),
            ),
            "execute" => Answer::json(200, &json!({ "result": whole })),
            "broken" => Answer {
                status: 200,
                more: String::new(),
                kind: "application/json",
                body: format!("{{\"cut\": {}", json!(whole)),
            },
            "large" => Answer::text(
                200,
                format!(
                    "{}{whole}{}",
                    "filler ".repeat(20_000),
                    "filler ".repeat(20_000)
                ),
            ),
            "mcp" => Answer {
                status: 500,
                more: String::new(),
                kind: "text/plain",
                body: whole,
            },
            status => Answer::json(
                status.parse().unwrap_or(200),
                &json!({ "sent": whole, "message": whole, "list": [whole.as_str(), { "token": whole.as_str() }] }),
            ),
        }
    })
}

/// Ways to show who asks, with the secrets in them.
fn ways(address: SocketAddr) -> Vec<(&'static str, String)> {
    let way = |text: &str| text.to_owned();
    vec![
        (
            "header",
            way("auth_method: api_key\nauth: { key: '${env:PLANTED}' }\n"),
        ),
        (
            "query",
            way(
                "auth_method: api_key\nauth: { key: '${file:secret.txt}', in: query, name: key }\n",
            ),
        ),
        (
            "bearer",
            way("auth_method: bearer\nauth: { token: '${env:PLANTED}' }\n"),
        ),
        (
            "basic",
            way("auth_method: basic\nauth: { username: us, password: '${file:secret.txt}' }\n"),
        ),
        (
            "oauth",
            format!(
                "auth_method: oauth\nauth: {{ token_url: 'http://{address}/token', client_id: us, client_secret: '${{env:PLANTED}}' }}\n"
            ),
        ),
        (
            "refused",
            format!(
                "auth_method: oauth\nauth: {{ token_url: 'http://{address}/refuse', client_id: us, client_secret: '${{file:secret.txt}}' }}\n"
            ),
        ),
        (
            "plain",
            way(
                "headers: { X-Custom: 'before ${env:PLANTED} after', Cookie-Like: '${file:secret.txt}' }\n",
            ),
        ),
    ]
}

/// What answers may be like.
const ANSWERS: [&str; 9] = [
    "200", "400", "401", "404", "500", "move", "away", "broken", "large",
];

/// A folder in which the secrets go everywhere.
pub(super) fn planted() -> (User, Vec<String>) {
    let address = echoing();
    let user = newcomer()
        .with("PLANTED", PLANTED)
        .with("PLAIN", PLAIN)
        .with("PATH", "/usr/bin:/bin");
    let write = |path: &str, content: &str| {
        let path = user.home().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    };
    write("secret.txt", &format!("{FILED}\n"));
    let mut tools = Vec::new();
    for (way, auth) in ways(address) {
        let mut file = format!("api_url: http://{address}\n{auth}retries: 0\ntools:\n");
        for answer in ANSWERS {
            let name = format!("{way}_{answer}");
            file += &format!(
                "  - {{ name: {name}, description: 'Sends back whatever it gets.', path: /{answer}/x, parameters: {{ properties: {{ word: {{ type: string }} }} }} }}\n"
            );
            tools.push(name);
        }
        file += &format!(
            "  - {{ name: {way}_post, description: 'Sends back whatever it gets.', method: POST, path: /200/x, parameters: {{ properties: {{ word: {{ type: string }} }} }}, response: {{ template: '{{{{ value }}}}' }} }}\n"
        );
        tools.push(format!("{way}_post"));
        write(&format!("tools/native/{way}.yaml"), &file);
    }
    write(
        "tools/native/in_address.yaml",
        &format!(
            "{{ name: in_address, description: 'Sends back whatever it gets.', api_url: 'http://{address}/400/${{env:PLAIN}}' }}\n"
        ),
    );
    tools.push("in_address".to_owned());
    write(
        "tools/native/adapter.yaml",
        &format!(
            "api_url: http://{address}\nadapter: execute\nauth_method: bearer\nauth: {{ token: '${{env:PLANTED}}' }}\nheaders: {{ X-More: '${{file:secret.txt}}' }}\n"
        ),
    );
    tools.push("adapter_remote_echo".to_owned());
    let env = "env: { KEY: '${env:PLANTED}', PASS: 'a${file:secret.txt}b' }";
    for (name, script) in [
        (
            "prints",
            "env; printf '%s\\n' \"$KEY\" | base64 -w0; echo; printf %s \"$PASS\"",
        ),
        ("fails", "env; env >&2; exit 3"),
        (
            "much",
            "i=0; while [ $i -lt 2000 ]; do printf '%s\\n' \"line $i of many: $KEY$PASS\"; i=$((i+1)); done",
        ),
    ] {
        write(
            &format!("tools/native/{name}.yaml"),
            &format!(
                "{{ name: {name}, description: 'Prints all that it has.', command: [/bin/sh, -c, {}], sandbox: none, {env} }}\n",
                json!(script)
            ),
        );
        tools.push(name.to_owned());
    }
    write(
        "tools/native/passed.yaml",
        "{ name: passed, description: 'Prints all that it has.', command: [/usr/bin/env], sandbox: none, env_passthrough: [PLANTED], output: json }\n",
    );
    tools.push("passed".to_owned());
    write(
        "tools/builtin/script.sh",
        "#!/bin/sh\n# ---\n# name: script\n# description: Prints all that it has.\n# sandbox: none\n# env: { KEY: '${env:PLANTED}', PASS: '${file:secret.txt}' }\n# ---\nenv\n",
    );
    tools.push("script".to_owned());
    // Servers that fail with it, and one that answers with it.
    write(
        "tools/mcp/dies.yaml",
        "command: [/bin/sh, -c, 'env >&2; printf %s \"$0\" >&2; exit 1', '${file:secret.txt}']\nenv: { KEY: '${env:PLANTED}' }\n",
    );
    write(
        "tools/mcp/garbage.yaml",
        "command: [/bin/sh, -c, 'env; exit 1']\nenv: { KEY: '${env:PLANTED}', PASS: '${file:secret.txt}' }\n",
    );
    write(
        "tools/mcp/web.yaml",
        &format!(
            "url: 'http://{address}/mcp?key=${{env:PLAIN}}'\nmcp_api_key: ${{file:secret.txt}}\nheaders: {{ X-More: '${{env:PLANTED}}' }}\n"
        ),
    );
    write("server.sh", &server());
    write(
        "tools/mcp/echo.yaml",
        "command: [/bin/sh, server.sh]\nprotocol: legacy\nenv: { KEY: '${env:PLANTED}', PASS: '${file:secret.txt}' }\n",
    );
    tools.push("mcp__echo__say".to_owned());
    // Documents: in a file, and at an address that is a secret itself.
    let document = json!({
        "openapi": "3.1.0",
        "info": { "title": "Echo", "version": "1" },
        "servers": [{ "url": format!("http://{address}") }],
        "paths": { "/400/doc": { "get": { "operationId": "doc_echo", "summary": "Sends back whatever it gets.", "responses": {} } } },
    });
    write("api.json", &document.to_string());
    write(
        "toolsmith.yaml",
        &format!(
            "openapi:\n  filed: {{ file: api.json, auth_method: bearer, auth: {{ token: '${{env:PLANTED}}' }}, headers: {{ X-More: '${{file:secret.txt}}' }} }}\n  live: {{ url: 'http://{address}/401/${{env:PLAIN}}/openapi.json' }}\n"
        ),
    );
    tools.push("doc_echo".to_owned());
    write("agents/one.yaml", "tools: ['*']\npolicy: { mode: auto }\n");
    write("configs/tool_sets/one.yaml", "tools: ['*']\n");
    (user, tools)
}

/// An MCP server that tells its environment in its tools and its answers.
fn server() -> String {
    let hello = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": { "tools": {} },
        "serverInfo": { "name": "sh", "version": "1" },
    });
    format!(
        r#"k=$(printf '%s' "$KEY $PASS" | sed 's/\\/\\\\/g; s/"/\\"/g')
printf '%s\n' "started with $KEY" >&2
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) printf '%s\n' '{{"jsonrpc":"2.0","id":'"$id"',"result":{hello}}}' ;;
    *'"tools/list"'*) printf '%s\n' '{{"jsonrpc":"2.0","id":'"$id"',"result":{{"tools":[{{"name":"say","description":"Says '"$k"'","inputSchema":{{"type":"object"}}}}]}}}}' ;;
    *'"tools/call"'*) printf '%s\n' '{{"jsonrpc":"2.0","id":'"$id"',"result":{{"content":[{{"type":"text","text":"'"$k"'"}}],"structuredContent":{{"all":"'"$k"'"}}}}}}' ;;
    *'"id"'*) printf '%s\n' '{{"jsonrpc":"2.0","id":'"$id"',"error":{{"code":-32601,"message":"no '"$k"'"}}}}' ;;
  esac
done
"#
    )
}
