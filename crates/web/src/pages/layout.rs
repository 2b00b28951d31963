//! The frame of every page: head, navigation, notice, content.

use axum::response::Html;
use dormouse_messages::Locale;
use maud::{DOCTYPE, Markup, html};

use crate::message_catalog::msg;
use crate::viewer::ViewerMode;

/// A part of the viewer, as the navigation has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Area {
    Memories,
    Inbox,
    Changes,
    Doctor,
    Sessions,
    Dreams,
    Figures,
    Team,
}

impl Area {
    const ALL: [Self; 8] = [
        Self::Memories,
        Self::Inbox,
        Self::Changes,
        Self::Dreams,
        Self::Sessions,
        Self::Figures,
        Self::Team,
        Self::Doctor,
    ];

    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Memories => "/",
            Self::Inbox => "/inbox",
            Self::Changes => "/changes",
            Self::Doctor => "/doctor",
            Self::Sessions => "/sessions",
            Self::Dreams => "/dreams",
            Self::Figures => "/figures",
            Self::Team => "/team",
        }
    }

    pub(crate) fn name(self) -> String {
        match self {
            Self::Memories => msg!("nav-memories"),
            Self::Inbox => msg!("nav-inbox"),
            Self::Changes => msg!("nav-changes"),
            Self::Doctor => msg!("nav-doctor"),
            Self::Sessions => msg!("nav-sessions"),
            Self::Dreams => msg!("nav-dreams"),
            Self::Figures => msg!("nav-figures"),
            Self::Team => msg!("nav-team"),
        }
    }
}

/// What the frame needs to know about the viewer.
pub(crate) struct PageFrame<'a> {
    /// The token of forms.
    pub(crate) token: &'a str,
    /// Whether forms are shown.
    pub(crate) mode: ViewerMode,
    /// Proposals that wait in the inbox.
    pub(crate) waiting: usize,
    /// What was just done.
    pub(crate) notice: Option<String>,
}

impl PageFrame<'_> {
    pub(crate) fn can_change(&self) -> bool {
        self.mode == ViewerMode::Editing
    }

    /// The hidden field with the token.
    pub(crate) fn token_field(&self) -> Markup {
        html! { input type="hidden" name="token" value=(self.token); }
    }

    /// A form with one button that changes something; nothing where pages may not.
    pub(crate) fn button(&self, action: &str, label: &str, class: &str) -> Markup {
        html! {
            @if self.can_change() {
                form method="post" action=(action) class="inline" {
                    (self.token_field())
                    button class=(class) { (label) }
                }
            }
        }
    }

    /// The whole page.
    pub(crate) fn page(&self, area: Option<Area>, title: &str, content: &Markup) -> Html<String> {
        let page = html! {
            (DOCTYPE)
            html lang=(Locale::current().code()) {
                head {
                    (head(title))
                    script type="module" src="/assets/search.js" {}
                    script type="module" src="/assets/charts.js" {}
                    script type="module" src="/assets/follow.js" {}
                }
                body {
                    a class="skip" href="#content" { (msg!("nav-skip")) }
                    header class="top" {
                        a class="brand" href="/" { "Dormouse" }
                        nav aria-label=(msg!("nav-label")) { (self.navigation(area)) }
                        @if !self.can_change() { span class="badge" { (msg!("nav-read-only")) } }
                    }
                    main id="content" tabindex="-1" {
                        @if let Some(notice) = &self.notice { p class="notice" role="status" { (notice) } }
                        (content)
                    }
                }
            }
        };
        Html(page.into_string())
    }

    fn navigation(&self, area: Option<Area>) -> Markup {
        html! {
            ul {
                @for one in Area::ALL {
                    li {
                        a href=(one.path()) aria-current=[(Some(one) == area).then_some("page")] {
                            (one.name())
                            @if one == Area::Inbox && self.waiting > 0 { " " span class="count" { (self.waiting) } }
                        }
                    }
                }
            }
        }
    }
}

/// The head of a page. The icon is empty, so that browsers do not ask for one.
pub(crate) fn head(title: &str) -> Markup {
    html! {
        meta charset="utf-8";
        meta name="viewport" content="width=device-width, initial-scale=1";
        meta name="color-scheme" content="light dark";
        title { (title) " · Dormouse" }
        link rel="icon" href="data:,";
        link rel="stylesheet" href="/assets/style.css";
    }
}
