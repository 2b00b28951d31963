//! DreamTiming a dream is due (B-18): gates in their order, the cheapest first. GateFacts are asked for one by one, and none
//! behind a gate that is closed.

use dormouse_base::SessionId;
use dormouse_memory::{DreamState, Dreamer as Holder};
use jiff::{SignedDuration, Timestamp};
use thiserror::Error;

/// Between two dreams.
pub const BETWEEN_DREAMS: SignedDuration = SignedDuration::from_hours(24);
/// Between two looks at the sessions.
pub const BETWEEN_SCANS: SignedDuration = SignedDuration::from_mins(10);
/// So many other sessions must have gone on since the last dream.
pub const OTHER_SESSIONS: usize = 5;

/// Why there is no dream now.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DreamBlocked {
    /// A switch is off.
    #[error("{0}")]
    Off(String),
    /// The last dream was not long ago.
    #[error("the last dream was at {}; the next is due at {}", shown(*.last), shown(*.opens))]
    TooSoon {
        /// DreamTiming that was.
        last: Timestamp,
        /// DreamTiming the gate opens.
        opens: Timestamp,
    },
    /// The sessions were counted just now.
    #[error("the sessions were counted lately; they are counted again at {}", shown(*.opens))]
    ScannedLately {
        /// DreamTiming the gate opens.
        opens: Timestamp,
    },
    /// Too little has happened.
    #[error(
        "{found} other sessions have gone on since the last dream, and {OTHER_SESSIONS} are needed"
    )]
    TooFewSessions {
        /// How many there are.
        found: usize,
    },
    /// Somebody dreams.
    #[error("a dream over this memory is under way{}", by(.0.as_ref()))]
    Held(Option<Holder>),
    /// It can not be known, or nobody can dream here.
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
    /// A word for it, for programs.
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

    /// DreamTiming the gate opens by itself, where that can be said.
    pub fn opens(&self) -> Option<Timestamp> {
        match self {
            Self::TooSoon { opens, .. } | Self::ScannedLately { opens } => Some(*opens),
            Self::Off(_) | Self::TooFewSessions { .. } | Self::Held(_) | Self::Cannot(_) => None,
        }
    }
}

/// What is asked, the cheapest first.
pub(super) trait GateFacts {
    /// Whether all switches are as they must be: known already.
    fn switches(&mut self) -> Result<(), String>;
    /// DreamTiming the last dream was: a look at one file.
    fn last_dream(&mut self) -> Result<Option<Timestamp>, String>;
    /// DreamTiming the sessions were last counted: known already.
    fn last_scan(&mut self) -> Option<Timestamp>;
    /// The other sessions that have gone on since: a look at a folder.
    fn sessions_since(&mut self, since: Option<Timestamp>) -> Result<Vec<SessionId>, String>;
    /// Who dreams now: a lock is tried.
    fn holder(&mut self) -> Result<DreamState, String>;
}

/// The gates that take no time. Gives when the last dream was.
pub(super) fn check_cheap_gates(
    facts: &mut impl GateFacts,
    now: Timestamp,
) -> Result<Option<Timestamp>, DreamBlocked> {
    facts.switches().map_err(DreamBlocked::Off)?;
    let last = facts.last_dream().map_err(DreamBlocked::Cannot)?;
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

/// The gates that look around. Gives the sessions that have gone on since the last dream.
pub(super) fn check_session_gates(
    facts: &mut impl GateFacts,
    last: Option<Timestamp>,
) -> Result<Vec<SessionId>, DreamBlocked> {
    let sessions = facts.sessions_since(last).map_err(DreamBlocked::Cannot)?;
    if sessions.len() < OTHER_SESSIONS {
        return Err(DreamBlocked::TooFewSessions { found: sessions.len() });
    }
    match facts.holder().map_err(DreamBlocked::Cannot)? {
        DreamState::Dreaming(holder) => Err(DreamBlocked::Held(holder)),
        DreamState::Awake => Ok(sessions),
    }
}

/// DreamTiming a gate opens that closed at `then`; nothing, if it is open. A time that is still to come is none: the clock
/// was wrong.
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

    /// Every gate is open; what was asked is counted.
    struct World {
        switches: Result<(), String>,
        last: Option<Timestamp>,
        scan: Option<Timestamp>,
        sessions: usize,
        holder: DreamState,
        asked: Vec<&'static str>,
    }

    impl World {
        fn open() -> Self {
            let (switches, asked) = (Ok(()), Vec::new());
            Self {
                switches,
                last: Some(at(0)),
                scan: None,
                sessions: 5,
                holder: DreamState::Awake,
                asked,
            }
        }

        fn pass(mut self) -> (Result<usize, DreamBlocked>, Vec<&'static str>) {
            let passed = check_cheap_gates(&mut self, at(24))
                .and_then(|last| check_session_gates(&mut self, last));
            (passed.map(|sessions| sessions.len()), self.asked)
        }
    }

    impl GateFacts for World {
        fn switches(&mut self) -> Result<(), String> {
            self.asked.push("switches");
            self.switches.clone()
        }

        fn last_dream(&mut self) -> Result<Option<Timestamp>, String> {
            self.asked.push("last dream");
            Ok(self.last)
        }

        fn last_scan(&mut self) -> Option<Timestamp> {
            self.asked.push("last scan");
            self.scan
        }

        fn sessions_since(&mut self, since: Option<Timestamp>) -> Result<Vec<SessionId>, String> {
            assert_eq!(since, self.last);
            self.asked.push("sessions");
            Ok(vec![ID.parse().unwrap(); self.sessions])
        }

        fn holder(&mut self) -> Result<DreamState, String> {
            self.asked.push("lock");
            Ok(self.holder.clone())
        }
    }

    #[test]
    fn each_gate_alone_and_nothing_is_asked_behind_it() {
        let all = ["switches", "last dream", "last scan", "sessions", "lock"];
        let check = |world: World, word: &str, asked: usize| {
            let (passed, seen) = world.pass();
            assert_eq!(passed.map_err(|closed| closed.word()), Err(word));
            assert_eq!(seen, all[..asked]);
        };
        assert_eq!(World::open().pass(), (Ok(5), all.to_vec()));
        check(World { switches: Err("off".into()), ..World::open() }, "off", 1);
        check(World { last: Some(at(1)), ..World::open() }, "too-soon", 2);
        check(World { scan: Some(at(24)), ..World::open() }, "scanned-lately", 3);
        check(World { sessions: 4, ..World::open() }, "too-few-sessions", 4);
        check(World { holder: DreamState::Dreaming(None), ..World::open() }, "held", 5);
    }

    #[test]
    fn times() {
        let never = World { last: None, scan: Some(at(23)), ..World::open() };
        assert_eq!(never.pass().0, Ok(5));
        let to_come = World { last: Some(at(30)), ..World::open() };
        assert_eq!(to_come.pass().0, Ok(5), "the clock was wrong then");
        let closed = World { last: Some(at(1)), ..World::open() }.pass().0.unwrap_err();
        assert_eq!(closed.opens(), Some(at(25)));
        assert!(closed.to_string().contains("the next is due at 2023-11-15 23:13 UTC"), "{closed}");
    }
}
