//! Pages for those who have no cookie yet, or no right to one.

use axum::response::Html;
use maud::{DOCTYPE, Markup, html};

use crate::message_catalog::msg;
use crate::pages::layout::head;

/// After the exchange of the code: leads to the first page.
pub(crate) fn welcome_page() -> Html<String> {
    let refresh = html! { meta http-equiv="refresh" content="0; url=/"; };
    plain(
        &msg!("entry-welcome"),
        &refresh,
        &html! { p { a href="/" { (msg!("entry-continue")) } } },
    )
}

pub(crate) fn used_code_page() -> Html<String> {
    plain(&msg!("entry-used"), &html! {}, &html! { p { (msg!("entry-used-hint")) } })
}

pub(crate) fn no_cookie_page() -> Html<String> {
    plain(&msg!("entry-no-cookie"), &html! {}, &html! { p { (msg!("entry-no-cookie-hint")) } })
}

pub(crate) fn foreign_page() -> Html<String> {
    plain(&msg!("entry-foreign"), &html! {}, &html! { p { (msg!("entry-foreign-hint")) } })
}

fn plain(title: &str, more: &Markup, content: &Markup) -> Html<String> {
    let page = html! {
        (DOCTYPE)
        html lang=(dormouse_messages::Locale::current().code()) {
            head { (head(title)) (more) }
            body { main class="narrow" { h1 { (title) } (content) } }
        }
    };
    Html(page.into_string())
}
