// A read-only file system of SQLite with one file in it: the descriptor that its name ends in. SQLite opens no other
// file through it but its own temporary ones, which go to the default file system and are counted.

#include "source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
  sqlite3_file base;
  int descriptor;
  const lade_log *log;
} lade_file;

static const char prefix[] = "descriptor-";

static int lade_close(sqlite3_file *file) { return SQLITE_OK; }

static int lade_read(sqlite3_file *file, void *target, int count, sqlite3_int64 offset) {
  const lade_log *log = ((lade_file *)file)->log;
  int done = 0;
  while (done < count) {
    int descriptor = ((lade_file *)file)->descriptor;
    sqlite3_int64 place = offset + done;
    int length = count - done;
    if (log->frames != NULL) {
      int left;
      if (lade_log_frame(log, offset + done, &place, &left)) descriptor = log->descriptor;
      if (left < length) length = left;
    }
    size_t got;
    int result = lade_pread_all(descriptor, (char *)target + done, (size_t)length, place, &got);
    if (result != SQLITE_OK) return result;
    done += (int)got;
    if ((int)got < length) {
      memset((char *)target + done, 0, (size_t)(count - done));
      return SQLITE_IOERR_SHORT_READ;
    }
  }
  // With its log applied, the database is as one that has none (bytes 18 and 19 of the header).
  if (log->frames != NULL) {
    for (sqlite3_int64 place = 18; place <= 19; place++) {
      if (offset <= place && place < offset + count) ((char *)target)[place - offset] = 1;
    }
  }
  return SQLITE_OK;
}

static int lade_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
  return SQLITE_READONLY;
}

static int lade_truncate(sqlite3_file *file, sqlite3_int64 size) { return SQLITE_READONLY; }
static int lade_sync(sqlite3_file *file, int flags) { return SQLITE_OK; }

static int lade_size(sqlite3_file *file, sqlite3_int64 *size) {
  const lade_log *log = ((lade_file *)file)->log;
  if (log->frames != NULL) {
    *size = (sqlite3_int64)log->pages * log->page_size;
    return SQLITE_OK;
  }
  struct stat status;
  if (fstat(((lade_file *)file)->descriptor, &status) != 0) return SQLITE_IOERR_FSTAT;
  *size = status.st_size;
  return SQLITE_OK;
}

static int lade_lock(sqlite3_file *file, int level) { return SQLITE_OK; }

static int lade_check_lock(sqlite3_file *file, int *result) {
  *result = 0;
  return SQLITE_OK;
}

static int lade_control(sqlite3_file *file, int operation, void *argument) { return SQLITE_NOTFOUND; }
static int lade_sector(sqlite3_file *file) { return 4096; }
static int lade_characteristics(sqlite3_file *file) { return SQLITE_IOCAP_IMMUTABLE; }

static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = lade_close,
    .xRead = lade_read,
    .xWrite = lade_write,
    .xTruncate = lade_truncate,
    .xSync = lade_sync,
    .xFileSize = lade_size,
    .xLock = lade_lock,
    .xUnlock = lade_lock,
    .xCheckReservedLock = lade_check_lock,
    .xFileControl = lade_control,
    .xSectorSize = lade_sector,
    .xDeviceCharacteristics = lade_characteristics,
};

static lade_source *owner(sqlite3_vfs *vfs) { return (lade_source *)vfs->pAppData; }
static sqlite3_vfs *underlying(sqlite3_vfs *vfs) { return owner(vfs)->underlying; }

static int lade_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out_flags) {
  file->pMethods = NULL;
  if (name == NULL) return lade_temporary_open(owner(vfs), file, flags, out_flags);
  if (!(flags & SQLITE_OPEN_MAIN_DB) || strncmp(name, prefix, sizeof prefix - 1) != 0) return SQLITE_CANTOPEN;
  lade_file *opened = (lade_file *)file;
  opened->descriptor = atoi(name + sizeof prefix - 1);
  opened->log = &owner(vfs)->log;
  opened->base.pMethods = &methods;
  if (out_flags) *out_flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB;
  return SQLITE_OK;
}

// Whatever is asked for isn't there: no journal, no log.
static int lade_access(sqlite3_vfs *vfs, const char *name, int flags, int *result) {
  *result = 0;
  return SQLITE_OK;
}

static int lade_delete(sqlite3_vfs *vfs, const char *name, int syncs) {
  return underlying(vfs)->xDelete(underlying(vfs), name, syncs);
}

static int lade_full_path(sqlite3_vfs *vfs, const char *name, int size, char *target) {
  snprintf(target, (size_t)size, "%s", name);
  return SQLITE_OK;
}

static int lade_randomness(sqlite3_vfs *vfs, int count, char *target) {
  return underlying(vfs)->xRandomness(underlying(vfs), count, target);
}

static int lade_sleep(sqlite3_vfs *vfs, int microseconds) {
  return underlying(vfs)->xSleep(underlying(vfs), microseconds);
}

static int lade_time(sqlite3_vfs *vfs, double *days) {
  return underlying(vfs)->xCurrentTime(underlying(vfs), days);
}

static int lade_last_error(sqlite3_vfs *vfs, int count, char *target) {
  return underlying(vfs)->xGetLastError(underlying(vfs), count, target);
}

static const sqlite3_vfs plan = {
    .iVersion = 1,
    .mxPathname = 64,
    .xOpen = lade_open,
    .xDelete = lade_delete,
    .xAccess = lade_access,
    .xFullPathname = lade_full_path,
    .xRandomness = lade_randomness,
    .xSleep = lade_sleep,
    .xCurrentTime = lade_time,
    .xGetLastError = lade_last_error,
};

static int open_connection(lade_source *source, int descriptor) {
  int result = sqlite3_initialize();
  if (result != SQLITE_OK) return result;
  source->underlying = sqlite3_vfs_find(NULL);
  if (source->underlying == NULL) return SQLITE_ERROR;
  int temporary = lade_temporary_size() + source->underlying->szOsFile;
  source->vfs = plan;
  source->vfs.szOsFile = temporary > (int)sizeof(lade_file) ? temporary : (int)sizeof(lade_file);
  source->vfs.pAppData = source;
  snprintf(source->name, sizeof source->name, "lade-%p", (void *)source);
  source->vfs.zName = source->name;
  result = sqlite3_vfs_register(&source->vfs, 0);
  if (result != SQLITE_OK) return result;
  char name[32];
  snprintf(name, sizeof name, "%s%d", prefix, descriptor);
  int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_EXRESCODE;
  result = sqlite3_open_v2(name, &source->connection, flags, source->name);
  // The name is looked up once; then the connection has a pointer.
  sqlite3_vfs_unregister(&source->vfs);
  return result;
}

int lade_source_open(int descriptor, int log, int allows_views, sqlite3_int64 temporary_bytes, lade_source **source) {
  *source = calloc(1, sizeof(lade_source));
  if (*source == NULL) return SQLITE_NOMEM;
  (*source)->space.allowed = temporary_bytes;
  int result = lade_log_open(&(*source)->log, descriptor, log);
  if (result != SQLITE_OK) return result;
  result = open_connection(*source, descriptor);
  if (result != SQLITE_OK) return result;
  sqlite3 *connection = (*source)->connection;
  const struct {
    int option, value;
  } options[] = {
      {SQLITE_DBCONFIG_DEFENSIVE, 1},      {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
      {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0}, {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
      {SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0},
      {SQLITE_DBCONFIG_ENABLE_VIEW, allows_views},
  };
  for (size_t index = 0; index < sizeof options / sizeof *options; index++) {
    result = sqlite3_db_config(connection, options[index].option, options[index].value, NULL);
    if (result != SQLITE_OK) return result;
  }
  return sqlite3_drop_modules(connection, NULL);
}

sqlite3 *lade_source_connection(const lade_source *source) { return source->connection; }

int lade_source_is_out_of_space(const lade_source *source) { return source->space.is_refused; }

void lade_source_close(lade_source *source) {
  // A connection that can't be closed goes on to use the source.
  if (source == NULL || sqlite3_close(source->connection) != SQLITE_OK) return;
  lade_log_close(&source->log);
  free(source);
}
