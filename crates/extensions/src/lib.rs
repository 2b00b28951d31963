//! Extensions: skills (`skills`) and plugins (`plugins`).

#![forbid(unsafe_code)]

pub mod plugins;
pub mod skills;
