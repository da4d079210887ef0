//! JSON as the recorder writes it where a number is none: `nan`, `-nan`, `inf`, and a comma behind
//! the last value.

/// The text with `null` for words that are no JSON and without commas before a closing bracket;
/// whether there were such words.
pub(crate) fn healed(text: &str) -> (String, bool) {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut words = false;
    while let Some(at) =
        rest.find(|letter: char| matches!(letter, '"' | ',' | '-') || letter.is_ascii_alphabetic())
    {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let taken = match rest.as_bytes()[0] {
            b'"' => text_length(rest),
            b',' => {
                let closes = rest[1..].trim_start().starts_with(['}', ']']);
                if closes {
                    rest = &rest[1..];
                    continue;
                }
                1
            }
            _ => {
                let word = word_length(rest);
                if is_no_number(&rest[..word]) {
                    out.push_str("null");
                    words = true;
                    rest = &rest[word..];
                    continue;
                }
                word
            }
        };
        out.push_str(&rest[..taken]);
        rest = &rest[taken..];
    }
    out.push_str(rest);
    (out, words)
}

/// Bytes of the text in quotation marks at the beginning.
fn text_length(rest: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in rest.bytes().enumerate().skip(1) {
        if byte == b'"' && !escaped {
            return at + 1;
        }
        escaped = !escaped && byte == b'\\';
    }
    rest.len()
}

/// Bytes of the sign, letters, digits and points at the beginning.
fn word_length(rest: &str) -> usize {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'+' | b'-');
    rest.bytes().skip(1).take_while(|byte| inner(*byte)).count() + 1
}

fn is_no_number(word: &str) -> bool {
    let word = word.trim_start_matches('-').to_ascii_lowercase();
    matches!(word.as_str(), "nan" | "nanq" | "nans" | "inf" | "infinity")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_no_json_changes() {
        let sound = "{\"a\": -1.5e3, \"nan, ]\": [true, null, \"x\\\"inf,}\"]}";
        assert_eq!(healed(sound), (sound.to_owned(), false));
        let text = "{\"a\": -nan, \"b\": {\"c\": inf, }, \"d\": [1,\n]}";
        let whole = "{\"a\": null, \"b\": {\"c\": null }, \"d\": [1\n]}";
        assert_eq!(healed(text), (whole.to_owned(), true));
        assert_eq!(healed("\"open"), ("\"open".to_owned(), false));
    }
}
