//! TLS whose roots are read when the first certificate has to be judged.
//!
//! Reading the system's roots takes tens of milliseconds, and most servers of a first
//! run are local processes or plain http. The roots are read once for all clients; when
//! that fails, connections fail with the reason and the next one tries again.

use std::sync::{Arc, OnceLock};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, SignatureScheme};
use rustls_platform_verifier::Verifier;

static ROOTS: OnceLock<Verifier> = OnceLock::new();

/// Returns a configuration that trusts what the system trusts.
pub(crate) fn config() -> Result<ClientConfig, Error> {
    let provider = Arc::new(ring::default_provider());
    let verifier = SystemRoots {
        provider: provider.clone(),
    };
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// The platform's verifier, made when it is needed.
#[derive(Debug)]
struct SystemRoots {
    provider: Arc<CryptoProvider>,
}

impl SystemRoots {
    fn verifier(&self) -> Result<&'static Verifier, Error> {
        if let Some(verifier) = ROOTS.get() {
            return Ok(verifier);
        }
        let verifier = Verifier::new(self.provider.clone())?;
        // Of two that came at once the first one stays.
        Ok(ROOTS.get_or_init(|| verifier))
    }
}

impl ServerCertVerifier for SystemRoots {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.verifier()?.verify_server_cert(
            end_entity,
            intermediates,
            server_name,
            ocsp_response,
            now,
        )
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Valid for a hundred years and signed by itself; nobody has its key.
    const SELF_SIGNED: &[u8] = include_bytes!("../tests/fixtures/self-signed.der");

    #[test]
    fn a_server_that_nobody_vouches_for_is_refused() {
        let provider = Arc::new(ring::default_provider());
        let name = ServerName::try_from("nobody.example").unwrap();
        let certificate = CertificateDer::from(SELF_SIGNED);
        let in_2030 = UnixTime::since_unix_epoch(Duration::from_secs(1_900_000_000));
        let verifier = SystemRoots { provider };
        let verdict = verifier.verify_server_cert(&certificate, &[], &name, &[], in_2030);
        // A system without roots vouches for nobody either.
        assert!(
            matches!(
                verdict,
                Err(Error::InvalidCertificate(_) | Error::General(_))
            ),
            "{verdict:?}"
        );
    }
}
