//! How a secret may be spelled. Made here a second time on purpose: what removes secrets
//! is not asked what to look for.

use serde_json::json;

/// How a secret may be spelled in something that is shown.
pub(super) fn spellings(secret: &str) -> Vec<String> {
    let json = json!(secret).to_string();
    let json = json.trim_matches('"').to_owned();
    let twice = json!(json).to_string().trim_matches('"').to_owned();
    let percent = |is_plain: fn(u8) -> bool| -> String {
        let each = secret.bytes().map(|byte| match is_plain(byte) {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02X}"),
        });
        each.collect()
    };
    let strict = percent(|byte| byte.is_ascii_alphanumeric());
    let lower = secret
        .bytes()
        .map(|byte| match byte.is_ascii_alphanumeric() {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02x}"),
        });
    let lower = lower.collect();
    let loose = percent(|byte| byte.is_ascii_alphanumeric() || b"/=&+".contains(&byte));
    let mut spellings = vec![secret.to_owned(), json, twice, lower, strict, loose];
    // In the three ways its bytes can fall into groups, without the ends that mix with
    // what stands beside it.
    for before in 0..3 {
        let padded = [&b"xx"[..before], secret.as_bytes()].concat();
        let coded = base64(&padded);
        spellings.push(coded[4..coded.len() - 4].to_owned());
    }
    // A long piece is as bad as the whole.
    spellings.extend([
        secret[..12].to_owned(),
        secret[secret.len() - 12..].to_owned(),
    ]);
    spellings
}

pub(super) fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |group: &[u8]| -> String {
        let three = [0, 1, 2].map(|at| u32::from(group.get(at).copied().unwrap_or_default()));
        let bits = three[0] << 16 | three[1] << 8 | three[2];
        let letter = |at: u32| char::from(LETTERS[(bits >> (18 - 6 * at) & 63) as usize]);
        (0..4)
            .map(|at| {
                if at as usize <= group.len() {
                    letter(at)
                } else {
                    '='
                }
            })
            .collect()
    };
    bytes.chunks(3).map(group).collect()
}
