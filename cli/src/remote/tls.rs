//! TLS with the certificates that this machine trusts.

use std::sync::Arc;

use rustls::crypto::ring;
use ureq::config::ConfigBuilder;
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::typestate::AgentScope;

/// Adds TLS to a client's settings.
///
/// # Errors
/// If there are no certificates.
pub(super) fn with_certificates(config: ConfigBuilder<AgentScope>) -> Result<ConfigBuilder<AgentScope>, String> {
    let found = rustls_native_certs::load_native_certs();
    if found.certs.is_empty() {
        let why = found.errors.first().map_or(String::new(), |error| format!(" ({error})"));
        return Err(format!(
            "there are no certificates on this machine to know a server by{why}; install the package ca-certificates, or name a \
             file of them by SSL_CERT_FILE"
        ));
    }
    let roots: Vec<_> = found.certs.iter().map(|certificate| Certificate::from_der(certificate).to_owned()).collect();
    let tls = TlsConfig::builder()
        .root_certs(RootCerts::Specific(Arc::new(roots)))
        .unversioned_rustls_crypto_provider(Arc::new(ring::default_provider()))
        .build();
    Ok(config.tls_config(tls))
}
