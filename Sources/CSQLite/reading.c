#include "CSQLite.h"

#include <pthread.h>
#include <stddef.h>

static const char name[] = "lade-reading";
static sqlite3_vfs reading;
static sqlite3_vfs *usual;
static int result = SQLITE_ERROR;
static pthread_once_t once = PTHREAD_ONCE_INIT;

// SQLite makes a log that isn't there even for a connection that only reads.
static int open_existing(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *opened) {
  (void)vfs;
  if (flags & (SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_MAIN_DB)) {
    flags = (flags & ~(SQLITE_OPEN_CREATE | SQLITE_OPEN_READWRITE)) | SQLITE_OPEN_READONLY;
  }
  return usual->xOpen(usual, path, file, flags, opened);
}

static void make(void) {
  usual = sqlite3_vfs_find(NULL);
  if (usual == NULL) return;
  reading = *usual;
  reading.zName = name;
  reading.pNext = NULL;
  reading.xOpen = open_existing;
  result = sqlite3_vfs_register(&reading, 0);
}

const char *lade_reading_vfs(void) {
  pthread_once(&once, make);
  return result == SQLITE_OK ? name : NULL;
}
