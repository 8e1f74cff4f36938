#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

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
  // Somebody who opens the file while the lease is held waits until it is given back, and the kernel tells
  // the holder by a signal: SIGIO by default, which ends a process that doesn't handle it. SIGURG doesn't.
  if (fcntl(fd, F_SETSIG, SIGURG) != 0) return -errno;
  if (fcntl(fd, F_SETLEASE, F_RDLCK) != 0) return errno == EAGAIN ? 1 : -errno;
  return fcntl(fd, F_SETLEASE, F_UNLCK) != 0 ? -errno : 0;
}
