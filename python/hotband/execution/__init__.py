"""Floor 3: runs and their targets: experiments, executors, targets, devices, programs, served machines."""
