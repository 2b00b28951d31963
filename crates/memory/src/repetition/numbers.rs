//! Numbers written as words.

/// The digits of an English number word.
pub(super) fn english_number(word: &str) -> Option<&'static str> {
    Some(match word {
        "two" => "2",
        "three" => "3",
        "four" => "4",
        "five" => "5",
        "six" => "6",
        "seven" => "7",
        "eight" => "8",
        "nine" => "9",
        "ten" => "10",
        "eleven" => "11",
        "twelve" => "12",
        "fifteen" => "15",
        "twenty" => "20",
        "thirty" => "30",
        "forty" => "40",
        "fifty" => "50",
        "sixty" => "60",
        "ninety" => "90",
        "hundred" => "100",
        "thousand" => "1000",
        _ => return None,
    })
}

/// A number below ten thousand in Chinese characters.
pub(super) fn chinese_number(word: &str) -> Option<u32> {
    let (mut sum, mut digit) = (0, None);
    for c in word.chars() {
        match c {
            '十' => sum += digit.take().unwrap_or(1) * 10,
            '百' => sum += digit.take().unwrap_or(1) * 100,
            '千' => sum += digit.take().unwrap_or(1) * 1000,
            _ => digit = Some(chinese_digit(c)?),
        }
    }
    (!word.is_empty()).then_some(sum + digit.unwrap_or(0))
}

fn chinese_digit(c: char) -> Option<u32> {
    const DIGITS: &str = "零一二三四五六七八九";
    let place = if c == '两' { Some(2) } else { DIGITS.chars().position(|digit| digit == c) };
    place.and_then(|place| u32::try_from(place).ok())
}
