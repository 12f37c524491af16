//! Secrets of every sort, made when they are needed: no source file holds one, so that
//! what looks for secrets finds none in this repository.

/// Something secret as it may stand in a text.
pub(crate) struct Planted {
    /// What sort of secret it is.
    pub(crate) sort: &'static str,
    /// How it stands in a text.
    pub(crate) text: String,
    /// What must not come out.
    pub(crate) needles: Vec<String>,
}

/// A sort, how a secret stands in a text, and what it is drawn from.
type Beside = (&'static str, fn(&str) -> String, &'static str, usize);

const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const CAPITALS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const HEX: &str = "0123456789abcdef";

/// One of every sort.
pub(crate) fn planted() -> Vec<Planted> {
    let keys = [
        ("GitHub", "ghp_", LETTERS, 36),
        ("GitHub OAuth", "gho_", LETTERS, 36),
        ("GitHub server", "ghs_", LETTERS, 36),
        ("GitHub fine-grained", "github_pat_", LETTERS, 82),
        ("GitLab", "glpat-", LETTERS, 20),
        ("GitLab runner", "glrt-", LETTERS, 20),
        ("model", "sk-", LETTERS, 48),
        ("model, project", "sk-proj-", LETTERS, 64),
        ("model, other", "sk-ant-api03-", LETTERS, 80),
        ("AWS access key", "AKIA", CAPITALS, 16),
        ("Google", "AIza", LETTERS, 35),
        ("Google client", "GOCSPX-", LETTERS, 28),
        ("Google access", "ya29.", LETTERS, 60),
        ("Slack bot", "xoxb-123456789012-", LETTERS, 24),
        ("Slack app", "xapp-1-A0123456789-", LETTERS, 40),
        ("Stripe", "sk_live_", LETTERS, 24),
        ("Stripe webhook", "whsec_", LETTERS, 32),
        ("npm", "npm_", LETTERS, 36),
        ("PyPI", "pypi-", LETTERS, 120),
        ("Hugging Face", "hf_", LETTERS, 34),
        ("DigitalOcean", "dop_v1_", HEX, 64),
        ("Shopify", "shpat_", HEX, 32),
        ("Telegram", "7123456789:AA", LETTERS, 33),
    ];
    let mut planted: Vec<Planted> = Vec::new();
    for (seed, (sort, begins, letters, length)) in (1..).zip(keys) {
        let body = drawn(seed, letters, length);
        planted.push(Planted {
            sort,
            text: format!("{begins}{body}"),
            needles: vec![body],
        });
    }
    // What stands beside the secret tells it, and may come out.
    let beside: [Beside; 14] = [
        (
            "header",
            |it| format!("Authorization: Bearer {it}"),
            LETTERS,
            32,
        ),
        (
            "option",
            |it| format!("curl -H 'Authorization: token {it}' x"),
            LETTERS,
            32,
        ),
        (
            "other option",
            |it| format!("--header=Authorization:{it}"),
            LETTERS,
            32,
        ),
        (
            "scheme",
            |it| format!("send bearer {it} along"),
            LETTERS,
            32,
        ),
        ("API key", |it| format!("X-Api-Key: {it}"), HEX, 32),
        (
            "address",
            |it| format!("https://me:{it}@host.example/path"),
            LETTERS,
            20,
        ),
        (
            "parameter",
            |it| format!("https://host.example/a?b=1&access_token={it}&c=2"),
            LETTERS,
            24,
        ),
        (
            "signature",
            |it| format!("https://host.example/a?X-Amz-Signature={it}"),
            HEX,
            64,
        ),
        (
            "Slack address",
            |it| format!("https://hooks.slack.com/services/T0123/B0123/{it}"),
            LETTERS,
            24,
        ),
        (
            "Discord address",
            |it| format!("https://discord.com/api/webhooks/123456789012345678/{it}"),
            LETTERS,
            68,
        ),
        (
            "AWS secret",
            |it| format!("aws_secret_access_key = {it}"),
            LETTERS,
            40,
        ),
        (
            "Azure",
            |it| format!("AccountName=a;AccountKey={it}==;EndpointSuffix=x"),
            LETTERS,
            86,
        ),
        (
            "cookie",
            |it| format!("Set-Cookie: session={it}; Path=/"),
            LETTERS,
            40,
        ),
        ("Twilio", |it| format!("TWILIO_AUTH_TOKEN={it}"), HEX, 32),
    ];
    for (seed, (sort, text, letters, length)) in (101..).zip(beside) {
        let body = drawn(seed, letters, length);
        planted.push(Planted {
            sort,
            text: text(&body),
            needles: vec![body],
        });
    }
    planted.push(in_parts("JWT", 201, "eyJ", &[20, 40, 43], ".eyJ"));
    planted.push(in_parts("SendGrid", 202, "SG.", &[22, 43], "."));
    planted.push(in_parts("Discord bot", 203, "MTA4", &[22, 6, 38], "."));
    planted.extend(private_keys());
    planted
}

/// Private keys, in lines and in one.
fn private_keys() -> Vec<Planted> {
    let names = ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "];
    let mut keys = Vec::new();
    for (seed, name) in (301..).zip(names) {
        let lines: Vec<String> = (0..6)
            .map(|line| drawn(seed * 10 + line, LETTERS, 64))
            .collect();
        let breaks = [("private key", "\n"), ("private key in one line", "\\n")];
        // Every other one is written into one line.
        for (sort, line_break) in breaks.into_iter().skip(seed as usize % 2).take(1) {
            let dashes = "-".repeat(5);
            let (begin, end) = (format!("{dashes}BEGIN"), format!("{dashes}END"));
            let body = lines.join(line_break);
            let text = format!(
                "{begin} {name}PRIVATE KEY{dashes}{line_break}{body}{line_break}{end} {name}PRIVATE KEY{dashes}"
            );
            keys.push(Planted {
                sort,
                text,
                needles: lines.clone(),
            });
        }
    }
    keys
}

/// A secret of several parts, of which none may come out but what all such begin with.
fn in_parts(
    sort: &'static str,
    seed: u64,
    begins: &str,
    lengths: &[usize],
    between: &str,
) -> Planted {
    let parts: Vec<String> = (seed * 10..)
        .zip(lengths)
        .map(|(seed, length)| drawn(seed, LETTERS, *length))
        .collect();
    let mut text = format!("{begins}{}", parts[0]);
    for (nth, part) in parts.iter().enumerate().skip(1) {
        text.push_str(if nth == 1 { between } else { "." });
        text.push_str(part);
    }
    Planted {
        sort,
        text,
        needles: parts,
    }
}

/// Letters drawn by lot, the same for the same seed.
fn drawn(seed: u64, letters: &str, length: usize) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let letters = letters.as_bytes();
    let letter = |_| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        char::from(letters[usize::try_from(state >> 33).unwrap() % letters.len()])
    };
    (0..length).map(letter).collect()
}
