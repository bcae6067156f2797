//! Sizes, addresses, rates, speeds of rotation and ratios.

use std::fmt;
use std::ops::Add;
use std::str::FromStr;

use crate::text::{UnitError, format_scaled, parse_scaled, scaled};
use crate::time::Span;

/// A size in bytes. "GB" is 10^9, "GiB" is 2^30; a single letter ("4k") is binary, as in fio and vdbench.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

/// A logical block address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lba(pub u64);

/// A rate in bytes a second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(pub u64);

/// Revolutions a minute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rpm(pub u32);

/// Power in milliwatts; "7.2 W" in text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Power(pub u64);

/// A share, between 0 and 1; "25 %" in text.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Ratio(pub f64);

const SIZE_UNITS: &[(&str, f64)] = &[
    ("B", 1.0),
    ("kB", 1e3),
    ("KB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
    ("PB", 1e15),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("TiB", 1_099_511_627_776.0),
    ("PiB", 1_125_899_906_842_624.0),
    ("k", 1024.0),
    ("K", 1024.0),
    ("m", 1_048_576.0),
    ("M", 1_048_576.0),
    ("g", 1_073_741_824.0),
    ("G", 1_073_741_824.0),
    ("t", 1_099_511_627_776.0),
    ("T", 1_099_511_627_776.0),
    ("p", 1_125_899_906_842_624.0),
    ("P", 1_125_899_906_842_624.0),
];

impl FromStr for Bytes {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let accepted = "a size with its unit, such as \"4 KiB\", \"4k\" or \"900 GB\" \
             (B, kB, MB, GB, TB, PB, KiB, MiB, GiB, TiB, PiB)";
        parse_scaled(text, SIZE_UNITS, accepted).map(Self)
    }
}

/// In the unit, decimal or binary, in which the number is shortest: exactly, and binary where both are as short.
impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const BINARY: [(&str, u64); 4] = [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
        const DECIMAL: [(&str, u64); 4] =
            [("TB", 1_000_000_000_000), ("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1000)];
        let binary = BINARY.iter().find(|(_, scale)| self.0 >= *scale && self.0.is_multiple_of(*scale));
        let decimal = DECIMAL.iter().find(|(_, scale)| self.0 >= *scale && self.0.is_multiple_of(scale / 1000));
        let binary = binary.map(|(name, scale)| (format!("{}", self.0 / scale), *name));
        let decimal = decimal.map(|(name, scale)| (scaled(self.0, *scale as f64), *name));
        let shorter = [binary, decimal].into_iter().flatten().min_by_key(|(number, _)| number.len());
        match shorter {
            Some((number, name)) => write!(f, "{number} {name}"),
            None => write!(f, "{} B", self.0),
        }
    }
}

impl Add for Bytes {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Rate {
    /// Time to move `bytes` at this rate, rounded to the nearest nanosecond; zero at rate zero ("no limit").
    #[inline]
    pub fn time_for(self, bytes: u64) -> Span {
        if self.0 == 0 {
            return Span::ZERO;
        }
        Span((bytes * 1_000_000_000 + self.0 / 2) / self.0)
    }
}

impl FromStr for Rate {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        const UNITS: &[(&str, f64)] = &[
            ("B/s", 1.0),
            ("kB/s", 1e3),
            ("MB/s", 1e6),
            ("GB/s", 1e9),
            ("KiB/s", 1024.0),
            ("MiB/s", 1_048_576.0),
            ("GiB/s", 1_073_741_824.0),
            ("Mb/s", 125e3),
            ("Gb/s", 125e6),
        ];
        let accepted =
            "a rate with its unit, such as \"1.2 GB/s\" (B/s, kB/s, MB/s, GB/s, KiB/s, MiB/s, GiB/s, Mb/s, Gb/s)";
        parse_scaled(text, UNITS, accepted).map(Self)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        format_scaled(f, self.0, &[("GB/s", 1e9), ("MB/s", 1e6), ("kB/s", 1e3), ("B/s", 1.0)])
    }
}

impl FromStr for Rpm {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let accepted = "a speed of rotation from 60 rpm to 100000 rpm, such as \"15000 rpm\"";
        let value = parse_scaled(text, &[("rpm", 1.0)], accepted)?;
        match u32::try_from(value) {
            Ok(rpm) if (60..=100_000).contains(&rpm) => Ok(Self(rpm)),
            _ => Err(UnitError { value: text.to_owned(), accepted }),
        }
    }
}

impl fmt::Display for Rpm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} rpm", self.0)
    }
}

impl FromStr for Power {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        parse_scaled(
            text,
            &[("W", 1e3), ("mW", 1.0), ("kW", 1e6)],
            "a power with its unit, such as \"7.2 W\" (mW, W, kW)",
        )
        .map(Self)
    }
}

impl fmt::Display for Power {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        format_scaled(f, self.0, &[("W", 1e3), ("mW", 1.0)])
    }
}

impl FromStr for Ratio {
    type Err = UnitError;
    fn from_str(text: &str) -> Result<Self, UnitError> {
        let accepted = "a share from 0 % to 100 %, such as \"25 %\"";
        let wrong = || UnitError { value: text.to_owned(), accepted };
        let number: f64 = text.trim().strip_suffix('%').ok_or_else(wrong)?.trim().parse().map_err(|_| wrong())?;
        if (0.0..=100.0).contains(&number) { Ok(Self(number / 100.0)) } else { Err(wrong()) }
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} %", self.0 * 100.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_at_a_rate_is_rounded_to_the_nearest_nanosecond() {
        // 1e9 / 7 = 142,857,142.86
        let times = [1, 2, 3, 4].map(|bytes| Rate(7).time_for(bytes).0);
        assert_eq!(times, [142_857_143, 285_714_286, 428_571_429, 571_428_571]);
        assert_eq!(Rate(1_000_000_000).time_for(4096), Span(4096));
        assert_eq!(Rate(0).time_for(4096), Span::ZERO, "no limit");
    }

    #[test]
    fn sizes_are_written_exactly_and_in_the_unit_in_which_the_number_is_shortest() {
        for (bytes, text) in [
            (0, "0 B"),
            (999, "999 B"),
            (1_000, "1 kB"),
            (1_024, "1 KiB"),
            (3 << 20, "3 MiB"),
            (5 << 30, "5 GiB"),
            (1 << 40, "1 TiB"),
            (1_500_000_000, "1.5 GB"),
            (900_000_000_000, "900 GB"),
            (901_000_000_000, "901 GB"),
            (512_000, "500 KiB"),
            (512_000_000, "512 MB"),
            (960_197_124_096, "937692504 KiB"),
            (1_001_000_000_000, "1.001 TB"),
            (1_234_567, "1234.567 kB"),
            (1_234_567_890, "1234567.89 kB"),
        ] {
            assert_eq!(Bytes(bytes).to_string(), text);
        }
        assert_eq!(Bytes(5) + Bytes(7), Bytes(12));
    }

    #[test]
    fn the_rest_is_written_as_it_is_read() {
        let rates = [500, 1_500, 2_000_000, 1_200_000_000].map(|rate| Rate(rate).to_string());
        assert_eq!(rates, ["500 B/s", "1.5 kB/s", "2 MB/s", "1.2 GB/s"]);
        assert_eq!((Rpm(15_000).to_string(), Ratio(0.25).to_string()), ("15000 rpm".into(), "25 %".into()));
        assert_eq!((Power(7_200).to_string(), Power(50).to_string()), ("7.2 W".into(), "50 mW".into()));
        assert_eq!((crate::Instant(4_160_000).to_string(), Span(7).to_string()), ("4.16 ms".into(), "7 ns".into()));
    }

    #[test]
    fn a_rotation_is_from_60_to_100_000_a_minute_and_a_share_from_nothing_to_all() {
        for (text, is_right) in [("59 rpm", false), ("60 rpm", true), ("100000 rpm", true), ("100001 rpm", false)] {
            assert_eq!(text.parse::<Rpm>().is_ok(), is_right, "{text}");
        }
        assert_eq!(["0 %", "100 %"].map(str::parse), [Ok(Ratio(0.0)), Ok(Ratio(1.0))]);
        assert!("100.1 %".parse::<Ratio>().is_err());
    }

    #[test]
    fn what_adds_up_to_more_than_is_counted_is_refused() {
        assert!("8999999999 GB".parse::<Bytes>().is_ok());
        assert!("9000000000 GB".parse::<Bytes>().is_err());
    }
}
