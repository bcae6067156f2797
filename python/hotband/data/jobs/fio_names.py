"""Every option of fio 3.33 and 3.41 (`fio --cmdhelp=all`, `--enghelp`, HOWTO), of all engines, and what becomes of it
where that does not depend on its value."""

from __future__ import annotations

from collections.abc import Sequence

from hotband.data.jobs.loss import Fate
from hotband.data.jobs.source import words

ALIASES = {
    "readwrite": "rw",
    "blocksize": "bs",
    "blockalign": "ba",
    "blocksize_range": "bsrange",
    "blocksize_unaligned": "bs_unaligned",
    "iodepth_batch_submit": "iodepth_batch",
    "iodepth_batch_complete": "iodepth_batch_complete_min",
    "io_limit": "io_size",
    "fill_fs": "fill_device",
    "fileoffset": "offset",
    "nr_files": "nrfiles",
    "timeout": "runtime",
    "iomem": "mem",
    "ratemin": "rate_min",
    "ratecycle": "rate_cycle",
    "wait_for_previous": "stonewall",
    "disable_bw": "disable_bw_measurement",
    "ss": "steadystate",
    "ss_dur": "steadystate_duration",
    "ss_ramp": "steadystate_ramp_time",
    "threads": "thread",
}

# Read by `fio_job.py`, which says what becomes of each.
_READ = words(
    "rw bs bsrange bssplit ba size io_size filesize offset offset_increment filename directory nrfiles numjobs iodepth "
    "ioengine direct buffered rwmixread rwmixwrite percentage_random random_distribution runtime time_based ramp_time "
    "stonewall rate rate_iops rate_process thinktime thinktime_blocks fsync fdatasync sync kb_base norandommap "
    "softrandommap random_sequence_stride flow flow_id buffer_compress_percentage zero_buffers number_ios loops "
    "description rw_sequencer startdelay thinktime_iotime zonemode zonesize zonerange zoneskip "
    "bs_is_seq_rand"
)

_RESULTS = "affects results, not I/Os"
_HOST = "affects the host's processors and memory, which are not modelled"
_DATA = "affects the content of the data, not how well it compresses"
_SEED = "Hotband sets the seed of a run"
_FILES = "affects how files are created"
_CHECK = "data is not verified: a model stores none"
_TARGET = "the run sets the target"
_NO_BLOCK_IO = "belongs to an engine without block I/O"

_UNUSED: dict[str, Sequence[str]] = {
    _RESULTS: (
        *words("unit_base unified_rw_reporting group_reporting new_group gtod_reduce bwavgtime iopsavgtime"),
        *words("disk_util disable_lat disable_clat disable_slat disable_bw_measurement slat_percentiles"),
        *words("clat_percentiles lat_percentiles percentile_list significant_figures per_job_logs stats"),
        *words("write_bw_log write_lat_log write_hist_log write_iops_log log_entries log_avg_msec log_hist_msec"),
        *words("log_hist_coarseness log_max_value log_offset log_prio log_compression log_compression_cpus"),
        *words("log_store_compressed log_unix_epoch log_alternate_epoch log_alternate_epoch_clock_id"),
        *words("block_error_percentiles write_iolog error_dump continue_on_error ignore_error clocksource name"),
        *words("group_mixed_rw"),
    ),
    _HOST: (
        *words("thread cpus_allowed cpumask cpus_allowed_policy numa_cpu_nodes numa_mem_policy nice gtod_cpu"),
        *words("mem hugepage-size lockmem uid gid cgroup cgroup_weight cgroup_nodelete exec_prerun exec_postrun"),
        *words("userspace_reap hipri hipri_percentage fixedbufs registerfiles sqthread_poll sqthread_poll_cpu"),
        *words("nonvectored uncached nowait force_async cmd_type busy_poll profile ioscheduler iomem_align thp"),
        *words("xnvme_async xnvme_sync xnvme_admin xnvme_dev_nsid xnvme_dev_subnqn xnvme_mem xnvme_iovec"),
        *words("libblkio_driver libblkio_path libblkio_pre_connect_props libblkio_num_entries libblkio_queue_size"),
        *words("libblkio_pre_start_props libblkio_vectored libblkio_write_zeroes_on_trim libblkio_wait_mode"),
        *words("libblkio_force_enable_completion_eventfd cuda_io gpu_dev_ids use_os_rand"),
    ),
    _DATA: (
        "refill_buffers",
        "scramble_buffers",
        "buffer_compress_chunk",
    ),
    _SEED: ("randrepeat", "allrandrepeat", "randseed"),
    _FILES: (
        *words("fallocate fadvise_hint create_serialize create_fsync create_on_open create_only overwrite"),
        *words("allow_file_create allow_mounted_write unlink unlink_each_loop filename_format unique_filename"),
        *words("openfiles opendir lockfile file_append invalidate pre_read"),
    ),
    _CHECK: words("do_verify verify_fatal verify_dump verify_state_save verify_state_load verify_async_cpus"),
}

_IGNORED: dict[str, Sequence[str]] = {
    "a run ends with its time or its I/Os, not with a full device": ("fill_device",),
    "offsets are drawn independently: some blocks repeat before all were accessed once": ("random_generator",),
    "sizes of I/Os are multiples of 512 bytes": ("bs_unaligned",),
    "ranges begin exactly at offset=": ("offset_align",),
    "several files form one range": ("file_service_type",),
    "no write is torn in this model": ("atomic",),
    "drives have a single write stream": words("write_hint stream_id"),
    "no flush follows the last write": words("end_fsync fsync_on_close"),
    "only fsync= and fdatasync= flush": ("write_barrier",),
    "there is no page cache to write from": ("sync_file_range",),
    "data= sets the entropy of the data (default: 1)": ("buffer_pattern",),
    "no modelled drive deduplicates data": words(
        "dedupe_percentage dedupe_mode dedupe_working_set_percentage dedupe_global"
    ),
    "every I/O is submitted separately": ("iodepth_batch",),
    "every completed I/O is replaced at once": words(
        "iodepth_batch_complete_min iodepth_batch_complete_max iodepth_low"
    ),
    "overlapping I/Os are not serialized": ("serialize_overlap",),
    "one loop submits all I/Os": ("io_submit_mode",),
    "a pause costs no processor": ("thinktime_spin",),
    "I/Os are counted on completion": ("thinktime_blocks_type",),
    "reads and writes are mixed by chance throughout": ("rwmixcycle",),
    "a job that falls behind continues": words("rate_min rate_iops_min rate_cycle"),
    "an open loop has no pause": ("rate_ignore_thinktime",),
    "the depth stays at iodepth=: no search for a latency target": words(
        "latency_target latency_window latency_percentile latency_run"
    ),
    "no run ends because of a slow I/O": ("max_latency",),
    "every job of a step runs to its end": words("exitall exit_what"),
    "no I/O of a healthy machine fails": ("exitall_on_error",),
    "jobs are not held to a ratio": ("flow_sleep",),
    "all I/Os have the same priority": words("prio prioclass cmdprio cmdprio_percentage cmdprio_class cmdprio_bssplit"),
    "reads are not forced to the media": ("readfua",),
    "sync=1 makes writes wait for the media": ("writefua",),
    "the depth stays at iodepth=: a sweep of qd= compares depths": ("iodepth_mode",),
    "writes are plain writes": ("sg_write_mode",),
    "the run takes its full time; until_steady of a phase follows the SNIA PTS, a different rule": ("steadystate",),
    "applies only with steadystate": words("steadystate_duration steadystate_ramp_time"),
    "trims after writes are not issued": words("trim_percentage trim_verify_zero trim_backlog trim_backlog_batch"),
    _CHECK: (
        *words("experimental_verify verify_offset verify_interval verify_pattern verify_async"),
        *words("verify_backlog_batch verify_only"),
    ),
    "data is not verified: written data is not read back": words("verify verify_backlog"),
    "the target is a plain block device without zones": (
        *words("zonecapacity zone_reset_threshold zone_reset_frequency"),
        *words("read_beyond_wp max_open_zones job_max_open_zones ignore_zone_limits"),
    ),
    "fio no longer uses it": words("flow_watermark percentage_sequential verifysort verifysort_nr"),
    _TARGET: (
        *words("clustername rbdname pool clientname uri conf touch_objects volume brick single-instance nfs_url"),
        "target",
        *words("namenode hdfsdirectory chunk_size cont object_class svc serverip hostname port host bucket"),
        *words("http_host http_mode http_user http_pass http_verbose https http_s3_key http_s3_keyid http_s3_region"),
        *words("http_s3_security_token http_s3_storage_class http_s3_sse_customer_key http_object_mode"),
        *words("http_s3_sse_customer_algorithm http_swift_auth_token"),
    ),
    _NO_BLOCK_IO: (
        *words("cpuload cpumode cpuchunks exit_on_io_done program arguments grace_time std_redirect donorname inplace"),
        *words("stat_type skip_bad bindname verb interface listen mss nodelay pingpong protocol proto ttl window_size"),
        *words("busy_wait_polling direct_write_to_pmem"),
    ),
}

# What fio has after 3.33, up to 3.41.
_NEWER: dict[str, Sequence[str]] = {
    "drives have a single write stream": words("fdp fdp_pli fdp_pli_select dataplacement dp_scheme plids plid_select"),
    "metadata of blocks is not modelled": words("md_per_io_size pi_act pi_chk apptag apptag_mask"),
    "writes are plain writes": words("write_mode verify_mode deac"),
    "every trim is of one range": ("num_range",),
    "all I/Os have the same priority": words("priohint cmdprio_hint"),
    "the run preconditions the drive": words("sprandom spr_op spr_num_regions spr_cs"),
    "applies only with steadystate": ("steadystate_check_interval",),
    "the target is a plain block device without zones": ("recover_zbd_write_error",),
    _CHECK: words("verify_write_sequence verify_header_seed verify_pattern_interval"),
    _HOST: words("thinkcycles libaio_vectored rocm_io"),
    _RESULTS: words("job_start_clock_id log_issue_time log_window_value"),
    _FILES: ("filetype",),
    _NO_BLOCK_IO: words("xattr_count xattr_size"),
}

# With a value they ask for other I/Os than the rest of the job says.
_TRACES = words("read_iolog read_iolog_chunked replay_no_stall replay_redirect replay_time_scale replay_align") + (
    words("replay_scale replay_skip merge_blktrace_file merge_blktrace_scalars merge_blktrace_iters")
)
_ORDERS = ("wait_for",)

FATES: dict[str, tuple[Fate | None, str]] = {
    **dict.fromkeys(_READ, (None, "")),
    **dict.fromkeys(_TRACES, (None, "")),
    **dict.fromkeys(_ORDERS, (None, "")),
    **{name: (Fate.UNUSED, why) for why, names in _UNUSED.items() for name in names},
    **{name: (Fate.IGNORED, why) for why, names in _IGNORED.items() for name in names},
    **{name: (Fate.IGNORED, f"newer than fio 3.33: {why}") for why, names in _NEWER.items() for name in names},
}
"""By option: its fate and why; None if it depends on the value."""

OF_LOAD = frozenset(
    name
    for name, (fate, why) in FATES.items()
    if (fate is not Fate.UNUSED or why == _DATA) and why not in (_TARGET, _NO_BLOCK_IO)
).difference(
    words("filename directory nrfiles ioengine size filesize description kb_base"),
    words("runtime time_based ramp_time number_ios loops fill_device stonewall wait_for exitall exit_what"),
    words("exitall_on_error max_latency steadystate steadystate_duration steadystate_ramp_time"),
    words("steadystate_check_interval rw bs iodepth numjobs rwmixread rwmixwrite rate_iops buffered"),
)
"""Options that change which I/Os are issued, when, or with what data. Left out are those of the target and of the time,
and what each tool's results have: size, mix, depth and rate."""

TRACES = frozenset(_TRACES)

# One I/O is outstanding, whatever iodepth says (HOWTO, "I/O depth": "in most cases the sync engines ... will be 1").
SYNCHRONOUS = frozenset(
    words("sync psync vsync pvsync pvsync2 mmap splice sg libzbc ime_psync ime_psyncv gfapi libcufile libhipfile")
    + words("fusion-aw-sync")
)
# What is measured is no block I/O.
NO_BLOCK_IO = frozenset(
    words(
        "cpuio net netsplice rdma ftruncate filecreate filestat filedelete dircreate dirstat dirdelete filexattr exec"
    )
    + words(
        "filesetxattr filegetxattr filelistxattr e4defrag falloc mtd http libhdfs librpma_apm_server librpma_apm_client"
    )
    + ["librpma_gpspm_server", "librpma_gpspm_client", "page_fault"]
)
ASYNCHRONOUS = frozenset(
    words("libaio io_uring io_uring_cmd posixaio solarisaio windowsaio null cpp_null rbd rados gfapi_async nbd")
    + words("xnvme libblkio libiscsi nfs guasi external dfs ime_aio syslet-rw sheepdog sgunmap")
)
MEMORY = frozenset(words("pmemblk dev-dax libpmem"))
# The volume or file system that the engine itself reaches is the target; such jobs need no filename=.
OF_A_VOLUME = frozenset(words("rbd rados gfapi gfapi_async nbd libiscsi nfs dfs libblkio xnvme sheepdog"))
