//! Clients: models over HTTP.
