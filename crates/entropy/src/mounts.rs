//! File systems that hold no data of their own.

use std::path::Path;

/// Magic numbers of file systems whose files are made up by the kernel (linux/magic.h): their sizes are not those of data
/// (/proc/kcore is as long as the address space), and reading them can have effects.
#[cfg(any(target_os = "linux", target_os = "android"))]
const KERNEL: [u64; 16] = [
    0x9fa0,      // proc
    0x6265_6572, // sysfs
    0x1cd1,      // devpts
    0x0027_e0eb, // cgroup
    0x6367_7270, // cgroup2
    0x6462_6720, // debugfs
    0x7472_6163, // tracefs
    0x7363_6673, // securityfs
    0x6165_676c, // pstore
    0xcafe_4a11, // bpf
    0x6265_6570, // configfs
    0x1980_0202, // mqueue
    0xde5e_81e4, // efivarfs
    0x4249_4e4d, // binfmt_misc
    0xf97c_ff8c, // selinuxfs
    0x6573_5543, // fusectl
];

/// Whether a folder is on a file system of the kernel's own.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub fn kernel(folder: &Path) -> bool {
    // The type is a signed word on some machines; magic numbers are 32 bits.
    rustix::fs::statfs(folder).is_ok_and(|stat| KERNEL.contains(&(stat.f_type as u64 & 0xffff_ffff)))
}

/// Whether a folder is on a file system of the kernel's own: other systems mount none in a tree.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub fn kernel(_folder: &Path) -> bool {
    false
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn proc_is_the_kernels_and_the_source_is_not() {
        assert!(kernel(Path::new("/proc")));
        assert!(!kernel(Path::new(env!("CARGO_MANIFEST_DIR"))));
    }
}
