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

/// Dollars: to the hundredth of a cent as long as that matters.
pub fn format_dollars(amount: f64) -> String {
    if amount < 100.0 { format!("${amount:.4}") } else { format!("${amount:.2}") }
}

/// A share as `93.4 %`; a dash for none.
pub fn format_percent(share: Option<f64>) -> String {
    share.map_or("-".to_owned(), |share| format!("{:.1} %", share * 100.0))
}

/// Bytes as a person says them.
pub fn format_bytes(bytes: u64) -> String {
    match bytes {
        0 => "0".to_owned(),
        1..=9_999 => format!("{bytes} B"),
        10_000..=9_999_999 => format!("{} kB", bytes / 1_000),
        _ => format!("{} MB", group_digits(bytes / 1_000_000)),
    }
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
