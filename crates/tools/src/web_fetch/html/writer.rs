//! Markdown in the making: white space is what the page means, not what its source has.

/// Lists nested deeper are not indented further: a hostile page would become as long as the square of its size.
const MAX_INDENT: usize = 16;

/// How many blank places stand between two words.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    #[default]
    None,
    Space,
    Line,
    Paragraph,
}

#[derive(Debug, Default)]
pub(super) struct MarkdownWriter {
    out: String,
    gap: Gap,
    /// Depth of elements whose white space counts.
    preformatted: usize,
    lists: usize,
    links: Vec<Option<String>>,
    /// The next cell of a row is not its first.
    in_row: bool,
}

impl MarkdownWriter {
    pub(super) fn text(&mut self, text: &str) {
        if self.preformatted > 0 {
            self.put(text);
            return;
        }
        let mut words = text.split_whitespace().peekable();
        if text.starts_with(char::is_whitespace) {
            self.want(Gap::Space);
        }
        while let Some(word) = words.next() {
            self.put(word);
            if words.peek().is_some() || text.ends_with(char::is_whitespace) {
                self.want(Gap::Space);
            }
        }
    }

    pub(super) fn open(&mut self, name: &str) {
        match name {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.want(Gap::Paragraph);
                let depth = name.trim_start_matches('h').parse().unwrap_or(1);
                self.put(&format!("{} ", "#".repeat(depth)));
            }
            "br" => self.want(Gap::Line),
            "hr" => {
                self.want(Gap::Paragraph);
                self.put("---");
                self.want(Gap::Paragraph);
            }
            "ul" | "ol" => {
                self.want(if self.lists == 0 { Gap::Paragraph } else { Gap::Line });
                self.lists += 1;
            }
            "li" => {
                self.want(Gap::Line);
                let indent = "  ".repeat(self.lists.saturating_sub(1).min(MAX_INDENT));
                self.put(&format!("{indent}- "));
            }
            "pre" => {
                self.want(Gap::Paragraph);
                self.put("```\n");
                self.preformatted += 1;
            }
            "tr" => {
                self.want(Gap::Line);
                self.in_row = false;
            }
            "td" | "th" => {
                if std::mem::replace(&mut self.in_row, true) {
                    self.gap = Gap::None;
                    self.put(" | ");
                }
            }
            "code" if self.preformatted == 0 => self.put("`"),
            "b" | "strong" if self.preformatted == 0 => self.put("**"),
            "i" | "em" if self.preformatted == 0 => self.put("*"),
            _ => self.want(block_gap(name)),
        }
    }

    pub(super) fn close(&mut self, name: &str) {
        match name {
            "a" => self.close_link(),
            "ul" | "ol" => {
                self.lists = self.lists.saturating_sub(1);
                self.want(if self.lists == 0 { Gap::Paragraph } else { Gap::Line });
            }
            "pre" if self.preformatted > 0 => {
                self.preformatted -= 1;
                let line_end = if self.out.ends_with('\n') { "" } else { "\n" };
                self.out.push_str(line_end);
                self.out.push_str("```");
                self.want(Gap::Paragraph);
            }
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => self.want(Gap::Paragraph),
            "code" if self.preformatted == 0 => self.out.push('`'),
            "b" | "strong" if self.preformatted == 0 => self.out.push_str("**"),
            "i" | "em" if self.preformatted == 0 => self.out.push('*'),
            "li" | "tr" => self.want(Gap::Line),
            _ => self.want(block_gap(name)),
        }
    }

    pub(super) fn open_link(&mut self, target: Option<String>) {
        if target.is_some() {
            self.put("[");
        }
        self.links.push(target);
    }

    fn close_link(&mut self) {
        if let Some(Some(target)) = self.links.pop() {
            self.out.push_str(&format!("]({target})"));
        }
    }

    pub(super) fn image(&mut self, alternative: Option<String>) {
        if let Some(text) = alternative.filter(|text| !text.trim().is_empty()) {
            self.put(&format!("![{}]", text.trim()));
        }
    }

    pub(super) fn finish(self) -> String {
        self.out.trim_end().to_owned()
    }

    fn want(&mut self, gap: Gap) {
        self.gap = self.gap.max(gap);
    }

    fn put(&mut self, text: &str) {
        let gap = std::mem::take(&mut self.gap);
        if text.is_empty() {
            self.gap = gap;
            return;
        }
        if !self.out.is_empty() {
            self.out.push_str(match gap {
                Gap::None => "",
                // Behind a sign or a line end there is none.
                Gap::Space if self.out.ends_with([' ', '\n']) => "",
                Gap::Space => " ",
                Gap::Line => "\n",
                Gap::Paragraph => "\n\n",
            });
        }
        self.out.push_str(text);
    }
}

fn block_gap(name: &str) -> Gap {
    match name {
        "p" | "table" | "blockquote" | "title" | "section" | "article" | "dl" | "figure" => {
            Gap::Paragraph
        }
        "div" | "header" | "footer" | "nav" | "main" | "aside" | "form" | "dt" | "dd"
        | "option" | "button" | "thead" | "tbody" | "body" | "figcaption" | "summary"
        | "details" => Gap::Line,
        _ => Gap::None,
    }
}
