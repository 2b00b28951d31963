//! Folders of markdown definitions: `agents/*.md` in `.dormouse` and `.claude` of the user and the project.

use std::path::{Path, PathBuf};

use dormouse_base::{Dir, EntryKind, FileError, Project};
use dormouse_extensions::skills::read_definition;

use super::{AgentDefinition, AgentOrigin, AgentProblem, parse_markdown_agent};

/// The folder of agents, in each of the folders.
const FOLDER: &str = "agents";
/// The maximum number of files read of a folder.
const MAX_FILES: usize = 200;
/// The maximum depth of subfolders.
const MAX_DEPTH: usize = 3;

/// The folders of agent definitions, in ascending precedence.
#[derive(Debug, Clone)]
pub struct AgentFolders {
    user: Vec<PathBuf>,
    project: Vec<PathBuf>,
    checkout: PathBuf,
}

impl AgentFolders {
    /// Collects the folders of the program's home, of the user's `.claude`, and of every project folder from the checkout
    /// down to the working directory. A project in the user's home folder has none of its own.
    pub fn new(home: &Path, user_home: Option<&Path>, project: &Project) -> Self {
        let of = |folder: &Path| folder.join(FOLDER);
        let user: Vec<PathBuf> = user_home
            .map(|folder| of(&folder.join(".claude")))
            .into_iter()
            .chain(std::iter::once(of(home)))
            .collect();
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let own: Vec<PathBuf> = user.iter().map(|folder| real(folder)).collect();
        let mut folders: Vec<&Path> =
            project.folder.ancestors().take_while(|at| at.starts_with(&project.checkout)).collect();
        folders.reverse();
        let project_places = folders
            .into_iter()
            .flat_map(|folder| [".claude", ".dormouse"].map(|name| of(&folder.join(name))))
            .filter(|folder| !own.contains(&real(folder)))
            .collect();
        Self { user, project: project_places, checkout: project.checkout.clone() }
    }

    /// Loads the user's definitions.
    pub fn load_user_agents(&self, problems: &mut Vec<AgentProblem>) -> Vec<AgentDefinition> {
        load(&self.user, &AgentOrigin::User, None, problems)
    }

    /// Loads the project's definitions, regardless of trust.
    pub fn load_project_agents(&self, problems: &mut Vec<AgentProblem>) -> Vec<AgentDefinition> {
        load(&self.project, &AgentOrigin::Project, Some(&self.checkout), problems)
    }

    /// Returns names, sizes and times of the files, to detect changes.
    pub(crate) fn stamp(&self) -> Vec<(PathBuf, Option<std::time::SystemTime>, u64)> {
        let mut unseen = Vec::new();
        let folders = self.user.iter().chain(&self.project);
        folders
            .flat_map(|folder| files(folder, &mut unseen))
            .map(|path| {
                let metadata = path.metadata().ok();
                let size = metadata.as_ref().map_or(0, std::fs::Metadata::len);
                (path, metadata.and_then(|metadata| metadata.modified().ok()), size)
            })
            .collect()
    }
}

fn load(
    folders: &[PathBuf],
    origin: &AgentOrigin,
    within: Option<&Path>,
    problems: &mut Vec<AgentProblem>,
) -> Vec<AgentDefinition> {
    let mut agents: Vec<AgentDefinition> = Vec::new();
    for folder in folders {
        for path in files(folder, problems) {
            let agent = match read_definition(&path, within) {
                Ok(Some(text)) => parse_markdown_agent(&path, &text, origin.clone(), problems),
                Ok(None) => None,
                Err(problem) => {
                    problems.push(unreadable(&path, problem.to_string()));
                    None
                }
            };
            let Some(agent) = agent else { continue };
            let twin = agents.iter().position(|known| {
                known.name == agent.name
                    && known.source.file.as_ref().and_then(|file| file.parent()) == path.parent()
            });
            if let Some(first) =
                twin.and_then(|at| agents.get(at)).and_then(|twin| twin.source.file.as_ref())
            {
                let why =
                    format!("the name `{}` is already used by {}", agent.name, first.display());
                problems.push(unreadable(&path, why));
                continue;
            }
            agents.push(agent);
        }
    }
    agents
}

fn unreadable(path: &Path, problem: String) -> AgentProblem {
    AgentProblem { place: path.display().to_string(), line: None, problem, loaded: false }
}

/// Returns the markdown files of a folder and its subfolders, sorted.
fn files(folder: &Path, problems: &mut Vec<AgentProblem>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    if let Err(error) = collect(folder, MAX_DEPTH, &mut found)
        && !error.is_not_found()
    {
        problems.push(unreadable(folder, error.to_string()));
    }
    found.sort();
    if found.len() > MAX_FILES {
        let why = format!("{} files; only the first {MAX_FILES} are read", found.len());
        problems.push(unreadable(folder, why));
        found.truncate(MAX_FILES);
    }
    found
}

fn collect(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<(), FileError> {
    for entry in Dir::open(folder)?.list()?.entries {
        if entry.name.starts_with('.') {
            continue;
        }
        let path = folder.join(&entry.name);
        let is_markdown = path.extension().is_some_and(|ending| ending == "md");
        match entry.kind {
            Some(EntryKind::Folder) if depth > 1 => collect(&path, depth - 1, found)?,
            Some(EntryKind::Folder) => {}
            _ if is_markdown => found.push(path),
            _ => {}
        }
    }
    Ok(())
}
