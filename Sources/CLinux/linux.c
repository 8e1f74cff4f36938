#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <limits.h>
#include <locale.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <wchar.h>

int lade_peer_credentials(int fd, pid_t *pid, uid_t *uid, gid_t *gid) {
  struct ucred credentials;
  socklen_t length = sizeof credentials;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return -errno;
  *pid = credentials.pid;
  *uid = credentials.uid;
  *gid = credentials.gid;
  return 0;
}

int lade_open_beneath(int directory, const char *path, int flags) {
  struct open_how how;
  memset(&how, 0, sizeof how);
  how.flags = (uint64_t)(flags | O_CLOEXEC);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  long fd = syscall(SYS_openat2, directory, path, &how, sizeof how);
  return fd < 0 ? -errno : (int)fd;
}

int lade_rename_noreplace(int from_directory, const char *from, int to_directory, const char *to) {
  return renameat2(from_directory, from, to_directory, to, RENAME_NOREPLACE) != 0 ? -errno : 0;
}

int lade_is_open_for_writing(int fd) {
  // A process that opens the file while the lease is held waits until it is released, and the kernel sends the holder a signal:
  // SIGIO by default, which ends a process that doesn't handle it. SIGURG doesn't.
  if (fcntl(fd, F_SETSIG, SIGURG) != 0) return -errno;
  if (fcntl(fd, F_SETLEASE, F_RDLCK) != 0) return errno == EAGAIN ? 1 : -errno;
  return fcntl(fd, F_SETLEASE, F_UNLCK) != 0 ? -errno : 0;
}

int lade_birth_time(int directory, const char *name, int64_t *nanoseconds) {
  struct statx status;
  int flags = AT_SYMLINK_NOFOLLOW | (name[0] == 0 ? AT_EMPTY_PATH : 0);
  if (statx(directory, name, flags, STATX_BTIME, &status) != 0) return -errno;
  if (!(status.stx_mask & STATX_BTIME)) return -EOPNOTSUPP;
  *nanoseconds = status.stx_btime.tv_sec * 1000000000 + status.stx_btime.tv_nsec;
  return 0;
}

int lade_synchronise_file_system(int fd) { return syncfs(fd) != 0 ? -errno : 0; }

/// Makes the name of a new folder durable: syncs the folder that it is in.
static int synchronise_parent(char *path) {
  char *slash = strrchr(path, '/');
  if (slash && slash != path) *slash = 0;
  int parent = open(!slash ? "." : slash == path ? "/" : path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (slash && slash != path) *slash = '/';
  if (parent < 0) return -errno;
  int answer = fsync(parent) != 0 ? -errno : 0;
  close(parent);
  return answer;
}

int lade_make_folders(const char *path, mode_t mode) {
  char made[PATH_MAX];
  size_t length = strlen(path);
  while (length > 1 && path[length - 1] == '/') length--;
  if (length == 0) return -ENOENT;
  if (length >= sizeof made) return -ENAMETOOLONG;
  for (size_t end = 1; end <= length; end++) {
    if (end < length && path[end] != '/') continue;
    memcpy(made, path, end);
    made[end] = 0;
    if (mkdir(made, mode) == 0) {
      int answer = synchronise_parent(made);
      if (answer == 0) continue;
      // Left there, it would be taken for durable the next time.
      rmdir(made);
      return answer;
    }
    int code = errno;
    struct stat status;
    // On a read-only file system mkdir reports EROFS rather than EEXIST.
    if (stat(made, &status) != 0) return -code;
    if (!S_ISDIR(status.st_mode)) return -ENOTDIR;
  }
  return 0;
}

int lade_open_place_beneath(int directory, const char *path) { return lade_open_beneath(directory, path, O_PATH); }

int lade_is_pseudo_file_system(int fd) {
  struct statfs status;
  if (fstatfs(fd, &status) != 0) return -errno;
  switch ((uint32_t)status.f_type) {
  case 0x9fa0:      // proc
  case 0x62656572:  // sysfs
  case 0x1cd1:      // devpts
  case 0x64626720:  // debugfs
  case 0x74726163:  // tracefs
  case 0x73636673:  // securityfs
  case 0xf97cff8c:  // selinuxfs
  case 0x43415d53:  // smackfs
  case 0x27e0eb:    // cgroup
  case 0x63677270:  // cgroup2
  case 0xcafe4a11:  // bpf
  case 0xde5e81e4:  // efivarfs
  case 0x6165676c:  // pstore
  case 0x62656570:  // configfs
  case 0x19800202:  // mqueue
  case 0x6e736673:  // nsfs
    return 1;
  default:
    return 0;
  }
}

int lade_watch_mounts(int *mounts) {
  int table = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
  if (table < 0) return -errno;
  // The table is always readable, and a change is reported as EPOLLERR and EPOLLPRI. The inner epoll waits for the change only,
  // and itself becomes readable.
  int watch = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {.events = EPOLLPRI | EPOLLET, .data = {.fd = table}};
  if (watch < 0 || epoll_ctl(watch, EPOLL_CTL_ADD, table, &event) != 0) {
    int error = errno;
    if (watch >= 0) close(watch);
    close(table);
    return -error;
  }
  *mounts = table;
  return watch;
}

void lade_mounts_were_seen(int watch) {
  struct epoll_event event;
  while (epoll_wait(watch, &event, 1, 0) > 0) {}
}

static locale_t utf8_locale;

static void make_utf8_locale(void) { utf8_locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0); }

int lade_column_width(uint32_t character) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_utf8_locale);
  if (utf8_locale == (locale_t)0) return -1;
  locale_t before = uselocale(utf8_locale);
  int width = wcwidth((wchar_t)character);
  uselocale(before);
  return width;
}

void lade_limit_heaps(int heaps, int mapped_from) {
  mallopt(M_ARENA_MAX, heaps);
  mallopt(M_MMAP_THRESHOLD, mapped_from);
}

void lade_trim_heaps(void) { malloc_trim(0); }

_Thread_local uint64_t lade_own_thread_number;

uint64_t lade_number_own_thread(void) {
  static _Atomic uint64_t latest;
  lade_own_thread_number = atomic_fetch_add_explicit(&latest, 1, memory_order_relaxed) + 1;
  return lade_own_thread_number;
}
