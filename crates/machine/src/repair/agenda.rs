//! Agenda of a machine: scheduled events, deferred repair work, and the work of the host's cores.

/// Something to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// A drive fails.
    Failure(u32),
    /// A value of a drive changes: which of those noted.
    Set(u32),
    /// A daemon of a pool is marked out.
    Out { layout: u32, daemon: u32 },
    /// Power goes off.
    PowerOff,
    /// A core of the host has finished its work.
    Core(u32),
    /// A spare is looked for.
    Spare(u32),
    /// A rebuild continues after a pause.
    Pace(u32),
    /// A request ends because its data is lost.
    Lost(u32),
}
