//! Line numbers of values in a JSON text.

use dormouse_base::JsonContainer;

/// The position of a value in a JSON text. A value without a text has the line of its container.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JsonPosition<'a> {
    text: Option<&'a str>,
    /// Byte offset of the value.
    at: usize,
    line: Option<usize>,
}

impl<'a> JsonPosition<'a> {
    /// The outermost value of a text.
    pub(crate) fn root(text: &'a str) -> Self {
        let at = dormouse_base::skip_blank(text, 0);
        Self { text: Some(text), at, line: Some(line_at(text, at)) }
    }

    /// A value whose text is unknown.
    pub(crate) fn in_line(line: Option<usize>) -> Self {
        Self { text: None, at: 0, line }
    }

    /// Counted from 1.
    pub(crate) fn line(self) -> Option<usize> {
        self.line
    }

    /// The value of a key; the object itself if there is none.
    pub(crate) fn member(self, key: &str) -> Self {
        let found = self.container().and_then(|container| {
            container.member(key).map(|entry| (entry.whole.start, entry.value.start))
        });
        found.map_or(self, |(whole, value)| self.at(whole, value))
    }

    /// The elements of a list, followed by the list itself without end.
    pub(crate) fn elements(self) -> impl Iterator<Item = Self> {
        let entries = self.container().map(|container| container.entries).unwrap_or_default();
        let found =
            entries.into_iter().map(move |entry| self.at(entry.whole.start, entry.value.start));
        found.chain(std::iter::repeat(self))
    }

    fn container(self) -> Option<JsonContainer> {
        JsonContainer::at(self.text?, self.at).ok()
    }

    fn at(self, whole: usize, value: usize) -> Self {
        let line = self.text.map(|text| line_at(text, whole));
        Self { text: self.text, at: value, line }
    }
}

fn line_at(text: &str, at: usize) -> usize {
    text.get(..at).map_or(0, |head| head.matches('\n').count()) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_nested_values() {
        let text = "{\n \"a\": {\"b\": [\n  1,\n  {\"c\":\n 2}\n ]}}";
        let list = JsonPosition::root(text).member("a").member("b");
        assert_eq!(list.line(), Some(2));
        let lines: Vec<_> = list.elements().take(3).map(JsonPosition::line).collect();
        assert_eq!(lines, [Some(3), Some(4), Some(2)]);
        assert_eq!(list.elements().nth(1).unwrap().member("none").line(), Some(4));
        let unknown = JsonPosition::in_line(Some(7));
        assert_eq!(unknown.member("x").elements().next().unwrap().line(), Some(7));
    }
}
