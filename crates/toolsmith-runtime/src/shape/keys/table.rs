//! The table of what keys begin with or stand beside. A new sort of key is a line here.

use super::body::Letters::{Alphanumeric, Capital, Coded, Dotted, Hexadecimal, Slug, Word};
use super::body::Proof::{Beginning, Lot, NoWords};
use super::body::{Body, Letters};
use super::discord;

/// What a key begins with or stands beside, and what must follow.
pub(super) struct Rule {
    pub(super) begins: &'static str,
    pub(super) then: Begins,
}

/// What something that was found is the beginning of.
pub(super) enum Begins {
    /// A key, written exactly so.
    Key(Body),
    /// A private key in lines of Base64.
    Armour,
    /// A signed token in three parts, or an encrypted one in five.
    Token,
    /// The part of a Telegram bot's token after its number.
    Telegram,
    /// A token of a Discord bot.
    Discord,
    /// The secret end of an address.
    Path(Body),
    /// The host of an address, and maybe a password before it.
    Address,
    /// A parameter of an address.
    Parameter,
    /// A header whose value is secret.
    Header,
    /// A header of cookies.
    Cookie,
    /// A scheme of authorization, and what authorizes.
    Bearer,
    /// The scheme with a name and a password.
    Basic,
    /// A value that stands beside this name.
    Value(Body),
}

/// Keys by what they begin with.
#[rustfmt::skip]
const KEYS: &[(&str, Body)] = &[
    // Code hosts and package registries.
    ("ghp_",        at_least(20, Alphanumeric)),
    ("gho_",        at_least(20, Alphanumeric)),
    ("ghu_",        at_least(20, Alphanumeric)),
    ("ghs_",        at_least(20, Alphanumeric)),
    ("ghr_",        at_least(20, Alphanumeric)),
    ("github_pat_", at_least(20, Word)),
    ("glpat-",      at_least(16, Dotted)),
    ("gldt-",       at_least(16, Dotted)),
    ("glrt-",       at_least(16, Dotted)),
    ("glptt-",      at_least(16, Dotted)),
    ("glft-",       at_least(16, Dotted)),
    ("glimt-",      at_least(16, Dotted)),
    ("glagent-",    at_least(16, Dotted)),
    ("glsoat-",     at_least(16, Dotted)),
    ("gloas-",      at_least(16, Dotted)),
    ("glcbt-",      at_least(16, Dotted)),
    ("npm_",        at_least(30, Alphanumeric)),
    ("pypi-",       at_least(30, Slug)),
    ("rubygems_",   at_least(40, Hexadecimal)),
    ("dckr_pat_",   at_least(20, Slug)),
    // Models.
    ("sk-",         Body::new(Slug, 16, NoWords)),
    ("hf_",         at_least(30, Alphanumeric)),
    ("gsk_",        at_least(40, Alphanumeric)),
    ("nvapi-",      at_least(40, Slug)),
    ("pplx-",       at_least(40, Alphanumeric)),
    ("xai-",        at_least(40, Alphanumeric)),
    // Clouds.
    ("AKIA",        exactly(16, Capital)),
    ("ASIA",        exactly(16, Capital)),
    ("AIza",        at_least(30, Slug)),
    ("GOCSPX-",     at_least(20, Slug)),
    ("ya29.",       at_least(20, Slug)),
    ("dop_v1_",     at_least(40, Hexadecimal)),
    ("doo_v1_",     at_least(40, Hexadecimal)),
    ("dor_v1_",     at_least(40, Hexadecimal)),
    ("hvs.",        Body::new(Slug, 20, NoWords)),
    ("hvb.",        Body::new(Slug, 20, NoWords)),
    ("tskey-",      Body::new(Slug, 16, NoWords)),
    ("AGE-SECRET-KEY-1", at_least(40, Capital)),
    // Messages, payments, shops.
    ("xoxa-",       at_least(10, Slug)),
    ("xoxb-",       at_least(10, Slug)),
    ("xoxc-",       at_least(10, Slug)),
    ("xoxd-",       at_least(10, Coded)),
    ("xoxe-",       at_least(10, Slug)),
    ("xoxo-",       at_least(10, Slug)),
    ("xoxp-",       at_least(10, Slug)),
    ("xoxr-",       at_least(10, Slug)),
    ("xoxs-",       at_least(10, Slug)),
    ("xapp-",       Body::new(Slug, 16, NoWords)),
    ("sk_live_",    at_least(16, Alphanumeric)),
    ("sk_test_",    at_least(16, Alphanumeric)),
    ("rk_live_",    at_least(16, Alphanumeric)),
    ("rk_test_",    at_least(16, Alphanumeric)),
    ("whsec_",      at_least(20, Coded)),
    ("SG.",         Body::new(Dotted, 32, Lot)),
    ("shpat_",      at_least(20, Hexadecimal)),
    ("shpca_",      at_least(20, Hexadecimal)),
    ("shppa_",      at_least(20, Hexadecimal)),
    ("shpss_",      at_least(20, Hexadecimal)),
    ("xkeysib-",    at_least(40, Slug)),
    ("lin_api_",    at_least(30, Alphanumeric)),
    ("figd_",       at_least(30, Slug)),
    ("glsa_",       at_least(30, Word)),
    ("sntrys_",     at_least(30, Coded)),
];

/// Addresses that let in whoever knows how they end.
const PATHS: &[(&str, Body)] = &[
    ("hooks.slack.com/services/", Body::new(Coded, 20, Lot)),
    ("hooks.slack.com/workflows/", Body::new(Coded, 20, Lot)),
    ("hooks.slack.com/triggers/", Body::new(Coded, 20, Lot)),
    ("/api/webhooks/", Body::new(Coded, 40, Lot)),
];

/// Headers whose value is secret. Names that end alike are found by their ends.
const HEADERS: &[&str] = &[
    "authorization",
    "api-key",
    "auth-token",
    "access-token",
    "private-token",
    "job-token",
    "csrf-token",
    "security-token",
    "auth-key",
];

/// Parameters of addresses, by how they end.
const PARAMETERS: &[&str] = &[
    "token=",
    "api_key=",
    "apikey=",
    "api-key=",
    "secret=",
    "password=",
    "passwd=",
    "signature=",
    "sig=",
    "auth=",
    "access_key=",
];

/// Values by the names they stand beside.
const VALUES: &[(&str, Body)] = &[
    ("secret_access_key", Body::exactly(Coded, 40, Lot)),
    ("secretaccesskey", Body::exactly(Coded, 40, Lot)),
    ("secret-access-key", Body::exactly(Coded, 40, Lot)),
    ("aws_secret_key", Body::exactly(Coded, 40, Lot)),
    ("session_token", Body::new(Coded, 40, Lot)),
    ("sessiontoken", Body::new(Coded, 40, Lot)),
    ("auth_token", Body::new(Slug, 24, Lot)),
    ("authtoken", Body::new(Slug, 24, Lot)),
    ("api_key_sid", Body::new(Alphanumeric, 24, Lot)),
    ("twilio_api_key", Body::new(Alphanumeric, 24, Lot)),
    ("twilio_api_secret", Body::new(Alphanumeric, 24, Lot)),
    ("accountkey", Body::new(Coded, 40, Lot)),
    ("sharedaccesskey", Body::new(Coded, 24, Lot)),
    ("discord_token", Body::new(Dotted, 50, Lot)),
    ("bot_token", Body::new(Dotted, 30, Lot)),
    ("bottoken", Body::new(Dotted, 30, Lot)),
    ("client_secret", Body::new(Dotted, 20, Lot)),
    ("clientsecret", Body::new(Dotted, 20, Lot)),
    ("private_key_id", Body::new(Hexadecimal, 32, Lot)),
];

impl Rule {
    /// Tells whether a letter can stand at this place of what it begins with, or behind it.
    pub(super) fn has(&self, place: usize, letter: u8) -> bool {
        match (self.begins.as_bytes().get(place), &self.then) {
            (Some(own), _) if self.is_exact() => *own == letter,
            (Some(own), _) => own.eq_ignore_ascii_case(&letter),
            (None, Begins::Discord) => discord::can_follow(letter),
            (None, _) => true,
        }
    }

    /// Tells whether a text begins like it.
    pub(super) fn begins(&self, text: &[u8]) -> bool {
        let mut letters = text.iter().take(self.begins.len()).enumerate();
        text.len() >= self.begins.len() && letters.all(|(place, it)| self.has(place, *it))
    }

    /// Keys are written exactly so, while names are written in any way.
    fn is_exact(&self) -> bool {
        matches!(
            self.then,
            Begins::Key(_) | Begins::Token | Begins::Telegram | Begins::Discord | Begins::Armour
        )
    }
}

/// Every rule; where two begin alike the first counts.
pub(super) fn rules() -> Vec<Rule> {
    let rule = |begins, then| Rule { begins, then };
    let mut rules = vec![
        rule("-----BEGIN ", Begins::Armour),
        rule("eyJ", Begins::Token),
        rule(":AA", Begins::Telegram),
        rule("://", Begins::Address),
        rule("cookie", Begins::Cookie),
        rule("bearer", Begins::Bearer),
        rule("basic", Begins::Basic),
    ];
    rules.extend(PATHS.iter().map(|(it, body)| rule(it, Begins::Path(*body))));
    rules.extend(
        VALUES
            .iter()
            .map(|(it, body)| rule(it, Begins::Value(*body))),
    );
    rules.extend(HEADERS.iter().map(|it| rule(it, Begins::Header)));
    rules.extend(PARAMETERS.iter().map(|it| rule(it, Begins::Parameter)));
    rules.extend(
        discord::BEGINNINGS
            .iter()
            .map(|it| rule(it, Begins::Discord)),
    );
    rules.extend(KEYS.iter().map(|(it, body)| rule(it, Begins::Key(*body))));
    rules
}

const fn at_least(least: usize, letters: Letters) -> Body {
    Body::new(letters, least, Beginning)
}

const fn exactly(length: usize, letters: Letters) -> Body {
    Body::exactly(letters, length, Beginning)
}
