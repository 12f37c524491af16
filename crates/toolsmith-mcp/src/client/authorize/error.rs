//! Why an upstream did not let us in.

/// Why an upstream did not let us in. No message holds a token.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuthorizeError {
    /// The options contradict themselves or each other.
    #[error("authorize: {0}")]
    Settings(String),
    /// It could not be found out where authorization is granted, or what was found is
    /// not to be believed.
    #[error("find out where to be authorized: {0}")]
    Metadata(String),
    /// The authorization server does not know this client.
    #[error("identify to {issuer}: {reason}")]
    Client {
        /// Who grants authorization.
        issuer: String,
        /// Why not.
        reason: String,
    },
    /// The person would not, or was not there.
    #[error("have a person consent: {0}")]
    Consent(String),
    /// No token was given.
    #[error("get a token from {issuer}: {reason}")]
    Token {
        /// Who grants authorization.
        issuer: String,
        /// Why not.
        reason: String,
    },
    /// The upstream asks for permissions that were asked for already.
    #[error("get more permissions: the server still asks for {0:?}, which was asked for already")]
    Scope(String),
    /// It went wrong too often.
    #[error("authorize: {0} times in a row were in vain; nobody is asked again")]
    InVain(u32),
}
