//! Proving to be a client by a signature (RFC 7523).

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, RSA_PKCS1_SHA256, RsaKeyPair,
};
use serde_json::{Value, json};

/// How long an assertion is good for, in seconds.
const GOOD: u64 = 120;

/// A private key.
enum Key {
    Es256(Box<EcdsaKeyPair>),
    Rs256(Box<RsaKeyPair>),
}

/// A signed statement to `audience` that we are the client of this id.
pub(super) fn of(client: &str, audience: &str, pem: &str, now: u64) -> Result<String, String> {
    let key = read(pem)?;
    let mut id = [0_u8; 16];
    getrandom::fill(&mut id).map_err(|error| error.to_string())?;
    let algorithm = match key {
        Key::Es256(_) => "ES256",
        Key::Rs256(_) => "RS256",
    };
    let claims = json!({
        "iss": client,
        "sub": client,
        "aud": audience,
        "iat": now,
        "exp": now + GOOD,
        "jti": URL_SAFE_NO_PAD.encode(id),
    });
    let header = json!({ "alg": algorithm, "typ": "JWT" });
    let encode = |part: &Value| URL_SAFE_NO_PAD.encode(part.to_string());
    let message = format!("{}.{}", encode(&header), encode(&claims));
    let signature = sign(&key, message.as_bytes())?;
    Ok(format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature)))
}

fn read(pem: &str) -> Result<Key, String> {
    let lines = pem.lines().map(str::trim);
    let body: String = lines.filter(|line| !line.starts_with("-----")).collect();
    let unreadable = || "the private key is no PKCS#8 in PEM, of P-256 or RSA".to_owned();
    let bytes = STANDARD.decode(body).map_err(|_| unreadable())?;
    let random = SystemRandom::new();
    if let Ok(key) = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &bytes, &random) {
        return Ok(Key::Es256(Box::new(key)));
    }
    let key = RsaKeyPair::from_pkcs8(&bytes).map_err(|_| unreadable())?;
    Ok(Key::Rs256(Box::new(key)))
}

fn sign(key: &Key, message: &[u8]) -> Result<Vec<u8>, String> {
    let random = SystemRandom::new();
    let failed = |_| "the private key cannot sign".to_owned();
    match key {
        Key::Es256(key) => {
            let signature = key.sign(&random, message).map_err(failed)?;
            Ok(signature.as_ref().to_vec())
        }
        Key::Rs256(key) => {
            let mut signature = vec![0; key.public().modulus_len()];
            key.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature)
                .map_err(failed)?;
            Ok(signature)
        }
    }
}
