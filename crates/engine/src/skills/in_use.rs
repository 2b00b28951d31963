//! Which skills are in use, with their text as it was used: what a compaction brings back (C-18).

use dormouse_conversation::UsedSkill;

/// Older ones are forgotten.
const MOST: usize = 32;

/// The skills in use, each once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SkillsInUse {
    /// The newest last.
    skills: Vec<UsedSkill>,
}

impl SkillsInUse {
    /// Those that a transcript tells of, in the order of their use.
    pub fn of(skills: impl IntoIterator<Item = UsedSkill>) -> Self {
        let mut in_use = Self::default();
        skills.into_iter().for_each(|skill| in_use.add(skill));
        in_use
    }

    /// A skill was used: as it was used last it counts.
    pub fn add(&mut self, skill: UsedSkill) {
        self.skills.retain(|known| known.name != skill.name);
        self.skills.push(skill);
        let too_many = self.skills.len().saturating_sub(MOST);
        self.skills.drain(..too_many);
    }

    /// What is to be brought back, the newest first.
    pub fn restored(&self) -> Vec<UsedSkill> {
        self.skills.iter().rev().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_once_and_the_newest_first() {
        let skill = |name: &str, text: &str| UsedSkill {
            name: name.into(),
            folder: String::new(),
            text: text.into(),
            at: jiff::Timestamp::UNIX_EPOCH,
        };
        let mut in_use = SkillsInUse::of([skill("a", "1"), skill("b", "2"), skill("a", "3")]);
        let texts = |in_use: &SkillsInUse| -> Vec<String> {
            in_use.restored().into_iter().map(|skill| skill.text).collect()
        };
        assert_eq!(texts(&in_use), ["3", "2"]);
        (0..MOST).for_each(|number| in_use.add(skill(&format!("s{number}"), "x")));
        assert_eq!(in_use.restored().len(), MOST);
        assert!(!texts(&in_use).contains(&"3".to_owned()));
    }
}
