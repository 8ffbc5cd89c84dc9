//! Exact instants: RFC 3339 under the protocol's timestamp profile (MWP-FND-004).

use std::time::Duration;

const SECONDS_OF_DAY: i64 = 86_400;

/// A point in time, compared by all of its digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant {
    seconds: i64,
    /// The digits behind the point, without zeros at their end.
    fraction: String,
}

impl Instant {
    /// The instant that a text names; `None` where the profile does not admit the text.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let separators = [(4, b'-'), (7, b'-'), (13, b':'), (16, b':')];
        let well_separated = bytes.len() >= 20
            && separators.iter().all(|(at, mark)| bytes[*at] == *mark)
            && matches!(bytes[10], b'T' | b't');
        if !well_separated || !text.is_ascii() {
            return None;
        }
        let (year, month, day) = (
            number(text, 0, 4)?,
            number(text, 5, 7)?,
            number(text, 8, 10)?,
        );
        let clock = [
            number(text, 11, 13)?,
            number(text, 14, 16)?,
            number(text, 17, 19)?,
        ];
        let lawful_date = year >= 1 && (1..=12).contains(&month) && day >= 1;
        if !lawful_date || day > days_of_month(year, month) {
            return None;
        }
        if clock[0] > 23 || clock[1] > 59 || clock[2] > 59 {
            return None;
        }
        let (fraction, zone) = split_fraction(&text[19..])?;
        let days = days_from_civil(year, month, day);
        let local = days * SECONDS_OF_DAY + clock[0] * 3600 + clock[1] * 60 + clock[2];
        Some(Self {
            seconds: local - offset(zone)?,
            fraction: fraction.trim_end_matches('0').to_owned(),
        })
    }

    /// This instant and some time.
    pub fn plus(&self, time: Duration) -> Self {
        let nanoseconds = u64::from(self.nanoseconds()) + u64::from(time.subsec_nanos());
        let carried = (nanoseconds / 1_000_000_000) as i64;
        let seconds = self.seconds.saturating_add(time.as_secs() as i64);
        let fraction = format!("{:09}", nanoseconds % 1_000_000_000);
        Self {
            seconds: seconds.saturating_add(carried),
            fraction: fraction.trim_end_matches('0').to_owned(),
        }
    }

    /// The seconds from `earlier` to this instant; negative where it is the later one.
    pub fn seconds_since(&self, earlier: &Self) -> f64 {
        let nanoseconds = f64::from(self.nanoseconds()) - f64::from(earlier.nanoseconds());
        (self.seconds - earlier.seconds) as f64 + nanoseconds / 1e9
    }

    /// In UTC with an upper-case `Z`.
    pub fn spelled(&self) -> String {
        let (year, month, day) = civil_from_days(self.seconds.div_euclid(SECONDS_OF_DAY));
        let second = self.seconds.rem_euclid(SECONDS_OF_DAY);
        let (hour, minute) = (second / 3600, second / 60 % 60);
        let point = if self.fraction.is_empty() { "" } else { "." };
        let fraction = &self.fraction;
        let second = second % 60;
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{point}{fraction}Z")
    }

    fn nanoseconds(&self) -> u32 {
        let digits: String = self
            .fraction
            .chars()
            .chain("000000000".chars())
            .take(9)
            .collect();
        digits.parse().unwrap_or(0)
    }
}

/// The length of an ISO 8601 duration of days, hours, minutes and seconds.
pub fn duration(text: &str) -> Option<Duration> {
    let mut seconds = 0.0;
    let mut digits = String::new();
    for letter in text.strip_prefix('P')?.chars() {
        let unit = match letter {
            '0'..='9' | '.' => {
                digits.push(letter);
                continue;
            }
            'T' => continue,
            'D' => 86_400.0,
            'H' => 3600.0,
            'M' => 60.0,
            'S' => 1.0,
            _ => return None,
        };
        seconds += digits.parse::<f64>().ok()? * unit;
        digits.clear();
    }
    Some(seconds_long(seconds))
}

/// A span of so many seconds, neither negative nor beyond what instants hold.
pub fn seconds_long(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds.clamp(0.0, 1e11))
}

fn number(text: &str, from: usize, to: usize) -> Option<i64> {
    let digits = &text[from..to];
    let all_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
    all_digits.then(|| digits.parse().ok()).flatten()
}

fn split_fraction(rest: &str) -> Option<(&str, &str)> {
    let Some(behind_point) = rest.strip_prefix('.') else {
        return Some(("", rest));
    };
    let end = behind_point.find(|letter: char| !letter.is_ascii_digit())?;
    (end > 0).then(|| behind_point.split_at(end))
}

/// The seconds by which a zone is ahead of UTC; `-00:00` is no zone here.
fn offset(zone: &str) -> Option<i64> {
    if zone == "Z" || zone == "z" {
        return Some(0);
    }
    let sign = match zone.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    if zone.len() != 6 || zone.as_bytes()[3] != b':' || zone == "-00:00" {
        return None;
    }
    let (hours, minutes) = (number(zone, 1, 3)?, number(zone, 4, 6)?);
    (hours <= 23 && minutes <= 59).then_some(sign * (hours * 3600 + minutes * 60))
}

fn days_of_month(year: i64, month: i64) -> i64 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1970-01-01 in the Gregorian calendar, counted from March so that leap days come last.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_instants_are_equal_in_every_spelling() {
        let noon = Instant::parse("2026-07-15T12:00:00Z");
        assert_eq!(noon, Instant::parse("2026-07-15t14:00:00.000+02:00"));
        assert!(noon < Instant::parse("2026-07-15T12:00:00.00000000001Z"));
        assert_eq!(noon.unwrap().spelled(), "2026-07-15T12:00:00Z");
    }

    #[test]
    fn what_the_profile_excludes_is_no_instant() {
        for text in [
            "2026-02-29T00:00:00Z",
            "2026-06-30T23:59:60Z",
            "0000-01-01T00:00:00Z",
            "2026-07-15T12:00:00-00:00",
            "2026-07-15T12:00:00.Z",
            "2026-07-15 12:00:00Z",
            "2026-07-15T12:00:00",
            "2026-07-15T12:00:00+0200",
        ] {
            assert_eq!(Instant::parse(text), None, "{text}");
        }
    }

    #[test]
    fn time_is_added_over_the_end_of_a_year() {
        let last = Instant::parse("2027-12-31T23:59:59.5Z").unwrap();
        let first = last.plus(seconds_long(0.75));
        assert_eq!(first.spelled(), "2028-01-01T00:00:00.25Z");
        assert_eq!(first.seconds_since(&last), 0.75);
        assert_eq!(duration("P1DT2H0.5S"), Some(seconds_long(93_600.5)));
    }
}
