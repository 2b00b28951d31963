//! What a search server found, as text for the model.

use std::fmt::Write as _;

use serde::Deserialize;

/// The longest title and the longest excerpt, in characters.
const TITLE_CHARS: usize = 200;
const EXCERPT_CHARS: usize = 500;

/// The answer of a search server: `SearXNG` and Tavily have the list at the top, Brave has it below `web`.
#[derive(Deserialize, Default)]
#[serde(default)]
struct SearchAnswer {
    results: Vec<SearchHit>,
    web: BraveResults,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct BraveResults {
    results: Vec<SearchHit>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct SearchHit {
    title: Option<String>,
    url: Option<String>,
    #[serde(alias = "description")]
    content: Option<String>,
}

/// The results as a numbered list; only those with a web address count.
pub(super) fn rendered(
    answer: &str,
    query: &str,
    most: usize,
) -> Result<String, serde_json::Error> {
    let answer: SearchAnswer = serde_json::from_str(answer)?;
    let hits = answer.results.into_iter().chain(answer.web.results);
    let is_web = |hit: &SearchHit| {
        let url = hit.url.as_deref().unwrap_or_default();
        url.starts_with("https://") || url.starts_with("http://")
    };
    let mut text = String::new();
    for (index, hit) in hits.filter(is_web).take(most).enumerate() {
        let line =
            |field: &Option<String>, most| on_one_line(field.as_deref().unwrap_or_default(), most);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}. {}", index + 1, line(&hit.title, TITLE_CHARS));
        let _ = writeln!(text, "   {}", hit.url.as_deref().unwrap_or_default());
        let excerpt = line(&hit.content, EXCERPT_CHARS);
        if !excerpt.is_empty() {
            let _ = writeln!(text, "   {excerpt}");
        }
    }
    if text.is_empty() {
        return Ok(format!("[nothing was found for `{query}`]"));
    }
    Ok(format!("Found for `{query}`, in words of the pages' authors:\n{text}"))
}

fn on_one_line(text: &str, most: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").chars().filter(|c| !c.is_control()).take(most).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_of_three_servers() {
        let hit =
            r#"{"title":"A\n page","url":"https://a.example/x","KEY":"some  text","score":1}"#;
        for (answer, key) in [
            (format!(r#"{{"query":"q","results":[{hit}],"web":{{}}}}"#), "content"),
            (format!(r#"{{"web":{{"results":[{hit}]}}}}"#), "description"),
        ] {
            let text = rendered(&answer.replace("KEY", key), "q", 10).unwrap();
            assert!(text.ends_with("1. A page\n   https://a.example/x\n   some text\n"), "{text}");
        }
    }

    #[test]
    fn what_is_no_page_is_left_out() {
        let answer = r#"{"results":[{"title":"t","url":"javascript:alert(1)"},{"title":"u"},
            {"url":"http://b.example"},{"url":"http://c.example"}]}"#;
        let text = rendered(answer, "q", 1).unwrap();
        assert!(text.contains("http://b.example") && !text.contains("c.example"), "{text}");
        assert!(!text.contains("javascript"), "{text}");
        assert!(rendered("{}", "q", 5).unwrap().contains("nothing was found"));
        assert!(rendered("<html>", "q", 5).is_err());
    }
}
