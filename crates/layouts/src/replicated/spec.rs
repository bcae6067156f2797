//! Keys of a replicated pool in a machine file.

use hotband_machine::{LayoutSpec, Section, SpecError};
use hotband_units::{Bytes, Rate, Span};

use crate::ERASURE;

/// Failure domain, which separates a copy from the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureDomain {
    /// Another daemon, maybe on the same disk.
    Osd,
    /// Another host.
    Host,
}

/// A network: every host has one card on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkSpec {
    /// Bandwidth of a card, each direction.
    pub rate: Rate,
    /// Time of a message from one end to the other besides its bytes.
    pub latency: Span,
}

/// A daemon that may be marked out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutSpec {
    /// Daemon.
    pub osd: usize,
    /// When, since the machine began.
    pub at: Span,
}

/// Erasure code of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Erasure {
    /// Shards with data, k.
    pub data: usize,
    /// Shards with parity, m.
    pub parities: usize,
    /// Bytes of a stripe in each shard.
    pub unit: u64,
    /// Reads go only to the shards that have the requested data.
    pub touched_only: bool,
}

/// A replicated or erasure-coded pool with one image on it.
#[derive(Clone, Debug, PartialEq)]
pub struct PoolSpec {
    /// Name of the daemon's values in the catalog.
    pub osd: String,
    /// Values of the daemon that replace the catalog's.
    pub set: toml::Table,
    /// Daemons on every member, each on an equal slice.
    pub osds_per_member: usize,
    /// Copies of every object, or its shards.
    pub replicas: usize,
    /// Erasure code of objects; none for copies.
    pub erasure: Option<Erasure>,
    /// Placement groups.
    pub placement_groups: u32,
    /// Number of the pool.
    pub pool_id: u32,
    /// Hosts that the members are dealt to, in equal runs.
    pub hosts: usize,
    /// Failure domain, which separates a copy from the others.
    pub failure_domain: FailureDomain,
    /// Weight of every member, if it is not its size.
    pub weights: Vec<f64>,
    /// Device class of every member; empty if there are no classes.
    pub classes: Vec<String>,
    /// The class that the pool uses.
    pub class: Option<String>,
    /// Copies are moved from daemons with many placement groups to those with few.
    pub balanced: bool,
    /// Size of an object.
    pub object: u64,
    /// Size of the image; none if it is as large as fits.
    pub image: Option<u64>,
    /// Name of the image inside object names.
    pub image_id: String,
    /// Clock of the hosts' cores, in MHz.
    pub clock_mhz: Option<u64>,
    /// Between clients and daemons.
    pub client_network: NetworkSpec,
    /// Between daemons on different hosts; on one host there is only its latency.
    pub cluster_network: NetworkSpec,
    /// A daemon that is marked out.
    pub out: Option<OutSpec>,
}

/// 10 GbE, and the time of a short message through two kernels, a card and a switch: 20 to 50 us [our estimate].
const NETWORK: NetworkSpec = NetworkSpec { rate: Rate(1_250_000_000), latency: Span(30_000) };
/// Shards of data and parity of Ceph's default profile (`osd_pool_default_erasure_code_profile`: k=2 m=2 since Quincy).
const SHARDS: (u64, u64) = (2, 2);
/// `osd_pool_erasure_code_stripe_unit`.
const STRIPE_UNIT: u64 = 4 << 10;
/// The default of RBD images and of CephFS.
const OBJECT: u64 = 4 << 20;

impl PoolSpec {
    /// Reads the options of a `replicated` layout with `members` drives.
    ///
    /// # Errors
    /// The first option that is malformed or impossible.
    pub fn read(file: &str, spec: &LayoutSpec) -> Result<Self, SpecError> {
        let options = Section::new(file, &spec.key, &spec.options);
        let members = spec.members.len();
        if spec.force_writes {
            let accepted = "a pool's daemons make writes durable with flushes: leave it out";
            return Err(options.error("force_writes", "true", accepted));
        }
        let osds_per_member = options.count("osds_per_drive", 1..=16)?.unwrap_or(1) as usize;
        let hosts = options.count("hosts", 1..=members as u64)?.unwrap_or(1) as usize;
        if !members.is_multiple_of(hosts) {
            let accepted = format!("expected a divisor of the {members} members: hosts hold equally many");
            return Err(options.error("hosts", hosts.to_string(), accepted));
        }
        let erasure = if spec.kind == ERASURE { Some(erasure(&options)?) } else { None };
        let replicas = match erasure {
            Some(erasure) => erasure.data + erasure.parities,
            None => options.count("replicas", 1..=8)?.unwrap_or(3) as usize,
        };
        let domains = [("osd", FailureDomain::Osd), ("host", FailureDomain::Host)];
        let read = Self {
            osd: options.text("osd")?.unwrap_or("bluestore-14").to_owned(),
            set: options.section("osd_set")?.map(|set| set.table().clone()).unwrap_or_default(),
            osds_per_member,
            replicas,
            erasure,
            placement_groups: options.count("placement_groups", 1..=65_536)?.unwrap_or(256) as u32,
            pool_id: options.count("pool_id", 0..=1 << 20)?.unwrap_or(1) as u32,
            hosts,
            failure_domain: options.choice("failure_domain", &domains)?.unwrap_or(FailureDomain::Osd),
            weights: numbers(&options, "weights", members)?,
            classes: texts(&options, "classes", members)?,
            class: options.text("class")?.map(str::to_owned),
            balanced: options.flag("balanced")?.unwrap_or(false),
            object: object(&options)?,
            image: options.quantity::<Bytes>("image")?.map(|image| image.0),
            image_id: image_id(&options)?,
            clock_mhz: options.count("core_clock_mhz", 100..=10_000)?,
            client_network: network(&options, "client_network")?,
            cluster_network: network(&options, "cluster_network")?,
            out: out(&options, members * osds_per_member)?,
        };
        if let Some(image) = read.image.filter(|image| *image < read.object) {
            let accepted = format!("expected at most the image, {}", Bytes(image));
            return Err(options.error("object", Bytes(read.object).to_string(), accepted));
        }
        read.check(&options)?;
        options.finish()?;
        Ok(read)
    }

    /// Checks that involve several options.
    fn check(&self, options: &Section) -> Result<(), SpecError> {
        let (domains, what) = match self.failure_domain {
            FailureDomain::Host => (self.hosts, "hosts"),
            FailureDomain::Osd => (self.used().len() * self.osds_per_member, "daemons"),
        };
        if let Some(class) = &self.class
            && !self.classes.contains(class)
        {
            if self.classes.is_empty() {
                let accepted = "expected \"classes\" beside it: the class of every member";
                return Err(options.error("class", class.as_str(), accepted));
            }
            let mut known: Vec<&str> = self.classes.iter().map(String::as_str).collect();
            known.sort_unstable();
            known.dedup();
            return Err(SpecError::unknown(options.file(), &options.key("class"), class, &known));
        }
        if let Some(Erasure { data, parities, .. }) = self.erasure
            && domains < self.replicas
        {
            let accepted = format!(
                "expected k + m of at most {domains}, not {}: every shard is on another of the {domains} {what}",
                self.replicas
            );
            return Err(options.error("k", format!("{data} and m = {parities}"), accepted));
        }
        if domains < self.replicas {
            let accepted = format!("expected at most {domains}: every copy is on another of the {domains} {what}");
            return Err(options.error("replicas", self.replicas.to_string(), accepted));
        }
        Ok(())
    }

    /// Bytes of an object on each of its daemons: all of it, or a shard in whole stripes.
    pub fn shard(&self) -> u64 {
        self.erasure.map_or(self.object, |code| self.object.div_ceil(code.data as u64 * code.unit) * code.unit)
    }

    /// Members of the class that the pool uses; all where it names none.
    pub fn used(&self) -> Vec<usize> {
        match &self.class {
            Some(class) => (0..self.classes.len()).filter(|member| self.classes[*member] == *class).collect(),
            None => (0..self.members()).collect(),
        }
    }

    fn members(&self) -> usize {
        self.weights.len()
    }
}

fn image_id(options: &Section) -> Result<String, SpecError> {
    match options.text("image_id")? {
        Some("") => Err(options.error("image_id", "", "expected the name of the image in object names")),
        id => Ok(id.unwrap_or("1").to_owned()),
    }
}

fn object(options: &Section) -> Result<u64, SpecError> {
    let object = options.quantity::<Bytes>("object")?.unwrap_or(Bytes(OBJECT)).0;
    if !object.is_power_of_two() || !(4096..=32 << 20).contains(&object) {
        return Err(options.error("object", Bytes(object).to_string(), "expected a power of two from 4 KiB to 32 MiB"));
    }
    Ok(object)
}

fn erasure(options: &Section) -> Result<Erasure, SpecError> {
    let data = options.count("k", 2..=32)?.unwrap_or(SHARDS.0) as usize;
    let parities = options.count("m", 1..=8)?.unwrap_or(SHARDS.1) as usize;
    let unit = options.quantity::<Bytes>("stripe_unit")?.map_or(STRIPE_UNIT, |unit| unit.0);
    if unit == 0 || !unit.is_multiple_of(4096) || unit > 1 << 20 {
        let accepted = "expected a multiple of 4 KiB up to 1 MiB";
        return Err(options.error("stripe_unit", Bytes(unit).to_string(), accepted));
    }
    let touched_only = options.choice("reads", &[("stripe", false), ("touched", true)])?.unwrap_or(false);
    Ok(Erasure { data, parities, unit, touched_only })
}

fn network(options: &Section, key: &'static str) -> Result<NetworkSpec, SpecError> {
    let Some(section) = options.section(key)? else { return Ok(NETWORK) };
    let rate = section.quantity::<Rate>("rate")?.unwrap_or(NETWORK.rate);
    let latency = section.quantity::<Span>("latency")?.unwrap_or(NETWORK.latency);
    if rate.0 < 1_000_000 {
        return Err(section.error("rate", rate.to_string(), "expected at least 1 MB/s"));
    }
    if latency.0 > 1_000_000_000 {
        return Err(section.error("latency", latency.to_string(), "expected at most 1 s"));
    }
    section.finish()?;
    Ok(NetworkSpec { rate, latency })
}

fn out(options: &Section, osds: usize) -> Result<Option<OutSpec>, SpecError> {
    let Some(section) = options.section("out")? else { return Ok(None) };
    let osd = section.count("osd", 0..=osds as u64 - 1)?;
    let osd = osd.ok_or_else(|| section.error("osd", "", "missing: expected the number of a daemon"))? as usize;
    let at = section.required::<Span>("at", "when, such as \"60 s\"")?;
    section.finish()?;
    Ok(Some(OutSpec { osd, at }))
}

/// A list with one number above zero a member; the sizes decide where there is none.
fn numbers(options: &Section, key: &'static str, members: usize) -> Result<Vec<f64>, SpecError> {
    let Some(value) = options.value(key) else { return Ok(vec![0.0; members]) };
    let numbers = value.as_array().map(|list| {
        list.iter()
            .filter_map(|number| number.as_float().or_else(|| number.as_integer().map(|n| n as f64)))
            .collect::<Vec<_>>()
    });
    let fits = |list: &Vec<f64>| list.len() == members && list.iter().all(|number| (1e-4..=1e4).contains(number));
    numbers.filter(fits).ok_or_else(|| {
        let accepted =
            format!("expected a list of {members} numbers from 0.0001 to 10,000, one a member (TiB, as Ceph weighs)");
        options.error(key, value.to_string(), accepted)
    })
}

fn texts(options: &Section, key: &'static str, members: usize) -> Result<Vec<String>, SpecError> {
    let Some(value) = options.value(key) else { return Ok(Vec::new()) };
    let texts = value
        .as_array()
        .map(|list| list.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect::<Vec<_>>());
    texts.filter(|list| list.len() == members).ok_or_else(|| {
        options.error(key, value.to_string(), format!("expected a list of {members} names, one a member"))
    })
}
