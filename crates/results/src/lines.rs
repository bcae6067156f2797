//! The lines of a log, and the numbers of a line.

use std::io::Read;

use crate::error::{LogError, shown};
use crate::pieces::{self, Fault, PIECE};

/// Times after this, in ms, are none: nanoseconds of it fit into 64 bits (the year 2255).
pub(crate) const LATEST_MS: u64 = 9_000_000_000_000;

/// Number of digits that always fit into 64 bits.
const MOST_SAFE_DIGITS: usize = 19;

/// Type of a line.
pub(crate) type Verdict = Result<(), String>;

/// Gives every line to `each`, without its end, and whether it had one. `accepted` names the format in errors.
///
/// The last line without an end, if `each` refuses it, is a log that was cut short: true is returned.
pub(crate) fn for_each_line(
    source: impl Read,
    accepted: &'static str,
    mut each: impl FnMut(&[u8]) -> Verdict,
) -> Result<bool, LogError> {
    let mut is_cut = false;
    let verdict = |text: &[u8], line, is_whole| match each(text) {
        Err(problem) if is_whole => Err(LogError::Line { line, found: problem, accepted }),
        Err(_) => {
            is_cut = true;
            Ok(())
        }
        Ok(()) => Ok(()),
    };
    pieces::for_each_line(source, verdict, |fault, line| match fault {
        Fault::Unreadable(error) => error.into(),
        Fault::TooLong(text) => {
            let problem = format!("a line of more than {PIECE} bytes, {:?}", shown(text));
            LogError::Line { line, found: problem, accepted }
        }
    })?;
    Ok(is_cut)
}

/// The whole numbers of a line, separated by commas and blanks.
pub(crate) struct Numbers<'a> {
    line: &'a [u8],
    at: usize,
}

impl<'a> Numbers<'a> {
    #[inline]
    pub(crate) fn of(line: &'a [u8]) -> Self {
        Self { line, at: 0 }
    }

    /// Whether the line has ended.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.at >= self.line.len()
    }

    /// The next number and the separator after it; None, and nothing read, if there is none or not one of 64 bits.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<u64> {
        let rest = &self.line[self.at..];
        let mut value: u64 = 0;
        let mut digits = 0;
        for byte in rest {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
            digits += 1;
        }
        if digits == 0 {
            return None;
        }
        if digits > MOST_SAFE_DIGITS {
            value = std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()?;
        }
        let begin = self.at;
        self.at += digits;
        if self.skip_separator() {
            return Some(value);
        }
        self.at = begin;
        None
    }

    /// A priority, printed as 0x0001.
    pub(crate) fn next_hexadecimal(&mut self) -> Option<u64> {
        let rest = &self.line[self.at..];
        let digits = rest.strip_prefix(b"0x")?;
        let length = digits.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        let text = std::str::from_utf8(&digits[..length]).ok()?;
        self.at += 2 + length;
        let value = u64::from_str_radix(text, 16).ok()?;
        self.skip_separator().then_some(value)
    }

    #[inline]
    fn skip_separator(&mut self) -> bool {
        if let [b',', b' ', next, ..] = &self.line[self.at..]
            && *next != b' '
        {
            self.at += 2;
            return true;
        }
        if self.line.get(self.at) == Some(&b',') {
            self.at += 1;
            while self.line.get(self.at) == Some(&b' ') {
                self.at += 1;
            }
            return true;
        }
        while self.line.get(self.at) == Some(&b' ') {
            self.at += 1;
        }
        self.is_over()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(line: &str) -> Vec<Option<u64>> {
        let mut numbers = Numbers::of(line.as_bytes());
        let mut lines = Vec::new();
        while !numbers.is_over() {
            lines.push(numbers.next());
            if lines.last() == Some(&None) {
                break;
            }
        }
        lines
    }

    #[test]
    fn numbers_are_separated_by_commas() {
        assert_eq!(all("1, 22,333 "), [Some(1), Some(22), Some(333)]);
        assert_eq!(all("18446744073709551615"), [Some(u64::MAX)]);
        assert_eq!(all("18446744073709551616"), [None]);
        assert_eq!(all("1, x"), [Some(1), None]);
        assert_eq!(all("1 2"), [None]);
    }

    #[test]
    fn a_number_ends_at_a_separator_or_is_none() {
        for length in 1..=20 {
            for (tail, whole) in [("", true), (", 7", true), (" ", true), (",9,", true), (":", false), ("x1", false)] {
                let digits = &"12345678901234567890"[..length];
                let expected = whole.then(|| digits.parse().expect("twenty digits fit"));
                assert_eq!(Numbers::of(format!("{digits}{tail}").as_bytes()).next(), expected, "{digits}{tail}");
            }
        }
    }

    #[test]
    fn a_priority_is_not_the_zero_before_its_x() {
        let mut numbers = Numbers::of(b"0x0004");
        assert_eq!((numbers.next(), numbers.next_hexadecimal(), numbers.is_over()), (None, Some(4), true));
    }

    #[test]
    fn lines_end_anywhere_in_a_piece() {
        let text = "abc\n".repeat(PIECE / 2);
        let mut count = 0;
        let cut = for_each_line(text.as_bytes(), "", |line| {
            assert_eq!(line, b"abc");
            count += 1;
            Ok(())
        });
        assert!(!cut.expect("memory is read"));
        assert_eq!(count, PIECE / 2);
    }

    #[test]
    fn a_line_without_end_is_refused() {
        let text = vec![b'1'; PIECE + 1];
        let error = for_each_line(&text[..], "lines", |_| Ok(())).expect_err("it is too long");
        assert!(error.to_string().starts_with("line 1: a line of more than"), "{error}");
    }
}
