//! Every script that runs once is done.

use hotband_workloads::Source;

use super::AfterEvent;
use crate::drive::Driver;

pub struct ScriptsDone;

impl AfterEvent for ScriptsDone {
    fn is_met(&self, driver: &mut Driver) -> bool {
        driver.sources.iter().all(Source::is_done)
    }
}
