//! Data beside a machine: what every drive holds, and what the executor of plans would do with it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use hotband_machine::{Extent, Layout, Leg, Op, PhaseEnd, Placed, Watch};

use super::code::Code;

/// Bytes of a symbol: I/Os are multiples of it.
pub const UNIT: u64 = 4096;

/// What a drive holds that nobody has written.
const GARBAGE: u64 = 1_234_567_890;

/// A layout on whole drives, and how its symbols fit together.
pub struct Shape {
    pub layout: Box<dyn Layout>,
    pub members: usize,
    /// Of the members; those of a group have rows of their own.
    pub groups: usize,
    /// None for mirrors.
    pub code: Option<Code>,
    pub chunk: u64,
}

impl Shape {
    /// Members of a parity row of a group in the order of the code: data by index, then parities.
    fn order(&self, code: Code, (group, row): (usize, u64)) -> Vec<usize> {
        let mut placed: Vec<Placed> = Vec::new();
        let len = code.data as u64 * self.chunk;
        // Whole rows in turn over the groups.
        let offset = (row * self.groups as u64 + group as u64) * len;
        self.layout.place(Extent { op: Op::Read, offset, len: len as u32 }, &mut placed);
        let mut order: Vec<usize> = placed.iter().map(|piece| usize::from(piece.member)).collect();
        // Left-symmetric: P comes before the first data chunk and Q between, member by member.
        let (width, begin) = (self.width(), group * self.width());
        let first = order[0] - begin + width - code.parities;
        order.extend((0..code.parities).map(|which| begin + (first + which) % width));
        order
    }

    /// Members of a group.
    fn width(&self) -> usize {
        self.members / self.groups
    }

    /// (member, symbol on it) of every copy of every symbol of an extent.
    pub fn places(&self, extent: Extent) -> Vec<Vec<(usize, u64)>> {
        let mut placed = Vec::new();
        self.layout.place(extent, &mut placed);
        let mut places = vec![Vec::new(); (u64::from(extent.len) / UNIT) as usize];
        for piece in placed {
            for n in 0..u64::from(piece.len) / UNIT {
                let at = (piece.host_offset - extent.offset) / UNIT + n;
                places[at as usize].push((usize::from(piece.member), piece.offset / UNIT + n));
            }
        }
        places
    }
}

/// Everything that is held, and what hosts have asked for.
pub struct Store {
    pub shape: Shape,
    /// By drive.
    contents: Vec<Vec<u64>>,
    /// Drive of every member.
    pub drive_of: Vec<usize>,
    /// By request: what it has read, by (member, symbol).
    read: BTreeMap<u32, BTreeMap<(usize, u64), u64>>,
    /// By tag, the number that a write writes.
    pub versions: BTreeMap<u64, u64>,
    /// By tag, what a read found.
    pub found: BTreeMap<u64, Vec<u64>>,
    /// Members that were given a spare and are not rebuilt.
    pub unbuilt: BTreeSet<u16>,
    pub rebuilt: usize,
}

pub type Shared = Arc<Mutex<Store>>;

impl Store {
    pub fn new(shape: Shape, size: u64, spares: usize) -> Self {
        let (members, symbols) = (shape.members, (size / UNIT) as usize);
        let mut contents = vec![vec![0; symbols]; members];
        contents.extend(vec![vec![GARBAGE; symbols]; spares]);
        Self {
            shape,
            contents,
            drive_of: (0..members).collect(),
            read: BTreeMap::new(),
            versions: BTreeMap::new(),
            found: BTreeMap::new(),
            unbuilt: BTreeSet::new(),
            rebuilt: 0,
        }
    }

    /// A drive answers a read of request `token`.
    pub fn drive_read(&mut self, drive: usize, token: u64, offset: u64, len: u32) {
        let (request, member) = (token as u32, usize::from((token >> 32) as u16));
        for symbol in offset / UNIT..(offset + u64::from(len)) / UNIT {
            let value = self.contents[drive][symbol as usize];
            self.read.entry(request).or_default().insert((member, symbol), value);
        }
    }

    /// What the plan of `phase` has read so far, and nothing from plans before it.
    fn known(&self, phase: &PhaseEnd) -> BTreeMap<(usize, u64), u64> {
        let reads = phase.legs.iter().filter(|leg| leg.op == Op::Read && leg.phase <= phase.phase);
        let all = self.read.get(&phase.request);
        let symbols = reads.flat_map(symbols_of);
        symbols.filter_map(|place| Some((place, *all?.get(&place)?))).collect()
    }

    fn answer_read(&mut self, phase: &PhaseEnd) {
        let known = self.known(phase);
        let values = self.shape.places(phase.extent).into_iter().map(|copies| {
            let direct = copies.iter().find_map(|place| known.get(place));
            direct.copied().unwrap_or_else(|| self.computed(copies[0], &known))
        });
        let values: Vec<u64> = values.collect();
        self.found.insert(phase.tag.expect("only hosts read"), values);
    }

    /// The symbols that are known of the column that a member's symbol is in, in the order of the code.
    fn column(
        &self,
        code: Code,
        (member, symbol): (usize, u64),
        known: &BTreeMap<(usize, u64), u64>,
    ) -> (Vec<usize>, Vec<Option<u64>>) {
        let order = self.shape.order(code, (member / self.shape.width(), symbol * UNIT / self.shape.chunk));
        let values = order.iter().map(|member| known.get(&(*member, symbol)).copied()).collect();
        (order, values)
    }

    /// A symbol that was not read, from others of its column.
    fn computed(&self, (member, symbol): (usize, u64), known: &BTreeMap<(usize, u64), u64>) -> u64 {
        let Some(code) = self.shape.code else {
            let copies = self.copies_of(member);
            let copy = copies.iter().find_map(|copy| known.get(&(*copy, symbol)));
            return *copy.expect("a plan reads what it copies");
        };
        let (order, values) = self.column(code, (member, symbol), known);
        let data = code.solve(&values).expect("a plan reads enough to compute what it does not read");
        let place = order.iter().position(|of| *of == member).expect("every member has its place");
        if place < code.data { data[place] } else { Code::parity(place - code.data, &data) }
    }

    /// Members that hold the same as `member`.
    fn copies_of(&self, member: usize) -> Vec<usize> {
        let first = self.shape.places(Extent { op: Op::Read, offset: 0, len: UNIT as u32 })[0].len();
        let group = member / first * first;
        (group..group + first).collect()
    }

    fn write(&mut self, phase: &PhaseEnd) {
        let known = self.known(phase);
        let version = phase.tag.and_then(|tag| self.versions.get(&tag)).copied();
        let mut new: BTreeMap<(usize, u64), u64> = BTreeMap::new();
        if let Some(version) = version {
            let places = self.shape.places(phase.extent).into_iter().flatten();
            new.extend(places.map(|place| (place, version)));
        }
        let is_over = |leg: &&Leg| leg.phase == phase.phase && leg.op == Op::Write;
        let alive = |leg: &&Leg| !phase.failed.contains(&leg.member);
        for place in phase.legs.iter().filter(is_over).filter(alive).flat_map(symbols_of) {
            let value = match new.get(&place) {
                Some(value) => *value,
                None if phase.rebuilds.is_some() => self.computed(place, &known),
                None => self.parity(place, &known, &new),
            };
            let drive = self.drive_of[place.0];
            self.contents[drive][place.1 as usize] = value;
        }
    }

    /// A parity after a write, in whichever way what was read allows.
    fn parity(
        &self,
        (member, symbol): (usize, u64),
        known: &BTreeMap<(usize, u64), u64>,
        new: &BTreeMap<(usize, u64), u64>,
    ) -> u64 {
        let code = self.shape.code.expect("a mirror writes nothing but data");
        let (order, old) = self.column(code, (member, symbol), known);
        let which = order.iter().position(|of| *of == member).expect("every member has its place") - code.data;
        let news: Vec<Option<u64>> = order[..code.data].iter().map(|of| new.get(&(*of, symbol)).copied()).collect();
        let rest: Option<Vec<u64>> = news.iter().zip(&old).map(|(new, old)| new.or(*old)).collect();
        let whole = || {
            let old = code.solve(&old)?;
            Some(news.iter().zip(old).map(|(new, old)| new.unwrap_or(old)).collect())
        };
        if let Some(data) = rest.or_else(whole) {
            return Code::parity(which, &data);
        }
        let mut parity = old[code.data + which].expect("a plan reads the parity that it changes");
        for (index, new) in news.iter().enumerate() {
            if let Some(new) = new {
                let before = old[index].expect("a plan reads the data that it changes");
                parity = Code::change(which, parity, index, before, *new);
            }
        }
        parity
    }

    /// Whether copies are the same and parity is that of its data, over all members.
    pub fn check(&self) -> Result<(), String> {
        let at = |member: usize, symbol: usize| self.contents[self.drive_of[member]][symbol];
        for symbol in 0..self.contents[0].len() {
            let Some(code) = self.shape.code else {
                for member in 0..self.shape.members {
                    let first = self.copies_of(member)[0];
                    if at(member, symbol) != at(first, symbol) {
                        return Err(format!("copies {first} and {member} differ at symbol {symbol}"));
                    }
                }
                continue;
            };
            for group in 0..self.shape.groups {
                let order = self.shape.order(code, (group, symbol as u64 * UNIT / self.shape.chunk));
                let data: Vec<u64> = order[..code.data].iter().map(|member| at(*member, symbol)).collect();
                let is_wrong = |which: &usize| at(order[code.data + which], symbol) != Code::parity(*which, &data);
                if let Some(which) = (0..code.parities).find(is_wrong) {
                    return Err(format!("parity {which} of group {group} is not that of its data at symbol {symbol}"));
                }
            }
        }
        Ok(())
    }
}

fn symbols_of(leg: &Leg) -> impl Iterator<Item = (usize, u64)> + use<> {
    let (member, from, to) = (usize::from(leg.member), leg.offset / UNIT, (leg.offset + u64::from(leg.len)) / UNIT);
    (from..to).map(move |symbol| (member, symbol))
}

/// The store as the machine sees it.
pub struct Watching(pub Shared);

impl Watch for Watching {
    fn phase_over(&mut self, phase: &PhaseEnd) {
        let mut store = self.0.lock().unwrap();
        store.write(phase);
        let is_last = phase.legs.last().is_some_and(|leg| leg.phase == phase.phase);
        if is_last && phase.failed.is_empty() && phase.extent.op == Op::Read && phase.rebuilds.is_none() {
            store.answer_read(phase);
        }
    }

    fn replaced(&mut self, _: u32, member: u16, drive: u32) {
        let mut store = self.0.lock().unwrap();
        store.drive_of[usize::from(member)] = drive as usize;
        store.unbuilt.insert(member);
    }

    fn rebuilt(&mut self, _: u32, member: u16) {
        let mut store = self.0.lock().unwrap();
        store.unbuilt.remove(&member);
        store.rebuilt += 1;
    }
}
