//! `/context`: what fills the context window, drawn, and what the layers that keep it small have done.

use std::path::Path;

use dormouse_base::{FileError, group_digits};
use dormouse_conversation::metrics::{LayerTotals, MetricsFilter, MetricsLog, summarize_metrics};
use dormouse_engine::{Engine, SessionAccount, WindowPart, WindowShare, window_shares};

use crate::message_catalog::msg;

use super::rows::Rows;

/// A whole window is so many cells of a bar.
const CELLS: u64 = 24;
/// A part of the window that is used, free, or reserved.
const USED: &str = "█";
const FREE: &str = "░";
const RESERVED: &str = "▒";

/// The window, part by part, so that the tokens of all rows together are the window.
pub(crate) fn window(engine: &Engine) -> Rows {
    let account = engine.account();
    let conversation = engine.conversation();
    let shares = window_shares(conversation.prefix(), conversation.messages());
    let shares = scaled(&shares, account.window_used).into_iter();
    let window = u64::from(account.window);
    let mut rows: Rows = shares
        .map(|share| (part_name(share.part), share_text(share.tokens, window, USED)))
        .collect();
    rows.extend(totals(&account));
    rows
}

/// What is free and reserved, and how full the window is.
pub(crate) fn totals(account: &SessionAccount) -> Rows {
    let (used, window) = (account.window_used, u64::from(account.window));
    let compacts_at = u64::from(account.status.compacts_at);
    let reserved = window.saturating_sub(compacts_at.max(used));
    let free = window.saturating_sub(used + reserved);
    vec![
        (msg!("share-free"), share_text(free, window, FREE)),
        (msg!("share-reserved"), share_text(reserved, window, RESERVED)),
        (msg!("row-used"), used_text(used, window)),
        (msg!("row-compacts-at"), msg!("tokens", count = group_digits(compacts_at))),
        (msg!("row-left-until"), format!("{} %", account.status.state.percent_left)),
    ]
}

/// What each layer has done in this session, from the log.
pub(crate) fn layers(engine: &Engine, home: &Path) -> Result<Rows, FileError> {
    let session = Some(engine.conversation().session());
    let filter = MetricsFilter { session, ..MetricsFilter::default() };
    let summary = summarize_metrics(&MetricsLog::folder_in(home), &filter)?;
    let row = |(name, totals): (String, LayerTotals)| {
        let freed = group_digits(totals.freed_tokens);
        (name, msg!("layer-did", count = totals.fired, freed = freed))
    };
    Ok(summary.layers.into_iter().map(row).collect())
}

fn used_text(used: u64, window: u64) -> String {
    msg!("row-used-of", used = group_digits(used), window = group_digits(window))
}

/// Estimates, scaled so that their sum is what the server counted.
fn scaled(shares: &[WindowShare], used: u64) -> Vec<WindowShare> {
    let estimated: u64 = shares.iter().map(|share| share.tokens).sum();
    let scale = |tokens: u64| tokens.saturating_mul(used) / estimated.max(1);
    let mut scaled: Vec<WindowShare> = shares
        .iter()
        .map(|share| WindowShare { part: share.part, tokens: scale(share.tokens) })
        .collect();
    // What is lost by rounding goes to the largest.
    let lost = used - scaled.iter().map(|share| share.tokens).sum::<u64>();
    if let Some(largest) = scaled.iter_mut().max_by_key(|share| share.tokens) {
        largest.tokens += lost;
    }
    scaled
}

/// Tokens, percent of the window, and a bar.
fn share_text(tokens: u64, window: u64, cell: &str) -> String {
    let percent = tokens.saturating_mul(100) / window.max(1);
    let percent = if percent == 0 && tokens > 0 { "<1".to_owned() } else { percent.to_string() };
    let cells = tokens.saturating_mul(CELLS).div_ceil(window.max(1)).min(CELLS);
    let bar = cell.repeat(usize::try_from(cells).unwrap_or_default());
    format!("{:>9} {percent:>3} % {bar}", group_digits(tokens)).trim_end().to_owned()
}

/// What takes a part of the window, in the user's language.
fn part_name(part: WindowPart) -> String {
    match part {
        WindowPart::System => msg!("share-system"),
        WindowPart::Tools => msg!("share-tools"),
        WindowPart::McpTools => msg!("share-mcp-tools"),
        WindowPart::Instructions => msg!("share-instructions"),
        WindowPart::MemoryIndex => msg!("share-memory"),
        WindowPart::Summary => msg!("share-summary"),
        WindowPart::Program => msg!("share-program"),
        WindowPart::User => msg!("share-user"),
        WindowPart::Answers => msg!("share-answers"),
        WindowPart::Thinking => msg!("share-thinking"),
        WindowPart::Calls => msg!("share-calls"),
        WindowPart::Results => msg!("share-results"),
        WindowPart::Pictures => msg!("share-pictures"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_to_what_the_server_counted() {
        let share = |part, tokens| WindowShare { part, tokens };
        let shares = [share(WindowPart::System, 10), share(WindowPart::Results, 23)];
        let scaled = scaled(&shares, 100);
        assert_eq!(scaled, [share(WindowPart::System, 30), share(WindowPart::Results, 70)]);
        assert_eq!(super::scaled(&[], 0), []);
    }

    #[test]
    fn a_share_is_a_number_a_percentage_and_a_bar() {
        assert_eq!(share_text(50_000, 200_000, USED), "   50,000  25 % ██████");
        assert_eq!(share_text(12, 200_000, USED), "       12  <1 % █");
        assert_eq!(share_text(0, 200_000, FREE), "        0   0 %");
    }
}
