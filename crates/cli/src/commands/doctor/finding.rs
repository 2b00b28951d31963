//! What a check found: a plain value. What is not well always says how to mend it.

use serde::Serialize;

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    /// Which part of the set-up.
    pub(crate) area: &'static str,
    /// What was found.
    pub(crate) what: String,
    pub(crate) health: Health,
}

/// How it is, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Health {
    Well,
    /// It works, but not as well as it could.
    Warning {
        mend: String,
    },
    /// Something does not work.
    Problem {
        mend: String,
    },
}

impl Finding {
    pub(crate) fn well(area: &'static str, what: impl Into<String>) -> Self {
        Self { area, what: what.into(), health: Health::Well }
    }

    pub(crate) fn warning(
        area: &'static str,
        what: impl Into<String>,
        mend: impl Into<String>,
    ) -> Self {
        Self { area, what: what.into(), health: Health::Warning { mend: mend.into() } }
    }

    pub(crate) fn problem(
        area: &'static str,
        what: impl Into<String>,
        mend: impl Into<String>,
    ) -> Self {
        Self { area, what: what.into(), health: Health::Problem { mend: mend.into() } }
    }

    pub(crate) fn is_problem(&self) -> bool {
        matches!(self.health, Health::Problem { .. })
    }

    /// A line, and one below it with how to mend it.
    pub(crate) fn text(&self) -> String {
        let line = format!("{:<8} {:<11} {}", self.health.word(), self.area, self.what);
        match self.health.mend() {
            Some(mend) => format!("{line}\n{:<20} to mend it: {mend}", ""),
            None => line,
        }
    }

    pub(crate) fn line(&self) -> Line<'_> {
        let (status, mend) = (self.health.word(), self.health.mend());
        Line { area: self.area, status, what: &self.what, mend }
    }
}

impl Health {
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Well => "ok",
            Self::Warning { .. } => "warning",
            Self::Problem { .. } => "problem",
        }
    }

    fn mend(&self) -> Option<&str> {
        match self {
            Self::Well => None,
            Self::Warning { mend } | Self::Problem { mend } => Some(mend),
        }
    }
}

/// For programs.
#[derive(Serialize)]
pub(crate) struct Line<'a> {
    area: &'static str,
    status: &'static str,
    what: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    mend: Option<&'a str>,
}
