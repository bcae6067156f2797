//! Reading a workload from TOML text.

use hotband_machine::{EventSpec, Section, SpecError, What, parse_toml};
use hotband_units::{Bytes, Ratio, Span};
use toml::Table;

use crate::app_spec::AppSpec;
use crate::data::DataSpec;
use crate::hotband::HotBandSpec;
use crate::limits::read_limits;
use crate::load::Load;
use crate::most::{self, MOST_INTERVALS, MOST_OUTSTANDING, MOST_SIZE, WEIGHT_ACCEPTED};
use crate::offsets::OffsetSpec;
use crate::phase::Phase;
use crate::precondition::{Precondition, read_untimed};
use crate::read_script::{read_files, read_network, read_phase_scripts, read_scripts};
use crate::script::ScriptSpec;
use crate::sizes::Sizes;
use crate::sources::trace::TraceSpec;
use crate::spec::{Cursor, RangeSpec, StreamSpec, Workload};
use crate::stream::RandomMode;
use crate::until::Until;

impl Workload {
    /// Reads and checks a workload.
    ///
    /// # Errors
    /// The first mistake, with file, key, value and what is accepted.
    pub fn read(file: &str, text: &str) -> Result<Self, SpecError> {
        let workload = Self::of_table(file, parse_toml(file, text)?)?;
        let ends = Section::new(file, "", &workload.table).section("uncertainty")?;
        ends.iter().try_for_each(|ends| workload.check_uncertainty(ends))?;
        Ok(workload)
    }

    /// Reads a parsed text. Does not check `[uncertainty]`.
    pub(crate) fn of_table(file: &str, table: Table) -> Result<Self, SpecError> {
        let top = Section::new(file, "", &table);
        let title = top.text("title")?.unwrap_or(file).to_owned();
        let source = top.text("source")?.unwrap_or("not stated").to_owned();
        top.text("confidence")?;
        top.text("note")?;
        let (load, in_a_row) = read_load(&top)?;
        let streams = top.list("streams")?.into_iter().map(read_stream).collect::<Result<Vec<_>, _>>()?;
        let app = top.section("app")?.map(AppSpec::read).transpose()?;
        let scripts = read_scripts(&top, &streams)?;
        let network = read_network(&top, &scripts)?;
        let phases = top.list("phases")?.into_iter().map(|phase| read_phase(phase, &streams, &scripts));
        let mut phases = phases.collect::<Result<Vec<_>, _>>()?;
        let traces = TraceSpec::read_all(&top, phases.is_empty())?;
        phases.extend(traces.first().filter(|trace| trace.is_whole).map(|_| TraceSpec::whole()));
        let interval = top.quantity::<Span>("interval")?.unwrap_or(Span(1_000_000_000));
        let mut events = EventSpec::read_all(&top)?;
        events.extend(top.section("power_loss")?.map(read_power_loss).transpose()?);
        let limits = read_limits(&top)?;
        let data = DataSpec::read(&top, "data")?;
        let precondition = top.section("precondition")?.map(Precondition::read).transpose()?;
        let smart_interval = top.quantity::<Span>("smart_interval")?.unwrap_or(SMART_INTERVAL);
        let probes = top.section("record")?.map(read_probes).transpose()?.unwrap_or_default();
        top.section("uncertainty")?;
        top.finish()?;
        let workload = Self {
            file: file.to_owned(),
            title,
            source,
            load,
            in_a_row,
            streams,
            app,
            traces,
            scripts,
            network,
            phases,
            interval,
            events,
            limits,
            data,
            precondition,
            smart_interval,
            probes,
            table: Table::new(),
        };
        workload.check()?;
        Ok(Self { table, ..workload })
    }

    /// `[uncertainty]` names keys of `--set` with both ends of their range; a run does not use it. Users of the
    /// range run the load at its ends: each must be one that `--set` takes.
    fn check_uncertainty(&self, section: &Section) -> Result<(), SpecError> {
        for (key, ends) in section.table() {
            let ends = ends.as_array().map(Vec::as_slice).unwrap_or_default();
            let texts: Vec<&str> = ends.iter().filter_map(toml::Value::as_str).collect();
            if texts.len() != 2 || ends.len() != 2 {
                return Err(section.error(
                    key,
                    "",
                    "expected both ends as texts, such as think = [\"2 ms\", \"8 ms\"]",
                ));
            }
            for end in &texts {
                let tried = self.clone().set(key, end);
                tried.map_err(|error| section.error(key, *end, error.accepted))?;
            }
            if let (Some(low), Some(high)) = (quantity(texts[0]), quantity(texts[1]))
                && low > high
            {
                let accepted = "its first end is above its second: expected the lower end first";
                return Err(section.error(key, texts.join(" .. "), accepted));
            }
        }
        Ok(())
    }

    fn check(&self) -> Result<(), SpecError> {
        let error = |key: &str, value: String, accepted: &str| Err(SpecError::new(&self.file, key, value, accepted));
        if self.streams.is_empty() && self.app.is_none() && self.traces.is_empty() {
            let accepted = "missing: a workload has at least one [[streams]], or an [app] or a [trace]";
            return error("streams", String::new(), accepted);
        }
        if self.app.is_some() && !self.traces.is_empty() {
            return error("trace", String::new(), "cannot be combined with an [app]: remove one of them");
        }
        let shared: Vec<&StreamSpec> = self.shared_streams().map(|(_, stream)| stream).collect();
        if let (None, Some(stream)) = (&self.load, shared.first()) {
            let key = format!("{}.load", stream.key);
            return error(
                &key,
                String::new(),
                "missing: expected closed = { threads = N, depth = N } or open = { rate_iops = N }, here or in [load]",
            );
        }
        if self.load.is_some() && shared.is_empty() {
            return error(
                "load",
                String::new(),
                "no stream uses it: every stream has a load of its own or belongs to a script",
            );
        }
        if self.load.is_some() && shared.iter().map(|stream| stream.share_pct).sum::<f64>() <= 0.0 {
            return error("streams", String::new(), "the shares (share_pct) of the streams add up to zero");
        }
        self.check_names()?;
        self.check_phases()?;
        self.check_streams_run()?;
        self.check_drained()?;
        self.check_drains()?;
        self.check_untimed()?;
        self.check_smart_interval()?;
        if self.interval.0 < 1_000_000 {
            return error("interval", self.interval.to_string(), "expected at least 1 ms");
        }
        if self.measured_time() > Span(self.interval.0.saturating_mul(MOST_INTERVALS)) {
            return error(
                "interval",
                self.interval.to_string(),
                "too short for the measured time: over 10 million intervals",
            );
        }
        Ok(())
    }

    /// Check that no two streams have the same name in a record.
    pub(crate) fn check_names(&self) -> Result<(), SpecError> {
        let of_app = self.app.iter().flat_map(AppSpec::streams).map(|stream| stream.name);
        let names: Vec<String> = self.streams.iter().map(|stream| stream.name.clone()).chain(of_app).collect();
        let Some(twice) = (1..names.len()).find(|&i| names[..i].contains(&names[i])) else { return Ok(()) };
        let accepted =
            if twice < self.streams.len() { "two streams have this name" } else { "a stream of the app has this name" };
        Err(SpecError::new(&self.file, "streams", &names[twice], accepted))
    }

    fn check_smart_interval(&self) -> Result<(), SpecError> {
        let interval = self.smart_interval;
        let time = self.timed_phases().map(|phase| phase.longest().unwrap_or_default().0);
        let accepted = match time.fold(0, u64::saturating_add) {
            _ if interval.0 < 1_000_000 => "expected at least 1 ms",
            time if time > interval.0.saturating_mul(MOST_INTERVALS) => {
                "too short for the phases: over 10 million intervals"
            }
            _ => return Ok(()),
        };
        Err(SpecError::new(&self.file, "smart_interval", interval.to_string(), accepted))
    }
}

/// A time, size, share or number as a number of its base unit; none for another text.
fn quantity(text: &str) -> Option<f64> {
    let time = || text.parse::<Span>().ok().map(|time| time.0 as f64);
    let size = || text.parse::<Bytes>().ok().map(|size| size.0 as f64);
    let share = || text.parse::<Ratio>().ok().map(|share| share.0);
    text.parse().ok().or_else(time).or_else(size).or_else(share)
}

/// Interval at which testers read SMART attributes (every five minutes: the published method of the DuraWrite study).
const SMART_INTERVAL: Span = Span(300_000_000_000);

/// Most runs of a stream in a row, on average: a million.
const MOST_IN_A_ROW: f64 = 1e6;

/// `[load]`: the load of streams without one of their own, and how many runs of a stream follow each other.
fn read_load(top: &Section) -> Result<(Option<Load>, Option<f64>), SpecError> {
    let Some(section) = top.section("load")? else { return Ok((None, None)) };
    let load = Load::read(&section)?;
    let in_a_row = section.number("in_a_row", 1.0..=MOST_IN_A_ROW)?;
    section.finish()?;
    Ok((Some(load), in_a_row))
}

fn read_stream(section: Section) -> Result<StreamSpec, SpecError> {
    let percent = |key, missing: Option<f64>| -> Result<f64, SpecError> {
        let number = section.percent(key)?.or(missing);
        number.ok_or_else(|| section.error(key, "", "missing: expected a percentage from 0 to 100"))
    };
    let files = read_files(&section)?;
    let load = section.section("load")?.map(|load| Load::read(&load)).transpose()?;
    // What clients ask for is theirs: such a stream may read and write, at random.
    let open = load.as_ref().is_some_and(|load| !load.has_pattern());
    let random_pct = percent("random_pct", files.map(|_| 0.0).or(open.then_some(100.0)))?;
    let modes = [("coin", RandomMode::Coin), ("run", RandomMode::Run)];
    let random_mode = section.choice("random_mode", &modes)?;
    if random_mode.is_none() && random_pct > 0.0 && random_pct < 100.0 {
        return Err(section.error(
            "random_mode",
            "",
            "missing: \"coin\" (per I/O) or \"run\" (run length, as vdbench's seekpct)",
        ));
    }
    let (from, to) = read_range(&section)?;
    let stream = StreamSpec {
        name: section.text("name")?.unwrap_or("main").to_owned(),
        volume: section.text("volume")?.map(str::to_owned),
        share_pct: percent("share_pct", Some(100.0))?,
        load,
        read_pct: percent("read_pct", open.then_some(50.0))?,
        sizes: if open { Sizes::new(&[(4096, 1.0)]) } else { read_sizes(&section)? },
        random_pct,
        random_mode: random_mode.unwrap_or(RandomMode::Coin),
        offsets: read_offsets(&section, random_pct)?,
        from,
        to,
        align: section.quantity::<Bytes>("align")?,
        cursor: section
            .choice("cursor", &[("shared", Cursor::Shared), ("per-thread", Cursor::PerThread)])?
            .unwrap_or(Cursor::Shared),
        start: read_start(&section, random_pct)?,
        fua: section.flag("fua")?.unwrap_or(false),
        flush_every: section.count("flush_every", 0..=u64::from(u32::MAX))?.unwrap_or(0),
        per_client: section.quantity::<Bytes>("per_client")?,
        files,
        trim_pct: percent("trim_pct", Some(0.0))?,
        trim_first: section.flag("trim_first")?.unwrap_or(false),
        data: DataSpec::read(&section, "data")?,
        key: section.key(""),
    };
    if stream.trim_pct > 0.0 && (stream.read_pct >= 100.0 || files.is_some()) {
        let accepted = "trims are a share of the I/Os that are not reads, and this stream chooses none of those";
        return Err(section.error("trim_pct", stream.trim_pct.to_string(), accepted));
    }
    if stream.trim_first && (stream.read_pct >= 100.0 || files.is_some()) {
        let accepted = "a trim goes before each write, and this stream has no writes to blocks that it chooses";
        return Err(section.error("trim_first", "true", accepted));
    }
    if stream.trim_first && stream.trim_pct > 0.0 {
        return Err(section.error("trim_first", "true", "cannot be combined with trim_pct: remove one of them"));
    }
    if let Some(key) = stream.write_key().filter(|_| !stream.writes()) {
        let value = section.table().get(key).map(ToString::to_string).unwrap_or_default();
        let accepted = format!("applies to writes, and the stream \"{}\" has none: remove it", stream.name);
        return Err(section.error(key, value, accepted));
    }
    if let Some(align) = stream.align.filter(|align| align.0 == 0 || !align.0.is_multiple_of(512)) {
        return Err(section.error("align", align.to_string(), "expected a multiple of 512 B above zero"));
    }
    section.finish()?;
    Ok(stream)
}

/// Read the start of a sequential stream within its range.
fn read_start(section: &Section, random_pct: f64) -> Result<f64, SpecError> {
    let Some(start) = section.quantity::<Ratio>("start")? else { return Ok(0.0) };
    if random_pct >= 100.0 {
        let accepted = "this stream has no sequential I/Os: random_pct is 100";
        return Err(section.error("start", start.to_string(), accepted));
    }
    if start.0 >= 1.0 {
        return Err(section.error("start", start.to_string(), "expected a share of the range below 100 %"));
    }
    Ok(start.0)
}

fn read_size(section: &Section, key: &str, text: &str) -> Result<u32, SpecError> {
    let size =
        text.parse::<Bytes>().map_err(|error| section.error(key, text, format!("expected {}", error.accepted)))?;
    let fits = u32::try_from(size.0).ok().filter(|size| (512..=MOST_SIZE).contains(size) && size.is_multiple_of(512));
    fits.ok_or_else(|| section.error(key, text, "expected a multiple of 512 B up to 64 MiB"))
}

fn read_sizes(section: &Section) -> Result<Sizes, SpecError> {
    let single = section.text("size")?;
    let many = section.value("sizes").map(|value| {
        value.as_table().ok_or_else(|| {
            section.error(
                "sizes",
                value.to_string(),
                "expected a table of sizes and weights, such as { \"4 KiB\" = 60, \"8 KiB\" = 40 }",
            )
        })
    });
    let weights = match (single, many.transpose()?) {
        (Some(size), None) => vec![(read_size(section, "size", size)?, 1.0)],
        (None, Some(table)) => {
            let mut weights = Vec::new();
            for (size, weight) in table {
                let number =
                    most::weight(weight).ok_or_else(|| section.error("sizes", weight.to_string(), WEIGHT_ACCEPTED))?;
                let bytes = read_size(section, "sizes", size)?;
                if weights.iter().any(|(known, _)| *known == bytes) {
                    return Err(section.error("sizes", size, format!("names {bytes} B twice: add up their weights")));
                }
                weights.push((bytes, number));
            }
            weights
        }
        _ => return Err(section.error("size", "", "expected either size = \"4 KiB\" or sizes = { ... }")),
    };
    if weights.is_empty() {
        return Err(section.error("sizes", "", "expected at least one size"));
    }
    Ok(Sizes::new(&weights))
}

fn read_range(section: &Section) -> Result<(RangeSpec, RangeSpec), SpecError> {
    let Some(value) = section.value("range") else {
        return Ok((RangeSpec::Share(Ratio(0.0)), RangeSpec::Share(Ratio(1.0))));
    };
    let wrong = || {
        section.error(
            "range",
            value.to_string(),
            "expected two addresses, such as [\"0 %\", \"10 %\"], [\"0 GB\", \"300 GB\"] or [\"1 GiB\", \"1 GiB + 80 %\"]",
        )
    };
    let end = |text: &str| {
        if let Some((one, other)) = text.split_once(" + ") {
            let (share, bytes) = if one.contains('%') { (one, other) } else { (other, one) };
            return match (share.parse(), bytes.parse()) {
                (Ok(share), Ok(bytes)) => Ok(RangeSpec::Sum(share, bytes)),
                _ => Err(wrong()),
            };
        }
        match text.parse::<Ratio>() {
            Ok(share) => Ok(RangeSpec::Share(share)),
            Err(_) => text.parse::<Bytes>().map(RangeSpec::At).map_err(|_| wrong()),
        }
    };
    let Some([from, to]) = value.as_array().map(Vec::as_slice) else { return Err(wrong()) };
    let (from, to) = (from.as_str().ok_or_else(wrong)?, to.as_str().ok_or_else(wrong)?);
    Ok((end(from)?, end(to)?))
}

fn read_offsets(section: &Section, random_pct: f64) -> Result<OffsetSpec, SpecError> {
    let Some(inner) = section.section("offsets")? else { return Ok(OffsetSpec::Uniform) };
    if random_pct <= 0.0 {
        return Err(section.error("offsets", "", "this stream has no random I/Os: random_pct is 0"));
    }
    let spec = if let Some(zipf) = inner.section("zipf")? {
        let exponent = zipf.number("exponent", 0.01..=5.0)?.ok_or_else(|| zipf.error("exponent", "", "missing"))?;
        let scramble = zipf.flag("scramble")?.unwrap_or(true);
        zipf.finish()?;
        OffsetSpec::Zipf { exponent, scramble }
    } else if let Some(hot) = inner.section("hotspot")? {
        let data = hot.required::<Ratio>("data", "a share, such as \"20 %\"")?;
        let ios = hot.required::<Ratio>("ios", "a share, such as \"80 %\"")?;
        if data.0 <= 0.0 || data.0 >= 1.0 {
            return Err(hot.error("data", data.to_string(), "expected a share above 0 % and below 100 %"));
        }
        hot.finish()?;
        OffsetSpec::Hotspot { data: data.0, ios: ios.0 }
    } else if let Some(band) = inner.section("hotband")? {
        read_hot_band(band)?
    } else if let Some(text) = inner.text("stride")? {
        let wrong =
            || inner.error("stride", text, "expected a multiple of 512 B, such as \"1 MiB\", or \"-4 KiB\" to go back");
        let (distance, goes_back) = text.trim().strip_prefix('-').map_or((text, false), |distance| (distance, true));
        let distance = distance.parse::<Bytes>().map_err(|_| wrong())?.0;
        let stride =
            i64::try_from(distance).ok().filter(|stride| *stride > 0 && stride % 512 == 0).ok_or_else(wrong)?;
        OffsetSpec::Strided { stride: if goes_back { -stride } else { stride } }
    } else {
        inner.flag("uniform")?;
        OffsetSpec::Uniform
    };
    let near = inner.section("near")?.map(|near| read_near(near, spec)).transpose()?;
    inner.finish()?;
    Ok(near.unwrap_or(spec))
}

/// A share of the random I/Os that goes near the last one, the others where `far` selects.
fn read_near(near: Section, far: OffsetSpec) -> Result<OffsetSpec, SpecError> {
    let ios = near.required::<Ratio>("ios", "a share, such as \"30 %\"")?;
    let within = near.required::<Bytes>("within", "a distance, such as \"1 MiB\"")?;
    let zipf = match far {
        OffsetSpec::Uniform => None,
        OffsetSpec::Zipf { exponent, scramble } => Some((exponent, scramble)),
        _ => return Err(near.error("", "", "is allowed alone or together with zipf")),
    };
    if !(0.0..=1.0).contains(&ios.0) {
        return Err(near.error("ios", ios.to_string(), "expected a share from 0 % to 100 %"));
    }
    if within.0 < 512 {
        return Err(near.error("within", within.to_string(), "expected at least 512 B"));
    }
    near.finish()?;
    Ok(OffsetSpec::Near { ios: ios.0, within: within.0, zipf })
}

fn read_hot_band(band: Section) -> Result<OffsetSpec, SpecError> {
    let shift = band.quantity::<Ratio>("writes_shifted")?.unwrap_or(Ratio(HotBandSpec::WRITES_SHIFTED));
    if shift.0 >= 1.0 {
        return Err(band.error("writes_shifted", shift.to_string(), "expected a share of the band below 100 %"));
    }
    let unit = band.quantity::<Bytes>("table_unit")?.unwrap_or(Bytes(HotBandSpec::TABLE_UNIT));
    if !(1000..=HotBandSpec::TABLE_UNIT).contains(&unit.0) {
        return Err(band.error("table_unit", unit.to_string(), "expected a size from 1 kB to 1 MB"));
    }
    band.finish()?;
    Ok(OffsetSpec::HotBand(HotBandSpec { writes_shifted: shift.0, table_unit: unit.0 }))
}

fn read_phase(section: Section, streams: &[StreamSpec], scripts: &[ScriptSpec]) -> Result<Phase, SpecError> {
    let untimed = read_untimed(&section)?;
    let until = if untimed.is_some() { Vec::new() } else { Until::read(&section)? };
    let known_streams = streams;
    let known: Vec<&str> = streams.iter().map(|stream| stream.name.as_str()).collect();
    let active = section.value("streams").map(|value| {
        let names = value.as_array().into_iter().flatten().map(|name| {
            let name = name.as_str().unwrap_or_default();
            let unknown = || SpecError::unknown(section.file(), &section.key("streams"), name, &known);
            known.contains(&name).then(|| name.to_owned()).ok_or_else(unknown)
        });
        names.collect::<Result<Vec<_>, _>>()
    });
    let streams = active.transpose()?;
    check_streams(&section, streams.as_deref().unwrap_or_default(), known_streams)?;
    let name = section.text("name")?.unwrap_or("measure").to_owned();
    let scripts = read_phase_scripts(&section, scripts, &until)?;
    let measure = section.flag("measure")?.unwrap_or(false);
    let threads = section.count("threads", 1..=u64::from(MOST_OUTSTANDING))?.map(|threads| threads as u32);
    if measure && until.contains(&Until::Warm) {
        let accepted = "only a phase without measure = true may end when the machine is warm";
        return Err(section.error("until", "warm", accepted));
    }
    if !measure && until.iter().any(|condition| condition.precise().is_some()) {
        let accepted = "only a phase with measure = true has rates and latencies to measure";
        return Err(section.error("until_precise", "", accepted));
    }
    let drain = section.flag("drain")?.unwrap_or(false);
    section.finish()?;
    Ok(Phase { name, until, untimed, measure, drain, streams, threads, scripts })
}

/// Refuse a phase whose `streams` names a stream twice, or streams of which none has a share of the load.
fn check_streams(section: &Section, names: &[String], streams: &[StreamSpec]) -> Result<(), SpecError> {
    if let Some(twice) = (1..names.len()).find(|&index| names[..index].contains(&names[index])) {
        return Err(section.error("streams", &names[twice], "is named twice"));
    }
    let mut active = streams.iter().filter(|stream| names.contains(&stream.name)).peekable();
    if active.peek().is_some() && active.all(|stream| stream.load.is_none() && stream.share_pct <= 0.0) {
        return Err(section.error("streams", names.join(", "), "none of these issues I/Os: their share_pct is 0"));
    }
    Ok(())
}

/// `[power_loss]`: the short form of an event.
fn read_power_loss(section: Section) -> Result<EventSpec, SpecError> {
    let at: Span = section.required("at", "a time since the measured time began, such as \"30 s\"")?;
    let asked_at = (section.file().to_owned(), section.key("at"));
    section.finish()?;
    Ok(EventSpec { at, what: What::PowerOff, part: None, time: at.to_string(), asked_at, text: at.to_string() })
}

/// `[record]`: names of probes that a run has only if they are requested. The engine knows the available ones.
fn read_probes(section: Section) -> Result<Vec<String>, SpecError> {
    let probes = section.value("probes");
    let wrong = || section.error("probes", "", "expected a list of names, such as [\"waiting\"]");
    let named = probes.map_or(Some(Vec::new()), |value| {
        let names = value.as_array()?.iter().map(|name| name.as_str().map(str::to_owned));
        names.collect::<Option<Vec<String>>>()
    });
    let mut named = named.ok_or_else(wrong)?;
    named.dedup();
    section.finish()?;
    Ok(named)
}
