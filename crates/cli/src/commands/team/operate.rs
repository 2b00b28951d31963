//! What operators do: tokens, backups, removing a person. With `--database` on the database itself, otherwise through the
//! server with an admin's token.

use std::io::IsTerminal;

use dormouse_base::{Dir, RelPath, names};
use dormouse_team::api::{TokenInfo, TokenRequest};
use dormouse_team::{NewToken, PersonName, RepositoryName, TeamRole, TeamToken};

use crate::args::{
    DatabaseFileArguments, PurgeArguments, RoleArgument, TokenCommand, TokenCreateArguments,
};
use crate::message_catalog::msg;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::input;
use crate::wiring::print;
use crate::wiring::team::{JoinedTeam, default_database, refused};
use crate::wiring::world::World;

use super::serve::open_store;

/// Whether a command works on a database of this machine rather than through the joined server.
fn is_local(database: Option<&str>, world: &World) -> Result<bool, Failure> {
    let is_set = database.is_some() || world.environment.get(names::TEAM_DATABASE).is_some();
    Ok(is_set || default_database(&world.home()?).exists())
}

pub(super) async fn token(command: &TokenCommand, world: &World) -> Result<Exit, Failure> {
    match command {
        TokenCommand::Create(arguments) => create(arguments, world).await,
        TokenCommand::List { database, json } => {
            let tokens = list(database.as_deref(), world).await?;
            if *json {
                print::json(&tokens)?;
                return Ok(Exit::Done);
            }
            for token in &tokens {
                print::data_line(&line(token));
            }
            Ok(Exit::Done)
        }
        TokenCommand::Revoke { id, database } => revoke(id, database.as_deref(), world).await,
    }
}

async fn create(arguments: &TokenCreateArguments, world: &World) -> Result<Exit, Failure> {
    let person = PersonName::new(&arguments.person).map_err(Failure::usage)?;
    let repository = arguments.repository.as_deref().map(RepositoryName::new);
    let repository = repository.transpose().map_err(Failure::usage)?;
    let role = match arguments.role {
        RoleArgument::Read => TeamRole::Read,
        RoleArgument::Write => TeamRole::Write,
        RoleArgument::Admin => TeamRole::Admin,
    };
    let database = arguments.database.as_deref();
    let token = if is_local(database, world)? {
        let store = open_store(database, world).await?;
        let token = TeamToken::generate().map_err(Failure::failed)?;
        let new = NewToken { hash: token.hash(), person: person.clone(), role, repository };
        store.add_token(new, world.clock.now(), None).await.map_err(Failure::failed)?;
        token.expose().to_owned()
    } else {
        let request = TokenRequest { person: person.clone(), role, repository };
        let team = JoinedTeam::required(world).await?;
        team.client.create_token(&request).await.map_err(refused)?.token
    };
    print::note(&msg!("team-token-created", person = person.to_string(), role = role.to_string()));
    print::data_line(&token);
    Ok(Exit::Done)
}

async fn list(database: Option<&str>, world: &World) -> Result<Vec<TokenInfo>, Failure> {
    if is_local(database, world)? {
        let store = open_store(database, world).await?;
        return store.tokens().await.map_err(Failure::failed);
    }
    Ok(JoinedTeam::required(world).await?.client.tokens().await.map_err(refused)?.tokens)
}

fn line(token: &TokenInfo) -> String {
    let TokenInfo { id, person, role, repository, created, revoked } = token;
    let repository = repository.as_ref().map_or("*", RepositoryName::as_str);
    let created = created.strftime("%Y-%m-%d");
    let revoked = if revoked.is_some() {
        format!("  {}", msg!("team-token-revoked-mark"))
    } else {
        String::new()
    };
    format!("{id}  {created}  {role:<5}  {person}  {repository}{revoked}")
}

async fn revoke(id: &str, database: Option<&str>, world: &World) -> Result<Exit, Failure> {
    if is_local(database, world)? {
        let store = open_store(database, world).await?;
        if !store.revoke_token(id, world.clock.now(), None).await.map_err(Failure::failed)? {
            return Err(Failure::usage(anyhow::anyhow!(msg!("team-token-unknown", id = id)))
                .hint(msg!("team-token-unknown-hint")));
        }
    } else {
        JoinedTeam::required(world).await?.client.revoke_token(id).await.map_err(refused)?;
    }
    print::note(&msg!("team-token-revoked", id = id));
    Ok(Exit::Done)
}

pub(super) async fn backup(
    arguments: &DatabaseFileArguments,
    world: &World,
) -> Result<Exit, Failure> {
    let store = open_store(arguments.database.as_deref(), world).await?;
    let text = store.backup().await.map_err(Failure::failed)?;
    let folder = arguments.file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let name = arguments.file.file_name().unwrap_or_default();
    let dir = Dir::open(folder.unwrap_or(std::path::Path::new(".")))?;
    dir.replace(&RelPath::new(name).map_err(Failure::usage)?, text.as_bytes())?;
    print::note(&msg!("team-backed-up", lines = text.lines().count()));
    Ok(Exit::Done)
}

pub(super) async fn restore(
    arguments: &DatabaseFileArguments,
    world: &World,
) -> Result<Exit, Failure> {
    let text = std::fs::read_to_string(&arguments.file)
        .map_err(|error| input::unreadable(&arguments.file, &error))?;
    let store = open_store(arguments.database.as_deref(), world).await?;
    let lines = text.lines().count();
    store.restore(text).await.map_err(Failure::failed)?;
    print::note(&msg!("team-backup-restored", lines = lines));
    Ok(Exit::Done)
}

pub(super) async fn purge(arguments: &PurgeArguments, world: &World) -> Result<Exit, Failure> {
    let person = PersonName::new(&arguments.person).map_err(Failure::usage)?;
    if !arguments.yes {
        if !std::io::stdin().is_terminal() {
            return Err(Failure::usage(anyhow::anyhow!(msg!("team-rm-unconfirmed")))
                .hint(msg!("team-rm-unconfirmed-hint")));
        }
        print::note(&msg!("team-purge-confirm", person = person.to_string()));
        if !input::confirm() {
            return Ok(Exit::Failed);
        }
    }
    let database = arguments.database.as_deref();
    let purged = if is_local(database, world)? {
        let store = open_store(database, world).await?;
        store
            .purge(&person, arguments.entries, world.clock.now(), None)
            .await
            .map_err(Failure::failed)?
    } else {
        JoinedTeam::required(world)
            .await?
            .client
            .purge(&person, arguments.entries)
            .await
            .map_err(refused)?
    };
    print::note(&msg!("team-purged", tokens = purged.tokens, versions = purged.versions));
    Ok(Exit::Done)
}
