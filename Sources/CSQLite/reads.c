// SQLite's unix VFS calls a read that ends with EIO, ENXIO or ERANGE SQLITE_IOERR_CORRUPTFS, which connections report as
// SQLITE_CORRUPT: a device that fails once couldn't be told from a damaged file. With any other error the read is
// SQLITE_IOERR_READ. So the call that reads gives another one of the same meaning. SQLite makes its calls through a table that
// programs may change: https://sqlite.org/c3ref/vfs.html.

#define _GNU_SOURCE
#include "CSQLite.h"

#include <errno.h>
#include <pthread.h>
#include <sys/types.h>

static ssize_t (*next_read)(int, void *, size_t);
static ssize_t (*next_pread)(int, void *, size_t, off_t);
static ssize_t (*next_pread64)(int, void *, size_t, off_t);

static ssize_t distinguished(ssize_t count) {
  if (count < 0 && (errno == EIO || errno == ENXIO || errno == ERANGE)) errno = EREMOTEIO;
  return count;
}

static ssize_t distinguishing_read(int file, void *target, size_t count) {
  return distinguished(next_read(file, target, count));
}

static ssize_t distinguishing_pread(int file, void *target, size_t count, off_t offset) {
  return distinguished(next_pread(file, target, count, offset));
}

static ssize_t distinguishing_pread64(int file, void *target, size_t count, off_t offset) {
  return distinguished(next_pread64(file, target, count, offset));
}

static int replace(sqlite3_vfs *vfs, const char *name, sqlite3_syscall_ptr function, void *next) {
  sqlite3_syscall_ptr now = vfs->xGetSystemCall(vfs, name);
  // This build of SQLite has no such call.
  if (now == NULL) return SQLITE_OK;
  *(sqlite3_syscall_ptr *)next = now;
  return vfs->xSetSystemCall(vfs, name, function);
}

static int result;

static void distinguish(void) {
  result = sqlite3_initialize();
  if (result != SQLITE_OK) return;
  sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
  // A file system of the program's own.
  if (vfs == NULL || vfs->iVersion < 3 || vfs->xSetSystemCall == NULL) return;
  result = replace(vfs, "read", (sqlite3_syscall_ptr)distinguishing_read, &next_read);
  if (result == SQLITE_OK) result = replace(vfs, "pread", (sqlite3_syscall_ptr)distinguishing_pread, &next_pread);
  if (result == SQLITE_OK) result = replace(vfs, "pread64", (sqlite3_syscall_ptr)distinguishing_pread64, &next_pread64);
}

int lade_distinguish_failed_reads(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, distinguish);
  return result;
}
