//! Balancing: replicas move from the fullest to the emptiest OSDs, as Ceph's balancer does with upmaps.
//!
//! CRUSH draws OSDs at random, so that their numbers of PGs scatter as a binomial distribution does. Ceph's balancer
//! (`upmap` mode) corrects that by exceptions for single PGs. The goal is the same here, the method
//! differs: every chain of moves that helps is found (augmenting paths, as in a flow between PGs and OSDs), so that the
//! result is the best there is, not the best that single moves reach.

use std::collections::{BTreeMap, VecDeque};

use super::map::{CrushMap, Rule};
use super::placement::Placement;
use super::weight::Weight;

/// Slack of comparisons between sums of quotients, in PGs.
const EPSILON: f64 = 1e-6;

/// One replica moved: an item of `pg-upmap-items`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// Placement group.
    pub pg: u32,
    /// The OSD that it leaves.
    pub from: u32,
    /// The OSD that takes its place.
    pub to: u32,
}

impl Placement {
    /// Evens out the numbers of PGs: until no OSD has over its share one PG more than another that could take it.
    ///
    /// An OSD's share is in proportion to its weight times its reweight, at most as many replicas in a failure domain
    /// as there are PGs. Replicas stay in distinct failure domains and among the OSDs of the rule. An OSD takes the
    /// place in the PG of the one it relieves, so a move of the first replica moves the primary. Equal placements give
    /// equal moves, returned in order.
    pub fn balance(&mut self, map: &CrushMap, rule: &Rule, reweight: &[Weight]) -> Vec<Move> {
        let mut balancer = Balancer::new(map, rule, reweight, &self.pgs);
        let mut moves = Vec::new();
        while let Some(chain) = balancer.next_chain() {
            for (pg, from, to) in chain {
                let step = balancer.apply(&mut self.pgs, pg, from, to);
                moves.push(step);
            }
        }
        moves
    }

    /// Number of PGs above its share for each OSD that the rule reaches (see [`Placement::balance`]), by OSD in
    /// ascending order. OSDs of no weight are left out.
    pub fn surplus(&self, map: &CrushMap, rule: &Rule, reweight: &[Weight]) -> Vec<(u32, f64)> {
        let balancer = Balancer::new(map, rule, reweight, &self.pgs);
        balancer.osds.iter().enumerate().map(|(at, osd)| (osd.number, balancer.surplus(at))).collect()
    }
}

/// An OSD in the balance.
struct Osd {
    number: u32,
    /// Index of its failure domain.
    domain: usize,
    /// PGs that it should have.
    share: f64,
    /// PGs that it has.
    pgs: Vec<u32>,
    /// By failure domain: how many of its PGs have a replica there; domains of none are left out.
    shared: BTreeMap<usize, usize>,
}

struct Balancer {
    osds: Vec<Osd>,
    /// By PG: index of the OSD and failure domain of each replica that the rule reaches.
    replicas: Vec<Vec<(usize, usize)>>,
}

impl Balancer {
    fn new(map: &CrushMap, rule: &Rule, reweight: &[Weight], pgs: &[Vec<u32>]) -> Self {
        let keeps = |osd: u32| reweight.get(osd as usize).copied().unwrap_or_default().value();
        let reach = map.reach(rule);
        let mut domains: BTreeMap<i32, usize> = BTreeMap::new();
        let mut weights = Vec::new();
        let mut osds = Vec::new();
        for (number, domain, weight) in reach {
            let weight = weight.value() * keeps(number).min(1.0);
            if weight > 0.0 {
                let next = domains.len();
                let domain = *domains.entry(domain).or_insert(next);
                weights.push(weight);
                osds.push(Osd { number, domain, share: 0.0, pgs: Vec::new(), shared: BTreeMap::new() });
            }
        }
        let index: BTreeMap<u32, usize> = osds.iter().enumerate().map(|(at, osd)| (osd.number, at)).collect();
        let domain_of = |osd: &u32| index.get(osd).map(|&at| (at, osds[at].domain));
        let replicas: Vec<Vec<(usize, usize)>> =
            pgs.iter().map(|pg| pg.iter().filter_map(domain_of).collect()).collect();
        set_shares(&mut osds, &weights, domains.len(), &replicas);
        let mut balancer = Self { osds, replicas };
        for pg in 0..balancer.replicas.len() {
            balancer.count(pg, true);
        }
        balancer
    }

    /// Adds a PG to its OSDs, or removes it.
    fn count(&mut self, pg: usize, add: bool) {
        for &(at, _) in &self.replicas[pg] {
            let osd = &mut self.osds[at];
            match osd.pgs.binary_search(&(pg as u32)) {
                Err(place) if add => osd.pgs.insert(place, pg as u32),
                Ok(place) if !add => drop(osd.pgs.remove(place)),
                _ => unreachable!("an OSD holds a PG once"),
            }
            for &(_, domain) in &self.replicas[pg] {
                let shared = osd.shared.entry(domain).or_default();
                *shared = if add { *shared + 1 } else { *shared - 1 };
                if *shared == 0 {
                    osd.shared.remove(&domain);
                }
            }
        }
    }

    fn surplus(&self, at: usize) -> f64 {
        self.osds[at].pgs.len() as f64 - self.osds[at].share
    }

    /// The next chain of moves that helps, last move first (so that none overfills a failure domain of its PG).
    fn next_chain(&self) -> Option<Vec<(u32, usize, usize)>> {
        let mut fullest: Vec<usize> = (0..self.osds.len()).collect();
        fullest.sort_by(|&a, &b| self.surplus(b).total_cmp(&self.surplus(a)).then(a.cmp(&b)));
        let least = *fullest.last()?;
        let worth = |from: usize, to: usize| self.surplus(from) - self.surplus(to) > 1.0 + EPSILON;
        fullest.into_iter().take_while(|&from| worth(from, least)).find_map(|from| {
            let before = self.search(from);
            let reached = (0..self.osds.len()).filter(|&to| before[to].is_some() && worth(from, to));
            let to = reached.min_by(|&a, &b| self.surplus(a).total_cmp(&self.surplus(b)).then(a.cmp(&b)))?;
            Some(self.chain(&before, from, to))
        })
    }

    /// Breadth first: for every OSD that a chain of moves reaches, the OSD before it. In a shortest chain no two moves
    /// are in each other's way: if they were, there would be a shorter one.
    fn search(&self, from: usize) -> Vec<Option<usize>> {
        let mut before = vec![None; self.osds.len()];
        let mut unseen: Vec<usize> = (0..self.osds.len()).filter(|&at| at != from).collect();
        let mut queue = VecDeque::from([from]);
        while let Some(at) = queue.pop_front() {
            unseen.retain(|&to| {
                let reached = self.leads(at, to);
                if reached {
                    before[to] = Some(at);
                    queue.push_back(to);
                }
                !reached
            });
        }
        before
    }

    /// Whether some PG of one OSD may move to the other: within a failure domain any may, to another one of those that
    /// have no replica there.
    fn leads(&self, from: usize, to: usize) -> bool {
        let (from, to) = (&self.osds[from], &self.osds[to]);
        let bound = if from.domain == to.domain { 0 } else { from.shared.get(&to.domain).copied().unwrap_or(0) };
        from.pgs.len() > bound
    }

    fn chain(&self, before: &[Option<usize>], from: usize, to: usize) -> Vec<(u32, usize, usize)> {
        let mut chain = Vec::new();
        let mut at = to;
        while at != from {
            let previous = before[at].expect("every OSD reached but the first has one before it");
            let domain = self.osds[at].domain;
            let free = |pg: &&u32| {
                domain == self.osds[previous].domain
                    || self.replicas[**pg as usize].iter().all(|other| other.1 != domain)
            };
            let pg = *self.osds[previous].pgs.iter().find(free).expect("leads() counted one");
            chain.push((pg, previous, at));
            at = previous;
        }
        chain
    }

    fn apply(&mut self, pgs: &mut [Vec<u32>], pg: u32, from: usize, to: usize) -> Move {
        let at = pg as usize;
        self.count(at, false);
        let slot = self.replicas[at].iter().position(|replica| replica.0 == from).expect("the PG is on it");
        self.replicas[at][slot] = (to, self.osds[to].domain);
        self.count(at, true);
        let (from, to) = (self.osds[from].number, self.osds[to].number);
        let slot = pgs[at].iter().position(|&osd| osd == from).expect("the PG is on it");
        pgs[at][slot] = to;
        Move { pg, from, to }
    }
}

/// Shares in proportion to weight, where a failure domain takes at most one replica of each PG: the excess of a heavy
/// one goes to the others.
fn set_shares(osds: &mut [Osd], weights: &[f64], domains: usize, replicas: &[Vec<(usize, usize)>]) {
    let mut of_domain = vec![0.0; domains];
    osds.iter().zip(weights).for_each(|(osd, weight)| of_domain[osd.domain] += weight);
    let most = replicas.iter().filter(|pg| !pg.is_empty()).count() as f64;
    let (mut left, mut weight_left) =
        (replicas.iter().map(Vec::len).sum::<usize>() as f64, of_domain.iter().sum::<f64>());
    let mut heaviest: Vec<usize> = (0..domains).collect();
    heaviest.sort_by(|&a, &b| of_domain[b].total_cmp(&of_domain[a]).then(a.cmp(&b)));
    let mut per_weight = vec![0.0; domains];
    for domain in heaviest {
        let share = (left * of_domain[domain] / weight_left).min(most);
        per_weight[domain] = share / of_domain[domain];
        left -= share;
        weight_left -= of_domain[domain];
    }
    osds.iter_mut().zip(weights).for_each(|(osd, weight)| osd.share = weight * per_weight[osd.domain]);
}
