//! When a dream is due (B-18): gates in order, the cheapest first. A fact is looked up only if all gates before its own
//! are open.

use std::fmt;

use dormouse_base::SessionId;
use dormouse_memory::{DreamLockHolder as Holder, DreamState};
use jiff::{SignedDuration, Timestamp};
use thiserror::Error;

/// The time from one dream to the next.
pub const BETWEEN_DREAMS: SignedDuration = SignedDuration::from_hours(24);
/// The time from one count of the sessions to the next.
pub const BETWEEN_SCANS: SignedDuration = SignedDuration::from_mins(10);
/// Other sessions that must have been active since the last dream.
pub const OTHER_SESSIONS: usize = 5;

/// Why there is no dream now.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DreamBlocked {
    /// It is disabled.
    #[error("{0}")]
    Off(String),
    /// The last dream was too recent.
    #[error("the last dream was at {}; the next is due at {}", shown(*.last), shown(*.opens))]
    TooSoon {
        /// The time of the last dream.
        last: Timestamp,
        /// When a dream is due.
        opens: Timestamp,
    },
    /// The sessions were counted recently.
    #[error("the sessions were counted recently; they are counted again at {}", shown(*.opens))]
    ScannedLately {
        /// When a dream is due.
        opens: Timestamp,
    },
    /// Too few sessions were active.
    #[error("{found} other sessions were active since the last dream; {OTHER_SESSIONS} are needed")]
    TooFewSessions {
        /// The number of active sessions.
        found: usize,
    },
    /// Another dream holds the lock.
    #[error("a dream over this memory is running{}", by(.0.as_ref()))]
    Held(Option<Holder>),
    /// A fact could not be looked up, or something that a dream needs is missing.
    #[error("{0}")]
    Cannot(String),
}

fn shown(time: Timestamp) -> String {
    time.strftime("%Y-%m-%d %H:%M UTC").to_string()
}

fn by(holder: Option<&Holder>) -> String {
    holder.map(|holder| format!(": {holder}")).unwrap_or_default()
}

impl DreamBlocked {
    pub(super) fn cannot(error: impl fmt::Display) -> Self {
        Self::Cannot(error.to_string())
    }

    pub(super) fn no_memory() -> Self {
        Self::cannot("there is no memory to dream about")
    }

    /// A short name, for programs.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Off(_) => "off",
            Self::TooSoon { .. } => "too-soon",
            Self::ScannedLately { .. } => "scanned-lately",
            Self::TooFewSessions { .. } => "too-few-sessions",
            Self::Held(_) => "held",
            Self::Cannot(_) => "cannot",
        }
    }

    /// When a dream is due, if that is known.
    pub fn opens(&self) -> Option<Timestamp> {
        match self {
            Self::TooSoon { opens, .. } | Self::ScannedLately { opens } => Some(*opens),
            Self::Off(_) | Self::TooFewSessions { .. } | Self::Held(_) | Self::Cannot(_) => None,
        }
    }
}

/// The facts that the gates need, the cheapest first.
pub(super) trait GateFacts {
    /// Why dreams are disabled, if they are. In memory.
    fn disabled(&mut self) -> Option<String>;
    /// The time of the last dream. Reads one file.
    fn last_dream(&mut self) -> Result<Option<Timestamp>, DreamBlocked>;
    /// When the sessions were last counted. In memory.
    fn last_scan(&mut self) -> Option<Timestamp>;
    /// The other sessions that were active since a time. Reads one folder.
    fn sessions_since(&mut self, since: Option<Timestamp>) -> Result<Vec<SessionId>, DreamBlocked>;
    /// The holder of the lock. Tries the lock.
    fn holder(&mut self) -> Result<DreamState, DreamBlocked>;
}

/// The gates that take no time. Returns the time of the last dream.
pub(super) fn check_cheap_gates(
    facts: &mut impl GateFacts,
    now: Timestamp,
) -> Result<Option<Timestamp>, DreamBlocked> {
    if let Some(reason) = facts.disabled() {
        return Err(DreamBlocked::Off(reason));
    }
    let last = facts.last_dream()?;
    check_last(last, now)?;
    if let Some(opens) = facts.last_scan().and_then(|scan| opens(scan, BETWEEN_SCANS, now)) {
        return Err(DreamBlocked::ScannedLately { opens });
    }
    Ok(last)
}

/// Whether the last dream is long enough ago.
pub(super) fn check_last(last: Option<Timestamp>, now: Timestamp) -> Result<(), DreamBlocked> {
    match last.and_then(|last| Some((last, opens(last, BETWEEN_DREAMS, now)?))) {
        Some((last, opens)) => Err(DreamBlocked::TooSoon { last, opens }),
        None => Ok(()),
    }
}

/// The gates that read folders. Returns the sessions that were active since the last dream.
pub(super) fn check_session_gates(
    facts: &mut impl GateFacts,
    last: Option<Timestamp>,
) -> Result<Vec<SessionId>, DreamBlocked> {
    let sessions = facts.sessions_since(last)?;
    if sessions.len() < OTHER_SESSIONS {
        return Err(DreamBlocked::TooFewSessions { found: sessions.len() });
    }
    match facts.holder()? {
        DreamState::Dreaming(holder) => Err(DreamBlocked::Held(holder)),
        DreamState::Awake => Ok(sessions),
    }
}

/// When a gate opens that closed at `then`; none if it is open. A time in the future is ignored: the clock was wrong.
fn opens(then: Timestamp, after: SignedDuration, now: Timestamp) -> Option<Timestamp> {
    let opens = then.checked_add(after).ok()?;
    (then <= now && now < opens).then_some(opens)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0193b0a4-0000-7000-8000-000000000000";

    fn at(hour: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + hour * 3600).unwrap()
    }

    /// Facts with which every gate is open; records which were looked up.
    struct TestFacts {
        disabled: Option<String>,
        last: Option<Timestamp>,
        scan: Option<Timestamp>,
        sessions: usize,
        holder: DreamState,
        asked: Vec<&'static str>,
    }

    impl TestFacts {
        fn open() -> Self {
            Self {
                disabled: None,
                last: Some(at(0)),
                scan: None,
                sessions: 5,
                holder: DreamState::Awake,
                asked: Vec::new(),
            }
        }

        fn pass(mut self) -> (Result<usize, DreamBlocked>, Vec<&'static str>) {
            let passed = check_cheap_gates(&mut self, at(24))
                .and_then(|last| check_session_gates(&mut self, last));
            (passed.map(|sessions| sessions.len()), self.asked)
        }
    }

    impl GateFacts for TestFacts {
        fn disabled(&mut self) -> Option<String> {
            self.asked.push("disabled");
            self.disabled.clone()
        }

        fn last_dream(&mut self) -> Result<Option<Timestamp>, DreamBlocked> {
            self.asked.push("last dream");
            Ok(self.last)
        }

        fn last_scan(&mut self) -> Option<Timestamp> {
            self.asked.push("last scan");
            self.scan
        }

        fn sessions_since(
            &mut self,
            since: Option<Timestamp>,
        ) -> Result<Vec<SessionId>, DreamBlocked> {
            assert_eq!(since, self.last);
            self.asked.push("sessions");
            Ok(vec![ID.parse().unwrap(); self.sessions])
        }

        fn holder(&mut self) -> Result<DreamState, DreamBlocked> {
            self.asked.push("lock");
            Ok(self.holder.clone())
        }
    }

    #[test]
    fn each_gate_alone_and_no_fact_behind_it_is_looked_up() {
        let all = ["disabled", "last dream", "last scan", "sessions", "lock"];
        let check = |facts: TestFacts, word: &str, asked: usize| {
            let (passed, seen) = facts.pass();
            assert_eq!(passed.map_err(|closed| closed.word()), Err(word));
            assert_eq!(seen, all[..asked]);
        };
        assert_eq!(TestFacts::open().pass(), (Ok(5), all.to_vec()));
        check(TestFacts { disabled: Some("off".into()), ..TestFacts::open() }, "off", 1);
        check(TestFacts { last: Some(at(1)), ..TestFacts::open() }, "too-soon", 2);
        check(TestFacts { scan: Some(at(24)), ..TestFacts::open() }, "scanned-lately", 3);
        check(TestFacts { sessions: 4, ..TestFacts::open() }, "too-few-sessions", 4);
        check(TestFacts { holder: DreamState::Dreaming(None), ..TestFacts::open() }, "held", 5);
    }

    #[test]
    fn times() {
        let never = TestFacts { last: None, scan: Some(at(23)), ..TestFacts::open() };
        assert_eq!(never.pass().0, Ok(5));
        let to_come = TestFacts { last: Some(at(30)), ..TestFacts::open() };
        assert_eq!(to_come.pass().0, Ok(5), "the clock was wrong then");
        let closed = TestFacts { last: Some(at(1)), ..TestFacts::open() }.pass().0.unwrap_err();
        assert_eq!(closed.opens(), Some(at(25)));
        assert!(closed.to_string().contains("the next is due at 2023-11-15 23:13 UTC"), "{closed}");
    }
}
