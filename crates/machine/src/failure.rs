//! What happens when a drive fails, and how a spare takes its place.

use hotband_units::Instant;

use crate::graph::{LayoutSlot, Machine};
use crate::io::{Completion, Entropy, Op, Times};
use crate::plan::{Extent, MemberState, Plan};
use crate::rebuild::{Job, JobReport, JobState};
use crate::repair::{Due, Held, NoSpare, Repair, RepairReport, RepairSpec, SectorErrors, Service, Watch};
use crate::requests::REBUILD;
use crate::spec::{MemberRange, NodeRef};

impl Machine {
    /// Tells, before the first I/O, what is to happen to the drives; `watch` sees the data move.
    ///
    /// # Panics
    /// If a layout is a service: these have failures of their own.
    pub fn prepare_repair(&mut self, spec: RepairSpec, watch: Option<Box<dyn Watch>>) {
        assert!(!self.has_service(), "checked where the failure was asked for");
        let names: Vec<&str> = self.drives.iter().map(|slot| slot.name.as_str()).collect();
        let mut repair = Repair::new(spec, &names, self.layouts.len());
        repair.watch = watch;
        self.repair = Some(Box::new(repair));
    }

    /// The measured time begins: failures count from now.
    pub fn begin_repair(&mut self, now: Instant) {
        if let Some(repair) = &mut self.repair {
            let failures = repair.spec.failures.clone();
            for (drive, after) in failures {
                repair.schedule(now + after, Due::Failure(drive));
            }
        }
    }

    /// What hosts get now; none where no failure is to come.
    #[inline]
    pub fn service_level(&self) -> Option<Service> {
        self.repair.as_ref().map(|repair| repair.service())
    }

    /// What has happened so far; none where no failure is to come.
    pub fn repair_report(&self) -> Option<RepairReport> {
        let repair = self.repair.as_ref()?;
        let rebuilds = repair.jobs.iter().map(|job| job.report.clone()).collect();
        let bytes_lost = self.bytes_gone() + repair.sector_bytes_lost;
        Some(RepairReport { rebuilds, bytes_lost, ..repair.report.clone() })
    }

    /// Name of a layout in the spec.
    pub fn layout_name(&self, layout: u32) -> &str {
        &self.layouts[layout as usize].name
    }

    /// How unrecoverable errors of every drive come, in the order of the drives.
    pub fn sector_errors(&self) -> Vec<Option<SectorErrors>> {
        self.drives.iter().map(|slot| slot.drive.sector_errors()).collect()
    }

    /// Names of the drives, in their order.
    pub fn drive_names(&self) -> impl Iterator<Item = &str> {
        self.drives.iter().map(|slot| slot.name.as_str())
    }

    /// When a drive failed; none where it did not.
    pub fn failed_at(&self, drive: u32) -> Option<Instant> {
        let failures = &self.repair.as_ref()?.report.failures;
        failures.iter().find(|(failed, _)| *failed == drive).map(|(_, at)| *at)
    }

    /// What a drive is: "disk" or "ssd".
    pub fn drive_kind(&self, drive: u32) -> &'static str {
        self.drives[drive as usize].drive.kind()
    }

    /// Bytes that hosts can address and no drive has: of the layouts that no other lies on, and of volumes on drives.
    fn bytes_gone(&self) -> u64 {
        let is_member = |layout: usize| {
            self.layouts.iter().any(|slot| slot.members.iter().any(|m| m.node == NodeRef::Layout(layout as u32)))
        };
        let roots = (0..self.layouts.len()).filter(|layout| !is_member(*layout));
        let of_layouts: u64 = roots.map(|layout| self.lost_of(layout as u32)).sum();
        // Volumes of one drive may overlap: what both have is lost once.
        let mut gone: Vec<(u32, u64, u64)> = Vec::new();
        for target in &self.targets {
            match target.node {
                NodeRef::Drive(drive) if self.is_dead(drive) => {
                    gone.push((drive, target.from, target.from + target.size));
                }
                _ => {}
            }
        }
        gone.sort_unstable();
        let mut counted_to = (0, 0);
        let mut bytes = of_layouts;
        for (drive, from, to) in gone {
            let from = if counted_to.0 == drive { from.max(counted_to.1) } else { from };
            bytes += to.saturating_sub(from);
            counted_to = (drive, to.max(from));
        }
        bytes
    }

    fn is_dead(&self, drive: u32) -> bool {
        self.repair.as_ref().is_some_and(|repair| repair.dead[drive as usize])
    }

    fn lost_of(&self, layout: u32) -> u64 {
        let (planner, states) = self.layout_states(layout);
        planner.lost(states)
    }

    /// `drive` answers nothing any more.
    pub(crate) fn fail_drive(&mut self, at: Instant, drive: u32, completions: &mut Vec<Completion>) {
        let repair = self.mending();
        if std::mem::replace(&mut repair.dead[drive as usize], true) {
            return;
        }
        repair.report.failures.push((drive, at));
        repair.spec.spares.retain(|spare| *spare != drive);
        self.disarm(drive);
        let is_bare = self.targets.iter().any(|target| target.node == NodeRef::Drive(drive));
        self.mending().bare_loss |= is_bare;
        let is_used = is_bare || !self.places_of(drive).is_empty();
        let is_spare_wanted = self.lose_members(at, drive);
        let tokens = self.mending().under_way(drive);
        for token in tokens {
            self.refuse(at, token, completions);
        }
        let wait = self.mending().spec.spare_after;
        if is_spare_wanted {
            self.mending().schedule(at + wait, Due::Spare(drive));
        } else if is_used {
            self.mending().report.without_spare.push((drive, NoSpare::NothingToRebuild));
        }
        self.start_jobs(at);
    }

    /// Marks the members that lie on `drive`, and members of layouts above that have lost data with it. Tells whether
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
                let is_on_drive = slot.members[member].node == NodeRef::Drive(drive);
                let state = &mut slot.states[member];
                if !is_lost || (state.present_to == 0 && !is_on_drive) {
                    continue;
                }
                state.present_to = 0;
                let repair = self.mending();
                repair.degraded[layout] = true;
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
        let (planner, states) = self.layout_states(layout);
        let Some(redundancy) = planner.redundancy() else { return false };
        let mut plan = Plan::default();
        redundancy.plan_rebuild(member, &(0..redundancy.unit().min(redundancy.member_bytes())), states, &mut plan);
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

    /// Which of the spares left takes these places: the first that is large enough.
    fn choose_spare(&self, places: &[(u32, u16)]) -> Result<usize, NoSpare> {
        let range = |&(layout, member): &(u32, u16)| self.layouts[layout as usize].members[usize::from(member)];
        let needed = places.iter().map(|place| range(place).from + range(place).size).max();
        let needed = needed.ok_or(NoSpare::NothingToRebuild)?;
        let spares = &self.mending_ref().spec.spares;
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
            Err(why) => return self.mending().report.without_spare.push((drive, why)),
        };
        let repair = self.mending();
        let spare = repair.spec.spares.remove(chosen);
        repair.report.taken.push((drive, spare));
        for (layout, member) in places {
            self.give(layout, member, (drive, spare));
        }
        self.start_jobs(at);
    }

    /// `spare` becomes `member` of `layout`, and is to be rebuilt.
    fn give(&mut self, layout: u32, member: u16, (drive, spare): (u32, u32)) {
        let slot = &mut self.layouts[layout as usize];
        slot.members[usize::from(member)].node = NodeRef::Drive(spare);
        let pending = slot.states[usize::from(member)].pending;
        slot.states[usize::from(member)] = MemberState { pending, present_to: 0, ..MemberState::default() };
        let redundancy = slot.planner().redundancy().expect("only redundancy can be rebuilt");
        let (of_bytes, unit) = (redundancy.member_bytes(), redundancy.unit());
        let report = JobReport::waiting((layout, member), (drive, spare), of_bytes);
        let repair = self.mending();
        repair.epochs[layout as usize] += 1;
        let limit = repair.spec.rate_limit;
        repair.jobs.push(Job::new(report, unit, limit));
        if let Some(watch) = &mut repair.watch {
            watch.replaced(layout, member, spare);
        }
    }

    /// Begins the rebuilds that wait for no other: two that share a drive run one after the other.
    fn start_jobs(&mut self, at: Instant) {
        for job in 0..self.mending().jobs.len() {
            if self.mending().jobs[job].report.state != JobState::Waiting {
                continue;
            }
            let drives = self.drives_of_job(job);
            let others =
                (0..self.mending_ref().jobs.len()).filter(|other| self.mending_ref().jobs[*other].is_running());
            let mut others = others.map(|other| self.drives_of_job(other));
            if others.any(|other| other.iter().any(|drive| drives.contains(drive))) {
                continue;
            }
            self.mending().jobs[job].begin(at);
            self.go_on(at, job as u32);
        }
    }

    fn mending_ref(&self) -> &Repair {
        self.repair.as_ref().expect("asked only where a failure is to come")
    }

    /// Drives that a rebuild reads or writes: of a mirror of several groups, those of one group.
    fn drives_of_job(&self, job: usize) -> Vec<u32> {
        let report = &self.mending_ref().jobs[job].report;
        let slot = &self.layouts[report.layout as usize];
        let group = slot.planner().redundancy().expect("only redundancy is rebuilt").group_of(report.member);
        self.drives_below(&slot.members[usize::from(group.start)..usize::from(group.end)])
    }

    fn drives_below(&self, members: &[MemberRange]) -> Vec<u32> {
        let below = members.iter().flat_map(|member| match member.node {
            NodeRef::Drive(drive) => vec![drive],
            NodeRef::Layout(below) => self.drives_below(&self.layouts[below as usize].members),
        });
        below.collect()
    }

    /// Takes as many steps of a rebuild as there is room for and its limit allows.
    pub(crate) fn go_on(&mut self, now: Instant, job: u32) {
        let drives = self.drives_of_job(job as usize);
        let host_commands = self.mending_ref().host_commands(&drives);
        self.mending().jobs[job as usize].look(host_commands);
        while self.mending().jobs[job as usize].has_room() {
            let repair = self.mending();
            let of = &mut repair.jobs[job as usize];
            let at = of.may_go_on();
            if at > now {
                if !std::mem::replace(&mut of.paused, true) {
                    repair.schedule(at, Due::Pace(job));
                }
                return;
            }
            self.step(now, job);
        }
    }

    fn step(&mut self, now: Instant, job: u32) {
        let id = self.requests.take();
        let repair = self.mending();
        let (layout, member) = (repair.jobs[job as usize].report.layout, repair.jobs[job as usize].report.member);
        *repair.held(id) = Held { layout, job: Some((job, member)), ..Held::default() };
        // The number of the lock is known before it is asked for: the next one.
        let lock = repair.next_lock();
        let (number, range) = repair.jobs[job as usize].take_step(now, lock);
        let len = (range.end - range.start) as u32;
        repair.held(id).extent = Some(Extent { op: Op::Write, offset: range.start, len });
        let request = self.requests.get(id);
        request.tag = (u64::from(job) << 32) | number;
        request.parent = REBUILD;
        request.layout = layout;
        request.op = Op::Write;
        request.fua = false;
        request.version = 0;
        request.entropy = Entropy::INCOMPRESSIBLE;
        (request.submitted, request.past, request.fault) = (now, Times::default(), None);
        let redundancy = self.layouts[layout as usize].planner().redundancy().expect("only redundancy is rebuilt");
        let columns = vec![redundancy.columns_of(member, &range)];
        if self.lock(now, id, columns, true) {
            self.plan_again(now, id);
        }
    }

    /// A step of a rebuild has ended.
    pub(crate) fn step_over(&mut self, now: Instant, tag: u64, is_well: bool) {
        let job = (tag >> 32) as u32;
        let repair = self.mending();
        let of = &mut repair.jobs[job as usize];
        let was_running = of.is_running();
        let free = of.step_over(now, tag & u64::from(u32::MAX), is_well);
        let (layout, member, state, bytes) = (of.report.layout, of.report.member, of.report.state, of.report.bytes);
        if was_running {
            let present = &mut self.layouts[layout as usize].states[usize::from(member)].present_to;
            *present = if state == JobState::Done { u64::MAX } else { bytes };
        }
        if state == JobState::Done && was_running {
            let all_present = self.layouts[layout as usize].states.iter().all(|state| state.present_to == u64::MAX);
            let repair = self.mending();
            repair.degraded[layout as usize] = !all_present;
            if let Some(watch) = &mut repair.watch {
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
        for job in 0..self.mending().jobs.len() {
            let of = &mut self.mending().jobs[job];
            if of.is_running() || of.report.state == JobState::Waiting {
                continue;
            }
            let (layout, locks) = (of.report.layout, of.leftovers());
            for lock in locks {
                self.unlock(now, layout, lock);
            }
        }
    }

    /// What a step of a rebuild has read meets the errors of the drives. A sector that yet other members can replace is
    /// read from them; else what was to be computed from it is lost, and the sector itself.
    pub(crate) fn read_errors(&mut self, id: u32, job: u32) {
        let held = self.mending().held(id);
        let (layout, member) = (held.layout as usize, held.job.map_or(0, |(_, member)| member));
        let legs = self.requests.get(id).legs.clone();
        if (self.requests.get(id).next_leg as usize) == legs.len() {
            return; // The phase that is over has written.
        }
        for leg in legs.iter().filter(|leg| leg.op == Op::Read) {
            let NodeRef::Drive(drive) = self.layouts[layout].members[usize::from(leg.member)].node else { continue };
            for offset in self.mending().errors_in(drive, u64::from(leg.len)) {
                let sector = self.mending().spec.errors[drive as usize].map_or(512, |errors| errors.sector);
                let from = leg.offset + offset;
                let range = from..(from + sector).min(leg.offset + u64::from(leg.len));
                let slot = &self.layouts[layout];
                let mut states = slot.states.clone();
                states[usize::from(leg.member)].present_to = 0;
                let redundancy = slot.planner().redundancy().expect("only redundancy is rebuilt");
                let lost = redundancy.lost_in(member, &range, &states);
                let repair = self.mending();
                repair.report.sector_errors += 1;
                repair.jobs[job as usize].report.sector_errors += 1;
                repair.jobs[job as usize].report.repaired += u64::from(lost == 0);
                repair.sector_bytes_lost += lost;
            }
        }
    }
}
