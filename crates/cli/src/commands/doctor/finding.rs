//! The result of a check. Every warning and problem says how to fix it.

use dormouse_tui::width;
use serde::Serialize;

use crate::message_catalog::msg;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DoctorFinding {
    /// The part of the setup, such as `git`.
    pub(crate) area: &'static str,
    pub(crate) text: String,
    pub(crate) status: FindingStatus,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FindingStatus {
    Ok,
    /// It works, with limits.
    Warning {
        fix: String,
    },
    /// Something does not work.
    Problem {
        fix: String,
    },
}

impl DoctorFinding {
    pub(crate) fn ok(area: &'static str, text: impl Into<String>) -> Self {
        Self { area, text: text.into(), status: FindingStatus::Ok }
    }

    pub(crate) fn warning(
        area: &'static str,
        text: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self { area, text: text.into(), status: FindingStatus::Warning { fix: fix.into() } }
    }

    pub(crate) fn problem(
        area: &'static str,
        text: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self { area, text: text.into(), status: FindingStatus::Problem { fix: fix.into() } }
    }

    pub(crate) fn is_problem(&self) -> bool {
        matches!(self.status, FindingStatus::Problem { .. })
    }

    /// Status, area and text.
    pub(crate) fn line(&self) -> String {
        let status = padded(&self.status.label(), 8);
        format!("{status} {} {}", padded(&area_label(self.area), 11), self.text)
    }

    /// How to fix it, if something is to be fixed.
    pub(crate) fn fix_text(&self) -> Option<String> {
        self.status.fix().map(|fix| msg!("doctor-fix", fix = fix))
    }

    /// Its area, and what it is with its fix.
    pub(crate) fn row(&self) -> (String, String) {
        let fix = self.fix_text().map(|fix| format!(" ({fix})"));
        let text = format!("{}: {}{}", self.status.label(), self.text, fix.unwrap_or_default());
        (area_label(self.area), text)
    }

    pub(crate) fn to_json(&self) -> DoctorFindingJson<'_> {
        let fix = self.status.fix();
        let status = self.status.as_str();
        DoctorFindingJson { area: self.area, status, what: &self.text, fix, mend: fix }
    }
}

impl FindingStatus {
    pub(crate) fn as_str(&self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning { .. } => "warning",
            Self::Problem { .. } => "problem",
        }
    }

    /// In the user's language.
    fn label(&self) -> String {
        match self {
            Self::Ok => msg!("doctor-status-ok"),
            Self::Warning { .. } => msg!("doctor-status-warning"),
            Self::Problem { .. } => msg!("doctor-status-problem"),
        }
    }

    fn fix(&self) -> Option<&str> {
        match self {
            Self::Ok => None,
            Self::Warning { fix } | Self::Problem { fix } => Some(fix),
        }
    }
}

/// A text with blanks up to a width in columns.
fn padded(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width::of(text))))
}

/// An area in the user's language.
fn area_label(area: &str) -> String {
    match area {
        "settings" => msg!("doctor-area-settings"),
        "key" => msg!("doctor-area-key"),
        "server" => msg!("doctor-area-server"),
        "embeddings" => msg!("doctor-area-embeddings"),
        "guards" => msg!("doctor-area-guards"),
        "folders" => msg!("doctor-area-folders"),
        "locks" => msg!("doctor-area-locks"),
        "transcripts" => msg!("doctor-area-transcripts"),
        "sandbox" => msg!("doctor-area-sandbox"),
        "terminal" => msg!("doctor-area-terminal"),
        // Names.
        other => other.to_owned(),
    }
}

#[derive(Serialize)]
pub(crate) struct DoctorFindingJson<'a> {
    area: &'static str,
    status: &'static str,
    what: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<&'a str>,
    /// The former name of `fix`.
    #[serde(skip_serializing_if = "Option::is_none")]
    mend: Option<&'a str>,
}
