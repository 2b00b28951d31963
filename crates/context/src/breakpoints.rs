//! Where cache breakpoints go (L-22).
//!
//! A server writes its cache at a breakpoint only, and finds what it wrote by looking at most twenty
//! blocks back from one. So one breakpoint goes to the end of the newest user turn, and the other to
//! exactly where the request before put its own: however many blocks a turn adds, what was written is
//! found. The system prompt has two more, which never move.

use dormouse_conversation::Role;

/// A turn as the server sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnShape {
    /// Who speaks.
    pub role: Role,
    /// Whether a marker can be put at its end.
    pub can_be_marked: bool,
}

/// The turns to mark, in ascending order: at most two. `previous` is where the request before wrote;
/// a message of tool results counts as a user turn.
pub fn plan_breakpoints(turns: &[TurnShape], previous: Option<usize>) -> Vec<usize> {
    let mut users = turns
        .iter()
        .enumerate()
        .rev()
        .filter(|(_, turn)| turn.role == Role::User && turn.can_be_marked);
    let Some((newest, _)) = users.next() else { return Vec::new() };
    let before =
        previous.filter(|index| *index < newest).or_else(|| users.next().map(|(index, _)| index));
    before.into_iter().chain([newest]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn turns(shape: &str) -> Vec<TurnShape> {
        let role = |c| if c == 'a' { Role::Assistant } else { Role::User };
        shape.chars().map(|c| TurnShape { role: role(c), can_be_marked: c != 'x' }).collect()
    }

    #[track_caller]
    fn check(shape: &str, previous: Option<usize>, expected: &[usize]) {
        assert_eq!(plan_breakpoints(&turns(shape), previous), expected);
    }

    #[test]
    fn the_newest_user_turn_and_the_one_written_before() {
        check("", None, &[]);
        check("u", None, &[0]);
        check("uau", None, &[0, 2]);
        check("uauau", Some(2), &[2, 4]);
        check("uauau", Some(0), &[0, 4]);
        check("uax", None, &[0]);
        check("u", Some(0), &[0]);
    }

    proptest! {
        #[test]
        fn at_most_two_ascending_and_the_last_is_the_newest(shape in "[uax]{0,30}", previous in 0_usize..40) {
            let turns = turns(&shape);
            let previous = turns.get(previous).filter(|turn| turn.role == Role::User && turn.can_be_marked).map(|_| previous);
            let marks = plan_breakpoints(&turns, previous);
            prop_assert!(marks.len() <= 2);
            prop_assert!(marks.windows(2).all(|pair| pair[0] < pair[1]));
            prop_assert!(marks.iter().all(|mark| turns[*mark].role == Role::User && turns[*mark].can_be_marked));
            let newest = turns.iter().rposition(|turn| turn.role == Role::User && turn.can_be_marked);
            prop_assert_eq!(marks.last().copied(), newest);
        }
    }
}
