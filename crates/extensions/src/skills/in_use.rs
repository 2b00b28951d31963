//! The skills in use, with their texts as loaded: a compaction restores them (C-18).

use dormouse_conversation::UsedSkill;

/// The most skills; older ones are dropped.
const MOST: usize = 32;

/// The skills in use, each once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SkillsInUse {
    /// The newest last.
    skills: Vec<UsedSkill>,
}

impl SkillsInUse {
    /// The skills of a transcript, in the order of their use.
    pub fn of(skills: impl IntoIterator<Item = UsedSkill>) -> Self {
        let mut in_use = Self::default();
        skills.into_iter().for_each(|skill| in_use.add(skill));
        in_use
    }

    /// Adds a skill; an earlier use of the same skill is dropped.
    pub fn add(&mut self, skill: UsedSkill) {
        self.skills.retain(|other| other.name != skill.name);
        self.skills.push(skill);
        let too_many = self.skills.len().saturating_sub(MOST);
        self.skills.drain(..too_many);
    }

    /// The skills to restore, the newest first.
    pub fn restored(&self) -> Vec<UsedSkill> {
        self.skills.iter().rev().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_skill_once_and_the_newest_first() {
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
