#ifndef LADE_CLINUX_H
#define LADE_CLINUX_H

// Linux and glibc functions that Swift's Glibc module doesn't import, because glibc declares them under _GNU_SOURCE only.
// Functions return 0 (or a descriptor, or a truth value), or a negative errno: Swift never reads errno itself.

#include <stdint.h>
#include <sys/types.h>

/// The process at the other end of a connected Unix socket: SO_PEERCRED of unix(7).
int lade_peer_credentials(int fd, pid_t *pid, uid_t *uid, gid_t *gid);

/// openat2(2) that neither leaves `directory` nor follows any link on the way, magic links included.
/// `flags` are open(2)'s; O_CLOEXEC is added. -ENOSYS if the kernel or a system call filter doesn't support openat2.
int lade_open_beneath(int directory, const char *path, int flags);

/// The same for a location in the file system that isn't opened for reading or writing: O_PATH of open(2). So a device isn't
/// affected. A link at the end is refused.
int lade_open_place_beneath(int directory, const char *path);

/// Whether a descriptor is of a file in a pseudo file system (/proc, /sys and the like), which the kernel generates as it is
/// read: 1 yes, 0 no.
int lade_is_pseudo_file_system(int fd);

/// statx(2)'s birth time, in nanoseconds since 1970, of the entry with this name in a directory (of a link, the link's own), or,
/// if the name is empty, of the descriptor. -EOPNOTSUPP if the file system doesn't record it.
int lade_birth_time(int directory, const char *name, int64_t *nanoseconds);

/// Makes a folder with those above it, as `mkdir -p` does, so that it survives a loss of power. Folders that exist stay as they
/// are; -ENOTDIR if one of them is something else.
int lade_make_folders(const char *path, mode_t mode);

/// syncfs(2): flushes the file system of a descriptor to disk.
int lade_synchronise_file_system(int fd);

/// A descriptor that becomes readable on each mount and unmount, until lade_mounts_were_seen is called. `mounts` is a second
/// descriptor, which must stay open as long. The caller closes both.
int lade_watch_mounts(int *mounts);
void lade_mounts_were_seen(int watch);

/// renameat2(2) with RENAME_NOREPLACE: -EEXIST if the new name is taken, -EINVAL if the file system doesn't support it.
int lade_rename_noreplace(int from_directory, const char *from, int to_directory, const char *to);

/// Whether a process has the file of this read-only descriptor open for writing: 1 yes, 0 no.
/// Determined by taking a read lease and releasing it at once. A negative errno means unknown (-EACCES: another user's file
/// and no CAP_LEASE; -EINVAL: a file system without leases).
int lade_is_open_for_writing(int fd);

/// mallopt(3): the number of heaps that threads share, and the size from which blocks are mapped by themselves and returned when
/// they are freed. To be called before there are threads.
void lade_limit_heaps(int heaps, int mapped_from);

/// malloc_trim(3): returns the free pages of all heaps to the system. Takes milliseconds.
void lade_trim_heaps(void);

/// wcwidth(3) in UTF-8, whatever the locale of the program: the columns of a character in a terminal, or -1 if it isn't
/// printable. Also -1 if the system has no C.UTF-8 locale.
int lade_column_width(uint32_t character);

/// The calling thread's number, from 1. Unlike a pthread_t, it is never given to another thread of the process, and reading it
/// costs less than a call of pthread_self(3).
static inline uint64_t lade_thread_number(void);

extern _Thread_local uint64_t lade_own_thread_number __attribute__((tls_model("initial-exec")));
uint64_t lade_number_own_thread(void);

static inline uint64_t lade_thread_number(void) {
  uint64_t number = lade_own_thread_number;
  return __builtin_expect(number != 0, 1) ? number : lade_number_own_thread();
}

/// Continues a SHA-256 by whole blocks of 64 bytes, with the processor's instructions for that if it has any.
void lade_sha256(uint32_t state[8], const uint8_t *bytes, size_t blocks);

/// The same without them.
void lade_sha256_portable(uint32_t state[8], const uint8_t *bytes, size_t blocks);

#endif
