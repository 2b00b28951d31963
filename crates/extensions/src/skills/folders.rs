//! Finds skills, and commands: single files that only the user calls.

use std::path::{Path, PathBuf};

use dormouse_base::{Dir, EntryKind, FileError, Project};

use dormouse_hooks::{HookLayer, HookOrigin};

use super::file::{digest, read_definition};
use super::frontmatter::parse_header;
use super::session_skills::{SkillProblem, Skills};
use super::skill::{Skill, SkillCallers, SkillOwner};
use crate::plugins::Plugin;

/// The file that makes a folder a skill.
const FILE: &str = "SKILL.md";
/// The folder of skills.
const FOLDER: &str = "skills";
/// The folder of commands: `commands/NAME.md` and `commands/GROUP/NAME.md`.
const COMMANDS: &str = "commands";
/// The most skills in one folder.
const MAX_SKILLS: usize = 200;
/// The longest name.
const MAX_NAME: usize = 64;

/// The folders that may contain skills; of two skills with one name the first is used.
#[derive(Debug, Clone)]
pub struct SkillFolders {
    user: Vec<PathBuf>,
    project: Vec<PathBuf>,
    checkout: PathBuf,
}

impl SkillFolders {
    /// The folders in the program's own folder, in the user's `.claude` and in a project. A project that is the user's
    /// home directory has none of its own.
    pub fn new(home: &Path, user_home: Option<&Path>, project: &Project) -> Self {
        let of = |folder: &Path| folder.join(FOLDER);
        let user: Vec<PathBuf> = std::iter::once(of(home))
            .chain(user_home.map(|folder| of(&folder.join(".claude"))))
            .collect();
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let own: Vec<PathBuf> = user.iter().map(|folder| real(folder)).collect();
        let project_folders = [".dormouse", ".claude"].map(|name| of(&project.checkout.join(name)));
        let project_folders =
            project_folders.into_iter().filter(|folder| !own.contains(&real(folder))).collect();
        Self { user, project: project_folders, checkout: project.checkout.clone() }
    }

    /// The user's skills.
    pub fn user_skills(&self) -> Skills {
        load(&self.user, SkillOwner::User, None)
    }

    /// The project's skills, which must not be used before the project is trusted.
    pub fn project_skills(&self) -> Skills {
        load(&self.project, SkillOwner::Project, Some(&self.checkout))
    }
}

impl Skills {
    /// The skills and commands of a plugin, named `plugin:name`. They must not be used before the plugin is trusted.
    pub fn of_plugin(plugin: &Plugin) -> Self {
        let mut skills = Self::default();
        for folder in &plugin.skills {
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            match read_skill(&name, &folder.join(FILE), SkillOwner::Plugin, Some(&plugin.root)) {
                Ok(Some(skill)) => {
                    let name = format!("{}:{}", plugin.name, skill.name);
                    skills.add(Skill { name, ..skill });
                }
                Ok(None) => {}
                Err(problem) => skills.report(problem),
            }
        }
        for command in &plugin.commands {
            let group = command.group.as_deref();
            match read_command(group, &command.file, SkillOwner::Plugin, Some(&plugin.root)) {
                Ok(Some(command)) => {
                    let name = format!("{}:{}", plugin.name, command.name);
                    skills.add(Skill { name, ..command });
                }
                Ok(None) => {}
                Err(problem) => skills.report(problem),
            }
        }
        skills
    }
}

fn load(folders: &[PathBuf], owner: SkillOwner, root: Option<&Path>) -> Skills {
    let mut skills = Skills::default();
    for folder in folders {
        let report = |problem: String| SkillProblem { path: folder.clone(), line: None, problem };
        let mut names = match names(folder) {
            Ok(names) => names,
            Err(error) if error.is_not_found() => continue,
            Err(error) => {
                skills.report(report(error.to_string()));
                continue;
            }
        };
        names.sort();
        if names.len() > MAX_SKILLS {
            let problem = format!("{} folders, only the first {MAX_SKILLS} are used", names.len());
            skills.report(report(problem));
        }
        for name in names.into_iter().take(MAX_SKILLS) {
            match read_skill(&name, &folder.join(&name).join(FILE), owner, root) {
                Ok(Some(skill)) => skills.add(skill),
                Ok(None) => {}
                Err(problem) => skills.report(problem),
            }
        }
    }
    for folder in folders {
        load_commands(&folder.with_file_name(COMMANDS), owner, root, &mut skills);
    }
    skills
}

/// Adds the commands in a folder: skills in a single file, which the model is not told about.
fn load_commands(folder: &Path, owner: SkillOwner, root: Option<&Path>, skills: &mut Skills) {
    let found = match command_files(folder) {
        Ok(found) => found,
        Err(error) if error.is_not_found() => return,
        Err(error) => {
            let (path, problem) = (folder.to_owned(), error.to_string());
            return skills.report(SkillProblem { path, line: None, problem });
        }
    };
    for (group, file) in found.into_iter().take(MAX_SKILLS) {
        match read_command(group.as_deref(), &file, owner, root) {
            Ok(Some(command)) => skills.add(command),
            Ok(None) => {}
            Err(problem) => skills.report(problem),
        }
    }
}

/// Reads one command, named `group:name` if it is in a group; `None` if there is no such file.
fn read_command(
    group: Option<&str>,
    file: &Path,
    owner: SkillOwner,
    root: Option<&Path>,
) -> Result<Option<Skill>, SkillProblem> {
    group.map_or(Ok(()), |group| check_name(group, file))?;
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    Ok(read_skill(&name, file, owner, root)?.map(|skill| {
        let is_called = skill.callers.allow_user();
        let callers = if is_called { SkillCallers::User } else { SkillCallers::Nobody };
        let name = group.map_or(skill.name.clone(), |group| format!("{group}:{name}"));
        Skill { name, callers, ..skill }
    }))
}

/// The markdown files in a folder and in its folders, each with the name of the latter.
fn command_files(folder: &Path) -> Result<Vec<(Option<String>, PathBuf)>, FileError> {
    let markdown = |folder: &Path| -> Result<Vec<PathBuf>, FileError> {
        let listed = Dir::open(folder)?.list()?.entries.into_iter();
        let files = listed.filter(|entry| entry.kind != Some(EntryKind::Folder));
        let paths = files.map(|entry| folder.join(entry.name));
        Ok(paths.filter(|path| path.extension().is_some_and(|end| end == "md")).collect())
    };
    let mut found: Vec<_> = markdown(folder)?.into_iter().map(|path| (None, path)).collect();
    for group in names(folder)?.into_iter().filter(|group| is_name(group)) {
        // What is no folder, or was removed meanwhile, has no commands.
        let files = markdown(&folder.join(&group)).unwrap_or_default();
        found.extend(files.into_iter().map(|path| (Some(group.clone()), path)));
    }
    found.sort();
    Ok(found)
}

/// The names of folders and links.
fn names(folder: &Path) -> Result<Vec<String>, FileError> {
    let listed = Dir::open(folder)?.list()?.entries.into_iter();
    let plausible = listed.filter(|entry| entry.kind != Some(EntryKind::File));
    Ok(plausible.map(|entry| entry.name).filter(|name| !name.starts_with('.')).collect())
}

/// Reads one skill; `None` if there is no such file.
fn read_skill(
    name: &str,
    path: &Path,
    owner: SkillOwner,
    root: Option<&Path>,
) -> Result<Option<Skill>, SkillProblem> {
    let problem = |line, problem: String| SkillProblem { path: path.to_owned(), line, problem };
    let text = read_definition(path, root).map_err(|error| problem(None, error.to_string()))?;
    let Some(text) = text else { return Ok(None) };
    check_name(name, path)?;
    let header =
        parse_header(name, &text).map_err(|error| problem(error.line(), error.to_string()))?;
    Ok(Some(Skill {
        name: name.to_owned(),
        description: header.description,
        hint: header.hint,
        owner,
        callers: header.callers,
        allowed: header.allowed,
        hooks: header.hooks.map(|hooks| {
            let line = text.lines().position(|line| line.trim_end() == "hooks:");
            let origin = HookOrigin::Skill(name.to_owned());
            HookLayer::of_frontmatter(origin, path, &hooks, line.map(|line| line + 1))
        }),
        ignored: header.ignored,
        file: path.to_owned(),
        arguments: header.arguments,
        root: root.map(Path::to_owned),
        digest: digest(&text),
    }))
}

fn check_name(name: &str, path: &Path) -> Result<(), SkillProblem> {
    if is_name(name) {
        return Ok(());
    }
    let problem = format!(
        "`{name}` is not a valid name; use letters, digits, `-` and `_`, at most {MAX_NAME}"
    );
    Err(SkillProblem { path: path.to_owned(), line: None, problem })
}

fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    name.chars().all(plain) && (1..=MAX_NAME).contains(&name.chars().count())
}
