//! Reading scripts, files and the network from TOML text, and checking them.

use hotband_machine::{Section, SpecError};
use hotband_units::{Bytes, Rate, Ratio, Span};
use toml::Value;

use crate::files::{FileLayout, FilesSpec};
use crate::load::{RATES, read_arrival};
use crate::most::MOST_OUTSTANDING;
use crate::phase::PhaseScripts;
use crate::script::{Cpu, NetworkSpec, ScriptSpec, StepSpec, Work, cycle};
use crate::sources::arrival::Arrival;
use crate::spec::{StreamSpec, Workload};
use crate::until::Until;

/// Most I/Os, or files, of a step.
const MOST_IOS: u32 = 1_000_000_000;
/// Most files of a stream: their offsets take 8 bytes each.
const MOST_FILES: u64 = 10_000_000;
/// Largest file.
const MOST_FILE: u64 = 1_000_000_000_000;
/// Most I/Os that all clients of a script may have outstanding in a step.
const MOST_TOGETHER: u64 = 1 << 20;
/// Default for the I/Os of a detached step that a client may have outstanding.
const DETACHED_LIMIT: u64 = 64;

pub(crate) fn read_scripts(top: &Section, streams: &[StreamSpec]) -> Result<Vec<ScriptSpec>, SpecError> {
    let mut scripts: Vec<ScriptSpec> = Vec::new();
    for section in top.list("scripts")? {
        let script = read_script(&section, streams)?;
        if scripts.iter().any(|other| other.name == script.name) {
            return Err(section.error("name", script.name, "two scripts have this name"));
        }
        section.finish()?;
        scripts.push(script);
    }
    for (index, stream) in streams.iter().enumerate() {
        let users = scripts.iter().flat_map(|script| &script.steps).filter(|step| step.streams.contains(&index));
        let scripted = users.count() > 0;
        let error = |key: &str, value: String, accepted: &str| {
            Err(SpecError::new(top.file(), &format!("{}.{key}", stream.key), value, accepted))
        };
        match (scripted, &stream.load, stream.per_client, stream.files) {
            (true, Some(_), _, _) => {
                return error("load", String::new(), "a stream of a script has no load of its own");
            }
            (false, _, Some(region), _) => {
                return error(
                    "per_client",
                    region.to_string(),
                    "no script uses this stream: only scripts have clients",
                );
            }
            (false, _, _, Some(_)) => {
                return error("files", String::new(), "no script uses this stream: only scripts read files");
            }
            _ => {}
        }
    }
    Ok(scripts)
}

fn read_script(section: &Section, streams: &[StreamSpec]) -> Result<ScriptSpec, SpecError> {
    let name = section.text("name")?.ok_or_else(|| section.error("name", "", "missing: expected a name"))?;
    let clients = section.count("clients", 1..=u64::from(MOST_OUTSTANDING))?;
    let clients = clients.ok_or_else(|| {
        section.error("clients", "", "missing: expected the number of clients that run the script at once")
    })?;
    let repeat = section.flag("repeat")?;
    let repeat =
        repeat.ok_or_else(|| section.error("repeat", "", "missing: true (begin again) or false (run once)"))?;
    let think = section.quantity::<Span>("think")?;
    if let Some(think) = think.filter(|_| !repeat) {
        return Err(section.error("think", think.to_string(), "a script that runs once has no pause between runs"));
    }
    let arrivals = read_arrivals(section, repeat)?;
    let sections = section.list("steps")?;
    let names = step_names(section, &sections)?;
    let mut steps: Vec<StepSpec> = Vec::new();
    for (index, step) in sections.into_iter().enumerate() {
        let last = steps.iter().rposition(|before| !before.detached);
        steps.push(read_step(step, &names, (index, last), streams)?);
    }
    check_order(section, &steps)?;
    Ok(ScriptSpec {
        name: name.to_owned(),
        unit: section.text("unit")?.unwrap_or("run").to_owned(),
        clients: clients as u32,
        repeat,
        start_every: section.quantity("start_every")?.unwrap_or_default(),
        think: think.unwrap_or_default(),
        arrivals,
        steps,
        key: section.key(""),
    })
}

/// Reads the rate of runs; none if clients begin them by themselves.
fn read_arrivals(section: &Section, repeat: bool) -> Result<Option<(f64, Arrival)>, SpecError> {
    let rate = section.number("rate", RATES)?;
    let Some(rate) = rate else {
        return match section.text("arrival")? {
            Some(arrival) => Err(section.error("arrival", arrival, "only a script with a rate has arrivals")),
            None => Ok(None),
        };
    };
    let arrival = read_arrival(section)?;
    if !repeat {
        return Err(section.error("rate", rate.to_string(), "a script that runs once has no rate of runs"));
    }
    if let Some(key) = ["think", "start_every"].into_iter().find(|key| section.value(key).is_some()) {
        return Err(section.error(key, "", "with a rate, runs begin as they arrive: leave it out"));
    }
    Ok(Some((rate, arrival)))
}

fn step_names(section: &Section, sections: &[Section]) -> Result<Vec<String>, SpecError> {
    /// Most steps of a script.
    const MOST_STEPS: usize = 256;
    if sections.is_empty() || sections.len() > MOST_STEPS {
        let accepted = format!("a script has 1 to {MOST_STEPS} [[scripts.steps]]");
        return Err(section.error("steps", sections.len().to_string(), accepted));
    }
    let mut names: Vec<String> = Vec::new();
    for step in sections {
        let name = step.text("name")?.ok_or_else(|| step.error("name", "", "missing: expected a name"))?;
        if names.iter().any(|other| other == name) {
            return Err(step.error("name", name, "two steps of the script have this name"));
        }
        names.push(name.to_owned());
    }
    Ok(names)
}

/// Reads step `index`; `last` is the last step before it that is waited for.
fn read_step(
    section: Section,
    names: &[String],
    (index, last): (usize, Option<usize>),
    streams: &[StreamSpec],
) -> Result<StepSpec, SpecError> {
    let chosen = read_step_streams(&section, streams)?;
    let work = read_work(&section)?;
    check_work(&section, work, &chosen, streams)?;
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    let after = match strings(&section, "after")? {
        Some(after) => {
            let scripts = after.iter().map(|name| index_of(&section, "after", name, &known));
            scripts.collect::<Result<_, _>>()?
        }
        None => last.into_iter().collect(),
    };
    let detached = section.flag("detached")?.unwrap_or(false);
    let most = u64::from(MOST_OUTSTANDING);
    let (depth, limit) = (section.count("depth", 1..=most)?, section.count("detached_limit", 1..=most)?);
    let depth = match (detached, depth, limit) {
        (false, depth, None) => depth.unwrap_or(1),
        (true, None, limit) => limit.unwrap_or(DETACHED_LIMIT),
        (false, _, Some(limit)) => {
            return Err(section.error("detached_limit", limit.to_string(), "only a step with detached = true has it"));
        }
        (true, Some(depth), _) => {
            let accepted = "a step with detached = true has no depth; detached_limit bounds what it has outstanding";
            return Err(section.error("depth", depth.to_string(), accepted));
        }
    };
    let cpu = match (section.quantity("cpu")?, section.quantity("cpu_exponential")?) {
        (cpu, None) => Cpu::Fixed(cpu.unwrap_or_default()),
        (None, Some(mean)) => Cpu::Exponential(mean),
        (Some(_), Some(_)) => return Err(section.error("cpu", "", "expected either cpu or cpu_exponential")),
    };
    let before = section.quantity("before")?.unwrap_or_default();
    section.finish()?;
    let name = names[index].clone();
    Ok(StepSpec { name, streams: chosen, work, depth: depth as u32, cpu, before, after, detached })
}

fn read_step_streams(section: &Section, streams: &[StreamSpec]) -> Result<Vec<usize>, SpecError> {
    let known: Vec<&str> = streams.iter().map(|stream| stream.name.as_str()).collect();
    let (single, many) = (section.text("stream")?, strings(section, "streams")?);
    let (key, names) = match (single, many) {
        (Some(single), None) => ("stream", vec![single]),
        (None, Some(many)) if !many.is_empty() => ("streams", many),
        _ => {
            let accepted = format!("expected either stream = \"NAME\" or streams = [...], of {}", known.join(", "));
            return Err(section.error("stream", "", accepted));
        }
    };
    let chosen: Vec<usize> = names.iter().map(|name| index_of(section, key, name, &known)).collect::<Result<_, _>>()?;
    if chosen.iter().map(|&stream| streams[stream].share_pct).sum::<f64>() <= 0.0 {
        return Err(section.error(key, "", "the shares (share_pct) of the streams add up to zero"));
    }
    Ok(chosen)
}

fn read_work(section: &Section) -> Result<Work, SpecError> {
    let files = section.count("files", 1..=u64::from(MOST_IOS))?;
    let ios = section.value("ios").map(|value| {
        let number = |value: &Value| value.as_integer().and_then(|n| u32::try_from(n).ok());
        let ends = match value.as_array().map(Vec::as_slice) {
            Some([least, most]) => number(least).zip(number(most)),
            Some(_) => None,
            None => number(value).map(|count| (count, count)),
        };
        let ends = ends.filter(|(least, most)| *least >= 1 && least <= most && *most <= MOST_IOS);
        let accepted = format!("expected a count such as 29, or a range such as [20, 40], from 1 to {MOST_IOS}");
        ends.ok_or_else(|| section.error("ios", value.to_string(), accepted))
    });
    match (ios.transpose()?, files) {
        (Some((least, most)), None) => Ok(Work::Ios { least, most }),
        (None, Some(files)) => Ok(Work::Files(files as u32)),
        _ => Err(section.error("ios", "", "expected either ios = N (or a range [A, B]) or files = N")),
    }
}

/// Files are read from streams of files, I/Os are asked of all others.
fn check_work(section: &Section, work: Work, chosen: &[usize], streams: &[StreamSpec]) -> Result<(), SpecError> {
    let (key, wanted) = if let Work::Files(_) = work { ("files", true) } else { ("ios", false) };
    let Some(&other) = chosen.iter().find(|&&stream| streams[stream].files.is_some() != wanted) else {
        return Ok(());
    };
    let accepted = if wanted { "has no files: use ios = N" } else { "is a stream of files: use files = N" };
    Err(section.error(key, "", format!("the stream \"{}\" {accepted}", streams[other].name)))
}

/// Refuses steps that wait for each other in a circle, or for a detached step, or scripts of detached steps only.
fn check_order(section: &Section, steps: &[StepSpec]) -> Result<(), SpecError> {
    let error = |index: usize, value: &str, accepted: String| {
        Err(section.error(&format!("steps[{index}].after"), value, accepted))
    };
    let after: Vec<Vec<usize>> = steps.iter().map(|step| step.after.clone()).collect();
    if let Some(circle) = cycle(&after) {
        let names: Vec<&str> = circle.iter().chain(&circle[..1]).map(|&step| steps[step].name.as_str()).collect();
        return error(circle[0], "", format!("a cycle: the steps {} wait for each other", names.join(" -> ")));
    }
    for (index, step) in steps.iter().enumerate() {
        if let Some(&before) = step.after.iter().find(|&&before| steps[before].detached) {
            let name = &steps[before].name;
            return error(index, name, "no step can wait for a step with detached = true".into());
        }
    }
    if steps.iter().all(|step| step.detached) {
        return Err(section.error("steps", "", "every step is detached: a run would take no time"));
    }
    Ok(())
}

pub(crate) fn read_files(section: &Section) -> Result<Option<FilesSpec>, SpecError> {
    let Some(files) = section.section("files")? else { return Ok(None) };
    for key in ["random_pct", "random_mode", "offsets", "align", "cursor", "flush_every", "per_client", "sizes"] {
        if section.table().contains_key(key) {
            return Err(section.error(key, "", "does not apply to a stream of files: files are read front to back"));
        }
    }
    let count = files.count("count", 1..=MOST_FILES)?;
    let count = count.ok_or_else(|| files.error("count", "", "missing: expected the number of files"))? as u32;
    let size = |key| files.required::<Bytes>(key, "a size, such as \"15 KB\"");
    let (smallest, largest, mean) = (size("smallest")?, size("largest")?, size("mean")?);
    if smallest.0 == 0 || smallest > largest {
        let accepted = format!("expected a size above zero and up to the largest, {largest}");
        return Err(files.error("smallest", smallest.to_string(), accepted));
    }
    if largest.0 > MOST_FILE {
        return Err(files.error("largest", largest.to_string(), "expected at most 1 TB"));
    }
    if mean < smallest || mean > largest {
        return Err(files.error("mean", mean.to_string(), format!("expected a mean between {smallest} and {largest}")));
    }
    let hot = match (files.quantity::<Ratio>("hot")?, files.quantity::<Ratio>("hot_requests")?) {
        (None, None) => None,
        (Some(hot), Some(requests)) if hot.0 > 0.0 && hot.0 < 1.0 => Some((hot.0, requests.0)),
        (Some(hot), Some(_)) => {
            return Err(files.error("hot", hot.to_string(), "expected a share above 0 % and below 100 %"));
        }
        _ => return Err(files.error("hot", "", "expected both hot and hot_requests, or neither")),
    };
    let layouts = [("hot-first", FileLayout::HotFirst), ("mixed", FileLayout::Mixed)];
    let layout = files.choice("layout", &layouts)?;
    let layout = match (hot, layout) {
        (Some(_), None) => return Err(files.error("layout", "", "missing: \"hot-first\" or \"mixed\"")),
        (_, layout) => layout.unwrap_or(FileLayout::Mixed),
    };
    files.finish()?;
    Ok(Some(FilesSpec { count, smallest, largest, mean, hot, layout }))
}

pub(crate) fn read_network(top: &Section, scripts: &[ScriptSpec]) -> Result<Option<NetworkSpec>, SpecError> {
    let Some(network) = top.section("network")? else { return Ok(None) };
    let rate = network.required::<Rate>("rate", "a rate, such as \"10 Gb/s\"")?;
    let efficiency = network.required::<Ratio>("efficiency", "a share, such as \"94 %\"")?;
    if rate.0 as f64 * efficiency.0 < 1.0 {
        return Err(network.error("rate", rate.to_string(), "rate x efficiency is below 1 B/s"));
    }
    let known: Vec<&str> = scripts.iter().map(|script| script.name.as_str()).collect();
    let names = strings(&network, "carries")?.filter(|names| !names.is_empty());
    let names =
        names.ok_or_else(|| network.error("carries", "", "missing: the names of the scripts whose data it carries"))?;
    let carries = names.iter().map(|name| index_of(&network, "carries", name, &known)).collect::<Result<_, _>>()?;
    network.finish()?;
    Ok(Some(NetworkSpec { rate, efficiency, carries }))
}

pub(crate) fn read_phase_scripts(
    section: &Section,
    scripts: &[ScriptSpec],
    until: &[Until],
) -> Result<PhaseScripts, SpecError> {
    let known: Vec<&str> = scripts.iter().map(|script| script.name.as_str()).collect();
    let run = strings(section, "scripts")?.map(|names| {
        let indices = names.iter().map(|name| index_of(section, "scripts", name, &known));
        indices.collect::<Result<Vec<usize>, _>>()
    });
    let run = run.transpose()?;
    let clients = section.count("clients", 1..=u64::from(MOST_OUTSTANDING))?.map(|clients| clients as u32);
    let runs = |(index, _): &(usize, &ScriptSpec)| run.as_ref().is_none_or(|run| run.contains(index));
    if let Some(clients) = clients {
        let mut repeating = scripts.iter().enumerate().filter(runs).filter(|(_, script)| script.repeat).peekable();
        if repeating.peek().is_none() {
            return Err(section.error("clients", clients.to_string(), "no repeating script runs in this phase"));
        }
        if let Some((_, fewer)) = repeating.find(|(_, script)| script.clients < clients) {
            let accepted = format!("the script \"{}\" has {} clients", fewer.name, fewer.clients);
            return Err(section.error("clients", clients.to_string(), accepted));
        }
    }
    if until.contains(&Until::ScriptsDone) && !scripts.iter().enumerate().filter(runs).any(|(_, script)| !script.repeat)
    {
        let key = if section.value("until").is_some() { "until" } else { "until_done" };
        return Err(section.error(key, "", "no script that runs once (repeat = false) runs in this phase"));
    }
    Ok(PhaseScripts { run, clients })
}

/// An array of texts.
fn strings<'a>(section: &Section<'a>, key: &'static str) -> Result<Option<Vec<&'a str>>, SpecError> {
    let Some(value) = section.value(key) else { return Ok(None) };
    let names = value.as_array().and_then(|array| array.iter().map(Value::as_str).collect::<Option<Vec<_>>>());
    let names = names.ok_or_else(|| section.error(key, value.to_string(), "expected names, such as [\"a\", \"b\"]"))?;
    if let Some(twice) = (1..names.len()).find(|&i| names[..i].contains(&names[i])) {
        return Err(section.error(key, names[twice], "is named twice"));
    }
    Ok(Some(names))
}

fn index_of(section: &Section, key: &str, name: &str, known: &[&str]) -> Result<usize, SpecError> {
    let index = known.iter().position(|have| *have == name);
    index.ok_or_else(|| SpecError::unknown(section.file(), &section.key(key), name, known))
}

impl Workload {
    /// Streams driven by the common load: those without a load of their own that no script uses.
    pub fn shared_streams(&self) -> impl Iterator<Item = (usize, &StreamSpec)> {
        let streams = self.streams.iter().enumerate();
        streams.filter(|(index, stream)| stream.load.is_none() && self.users(*index).is_none())
    }

    /// Most clients that a script runs over a stream; none if no script uses it.
    pub fn users(&self, stream: usize) -> Option<u32> {
        let uses = |script: &&ScriptSpec| script.steps.iter().any(|step| step.streams.contains(&stream));
        self.scripts.iter().filter(uses).map(|script| script.clients).max()
    }

    /// Checks the number of clients against streams and depths, for a stream whose target has `capacity` bytes.
    ///
    /// # Errors
    /// Regions that do not fit into the target, more users than files, too many I/Os outstanding.
    pub fn check_clients(&self, stream: usize, capacity: u64) -> Result<(), SpecError> {
        let Some(users) = self.users(stream) else { return Ok(()) };
        let spec = &self.streams[stream];
        let error = |key: &str, value: String, accepted: String| {
            Err(SpecError::new(&self.file, &format!("{}.{key}", spec.key), value, accepted))
        };
        if let Some(region) = spec.per_client
            && region.0.checked_mul(u64::from(users)).is_none_or(|all| all > capacity)
        {
            let accepted =
                format!("{users} clients with {} B each do not fit into the target of {capacity} B", region.0);
            return error("per_client", format!("{} B", region.0), accepted);
        }
        if let Some(files) = spec.files {
            if users > files.count {
                let accepted = format!("more users than files: {users} clients, {} files", files.count);
                return error("files.count", files.count.to_string(), accepted);
            }
            if spec.read_pct > 0.0 && spec.read_pct < 100.0 {
                return error("read_pct", spec.read_pct.to_string(), "files are read (100) or written (0)".into());
            }
        }
        for script in &self.scripts {
            let depth = script.steps.iter().map(|step| u64::from(step.depth)).max().unwrap_or(0);
            if depth * u64::from(script.clients) > MOST_TOGETHER {
                let accepted = format!("clients x depth (or detached_limit) of a step may be at most {MOST_TOGETHER}");
                let key = format!("{}.clients", script.key);
                return Err(SpecError::new(&self.file, &key, script.clients.to_string(), accepted));
            }
        }
        Ok(())
    }
}
