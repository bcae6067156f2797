//! Times of the calendar and of the day, as text.

use super::DAY;
use crate::numbers::{scaled, whole};

/// ns since 1970 of `2025-11-03 10:15:30.123456`, with `T` or a blank between, `/` for `-`, and `Z` or an offset such
/// as `+01:00` behind; ns since midnight of a time of day. None for anything else. Leap seconds are not counted.
pub(crate) fn nanoseconds(text: &[u8]) -> Option<u64> {
    let (days, clock) = match text.get(10) {
        Some(b'T' | b't' | b' ') => (days_of(&text[..10])?, &text[11..]),
        _ => (0, text),
    };
    let clock = clock.strip_suffix(b"Z").or_else(|| clock.strip_suffix(b" UTC")).unwrap_or(clock);
    let zone = clock.iter().position(|byte| matches!(byte, b'+' | b'-'));
    let (clock, east) = zone.map_or((clock, Some(0)), |at| (clock[..at].trim_ascii(), zone_of(&clock[at..])));
    let (hour, minute, rest) = (clock.get(..2)?, clock.get(3..5)?, clock.get(6..)?);
    if clock[2] != b':' || clock[5] != b':' {
        return None;
    }
    let (hour, minute) = (whole(hour).filter(|hour| *hour < 24)?, whole(minute).filter(|minute| *minute < 60)?);
    let second = scaled(rest, 9).filter(|second| *second < 61_000_000_000)?;
    let minutes = (days * 1440 + hour * 60 + minute).checked_add_signed(-east?)?;
    (minutes * 60_000_000_000).checked_add(second)
}

/// Days since 1970 of a date, by the algorithm of Hinnant (`days_from_civil`).
fn days_of(date: &[u8]) -> Option<u64> {
    if !matches!((date[4], date[7]), (b'-', b'-') | (b'/', b'/')) {
        return None;
    }
    let (year, month, day) = (whole(&date[..4])?, whole(&date[5..7])?, whole(&date[8..10])?);
    if !(1970..2262).contains(&year) || !(1..=12).contains(&month) || !(1..=days_in(year, month)).contains(&day) {
        return None;
    }
    let year = year - u64::from(month <= 2);
    let (era, of_era) = (year / 400, year % 400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    (era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year).checked_sub(719_468)
}

const HOUR: u64 = 3_600_000_000_000;

fn days_in(year: u64, month: u64) -> u64 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Day of the first line of times of day: lines of days before it may follow.
const FIRST_DAY: u64 = 10_000;

/// Note of times of day that go back to the day before.
pub(crate) const BACK_OVER_MIDNIGHT: &str =
    "times of day go back over midnight by less than an hour: taken as lines out of order, not as a later day";

/// Times of day without a date, continued past midnight. Lines may be out of order by less than an hour.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Days {
    last: Option<u64>,
    day: u64,
    /// Whether a line was of the day before the previous line.
    went_back: bool,
}

impl Default for Days {
    fn default() -> Self {
        Self { last: None, day: FIRST_DAY, went_back: false }
    }
}

impl Days {
    /// ns of a time of day since the midnight `FIRST_DAY` days before the first line; None for a text that is not one.
    pub(crate) fn continued(&mut self, text: &[u8]) -> Option<u64> {
        // Most traces count time: their lines are parsed once.
        if text.get(2) != Some(&b':') {
            return None;
        }
        let of_day = nanoseconds(text)?;
        match self.last.replace(of_day) {
            Some(last) if of_day + HOUR < last => self.day += 1,
            Some(last) if last + DAY < of_day + HOUR => {
                self.day = self.day.saturating_sub(1);
                self.went_back = true;
            }
            _ => {}
        }
        of_day.checked_add(self.day.checked_mul(DAY)?)
    }

    /// Whether a line was of the day before the previous line.
    pub(crate) fn went_back(&self) -> bool {
        self.went_back
    }
}

/// Minutes east of Greenwich, of `+0100` or `-05:30`.
fn zone_of(text: &[u8]) -> Option<i64> {
    let digits: Vec<u8> = text[1..].iter().copied().filter(|byte| *byte != b':').collect();
    let minutes = match digits.len() {
        2 => whole(&digits)? * 60,
        4 => whole(&digits[..2])? * 60 + whole(&digits[2..])?,
        _ => return None,
    };
    let minutes = i64::try_from(minutes).ok().filter(|minutes| *minutes <= 18 * 60)?;
    Some(if text[0] == b'-' { -minutes } else { minutes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_the_calendar_are_nanoseconds_since_1970() {
        let at = |text: &str| nanoseconds(text.as_bytes());
        assert_eq!(at("1970-01-01 00:00:00"), Some(0));
        assert_eq!(at("2025-11-03 10:15:30.123456"), Some(1_762_164_930_123_456_000));
        for same in
            ["2025-11-03T10:15:30.123456Z", "2025/11/03 11:15:30.123456+01:00", "2025-11-03 05:15:30.123456 -0500"]
        {
            assert_eq!(at(same), at("2025-11-03 10:15:30.123456"), "{same}");
        }
        assert_eq!(
            at("2024-03-01 00:00:00").zip(at("2024-02-28 00:00:00")).map(|(a, b)| a - b),
            Some(172_800_000_000_000)
        );
        assert_eq!(at("10:15:30.5"), Some(36_930_500_000_000));
        for none in [
            "2025-02-30 00:00:00",
            "2025-02-29 00:00:00",
            "2100-02-29 00:00:00",
            "2025-04-31 00:00:00",
            "",
            "2025-13-03 10:15:30",
            "2025-11-03",
            "25:00:00",
            "10:15",
            "10:15:30+1",
            "1969-12-31 00:00:00",
            "x",
        ] {
            assert_eq!(at(none), None, "{none}");
        }
        assert_eq!(at("2024-02-29 00:00:00"), Some(1_709_164_800_000_000_000));
    }

    #[test]
    fn times_of_day_go_on_past_midnight() {
        let mut days = Days::default();
        let mut at = |text: &str| days.continued(text.as_bytes()).map(|ns| (ns - FIRST_DAY * DAY) / 1_000_000_000);
        let times = ["23:59:58", "00:00:01", "23:59:59", "00:00:02", "13:00:00", "00:00:00"];
        assert_eq!(times.map(&mut at), [86_398, 86_401, 86_399, 86_402, 133_200, 172_800].map(Some));
        assert_eq!(at("2025-11-03 10:15:30"), None);
    }

    #[test]
    fn a_line_may_be_of_the_day_before_the_first() {
        for (times, seconds) in [
            (&["00:00:01", "23:59:59", "00:00:02", "00:00:03"][..], &[1, -1, 2, 3][..]),
            (&["00:10:00", "23:50:00", "23:55:00", "00:10:00", "23:50:00"], &[600, -600, -300, 600, -600]),
            (&["00:10:00", "23:50:00", "00:10:00", "12:00:00", "23:50:00"], &[600, -600, 600, 43_200, 85_800]),
        ] {
            let mut days = Days::default();
            let since = |text: &&str| {
                let ns = days.continued(text.as_bytes()).expect("a time of day");
                (i128::from(ns) - i128::from(FIRST_DAY * DAY)) / 1_000_000_000
            };
            assert_eq!(times.iter().map(since).collect::<Vec<_>>(), seconds, "{times:?}");
            assert!(days.went_back());
        }
        let mut days = Days::default();
        assert!(["23:59:58", "00:00:01", "00:00:00"].iter().all(|text| days.continued(text.as_bytes()).is_some()));
        assert!(!days.went_back(), "a midnight that is passed once is no line out of order");
    }
}
