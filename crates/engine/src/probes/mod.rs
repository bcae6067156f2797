//! What watches a run.

pub mod caches;
pub mod direction;
pub mod io_log;
pub mod operations;
pub mod power;
pub mod power_loss;
pub mod repair;
pub mod scripts;
pub mod smart;
pub mod steady;
pub mod steps;
pub mod streams;
