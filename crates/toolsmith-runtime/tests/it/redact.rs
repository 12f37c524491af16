//! What is secret, wherever it stands, and what is not.

use serde_json::{Value, json};
use toolsmith_core::event::{Redact, Sensitive};
use toolsmith_runtime::shape::Redactor;

fn redactor() -> Redactor {
    Redactor::new(["hunter2hunter2", "line one\nline \"two\"", "short"])
}

#[test]
fn known_shapes_of_keys_are_secret() {
    for key in [
        "sk-abcdefghijklmnop1234",
        "sk-proj-abc_def-ghi1234567890",
        "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
        "gho_abcdefghijklmnopqrstuvwxyz0123456789",
        "github_pat_11ABCDEFG0abcdefghijkl",
        "glpat-abcdefghij1234567890",
        "AKIAIOSFODNN7EXAMPLE",
        "ASIAIOSFODNN7EXAMPLE",
        "AIzaSyA-abcdefghijklmnopqrstuvwxyz01234",
        "xoxb-123456789012-abcdef",
        "npm_abcdefghijklmnopqrstuvwxyz0123456789",
        "pypi-AgEIcHlwaS5vcmcCJabcdefghijklmnop",
        "hf_abcdefghijklmnopqrstuvwxyzABCDEF",
        "sk_live_abcdefghijklmnop",
        "rk_test_abcdefghijklmnop",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijk",
        "hunter2hunter2",
    ] {
        for text in [
            key.to_owned(),
            format!("key={key}."),
            format!("\"{key}\""),
            format!("a {key}\nb"),
            format!("({key})"),
        ] {
            let clean = redactor().clean(&text).into_owned();
            assert!(!clean.contains(key), "{clean}");
            assert_eq!(clean, text.replace(key, "[redacted]"));
        }
        // Characters nobody sees do not hide it.
        let (front, back) = key.split_at(key.len() / 2);
        let hidden = redactor()
            .clean(&format!("{front}\u{200b}{back}"))
            .into_owned();
        assert_eq!(hidden, "[redacted]");
    }
}

#[test]
fn private_keys_are_secret_whole_or_cut() {
    let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nBKcwggSjAgEAAoIBAQ";
    let whole =
        format!("a\n-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----\nb");
    assert_eq!(redactor().clean(&whole), "a\n[redacted]\nb");
    let cut = format!("a\n-----BEGIN PRIVATE KEY-----\n{body}");
    assert_eq!(redactor().clean(&cut), "a\n[redacted]");
}

#[test]
fn authorization_and_addresses_with_passwords_are_secret() {
    for (text, expected) in [
        (
            "Authorization: Bearer abc.def-123",
            "Authorization: Bearer [redacted]",
        ),
        (
            "authorization: basic dXNlcjpwYXNz",
            "authorization: basic [redacted]",
        ),
        ("Authorization: dXNlcjpwYXNz", "Authorization: [redacted]"),
        (
            "Proxy-Authorization: Basic dXNlcjpwYXNz",
            "Proxy-Authorization: Basic [redacted]",
        ),
        (
            "Authorization: ApiKey k3y!k3y!k3y!",
            "Authorization: ApiKey [redacted]",
        ),
        (
            "-H 'Authorization: token abcdefgh12'",
            "-H 'Authorization: token [redacted]'",
        ),
        (
            r#"{"Authorization":"Bearer abcdefgh12"}"#,
            r#"{"Authorization":"Bearer [redacted]"}"#,
        ),
        (
            r#"{\"authorization\": \"Bearer abcdefgh12\"}"#,
            r#"{\"authorization\": \"Bearer [redacted]\"}"#,
        ),
        ("X-Api-Key: abcdefgh12", "X-Api-Key: [redacted]"),
        ("a bearer abcdefgh12 b", "a bearer [redacted] b"),
        (
            "https://user:pw@host/path",
            "https://user:[redacted]@host/path",
        ),
        (
            "https://user:longpassword@host/path",
            "https://user:[redacted]@host/path",
        ),
        (
            "https://user:longpassw!rd$1@host/path",
            "https://user:[redacted]@host/path",
        ),
        (
            "https://user:p@ss@host/path",
            "https://user:[redacted]@host/path",
        ),
        ("https://:secret99@host", "https://:[redacted]@host"),
        (
            "postgres://u:p@h:5432/db",
            "postgres://u:[redacted]@h:5432/db",
        ),
    ] {
        assert_eq!(redactor().clean(text), expected);
    }
}

#[test]
fn ordinary_text_stays_as_it_is() {
    for text in [
        "http://localhost:8080/index.html?a=b",
        "https://example.com:8443/a-rather-long-path/x.html",
        "see https://example.com/a@b for more",
        "the bearer of it",
        "short",
        "task-1234 risk-averse desk-abcdefghijklmnopqrs",
        "authorization failed",
        "mail a@example.com: hello",
        "commit 0123456789abcdef0123456789abcdef01234567",
    ] {
        let clean = redactor().clean(text);
        assert!(matches!(clean, std::borrow::Cow::Borrowed(_)), "{clean}");
    }
}

#[test]
fn registered_secrets_are_found_inside_json_too() {
    let secret = "line one\nline \"two\"";
    assert_eq!(redactor().clean(&format!("<{secret}>")), "<[redacted]>");
    let json = json!({ "a": secret }).to_string();
    assert_eq!(redactor().redact(&json), r#"{"a":"[redacted]"}"#);
    let longest = Redactor::new(["secret-a", "secret-a-and-more"]);
    assert_eq!(
        longest.clean("secret-a-and-more secret-a"),
        "[redacted] [redacted]"
    );
    // An escape sequence must not eat the beginning of a secret and save the rest.
    let cut = redactor().clean("\u{1b}[hunter2hunter2").into_owned();
    assert!(!cut.contains("unter2"), "{cut}");
}

#[test]
fn in_logs_telling_names_are_enough() {
    for (value, expected) in [
        (json!({"password": "x"}), r#"{"password":"[redacted]"}"#),
        (
            json!({"dbPassword": "a\"b\\"}),
            r#"{"dbPassword":"[redacted]"}"#,
        ),
        (json!({"API_KEY": 12345}), r#"{"API_KEY":"[redacted]"}"#),
        (
            json!({"api-key": "x", "n": 1}),
            r#"{"api-key":"[redacted]","n":1}"#,
        ),
        (
            json!({"o": {"access_token": "x"}}),
            r#"{"o":{"access_token":"[redacted]"}}"#,
        ),
        (json!({"cookie": "a=b"}), r#"{"cookie":"[redacted]"}"#),
        (
            json!({"client_secret": null, "a": 1}),
            r#"{"client_secret":null,"a":1}"#,
        ),
        (
            json!({"tokens": ["x", "y"], "n": 1}),
            r#"{"tokens":"[redacted]","n":1}"#,
        ),
        (
            json!({"credentials": {"user": "u", "pin": 1}, "n": 1}),
            r#"{"credentials":"[redacted]","n":1}"#,
        ),
        (
            json!({"body": "{\"password\": \"x y\", \"n\": 1}"}),
            r#"{"body":"{\"password\": \"[redacted]\", \"n\": 1}"}"#,
        ),
        (json!({"name": "password"}), r#"{"name":"password"}"#),
    ] {
        let redactor = redactor();
        assert_eq!(Sensitive::new(&value, &redactor).to_text(1000), expected);
    }
    // Results are what the model asked for: there, names alone are not enough.
    assert_eq!(
        redactor().clean(r#"{"password":"x"}"#),
        r#"{"password":"x"}"#
    );
}

#[test]
fn a_secret_at_the_edge_of_a_log_line_is_not_half_told() {
    let redactor = redactor();
    let secret = "hunter2hunter2";
    let half = &secret[..8];
    for before in 0..64 {
        let value = json!([format!("{}{secret}", "x".repeat(before)), "y".repeat(100)]);
        let text = Sensitive::new(&value, &redactor).to_text(32);
        assert!(!text.contains(half), "{text}");
        assert!(text.len() <= 32 + '…'.len_utf8(), "{text}");
    }
    // So many secrets that the raw text ends inside one: what it is cut from is
    // larger than what is shown, but redaction makes it shorter.
    let long = "hunter2hunter2".repeat(20);
    let redactor = Redactor::new([long.as_str()]);
    for before in 0..300 {
        let mut list = vec![Value::from("z".repeat(before))];
        list.extend((0..200).map(|_| Value::from(long.as_str())));
        let text = Sensitive::new(&Value::from(list), &redactor).to_text(8000);
        assert!(
            !text.contains(half),
            "…{}",
            &text[text.len().saturating_sub(60)..]
        );
    }
}

#[test]
fn words_that_look_like_keys_stay() {
    let redactor = Redactor::default();
    for text in [
        "Use bearer authentication, please",
        "<div class=\"sk-estimator-doc-link-wrapper\">",
    ] {
        assert_eq!(redactor.clean(text), text);
    }
}

/// Letters and digits without an order, as long as asked for.
fn noise(seed: u64, bytes: usize) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let letters = b"abcdefghijklmnopqrstuvwxyz0123456789";
    let letter = |_| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        char::from(letters[usize::try_from(state >> 33).unwrap() % letters.len()])
    };
    (0..bytes).map(letter).collect()
}

#[test]
fn placeholders_and_expressions_are_no_secrets() {
    let redactor = Redactor::default();
    for text in [
        "export GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "ghp_your_token_here ghp_yourPersonalAccessTokenGoesHere",
        "OPENAI_API_KEY=sk-your-api-key-goes-here",
        "sk-xxxxxxxxxxxxxxxxxxxxxxxx",
        "Authorization: Bearer <token>",
        "Authorization: Bearer ${TOKEN}",
        "Authorization: Bearer YOUR_ACCESS_TOKEN",
        "let authorization = request.headers().get(AUTHORIZATION);",
        "authorization: Option<HeaderValue>,",
        "headers[\"Authorization\"] = f\"Bearer {token}\"",
        "see `Authorization`: https://tools.ietf.org/html/rfc6749#section-3.1",
        "https://user:password@host/ https://user:$PASSWORD@host/ https://${USER}:${PW}@h/",
        "https://host/?token=<token>&api_key={api_key}&sig=...",
        "Set-Cookie: lang=en; Path=/",
        "cookie: { secure: true, httpOnly: true }",
        "const PEM: &str = \"-----BEGIN PRIVATE KEY-----\"; fn next() {}",
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
        "-----BEGIN CERTIFICATE-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END CERTIFICATE-----",
        "aws_secret_access_key = YOUR_SECRET_ACCESS_KEY",
        "TWILIO_AUTH_TOKEN=your_auth_token",
        "basic authentication, basic auth: basics",
        "MTA is an agent; MTE is another; msg.sender is a field",
    ] {
        let clean = redactor.clean(text);
        assert!(matches!(clean, std::borrow::Cow::Borrowed(_)), "{clean}");
    }
}

#[test]
fn values_under_telling_names_are_no_part_of_a_log() {
    let redactor = Redactor::default();
    for (text, expected) in [
        ("DB_PASSWORD=hunter2", "DB_PASSWORD=[redacted]"),
        (
            "export PASSWORD=horse; ls",
            "export PASSWORD=[redacted]; ls",
        ),
        (
            "password: s3cr3t-word\nuser: me",
            "password: [redacted]\nuser: me",
        ),
        ("password = \"horse\"", "password = \"[redacted]\""),
        ("passphrase: 'horse battery'", "passphrase: '[redacted]'"),
        (
            "--password hunter22 --user me",
            "--password [redacted] --user me",
        ),
        (
            "Authorization: Bearer abcdefghijkl",
            "Authorization: Bearer [redacted]",
        ),
        // What programs say stays readable.
        (
            "let token = self.next_token();",
            "let token = self.next_token();",
        ),
        ("token: Token2, rest: u8", "token: Token2, rest: u8"),
        ("f(password=password)", "f(password=password)"),
        ("password: String,", "password: String,"),
        (r#"{"max_tokens": 4096}"#, r#"{"max_tokens": 4096}"#),
        (r#"{"token_type": "bearer"}"#, r#"{"token_type": "bearer"}"#),
        (r#"{"password": ""}"#, r#"{"password": ""}"#),
    ] {
        assert_eq!(redactor.redact(text), expected);
    }
}

#[test]
fn a_known_secret_is_found_in_hexadecimal_and_in_markup() {
    let secret = "pässw<rd&1\"x";
    let redactor = Redactor::new([secret]);
    let hex: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
    for spelling in [
        hex.clone(),
        hex.to_uppercase(),
        "pässw&lt;rd&amp;1&quot;x".to_owned(),
        r#"p\u00e4ssw<rd&1\"x"#.to_owned(),
    ] {
        assert_eq!(
            redactor.clean(&format!("<{spelling}>")),
            "<[redacted]>",
            "{spelling}"
        );
    }
}

#[test]
fn a_secret_is_found_in_json_and_in_json_within_json() {
    let secret = "q\"b\\n\nt\ts/c\u{1}<ä>";
    let redactor = Redactor::new([secret]);
    let escaped = |text: &str| {
        let quoted = Value::from(text).to_string();
        quoted[1..quoted.len() - 1].to_owned()
    };
    let once = escaped(secret);
    for spelling in [
        once.clone(),
        once.replace('/', "\\/"),
        once.replace('ä', "\\u00e4"),
        once.replace('<', "\\u003c").replace('>', "\\u003e"),
        escaped(&once),
        escaped(&once.replace('/', "\\/")),
        escaped(&once).replace('/', "\\/"),
        escaped(&once.replace('ä', "\\u00e4")),
        escaped(&once.replace('<', "\\u003c").replace('>', "\\u003e")),
    ] {
        assert_eq!(
            redactor.clean(&format!("<{spelling}>")),
            "<[redacted]>",
            "{spelling}"
        );
    }
}

#[test]
fn what_repeats_the_beginnings_of_keys_takes_no_longer_than_other_text() {
    let redactor = Redactor::default();
    // Each would take very long where the rest of the text is looked at again and again.
    for piece in [
        "sk-",
        "sk-a.",
        "ghp_",
        "eyJ",
        "eyJ.",
        "eyJhhhhhhhh.",
        "://",
        "://a:",
        ":AA",
        "MTA4",
        "authorization:",
        "bearer ",
        "basic ",
        "cookie:a=",
        "?token=",
        "&sig=",
        "whsec_/",
        "client_secret=",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\n",
        "password=",
        "\"token\":",
    ] {
        let text = piece.repeat((16 << 10) / piece.len());
        assert!(redactor.clean(&text).len() <= text.len());
        assert!(redactor.redact(&text).len() <= 4 * text.len());
    }
    let lines = format!("-----BEGIN PRIVATE KEY-----{}", "\n".repeat(16 << 10));
    assert_eq!(redactor.clean(&lines), lines);
}

#[test]
fn many_large_secrets_are_found_like_others() {
    let secrets: Vec<String> = (0..24).map(|seed| noise(seed, 60_000)).collect();
    let redactor = Redactor::new(secrets.clone());
    for secret in &secrets {
        assert_eq!(redactor.clean(&format!("a {secret} b")), "a [redacted] b");
        // So much of one is a secret too.
        let cut = &secret[..30_000];
        assert_eq!(redactor.clean(&format!("a {cut} b")), "a [redacted] b");
        assert_eq!(redactor.redact(&format!("a {cut}")), "a [redacted]");
    }
    let ordinary = noise(99, 100_000);
    let clean = redactor.clean(&ordinary);
    assert!(matches!(clean, std::borrow::Cow::Borrowed(_)));
    // Those that begin alike are told from each other where they part.
    let alike = [
        "a".repeat(300) + "x",
        "a".repeat(300) + "yé",
        "a".repeat(300),
    ];
    let redactor = Redactor::new(alike.clone());
    for secret in &alike {
        assert_eq!(redactor.clean(&format!("<{secret}>")), "<[redacted]>");
    }
    let other = "a".repeat(300) + "yè";
    assert_eq!(redactor.clean(&other), "[redacted]è");
}

#[test]
fn learning_again_what_is_known_makes_nothing_more_of_it() {
    let secret = r#"a"b\c/d e"#;
    let redactor = Redactor::new([secret]);
    let before = format!("{redactor:?}");
    for round in 0..20 {
        redactor.learn([secret.to_owned(), format!("other-{round}")]);
    }
    let again = Redactor::new([secret]);
    again.learn((0..20).map(|round| format!("other-{round}")));
    assert_ne!(format!("{redactor:?}"), before);
    assert_eq!(format!("{redactor:?}"), format!("{again:?}"));
    let fresh = Redactor::default();
    fresh.learn([secret, secret]);
    assert_eq!(format!("{fresh:?}"), before);
    assert_eq!(fresh.clean(&format!("<{secret}>")), "<[redacted]>");
}

#[test]
fn a_secret_is_found_as_others_write_it() {
    let secret = "my/key+with spaces&x=1";
    let redactor = Redactor::new([secret, "tiny"]);
    for spelling in [
        secret,
        r"my\/key+with spaces&x=1",
        "my%2Fkey%2Bwith%20spaces%26x%3D1",
        "my%2Fkey%2Bwith+spaces%26x%3D1",
        "bXkva2V5K3dpdGggc3BhY2VzJng9MQ==",
        "bXkva2V5K3dpdGggc3BhY2VzJng9MQ",
    ] {
        let text = format!("<{spelling}>");
        assert_eq!(redactor.clean(&text), "<[redacted]>", "{spelling}");
        // Also where the end of it was cut away.
        let cut = &text[..spelling.len() - 3];
        assert_eq!(redactor.redact(cut), "<[redacted]", "{spelling}");
    }
    // What is too short as it is stays so however it is written.
    assert_eq!(redactor.clean("dGlueQ== tiny"), "dGlueQ== tiny");
}
