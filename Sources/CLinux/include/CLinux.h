#ifndef LADE_CLINUX_H
#define LADE_CLINUX_H

// What Linux offers and Swift's Glibc module doesn't show, because glibc declares it under _GNU_SOURCE only.
// Functions answer 0 (or a descriptor, or a truth value), or a negative errno: errno itself is never read from Swift.

#include <stdint.h>
#include <sys/types.h>

/// Who is at the other end of a connected Unix socket: SO_PEERCRED of unix(7).
int lade_peer_credentials(int fd, pid_t *pid, uid_t *uid, gid_t *gid);

/// openat2(2) that neither leaves `directory` nor follows any link on the way, magic links included.
/// `flags` are open(2)'s; O_CLOEXEC is added. -ENOSYS where the kernel or a system call filter has no openat2.
int lade_open_beneath(int directory, const char *path, int flags);

/// The same for a place in the file system that isn't opened for anything: O_PATH of open(2). What a device does when it
/// is opened isn't done, and a link at the end is refused.
int lade_open_place_beneath(int directory, const char *path);

/// Whether a descriptor is of a file that the kernel makes up as it is read (/proc, /sys and the like): 1 yes, 0 no.
int lade_is_pseudo_file_system(int fd);

/// When the file was made that has this name in a directory (a link itself, if it is one), or, where the name is empty, that
/// of the descriptor: statx(2)'s birth time, in nanoseconds since 1970. -EOPNOTSUPP where the file system doesn't keep it.
int lade_birth_time(int directory, const char *name, int64_t *nanoseconds);

/// syncfs(2): waits until everything that was written to the file system of a descriptor is on disk.
int lade_synchronise_file_system(int fd);

/// A descriptor that becomes readable when something is mounted or unmounted. It has to be told when that was seen.
/// `mounts` is a second one, which must stay open as long; both are the caller's to close.
int lade_watch_mounts(int *mounts);
void lade_mounts_were_seen(int watch);

/// renameat2(2) with RENAME_NOREPLACE: -EEXIST when the new name is taken, -EINVAL where the file system can't say.
int lade_rename_noreplace(int from_directory, const char *from, int to_directory, const char *to);

/// Whether anybody has the file of this read-only descriptor open for writing: 1 yes, 0 no.
/// Asked by taking a read lease and giving it back at once. A negative errno (-EACCES: another user's file and
/// no CAP_LEASE; -EINVAL: a file system without leases) means that it can't be known.
int lade_is_open_for_writing(int fd);

#endif
