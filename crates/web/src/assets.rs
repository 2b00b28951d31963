//! Style and scripts of the pages. They are part of the program; nothing is loaded from elsewhere.

/// A file that pages refer to.
pub(crate) struct Asset {
    pub(crate) path: &'static str,
    pub(crate) content_type: &'static str,
    pub(crate) text: &'static str,
}

pub(crate) const STYLE: &str = include_str!("assets/style.css");

/// All files, by their address below `/assets/`.
pub(crate) const ASSETS: [Asset; 4] = [
    Asset { path: "style.css", content_type: "text/css; charset=utf-8", text: STYLE },
    Asset { path: "search.js", content_type: SCRIPT, text: include_str!("assets/search.js") },
    Asset { path: "charts.js", content_type: SCRIPT, text: include_str!("assets/charts.js") },
    Asset { path: "follow.js", content_type: SCRIPT, text: include_str!("assets/follow.js") },
];

const SCRIPT: &str = "text/javascript; charset=utf-8";
