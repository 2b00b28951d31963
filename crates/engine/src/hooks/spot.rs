//! Where something stands in a JSON text, found on the way down, beside the value that was read from it.

use dormouse_base::JsonContainer;

/// A value's place in a text; of a value without a text, the line of what it is in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spot<'a> {
    text: Option<&'a str>,
    /// Where the value opens, in bytes.
    at: usize,
    line: Option<usize>,
}

impl<'a> Spot<'a> {
    /// The whole of a text.
    pub(super) fn root(text: &'a str) -> Self {
        let at = dormouse_base::skip_blank(text, 0);
        Self { text: Some(text), at, line: Some(line_at(text, at)) }
    }

    /// A value whose text is not known.
    pub(super) fn in_line(line: Option<usize>) -> Self {
        Self { text: None, at: 0, line }
    }

    /// The line, from 1.
    pub(super) fn line(self) -> Option<usize> {
        self.line
    }

    /// The value at a key. Where there is none: the object it would be in.
    pub(super) fn member(self, key: &str) -> Self {
        let found = self.container().and_then(|container| {
            container.member(key).map(|entry| (entry.whole.start, entry.value.start))
        });
        found.map_or(self, |(whole, value)| self.at(whole, value))
    }

    /// The elements of a list.
    pub(super) fn elements(self) -> impl Iterator<Item = Self> {
        let entries = self.container().map(|container| container.entries).unwrap_or_default();
        let found =
            entries.into_iter().map(move |entry| self.at(entry.whole.start, entry.value.start));
        // Where nothing is known of the elements, each stands where the list does.
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
    fn lines_are_found_on_the_way_down() {
        let text = "{\n \"a\": {\"b\": [\n  1,\n  {\"c\":\n 2}\n ]}}";
        let list = Spot::root(text).member("a").member("b");
        assert_eq!(list.line(), Some(2));
        let lines: Vec<_> = list.elements().take(3).map(Spot::line).collect();
        assert_eq!(lines, [Some(3), Some(4), Some(2)]);
        assert_eq!(list.elements().nth(1).unwrap().member("none").line(), Some(4));
        let unknown = Spot::in_line(Some(7));
        assert_eq!(unknown.member("x").elements().next().unwrap().line(), Some(7));
    }
}
