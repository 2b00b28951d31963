//! The settings of a team server: options, then variables, then a file, then defaults (T-18).

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;

use clap::ValueEnum;
use dormouse_base::{Environment, names};
use dormouse_team::TlsFiles;
use serde::Deserialize;

use crate::args::{ServeArguments, ServerLogFormat};
use crate::message_catalog::msg;
use crate::wiring::exit::Failure;
use crate::wiring::input::read_file;

/// The port, unless another is set.
const PORT: u16 = 7311;

/// What is set in one place.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(super) struct ServeSettings {
    listen: Option<SocketAddr>,
    pub(super) database: Option<String>,
    tls_cert: Option<PathBuf>,
    tls_key: Option<PathBuf>,
    pub(super) max_entries: Option<usize>,
    pub(super) rate: Option<u32>,
    log: Option<ServerLogFormat>,
}

impl ServeSettings {
    /// What counts. Nothing else of the program needs it.
    pub(super) fn resolve(
        arguments: &ServeArguments,
        environment: &Environment,
    ) -> Result<Self, Failure> {
        let set = Self::given(arguments).or(Self::from_environment(environment)?);
        let file = arguments.config.clone().or(environment.path(names::TEAM_CONFIG));
        let from_file = match file {
            Some(path) => {
                let bytes = read_file(&path)?;
                serde_json::from_slice(&bytes).map_err(|error| {
                    let path = path.display().to_string();
                    Failure::usage(anyhow::anyhow!("{path}: {error}"))
                        .hint(msg!("team-config-hint"))
                })?
            }
            None => Self::default(),
        };
        Ok(set.or(from_file))
    }

    fn given(arguments: &ServeArguments) -> Self {
        Self {
            listen: arguments.listen,
            database: arguments.database.clone(),
            tls_cert: arguments.tls_cert.clone(),
            tls_key: arguments.tls_key.clone(),
            max_entries: arguments.max_entries,
            rate: arguments.rate,
            log: arguments.log,
        }
    }

    fn from_environment(environment: &Environment) -> Result<Self, Failure> {
        let log = environment.get(names::TEAM_LOG).map(|text| {
            let format = ServerLogFormat::from_str(text, true);
            format.map_err(|_| invalid(names::TEAM_LOG, text, "text, json or none"))
        });
        Ok(Self {
            listen: parsed(environment, names::TEAM_LISTEN, "an address such as 0.0.0.0:7311")?,
            database: environment.get(names::TEAM_DATABASE).map(str::to_owned),
            tls_cert: environment.path(names::TEAM_TLS_CERT),
            tls_key: environment.path(names::TEAM_TLS_KEY),
            max_entries: parsed(environment, names::TEAM_MAX_ENTRIES, "a number")?,
            rate: parsed(environment, names::TEAM_RATE, "a number")?,
            log: log.transpose()?,
        })
    }

    /// These settings; where one is missing, that of the others.
    fn or(self, others: Self) -> Self {
        Self {
            listen: self.listen.or(others.listen),
            database: self.database.or(others.database),
            tls_cert: self.tls_cert.or(others.tls_cert),
            tls_key: self.tls_key.or(others.tls_key),
            max_entries: self.max_entries.or(others.max_entries),
            rate: self.rate.or(others.rate),
            log: self.log.or(others.log),
        }
    }

    pub(super) fn listen(&self) -> SocketAddr {
        self.listen.unwrap_or(SocketAddr::from((Ipv4Addr::LOCALHOST, PORT)))
    }

    pub(super) fn log(&self) -> ServerLogFormat {
        self.log.unwrap_or(ServerLogFormat::Text)
    }

    /// Certificate and key: both or neither.
    pub(super) fn tls(&self) -> Result<Option<TlsFiles>, Failure> {
        match (&self.tls_cert, &self.tls_key) {
            (Some(certificate), Some(key)) => {
                Ok(Some(TlsFiles { certificate: certificate.clone(), key: key.clone() }))
            }
            (None, None) => Ok(None),
            (Some(_), None) | (None, Some(_)) => {
                Err(Failure::usage(anyhow::anyhow!(msg!("team-tls-half")))
                    .hint(msg!("team-tls-half-hint")))
            }
        }
    }
}

fn parsed<T: FromStr>(
    environment: &Environment,
    name: &str,
    expected: &str,
) -> Result<Option<T>, Failure> {
    let Some(text) = environment.get(name) else { return Ok(None) };
    text.parse().map(Some).map_err(|_| invalid(name, text, expected))
}

fn invalid(name: &str, text: &str, expected: &str) -> Failure {
    Failure::usage(anyhow::anyhow!(msg!("team-variable", name = name, value = text)))
        .hint(msg!("team-variable-hint", expected = expected))
}
