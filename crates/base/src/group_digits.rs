//! Numbers as people read them.

/// `1234567` as `1,234,567`.
pub fn group_digits(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::group_digits;

    #[test]
    fn numbers_are_read_in_threes() {
        let read: Vec<String> = [0, 999, 1_000, 167_000, 1_234_567].map(group_digits).into();
        assert_eq!(read, ["0", "999", "1,000", "167,000", "1,234,567"]);
    }
}
