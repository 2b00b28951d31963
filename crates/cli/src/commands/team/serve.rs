//! `dormouse team serve`: the team server.

use std::io::Write;
use std::sync::Arc;

use dormouse_base::{Dir, names};
use dormouse_team::{
    DatabaseAddress, LogSink, NewToken, PersonName, RequestLog, ServerOptions, TeamRole,
    TeamServer, TeamStore, TeamToken,
};
use serde::Serialize;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::serve_settings::ServeSettings;
use crate::args::{ServeArguments, ServerLogFormat};
use crate::message_catalog::msg;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::print;
use crate::wiring::team::default_database;
use crate::wiring::world::World;

/// Opens the server's database; a new one in the default place gets its folder.
pub(super) async fn open_store(
    database: Option<&str>,
    world: &World,
) -> Result<TeamStore, Failure> {
    let address = match database.or(world.environment.get(names::TEAM_DATABASE)) {
        Some(text) => text.parse().unwrap_or_else(|never: std::convert::Infallible| match never {}),
        None => {
            let path = default_database(&world.home()?);
            if let Some(folder) = path.parent() {
                Dir::create(folder)?;
            }
            DatabaseAddress::File(path)
        }
    };
    TeamStore::open(&address).await.map_err(Failure::failed)
}

pub(super) async fn run(arguments: &ServeArguments, world: &World) -> Result<Exit, Failure> {
    raise_file_limit();
    let settings = ServeSettings::resolve(arguments, &world.environment)?;
    let tls = settings.tls()?;
    let store = open_store(settings.database.as_deref(), world).await?;
    let listen_at = settings.listen();
    let server = TeamServer::bind(listen_at, tls.as_ref()).map_err(Failure::usage)?;
    if store.tokens().await.map_err(Failure::failed)?.is_empty() {
        let token = first_token(&store, world).await?;
        print::note(&msg!("team-first-token"));
        print::data_line(token.expose());
    }
    print::note(&msg!("team-serving", url = server.url()));
    if tls.is_none() && !listen_at.ip().is_loopback() {
        print::note(&msg!("team-serving-plain"));
    }
    let mut options = ServerOptions::new(Arc::clone(&world.clock), log_sink(settings.log(), world));
    if let Some(most) = settings.max_entries {
        options.most_entries = most;
    }
    if let Some(rate) = settings.rate {
        options.rate = Some(rate).filter(|rate| *rate > 0);
    }
    let stop = CancellationToken::new();
    let serving = server.serve(store, options, stop.clone());
    let mut interrupt = listen(SignalKind::interrupt())?;
    let mut terminate = listen(SignalKind::terminate())?;
    let stopping = async {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        print::note(&msg!("team-stopping"));
        stop.cancel();
    };
    tokio::join!(serving, stopping);
    Ok(Exit::Done)
}

/// Every connection is an open file, and the usual limit of 1,024 is for programs that have few. What cannot be raised stays:
/// then fewer connections are served at once, and others wait.
fn raise_file_limit() {
    let mut limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    limit.current = limit.maximum;
    let _as_it_was = rustix::process::setrlimit(rustix::process::Resource::Nofile, limit);
}

fn listen(kind: SignalKind) -> Result<tokio::signal::unix::Signal, Failure> {
    signal(kind).map_err(Failure::failed)
}

/// An empty database gets one admin, whose token is shown once (T-18).
async fn first_token(store: &TeamStore, world: &World) -> Result<TeamToken, Failure> {
    let token = TeamToken::generate().map_err(Failure::failed)?;
    let person = PersonName::new("admin").map_err(Failure::failed)?;
    let new = NewToken { hash: token.hash(), person, role: TeamRole::Admin, repository: None };
    store.add_token(new, world.clock.now(), None).await.map_err(Failure::failed)?;
    Ok(token)
}

#[derive(Serialize)]
struct RequestLogJson<'a> {
    time: String,
    request_id: &'a str,
    method: &'a str,
    route: &'a str,
    status: u16,
    code: Option<&'a str>,
    detail: Option<&'a str>,
    milliseconds: u128,
}

fn log_sink(format: ServerLogFormat, world: &World) -> LogSink {
    let clock = Arc::clone(&world.clock);
    Arc::new(move |log: &RequestLog| {
        let time = clock.now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        let RequestLog { request_id, method, route, status, code, detail, took } = log;
        let line = match format {
            ServerLogFormat::None => return,
            ServerLogFormat::Text => {
                let reason =
                    [*code, detail.as_deref()].into_iter().flatten().collect::<Vec<_>>().join(": ");
                let ms = took.as_millis();
                format!("{time} {status} {method} {route} {ms} ms {request_id} {reason}")
            }
            ServerLogFormat::Json => {
                let line = RequestLogJson {
                    time,
                    request_id,
                    method,
                    route,
                    status: *status,
                    code: *code,
                    detail: detail.as_deref(),
                    milliseconds: took.as_millis(),
                };
                // A struct of texts and numbers always serializes.
                serde_json::to_string(&line).unwrap_or_default()
            }
        };
        // A log that cannot be written must not stop the server.
        let _unwritten = writeln!(std::io::stderr().lock(), "{}", line.trim_end());
    })
}
