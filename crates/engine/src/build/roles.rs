//! From a layout of a spec to its implementation: a planner or a service.

use std::collections::BTreeMap;

use hotband_drives::Product;
use hotband_layouts::controller::{Controller, ControllerSpec};
use hotband_layouts::md::{MOST_MEMBERS, Md, MdSpec};
use hotband_layouts::raidz::{self, RAIDZ};
use hotband_layouts::replicated::{self, OsdParams, PoolSpec};
use hotband_layouts::{CONTROLLER, MD, build, is_pool};
use hotband_machine::{
    BuildError, LayoutSpec, Look, MachineSpec, MemberRange, NodeRef, Random, Role, SpecError, StripeShape,
};
use toml::Table;

use crate::build::assemble::as_value;
use crate::build::means::Memory;
use crate::build::units::Layouts;

/// Parts from which layouts are built.
pub(super) struct Roles<'a> {
    pub spec: &'a MachineSpec,
    /// Products and their texts, by name.
    pub products: &'a BTreeMap<String, (Product, String)>,
    /// Values of `--set`.
    pub set: &'a [(String, String)],
    pub seed: u64,
    pub look: Look<'a>,
}

impl Roles<'_> {
    /// Implementation of `layout` on `members`, which a pool cuts into slices; `layouts` are those before it.
    pub fn role(
        &self,
        layout: &LayoutSpec,
        members: &mut Vec<MemberRange>,
        layouts: &Layouts,
        memory: &mut Memory,
    ) -> Result<Role, BuildError> {
        let file = &self.spec.file;
        match layout.kind.as_str() {
            kind if is_pool(kind) => {
                let pool = PoolSpec::read(file, layout)?;
                let random = Random::new(self.seed, &format!("layouts.{}", layout.name));
                let params = self.osd_params(layout, &pool)?;
                memory.take(replicated::memory(&pool, &params, members));
                memory.check()?;
                let (pool, slices) = replicated::build(file, layout, pool, params, members, (random, self.look))?;
                *members = slices;
                Ok(Role::Service(pool))
            }
            kind if RAIDZ.contains(&kind) => Ok(Role::Service(raidz::build(file, layout, members)?)),
            CONTROLLER => {
                let controller = ControllerSpec::read(file, layout)?;
                memory.take(controller.memory());
                memory.check()?;
                let (size, shift) = (members[0].size, members[0].from);
                let stripe = stripe_shape(members[0], layouts).map(|shape| shape.bytes());
                Ok(Role::Service(Box::new(Controller::new(controller, size, stripe, shift))))
            }
            MD => Ok(Role::Service(Box::new(md(file, layout, members, layouts)?))),
            _ => {
                let sizes: Vec<u64> = members.iter().map(|member| member.size).collect();
                Ok(Role::Planner(build(file, layout, &sizes)?))
            }
        }
    }

    /// The values of a pool's daemons: the catalog's, those of the machine, those of `--set`.
    fn osd_params(&self, layout: &LayoutSpec, pool: &PoolSpec) -> Result<OsdParams, SpecError> {
        let daemon = &self.products[&pool.osd].0;
        let params = OsdParams::read(daemon, &pool.set, &self.spec.file, &format!("{}.osd_set", layout.key))?;
        let settings = self.set.iter().filter(|(key, _)| daemon.has(key));
        let settings: Table = settings.map(|(key, value)| (key.clone(), as_value(value))).collect();
        if settings.is_empty() {
            return Ok(params);
        }
        let mut values = pool.set.clone();
        values.extend(settings);
        OsdParams::read(daemon, &values, "set", "")
    }
}

/// The stripes of a member, if it has any.
fn stripe_shape(member: MemberRange, layouts: &Layouts) -> Option<StripeShape> {
    match member.node {
        NodeRef::Layout(layout) => match &layouts[layout as usize].1 {
            Role::Planner(planner) => planner.stripe_shape(),
            Role::Service(_) => None,
        },
        NodeRef::Drive(_) => None,
    }
}

/// A stripe cache before `members`, the second of which is its journal.
fn md(file: &str, layout: &LayoutSpec, members: &[MemberRange], layouts: &Layouts) -> Result<Md, SpecError> {
    let spec = MdSpec::read(file, layout)?;
    let kind = kind_of(members[0], layouts);
    let refused =
        |accepted: &str| SpecError::new(file, &format!("{}.members", layout.key), kind.unwrap_or("a drive"), accepted);
    let shape = match kind {
        Some("raid50" | "raid60") => Err(refused(
            "Linux has no such level: give every group a raid5 or raid6 and an md of its own, and lay a raid0 over these",
        )),
        Some("raid5" | "raid6") => Ok(stripe_shape(members[0], layouts).expect("parity has stripes")),
        _ => Err(refused("expected a raid5 or raid6 as its first member")),
    }?;
    let (from, size) = (members[0].from, members[0].size);
    if !from.is_multiple_of(shape.bytes()) || !size.is_multiple_of(shape.bytes()) {
        return Err(refused("expected whole stripes of its member: leave out from and size"));
    }
    if shape.data + shape.parities > MOST_MEMBERS {
        return Err(refused(&format!("expected a layout of at most {MOST_MEMBERS} members")));
    }
    let journal = members.get(1).map_or(0, |journal| journal.size);
    // A journal holds at least what may be on its way: a block, all pages of a row and its parity again, for every head.
    let least = (spec.stripes + 1) * (shape.data + 3 * shape.parities + 3) * 4096;
    if spec.has_journal() && journal < least {
        return Err(refused(&format!("expected a journal of at least {least} B")));
    }
    Ok(Md::new(spec, (from, size), shape, journal))
}

/// Name of the layout that a member is, if it is one.
fn kind_of(member: MemberRange, layouts: &Layouts) -> Option<&'static str> {
    match member.node {
        NodeRef::Layout(layout) => Some(match &layouts[layout as usize].1 {
            Role::Planner(planner) => planner.kind(),
            Role::Service(service) => service.kind(),
        }),
        NodeRef::Drive(_) => None,
    }
}
