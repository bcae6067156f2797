//! Contents of the drives before the first phase, and phases that write without timing.

use hotband_machine::{Section, SpecError};

use crate::data::DataSpec;
use crate::phase::Amount;

/// Contents of the drives before the first phase. In this order, and in no time:
#[derive(Clone, Debug, PartialEq)]
pub struct Precondition {
    /// Sequential writes, times the capacity of every target.
    pub sequential: f64,
    /// Uniformly random writes of 4 KiB, times the capacity of every target.
    pub random: f64,
    /// Writes of the workload's own streams, times the capacity of the targets that they write to.
    pub workload: f64,
    /// Everything is trimmed.
    pub trim: bool,
    /// Data of the sequential and random writes; that of the streams of each target by default.
    pub data: Option<DataSpec>,
    /// File and key that ask for it, for errors.
    pub asked_at: (String, String),
}

/// Names of the states that represent a preconditioning.
const STATES: [&str; 3] = ["fob", "preconditioned", "trimmed"];
/// Times the capacity: more is a slip of the pen.
const FILLS: std::ops::RangeInclusive<f64> = 0.0..=1000.0;

impl Precondition {
    /// Meaning of the state `name`: "fob" (fresh out of the box) nothing; "preconditioned" twice the capacity
    /// written sequentially (SNIA SSS PTS, workload-independent preconditioning) and once by the workload itself;
    /// "trimmed" twice the capacity written sequentially and everything trimmed.
    pub(crate) fn of_state(name: &str, asked_at: (&str, &str)) -> Result<Self, SpecError> {
        let plain = Self {
            sequential: 2.0,
            random: 0.0,
            workload: 0.0,
            trim: false,
            data: None,
            asked_at: (asked_at.0.to_owned(), asked_at.1.to_owned()),
        };
        match name {
            "fob" => Ok(Self { sequential: 0.0, ..plain }),
            "preconditioned" => Ok(Self { workload: 1.0, ..plain }),
            "trimmed" => Ok(Self { trim: true, ..plain }),
            other => Err(SpecError::unknown(asked_at.0, asked_at.1, other, &STATES)),
        }
    }

    /// Whether anything is written.
    pub fn writes(&self) -> bool {
        self.sequential + self.random + self.workload > 0.0
    }

    /// Reads `[precondition]`.
    pub(crate) fn read(section: Section) -> Result<Self, SpecError> {
        let fills = |key| section.number(key, FILLS);
        let (sequential, random, workload) = (fills("sequential")?, fills("random")?, fills("workload")?);
        let trim = section.flag("trim")?;
        let data = DataSpec::read(&section, "data")?;
        let parts = sequential.or(random).or(workload).is_some() || trim.is_some();
        let spec = match section.text("state")? {
            Some(state) if parts => {
                let accepted = "sets sequential, random, workload and trim: use state or these keys";
                return Err(section.error("state", state, accepted));
            }
            Some(state) => {
                let key = section.key("state");
                Self { data, ..Self::of_state(state, (section.file(), &key))? }
            }
            None if !parts => {
                let accepted = format!(
                    "missing: one of {}; or sequential, random, workload (times the capacity) and trim",
                    STATES.join(", ")
                );
                return Err(section.error("state", "", accepted));
            }
            None => Self {
                sequential: sequential.unwrap_or(0.0),
                random: random.unwrap_or(0.0),
                workload: workload.unwrap_or(0.0),
                trim: trim.unwrap_or(false),
                data,
                asked_at: (section.file().to_owned(), section.key("trim")),
            },
        };
        section.finish()?;
        Ok(spec)
    }
}

/// Keys that say something about time, or about who asks.
const TIMED: [&str; 13] = [
    "duration",
    "until",
    "operations",
    "measure",
    "threads",
    "until_warm",
    "until_steady",
    "until_precise",
    "round",
    "scripts",
    "clients",
    "until_done",
    "drain",
];

/// Read the amount that a phase with `untimed = true` writes; none for another phase.
pub(crate) fn read_untimed(section: &Section) -> Result<Option<Amount>, SpecError> {
    let untimed = section.flag("untimed")?.unwrap_or(false);
    let fills = section.number("fills", FILLS)?;
    if !untimed {
        return match fills {
            Some(fills) => Err(section.error("fills", fills.to_string(), "only a phase with untimed = true has fills")),
            None => Ok(None),
        };
    }
    if let Some(key) = TIMED.into_iter().find(|key| section.table().contains_key(*key)) {
        let accepted = "a phase with untimed = true takes no time: it has a name, streams, and fills or ios";
        return Err(section.error(key, "", accepted));
    }
    let amount = match (fills, section.count("ios", 1..=u64::MAX >> 1)?) {
        (Some(fills), None) if fills > 0.0 => Amount::Fills(fills),
        (None, Some(ios)) => Amount::Ios(ios),
        _ => return Err(section.error("fills", "", "expected either fills = 2.0 (above zero) or ios = N")),
    };
    Ok(Some(amount))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Workload;

    fn workload(top: &str, phases: &str) -> Result<Workload, SpecError> {
        let text = format!(
            "{top}\n[load]\nclosed = {{ threads = 1 }}\n[[streams]]\nname = \"a\"\nread_pct = 50\nrandom_pct = 100\n\
             size = \"4 KiB\"\ndata = 0.2\n[[streams]]\nname = \"r\"\nread_pct = 100\nrandom_pct = 100\n\
             size = \"4 KiB\"\n{phases}\n[[phases]]\nios = 1\nmeasure = true\n"
        );
        Workload::read("w.toml", &text)
    }

    fn precondition(keys: &str) -> Result<Precondition, SpecError> {
        workload("", &format!("[precondition]\n{keys}")).map(|workload| workload.precondition.expect("it is there"))
    }

    #[test]
    fn states_stand_for_what_the_guide_says() {
        let parts = |spec: Precondition| (spec.sequential, spec.random, spec.workload, spec.trim);
        assert_eq!(parts(precondition("state = \"fob\"").unwrap()), (0.0, 0.0, 0.0, false));
        assert_eq!(parts(precondition("state = \"preconditioned\"").unwrap()), (2.0, 0.0, 1.0, false));
        assert_eq!(parts(precondition("state = \"trimmed\"").unwrap()), (2.0, 0.0, 0.0, true));
        assert_eq!(parts(precondition("sequential = 1.5\nrandom = 1").unwrap()), (1.5, 1.0, 0.0, false));
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        let cases = [
            ("state = \"worn\"", "precondition.state", "fob, preconditioned, trimmed"),
            ("state = \"fob\"\nrandom = 1.0", "precondition.state", "use state or these keys"),
            ("data = 0.4", "precondition.state", "missing"),
            ("sequential = -1.0", "precondition.sequential", "0 to 1000"),
            ("state = \"fob\"\nfill = 1", "precondition.fill", "unknown key"),
        ];
        for (keys, key, accepted) in cases {
            let error = precondition(keys).expect_err(keys);
            assert!(error.key == key && error.accepted.contains(accepted), "{keys}: {error}");
        }
    }

    #[test]
    fn phases_without_timing_are_checked() {
        let cases = [
            ("untimed = true\nfills = 1.0\nduration = \"1 s\"", "phases[0].duration", "takes no time"),
            ("untimed = true\nfills = 1.0\nmeasure = true", "phases[0].measure", "takes no time"),
            ("untimed = true\nfills = 1.0\nscripts = []", "phases[0].scripts", "takes no time"),
            ("untimed = true", "phases[0].fills", "either fills"),
            ("untimed = true\nfills = 1.0\nios = 5", "phases[0].fills", "either fills"),
            ("untimed = true\nfills = 0.0", "phases[0].fills", "above zero"),
            ("fills = 1.0\nduration = \"1 s\"", "phases[0].fills", "untimed = true"),
            ("untimed = true\nios = 5\nstreams = [\"r\"]", "phases[0].streams", "no stream"),
            (
                "duration = \"1 s\"\n[[phases]]\nuntimed = true\nios = 5",
                "phases[1].untimed",
                "before every timed phase",
            ),
        ];
        for (keys, key, accepted) in cases {
            let error = workload("", &format!("[[phases]]\n{keys}")).expect_err(keys);
            assert!(error.key == key && error.accepted.contains(accepted), "{keys}: {error}");
        }
        let good = workload("", "[[phases]]\nuntimed = true\nfills = 0.5").unwrap();
        assert_eq!(good.phases[0].untimed, Some(Amount::Fills(0.5)));
        let writers: Vec<usize> = good.untimed_streams(None).map(|(index, _)| index).collect();
        assert_eq!((writers, good.timed_phases().count()), (vec![0], 1));
    }

    #[test]
    fn data_of_a_stream_comes_before_that_of_the_workload_and_set_before_both() {
        let mut spec = workload("data = 0.6", "[precondition]\nrandom = 1.0\ndata = 0.9").unwrap();
        assert_eq!(spec.data_of(0), Some(&DataSpec::Constant(0.2)));
        assert_eq!(spec.data_of(1), Some(&DataSpec::Constant(0.6)));
        spec.set("data", "0.3").unwrap();
        assert_eq!(
            (spec.data_of(0), spec.data_of(1)),
            (Some(&DataSpec::Constant(0.3)), Some(&DataSpec::Constant(0.3)))
        );
        assert_eq!(spec.precondition.as_ref().and_then(|have| have.data.clone()), None);
        spec.set("state", "trimmed").unwrap();
        assert_eq!(spec.precondition.map(|have| (have.random, have.trim)), Some((0.0, true)));
        assert_eq!(workload("", "").unwrap().data_of(1), None);
    }
}
