"""Floor 3: runs and what they run on: experiments, executors, targets, devices, programs, served machines."""
