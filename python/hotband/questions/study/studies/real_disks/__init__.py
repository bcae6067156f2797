"""The study real-disks: five disks that were measured I/O by I/O."""
