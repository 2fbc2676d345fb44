//! What stands for TLS where the feature `https` is off.

use ureq::config::ConfigBuilder;
use ureq::typestate::AgentScope;

/// Refuses.
///
/// # Errors
/// Always: names the feature.
pub(super) fn with_certificates(_: ConfigBuilder<AgentScope>) -> Result<ConfigBuilder<AgentScope>, String> {
    Err("https takes an orthant that is built with the feature https: `cargo build --release --features https`; or download the \
         tree"
        .into())
}
