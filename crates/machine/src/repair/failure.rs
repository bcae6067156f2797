//! Failure of a drive, and its replacement by a spare.

use hotband_units::Instant;

use crate::graph::origin::{Access, Origin};
use crate::graph::queue::Class;
use crate::graph::{LayoutSlot, Machine, Role};
use crate::io::{Completion, Entropy, Op};
use crate::plan::{MemberState, Plan};
use crate::repair::agenda::Due;
use crate::repair::failing::Failing;
use crate::repair::rebuild::{Job, JobReport, JobState};
use crate::repair::{Attempt, NoSpare};
use crate::spec::{MemberRange, NodeRef};

impl Machine {
    pub(crate) fn is_dead(&self, drive: u32) -> bool {
        self.drives[drive as usize].failed_at.is_some()
    }

    pub(crate) fn lost_of(&self, layout: u32) -> u64 {
        let slot = &self.layouts[layout as usize];
        match &slot.role {
            Role::Planner(planner) => planner.lost(&slot.states),
            Role::Service(service) if service.keeps_addresses() => match slot.members[0] {
                MemberRange { node: NodeRef::Layout(below), .. } => self.lost_of(below),
                MemberRange { node: NodeRef::Drive(drive), size, .. } => u64::from(self.is_dead(drive)) * size,
            },
            Role::Service(service) => service.lost(),
        }
    }

    /// `drive` answers nothing any more.
    pub(crate) fn fail_drive(&mut self, at: Instant, drive: u32, completions: &mut Vec<Completion>) {
        if self.is_dead(drive) {
            return;
        }
        self.drives[drive as usize].failed_at = Some(at);
        let repair = self.repair_mut();
        repair.report.failures.push((drive, at));
        repair.spec.spares.retain(|spare| *spare != drive);
        let node = NodeRef::Drive(drive);
        let is_bare = self.volumes.iter().any(|volume| volume.node == node)
            || self.layouts.iter().any(|slot| slot.keeps_addresses() && slot.members[0].node == node);
        self.repair_mut().bare_loss |= is_bare;
        let is_used = is_bare || !self.places_of(drive).is_empty();
        let is_spare_wanted = self.lose_members(at, drive);
        self.failing(drive).fail(at);
        self.wake_drive(at, drive, completions);
        let wait = self.repair_mut().spec.spare_after;
        if is_spare_wanted {
            self.post(Class::Last, at + wait, Due::Spare(drive));
        } else if is_used {
            self.repair_mut().report.without_spare.push((drive, NoSpare::NothingToRebuild));
        }
        self.start_jobs(at);
    }

    /// Marks the members that lie on `drive`, and members of layouts above that have lost data with it. Returns whether
    /// any of them can be rebuilt.
    fn lose_members(&mut self, at: Instant, drive: u32) -> bool {
        let mut is_rebuildable = false;
        for layout in 0..self.layouts.len() {
            for member in 0..self.layouts[layout].members.len() {
                let is_lost = match self.layouts[layout].members[member].node {
                    NodeRef::Drive(of) => of == drive,
                    NodeRef::Layout(below) => self.lost_of(below) > 0,
                };
                let slot = &mut self.layouts[layout];
                if let Role::Service(service) = &mut slot.role {
                    if is_lost {
                        service.member_failed(at, member as u16);
                        is_rebuildable |= service.can_replace(member as u16);
                        self.answered.push(layout as u32);
                    }
                    continue;
                }
                let is_on_drive = slot.members[member].node == NodeRef::Drive(drive);
                let state = &mut slot.states[member];
                if !is_lost || (state.present_to == 0 && !is_on_drive) {
                    continue;
                }
                state.present_to = 0;
                slot.degraded = true;
                let repair = self.repair_mut();
                repair.epochs[layout] += 1;
                for job in &mut repair.jobs {
                    if (job.report.layout as usize, usize::from(job.report.member)) == (layout, member) {
                        job.end(at, JobState::SpareFailed);
                    }
                }
                is_rebuildable |= is_on_drive && self.can_rebuild(layout as u32, member as u16);
            }
        }
        self.free_leftovers(at);
        is_rebuildable
    }

    fn can_rebuild(&self, layout: u32, member: u16) -> bool {
        let slot = &self.layouts[layout as usize];
        let planner = match &slot.role {
            Role::Planner(planner) => planner,
            Role::Service(service) => return service.can_replace(member),
        };
        let Some(redundancy) = planner.redundancy() else { return false };
        let mut plan = Plan::default();
        let first = 0..redundancy.unit().min(redundancy.member_bytes());
        redundancy.plan_rebuild(member, &first, &slot.states, &mut plan);
        !plan.lost
    }

    /// Members of layouts that lie on `drive`.
    fn places_of(&self, drive: u32) -> Vec<(u32, u16)> {
        let of_layout = |(layout, slot): (usize, &LayoutSlot)| {
            let members = slot.members.iter().enumerate();
            let on_drive = members.filter(|(_, member)| member.node == NodeRef::Drive(drive));
            on_drive.map(|(member, _)| (layout as u32, member as u16)).collect::<Vec<_>>()
        };
        self.layouts.iter().enumerate().flat_map(of_layout).collect()
    }

    /// Choose the first spare that is large enough for these places.
    fn choose_spare(&self, places: &[(u32, u16)]) -> Result<usize, NoSpare> {
        let range = |&(layout, member): &(u32, u16)| self.layouts[layout as usize].members[usize::from(member)];
        let needed = places.iter().map(|place| range(place).from + range(place).size).max();
        let needed = needed.ok_or(NoSpare::NothingToRebuild)?;
        let spares = &self.repair_ref().spec.spares;
        let is_large = |spare: &u32| self.drives[*spare as usize].drive.capacity().0 >= needed;
        let none = if spares.is_empty() { NoSpare::NoneLeft } else { NoSpare::TooSmall };
        spares.iter().position(is_large).ok_or(none)
    }

    /// A spare takes the place of `drive` in every layout that can be rebuilt.
    pub(crate) fn take_spare(&mut self, at: Instant, drive: u32) {
        let mut places = self.places_of(drive);
        places.retain(|(layout, member)| self.can_rebuild(*layout, *member));
        let chosen = match self.choose_spare(&places) {
            Ok(chosen) => chosen,
            Err(why) => return self.repair_mut().report.without_spare.push((drive, why)),
        };
        let repair = self.repair_mut();
        let spare = repair.spec.spares.remove(chosen);
        repair.report.taken.push((drive, spare));
        for (layout, member) in places {
            self.give(at, (layout, member), (drive, spare));
        }
        self.start_jobs(at);
    }

    /// `spare` becomes `member` of `layout`, and is to be rebuilt.
    fn give(&mut self, at: Instant, (layout, member): (u32, u16), (drive, spare): (u32, u32)) {
        let limit = self.repair_ref().spec.rate_limit;
        let slot = &mut self.layouts[layout as usize];
        slot.members[usize::from(member)].node = NodeRef::Drive(spare);
        if let Role::Service(service) = &mut slot.role {
            service.member_replaced(at, member, limit);
            self.answered.push(layout);
            let given = JobReport::waiting((layout, member), (drive, spare), 0);
            return self.repair_mut().given.push(given);
        }
        let pending = slot.states[usize::from(member)].pending;
        slot.states[usize::from(member)] = MemberState { pending, present_to: 0, ..MemberState::default() };
        let redundancy = slot.planner().redundancy().expect("only redundancy can be rebuilt");
        let (of_bytes, unit) = (redundancy.member_bytes(), redundancy.unit());
        let report = JobReport::waiting((layout, member), (drive, spare), of_bytes);
        let repair = self.repair_mut();
        repair.epochs[layout as usize] += 1;
        repair.jobs.push(Job::new(report, unit, limit));
        if let Some(watch) = &mut repair.watch {
            watch.replaced(layout, member, spare);
        }
    }

    /// Begins the rebuilds that wait for no other: two that share a drive run one after the other.
    fn start_jobs(&mut self, at: Instant) {
        for job in 0..self.repair_mut().jobs.len() {
            if self.repair_mut().jobs[job].report.state != JobState::Waiting {
                continue;
            }
            let drives = self.drives_of_job(job);
            let others = (0..self.repair_ref().jobs.len()).filter(|other| self.repair_ref().jobs[*other].is_running());
            let mut others = others.map(|other| self.drives_of_job(other));
            if others.any(|other| other.iter().any(|drive| drives.contains(drive))) {
                continue;
            }
            self.repair_mut().jobs[job].begin(at);
            self.go_on(at, job as u32);
        }
    }

    /// Drives that a rebuild reads or writes: of a mirror of several groups, those of one group.
    fn drives_of_job(&self, job: usize) -> Vec<u32> {
        let report = &self.repair_ref().jobs[job].report;
        let slot = &self.layouts[report.layout as usize];
        let group = slot.planner().redundancy().expect("only redundancy is rebuilt").group_of(report.member);
        self.drives_below(&slot.members[usize::from(group.start)..usize::from(group.end)])
    }

    pub(crate) fn drives_below(&self, members: &[MemberRange]) -> Vec<u32> {
        let below = members.iter().flat_map(|member| match member.node {
            NodeRef::Drive(drive) => vec![drive],
            NodeRef::Layout(below) => self.drives_below(&self.layouts[below as usize].members),
        });
        below.collect()
    }

    fn failing(&mut self, drive: u32) -> &mut Failing {
        self.drives[drive as usize].drive.failing().expect("every drive may fail where any may")
    }

    /// Commands of hosts to these drives so far, and whether any is under way.
    fn host_commands(&mut self, drives: &[u32]) -> (u64, bool) {
        let commands = drives.iter().map(|drive| self.failing(*drive).host_commands());
        commands.fold((0, false), |(sum, any), (so_far, under_way)| (sum + so_far, any || under_way))
    }

    /// Takes as many steps of a rebuild as there is room for and its limit allows.
    pub(crate) fn go_on(&mut self, now: Instant, job: u32) {
        let drives = self.drives_of_job(job as usize);
        let host_commands = self.host_commands(&drives);
        self.repair_mut().jobs[job as usize].look(host_commands);
        while self.repair_mut().jobs[job as usize].has_room() {
            let repair = self.repair_mut();
            let running = &mut repair.jobs[job as usize];
            let at = running.may_go_on();
            if at > now {
                if !std::mem::replace(&mut running.paused, true) {
                    self.post(Class::Last, at, Due::Pace(job));
                }
                return;
            }
            self.step(now, job);
        }
    }

    fn step(&mut self, now: Instant, job: u32) {
        let repair = self.repair_mut();
        let running = &mut repair.jobs[job as usize];
        let (layout, member) = (running.report.layout, running.report.member);
        // The number of the lock is known before it is asked for: the next one.
        let lock = repair.next_lock();
        let (step, range) = repair.jobs[job as usize].take_step(now, lock);
        let id = self.requests.take(Origin::Rebuild { job, step, member });
        *self.repair_mut().attempt(id) = Attempt::default();
        let request = self.requests.get(id);
        (request.node, request.submitted) = (NodeRef::Layout(layout), now);
        let len = (range.end - range.start) as u32;
        let (op, entropy) = (Op::Write, Entropy::INCOMPRESSIBLE);
        request.enter(Access { op, offset: range.start, len, fua: false, version: 0, entropy });
        request.guarded = true;
        let redundancy = self.layouts[layout as usize].planner().redundancy().expect("only redundancy is rebuilt");
        let columns = vec![redundancy.columns_of(member, &range)];
        if self.lock(now, id, columns, true) {
            self.plan(now, id);
        }
    }

    /// A step of a rebuild has ended.
    pub(crate) fn step_over(&mut self, now: Instant, (job, step): (u32, u64), is_well: bool) {
        let running = &mut self.repair_mut().jobs[job as usize];
        let was_running = running.is_running();
        let free = running.step_over(now, step, is_well);
        let (layout, member, state, bytes) =
            (running.report.layout, running.report.member, running.report.state, running.report.bytes);
        if was_running {
            let present = &mut self.layouts[layout as usize].states[usize::from(member)].present_to;
            *present = if state == JobState::Done { u64::MAX } else { bytes };
        }
        if state == JobState::Done && was_running {
            let slot = &mut self.layouts[layout as usize];
            slot.degraded = slot.states.iter().any(|state| state.present_to != u64::MAX);
            if let Some(watch) = &mut self.repair_mut().watch {
                watch.rebuilt(layout, member);
            }
        }
        for lock in free {
            self.unlock(now, layout, lock);
        }
        self.free_leftovers(now);
        self.go_on(now, job);
        if was_running && state != JobState::Running {
            self.start_jobs(now);
        }
    }

    /// Gives back the columns of rebuilds that are over.
    fn free_leftovers(&mut self, now: Instant) {
        for job in 0..self.repair_mut().jobs.len() {
            let running = &mut self.repair_mut().jobs[job];
            if running.is_running() || running.report.state == JobState::Waiting {
                continue;
            }
            let (layout, locks) = (running.report.layout, running.leftovers());
            for lock in locks {
                self.unlock(now, layout, lock);
            }
        }
    }

    /// The data read by a step of a rebuild meets the errors of the drives. A sector that other members can replace
    /// is read from them; else what was to be computed from it is lost, and the sector itself.
    pub(crate) fn read_errors(&mut self, id: u32, job: u32) {
        let report = &self.repair_ref().jobs[job as usize].report;
        let (layout, member) = (report.layout as usize, report.member);
        let request = self.requests.get(id);
        if (request.next_leg as usize) == request.legs.len() {
            return; // The phase that is over has written.
        }
        let legs = request.legs.clone();
        for leg in legs.iter().filter(|leg| leg.op == Op::Read) {
            let NodeRef::Drive(drive) = self.layouts[layout].members[usize::from(leg.member)].node else { continue };
            for offset in self.repair_mut().errors_in(drive, u64::from(leg.len)) {
                let sector = self.repair_ref().errors[drive as usize].map_or(512, |errors| errors.sector);
                let from = leg.offset + offset;
                let range = from..(from + sector).min(leg.offset + u64::from(leg.len));
                let slot = &self.layouts[layout];
                let mut states = slot.states.clone();
                states[usize::from(leg.member)].present_to = 0;
                let redundancy = slot.planner().redundancy().expect("only redundancy is rebuilt");
                let lost = redundancy.lost_in(member, &range, &states);
                let repair = self.repair_mut();
                repair.report.sector_errors += 1;
                repair.jobs[job as usize].report.sector_errors += 1;
                repair.jobs[job as usize].report.repaired += u64::from(lost == 0);
                repair.sector_bytes_lost += lost;
            }
        }
    }
}
