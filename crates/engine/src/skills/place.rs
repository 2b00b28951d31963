//! Where skills are looked for.

use std::path::{Path, PathBuf};

use dormouse_base::{Dir, EntryKind, FileError, Project};

use crate::{HookLayer, HookOrigin};

use crate::plugins::Plugin;

use super::{Skill, SkillOwner, SkillProblem, Skills, file, head};

/// The file that makes a folder a skill.
const FILE: &str = "SKILL.md";
/// The folder of skills, in each of the places.
const FOLDER: &str = "skills";
/// More in one folder are not looked at.
const MOST: usize = 200;
/// Longer names are none.
const LONGEST_NAME: usize = 64;

/// The folders that may hold skills; of two with one name the first counts.
#[derive(Debug, Clone)]
pub struct SkillPlaces {
    person: Vec<PathBuf>,
    project: Vec<PathBuf>,
    checkout: PathBuf,
}

impl SkillPlaces {
    /// Those of the program's own folder, of the person's `.claude` and of a project. A project that is the
    /// person's home has none of its own.
    pub fn new(home: &Path, user_home: Option<&Path>, project: &Project) -> Self {
        let of = |folder: &Path| folder.join(FOLDER);
        let person: Vec<PathBuf> = std::iter::once(of(home))
            .chain(user_home.map(|folder| of(&folder.join(".claude"))))
            .collect();
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let own: Vec<PathBuf> = person.iter().map(|folder| real(folder)).collect();
        let project_places = [".dormouse", ".claude"].map(|name| of(&project.checkout.join(name)));
        let project_places =
            project_places.into_iter().filter(|folder| !own.contains(&real(folder))).collect();
        Self { person, project: project_places, checkout: project.checkout.clone() }
    }

    /// The person's own.
    pub fn of_person(&self) -> Skills {
        load(&self.person, SkillOwner::Person, None)
    }

    /// The project's: nothing of it is to be used before the project is trusted.
    pub fn of_project(&self) -> Skills {
        load(&self.project, SkillOwner::Project, Some(&self.checkout))
    }
}

impl Skills {
    /// Those of a plugin, in these folders; each is called `plugin:name`. Nothing of them is to be used before the plugin
    /// is trusted.
    pub fn of_plugin(plugin: &Plugin) -> Self {
        let mut skills = Self::default();
        for folder in &plugin.skills {
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            match skill(&name, &folder.join(FILE), SkillOwner::Plugin, Some(&plugin.root)) {
                Ok(Some(skill)) => {
                    let name = format!("{}:{}", plugin.name, skill.name);
                    skills.add(Skill { name, ..skill });
                }
                Ok(None) => {}
                Err(problem) => skills.problems.push(problem),
            }
        }
        skills
    }
}

fn load(folders: &[PathBuf], owner: SkillOwner, within: Option<&Path>) -> Skills {
    let mut skills = Skills::default();
    for folder in folders {
        let report = |problem: String| SkillProblem { path: folder.clone(), line: None, problem };
        let mut names = match names(folder) {
            Ok(names) => names,
            Err(error) if error.is_not_found() => continue,
            Err(error) => {
                skills.problems.push(report(error.to_string()));
                continue;
            }
        };
        names.sort();
        if names.len() > MOST {
            let problem = format!("of {} folders only the first {MOST} are looked at", names.len());
            skills.problems.push(report(problem));
        }
        for name in names.into_iter().take(MOST) {
            match skill(&name, &folder.join(&name).join(FILE), owner, within) {
                Ok(Some(skill)) => skills.add(skill),
                Ok(None) => {}
                Err(problem) => skills.problems.push(problem),
            }
        }
    }
    skills
}

/// Folders and links; what else lies there is nobody's skill.
fn names(folder: &Path) -> Result<Vec<String>, FileError> {
    let listed = Dir::open(folder)?.list()?.entries.into_iter();
    let plausible = listed.filter(|entry| entry.kind != Some(EntryKind::File));
    Ok(plausible.map(|entry| entry.name).filter(|name| !name.starts_with('.')).collect())
}

/// One skill; nothing, where there is no such file.
fn skill(
    name: &str,
    path: &Path,
    owner: SkillOwner,
    within: Option<&Path>,
) -> Result<Option<Skill>, SkillProblem> {
    let problem = |(line, problem)| SkillProblem { path: path.to_owned(), line, problem };
    let Some(text) = file::read(path, within).map_err(|why| problem((None, why)))? else {
        return Ok(None);
    };
    if !is_name(name) {
        let why = format!(
            "`{name}` is no name for a command; its folder's name has letters, digits, `-` and `_`, at most {LONGEST_NAME}"
        );
        return Err(problem((None, why)));
    }
    let head = head::read(name, &text).map_err(problem)?;
    Ok(Some(Skill {
        name: name.to_owned(),
        description: head.description,
        hint: head.hint,
        owner,
        callers: head.callers,
        allowed: head.allowed,
        hooks: head.hooks.map(|hooks| {
            let line = text.lines().position(|line| line.trim_end() == "hooks:");
            let origin = HookOrigin::Skill(name.to_owned());
            HookLayer::of_frontmatter(origin, path, &hooks, line.map(|line| line + 1))
        }),
        ignored: head.ignored,
        file: path.to_owned(),
        arguments: head.arguments,
        within: within.map(Path::to_owned),
        digest: file::digest(&text),
    }))
}

fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    name.chars().all(plain) && (1..=LONGEST_NAME).contains(&name.chars().count())
}
