//! Descriptions of servers that cannot be used. Each is refused with the place and the
//! reason; none takes long, panics, or shows a secret.
