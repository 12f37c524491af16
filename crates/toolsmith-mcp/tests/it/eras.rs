//! Methods, versions and lifecycles of both eras.
