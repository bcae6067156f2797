//! `firstn`: the search for replicas, as Ceph's `crush_choose_firstn` makes it with today's tunables.

use super::hash::hash32_2;
use super::map::{CrushMap, Descent, Rule};
use super::weight::Weight;

/// A try for a replica.
enum Try {
    Found { domain: i32, osd: i32 },
    Rejected,
    Hopeless,
}

impl CrushMap {
    /// The OSDs that `rule` gives for the value `x`, in order; the first is the primary. Fewer than `size` where the map
    /// has too few failure domains, or the tries of the rule found none.
    ///
    /// `reweight` is the part of its PGs that each OSD keeps, by number; an OSD beyond its end is out, as in Ceph.
    pub fn place(&self, rule: &Rule, x: u32, size: u32, reweight: &[Weight]) -> Vec<u32> {
        let (mut domains, mut osds): (Vec<i32>, Vec<i32>) = (Vec::new(), Vec::new());
        for replica in 0..size {
            for failed in 0..rule.tries {
                match self.attempt(rule, x, replica + failed, &domains, reweight) {
                    Try::Found { domain, osd } => {
                        domains.push(domain);
                        osds.push(osd);
                        break;
                    }
                    Try::Rejected => {}
                    Try::Hopeless => break,
                }
            }
        }
        osds.into_iter().map(|osd| osd as u32).collect()
    }

    fn attempt(&self, rule: &Rule, x: u32, r: u32, domains: &[i32], reweight: &[Weight]) -> Try {
        let domain = match self.descend(rule.root, x, r, rule.level) {
            Descent::At(item) => item,
            Descent::Empty => return Try::Rejected,
            Descent::Missed => return Try::Hopeless,
        };
        if domains.contains(&domain) {
            return Try::Rejected;
        }
        // Within the domain: one try (chooseleaf_descend_once) with the r of the outer search (chooseleaf_vary_r = 1),
        // whichever replica it is for (chooseleaf_stable). OSDs of distinct domains are distinct: a map holds each once.
        let leaf = if domain < 0 { self.descend(domain, x, r, 0) } else { Descent::At(domain) };
        match leaf {
            Descent::At(osd) if !is_out(x, osd, reweight) => Try::Found { domain, osd },
            _ => Try::Rejected,
        }
    }
}

/// Whether an OSD does without the value `x`, by its reweight.
fn is_out(x: u32, osd: i32, reweight: &[Weight]) -> bool {
    let keeps = reweight.get(osd as usize).copied().unwrap_or_default();
    keeps < Weight::ONE && (hash32_2(x, osd as u32) & 0xffff) >= keeps.0
}
