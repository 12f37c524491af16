//! What a file in `tools/native` may say.
//!
//! A file describes one tool, or, under `tools:`, several; each of them says what is its
//! own, and the file says the rest.
//!
//! ```yaml
//! api_url: https://api.example.com/v1
//! auth_method: bearer
//! auth: { token: "${env:EXAMPLE_TOKEN}" }
//! tools:
//!   - name: get_user
//!     description: Looks up a user by number.
//!     method: GET
//!     path: /users/{id}
//!     parameters:
//!       properties: { id: { type: integer, description: The user's number. } }
//!       required: [id]
//! ```

mod auth;
mod command;
mod definition;
mod entry;
mod http;
mod placed;
mod sandbox;

pub use auth::{AuthForm, AuthMethod, KeyPlace, sounds_secret};
pub use command::{CommandWord, ExitCodes, OutputForm};
pub use definition::{ConsentForm, DescriptionForm, MetadataForm, ToolType};
pub use entry::Entry;
pub use http::{
    Adapter, BodyForm, HttpMethod, ListStyle, ObjectStyle, PaginationForm, PaginationStyle,
    PlaceForm, PlaceName, ResponseForm, ResponseKind,
};
pub use placed::Placed;
pub use sandbox::{Network, Sandbox, SandboxMode, SandboxSettings, SandboxWord};
pub use toolsmith_core::rate::Rate;
