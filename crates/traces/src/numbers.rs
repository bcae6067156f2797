//! Numbers in text, and the fields of a line.

/// The digits of a whole number of 64 bits.
#[inline]
pub(crate) fn whole(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 20 {
        return None;
    }
    let mut value: u64 = 0;
    // Nineteen nines are less than 2^64.
    if text.len() < 20 {
        for byte in text {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                return None;
            }
            value = value * 10 + u64::from(digit);
        }
        return Some(value);
    }
    for byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    Some(value)
}

/// A decimal number times 10 to the power of `digits`, cut off: no float comes in between, which would round times of
/// the calendar. A number with an exponent is rounded as a float.
#[inline]
pub(crate) fn scaled(text: &[u8], digits: u32) -> Option<u64> {
    let Some(point) = memchr::memchr2(b'.', b'e', text) else {
        return whole(text).and_then(|value| value.checked_mul(10_u64.pow(digits))).or_else(|| exponent(text, digits));
    };
    if text[point] == b'e' {
        return exponent(text, digits);
    }
    let (front, rest) = (&text[..point], &text[point + 1..]);
    if front.is_empty() && rest.is_empty() {
        return None;
    }
    let mut value = if front.is_empty() { 0 } else { whole(front)? };
    let mut left = digits;
    for byte in rest {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return exponent(text, digits);
        }
        if left > 0 {
            value = value.checked_mul(10)?.checked_add(u64::from(digit))?;
            left -= 1;
        }
    }
    value.checked_mul(10_u64.pow(left))
}

/// Format of floats in programs: 1.5e-05.
fn exponent(text: &[u8], digits: u32) -> Option<u64> {
    if !text.iter().all(|byte| byte.is_ascii_digit() || b".eE+-".contains(byte)) || text.first() == Some(&b'-') {
        return None;
    }
    let value = std::str::from_utf8(text).ok()?.parse::<f64>().ok()? * 10_f64.powi(digits as i32);
    // 2^63 is a float; what is below it fits.
    (value < 9_223_372_036_854_775_808.0).then(|| value.round() as u64)
}

/// The fields of a line between commas, at most `N`, and how many there are in all.
#[inline]
pub(crate) fn commas<const N: usize>(line: &[u8]) -> ([&[u8]; N], usize) {
    let mut fields: [&[u8]; N] = [b""; N];
    let (mut begin, mut count) = (0, 0);
    for end in memchr::memchr_iter(b',', line).chain(std::iter::once(line.len())) {
        if let Some(field) = fields.get_mut(count) {
            *field = line[begin..end].trim_ascii();
        }
        count += 1;
        begin = end + 1;
    }
    (fields, count)
}

/// The fields of a line between blanks, at most `N`, and how many there are in all.
#[inline]
pub(crate) fn blanks<const N: usize>(line: &[u8]) -> ([&[u8]; N], usize) {
    let mut fields: [&[u8]; N] = [b""; N];
    let mut count = 0;
    let parts = line.split(|byte| *byte == b' ' || *byte == b'\t').filter(|field| !field.is_empty());
    for part in parts {
        if let Some(field) = fields.get_mut(count) {
            *field = part;
        }
        count += 1;
    }
    (fields, count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_scaled_without_rounding() {
        assert_eq!(scaled(b"0.551706", 9), Some(551_706_000));
        assert_eq!(scaled(b"1455592917.112233999", 9), Some(1_455_592_917_112_233_999));
        assert_eq!(scaled(b"0.1234567899", 9), Some(123_456_789));
        assert_eq!(scaled(b"1686.00000", 3), Some(1_686_000));
        assert_eq!(scaled(b".5", 1), Some(5));
        assert_eq!(scaled(b"5.", 1), Some(50));
        assert_eq!(scaled(b"1.5e-05", 9), Some(15_000));
        assert_eq!(scaled(b"2e3", 0), Some(2000));
        for none in
            ["", ".", "-1", "-1.5", "1,5", "1.2.3", "x", "1e99", "e", "nan", "inf", "18446744073709551616", "-1e3"]
        {
            assert_eq!(scaled(none.as_bytes(), 0), None, "{none}");
        }
    }

    #[test]
    fn fields_are_counted_beyond_those_that_are_kept() {
        assert_eq!(commas::<2>(b"a, b ,c"), ([&b"a"[..], b"b"], 3));
        assert_eq!(commas::<2>(b""), ([&b""[..], b""], 1));
        assert_eq!(blanks::<3>(b"  a\tb  c d"), ([&b"a"[..], b"b", b"c"], 4));
    }
}
