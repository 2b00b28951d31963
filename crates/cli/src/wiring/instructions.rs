//! Instruction files of a session, and approval of includes outside the project (asked once per project).

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use dormouse_base::{Dir, Project, RelPath, names, stable_hash};
use dormouse_engine::InstructionSetup;
use dormouse_instructions::{
    ApprovedPaths, InstructionNote, InstructionRoots, Instructions, LoadOccasion,
};
use serde::{Deserialize, Serialize};

use crate::message_catalog::msg;
use crate::wiring::exit::Failure;
use crate::wiring::input;
use crate::wiring::print;
use crate::wiring::trust::Untrusted;
use crate::wiring::world::{World, is_bare};

/// The organization's instruction file.
const MANAGED: &str = "/etc/dormouse/AGENTS.md";

/// Instruction files for a session; none in a bare run.
pub(crate) fn setup(
    world: &World,
    project: &Project,
    untrusted: Untrusted,
) -> Result<Option<InstructionSetup>, Failure> {
    if is_bare(&world.environment)? {
        return Ok(None);
    }
    let roots = roots(world, project)?;
    let approvals = Approvals::of(&world.home()?, project);
    let mut decided = approvals.read();
    if untrusted == Untrusted::Ask
        && std::io::stdin().is_terminal()
        && ask(&roots, &mut decided) == Asked::Something
    {
        approvals.write(&decided)?;
    }
    Ok(Some(InstructionSetup { roots, approved: ApprovedPaths::new(decided.approved) }))
}

/// Has the next start ask again about files outside the project that were refused; whether there were any.
pub(crate) fn ask_again(home: &Path, project: &Project) -> Result<bool, Failure> {
    Approvals::of(home, project).forget_refused()
}

fn roots(world: &World, project: &Project) -> Result<InstructionRoots, Failure> {
    let dormouse = world.home()?;
    let home = world.environment.path(names::USER_HOME).unwrap_or_else(|| dormouse.clone());
    let managed = world.environment.path(names::TEST_MANAGED).filter(|_| cfg!(debug_assertions));
    Ok(InstructionRoots {
        managed: managed.map_or_else(|| PathBuf::from(MANAGED), |folder| folder.join("AGENTS.md")),
        claude: home.join(".claude"),
        home,
        dormouse,
        checkout: project.checkout.clone(),
        working: project.folder.clone(),
    })
}

/// Whether the user was asked.
#[derive(PartialEq, Eq)]
enum Asked {
    Something,
    Nothing,
}

/// Asks about every file outside the project that its instructions include, unless it was decided on.
fn ask(roots: &InstructionRoots, decided: &mut IncludeDecisions) -> Asked {
    let known = ApprovedPaths::new(decided.approved.iter().cloned());
    let notes = Instructions::load(roots.clone(), known, LoadOccasion::Start).take_notes();
    let mut asked = Asked::Nothing;
    for note in notes {
        let InstructionNote::Outside { real, parent, .. } = note else { continue };
        if decided.refused.contains(&real) {
            continue;
        }
        asked = Asked::Something;
        // The file itself is a link to the outside.
        let who = parent.map_or("A link".to_owned(), |parent| parent.display().to_string());
        let file = real.display().to_string();
        print::note(&msg!("include-outside", who = who, file = file));
        if input::confirm() {
            decided.approved.insert(real);
        } else {
            print::note(&msg!("include-refused"));
            decided.refused.insert(real);
        }
    }
    asked
}

/// What the user has decided on files outside the project.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(default)]
struct IncludeDecisions {
    approved: BTreeSet<PathBuf>,
    refused: BTreeSet<PathBuf>,
}

/// The file with the decisions; earlier versions wrote a list of what was approved.
#[derive(Deserialize)]
#[serde(untagged)]
enum DecisionFile {
    Approved(BTreeSet<PathBuf>),
    Decisions(IncludeDecisions),
}

/// The approved includes of a checkout: one file per checkout, in the trust folder.
struct Approvals {
    folder: PathBuf,
    file: String,
}

impl Approvals {
    fn of(home: &Path, project: &Project) -> Self {
        let hash = stable_hash(project.checkout.as_os_str().as_encoded_bytes());
        Self { folder: home.join("trust"), file: format!("{hash:016x}.includes.json") }
    }

    /// An unreadable file approves nothing.
    fn read(&self) -> IncludeDecisions {
        let (Ok(dir), Ok(file)) = (Dir::open(&self.folder), RelPath::new(&self.file)) else {
            return IncludeDecisions::default();
        };
        let read = dir.read(&file).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        match read {
            None => IncludeDecisions::default(),
            Some(DecisionFile::Decisions(decisions)) => decisions,
            Some(DecisionFile::Approved(approved)) => {
                IncludeDecisions { approved, ..IncludeDecisions::default() }
            }
        }
    }

    /// Forgets what was refused; whether there was anything.
    fn forget_refused(&self) -> Result<bool, Failure> {
        let decided = self.read();
        let had = !decided.refused.is_empty();
        if had {
            self.write(&IncludeDecisions { refused: BTreeSet::new(), ..decided })?;
        }
        Ok(had)
    }

    fn write(&self, decided: &IncludeDecisions) -> Result<(), Failure> {
        let file = RelPath::new(&self.file).map_err(Failure::failed)?;
        let bytes = serde_json::to_vec_pretty(decided).map_err(Failure::failed)?;
        Ok(Dir::create(&self.folder)?.replace(&file, &bytes)?)
    }
}
