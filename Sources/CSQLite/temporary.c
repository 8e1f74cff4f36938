// Temporary files of a source's queries: what SQLite sorts, and what it keeps on the way, beyond its memory. They are
// the default file system's, which unlinks them as it opens them; here they are kept from filling it.
//
// `held` is the sum of the sizes of the files that are open, and never more than `allowed`.

#include "source.h"

#include <stddef.h>
#include <string.h>

typedef struct {
  sqlite3_file base;
  lade_space *space;
  sqlite3_int64 size;
} lade_temporary;

// The file underneath begins where any type may.
enum {
  alignment = _Alignof(max_align_t),
  header_size = (sizeof(lade_temporary) + alignment - 1) / alignment * alignment,
};

static sqlite3_file *real(sqlite3_file *file) { return (sqlite3_file *)((char *)file + header_size); }

static int temporary_close(sqlite3_file *file) {
  lade_temporary *temporary = (lade_temporary *)file;
  temporary->space->held -= temporary->size;
  temporary->size = 0;
  return real(file)->pMethods->xClose(real(file));
}

static int temporary_read(sqlite3_file *file, void *target, int count, sqlite3_int64 offset) {
  return real(file)->pMethods->xRead(real(file), target, count, offset);
}

static int temporary_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
  lade_temporary *temporary = (lade_temporary *)file;
  lade_space *space = temporary->space;
  sqlite3_int64 growth = offset + count - temporary->size;
  if (growth > 0) {
    if (growth > space->allowed - space->held) {
      space->is_refused = 1;
      return SQLITE_FULL;
    }
    // Also when writing fails: some of it may be there.
    temporary->size += growth;
    space->held += growth;
  }
  return real(file)->pMethods->xWrite(real(file), bytes, count, offset);
}

static int temporary_truncate(sqlite3_file *file, sqlite3_int64 size) {
  lade_temporary *temporary = (lade_temporary *)file;
  int result = real(file)->pMethods->xTruncate(real(file), size);
  if (result == SQLITE_OK && size < temporary->size) {
    temporary->space->held -= temporary->size - size;
    temporary->size = size;
  }
  return result;
}

static int temporary_sync(sqlite3_file *file, int flags) { return SQLITE_OK; }

static int temporary_size(sqlite3_file *file, sqlite3_int64 *size) {
  return real(file)->pMethods->xFileSize(real(file), size);
}

static int temporary_lock(sqlite3_file *file, int level) { return SQLITE_OK; }

static int temporary_check_lock(sqlite3_file *file, int *result) {
  *result = 0;
  return SQLITE_OK;
}

// Nothing is passed on: a hint of the size would make the file as large without a write.
static int temporary_control(sqlite3_file *file, int operation, void *argument) { return SQLITE_NOTFOUND; }

static int temporary_sector(sqlite3_file *file) { return real(file)->pMethods->xSectorSize(real(file)); }

static int temporary_characteristics(sqlite3_file *file) {
  return real(file)->pMethods->xDeviceCharacteristics(real(file));
}

static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = temporary_close,
    .xRead = temporary_read,
    .xWrite = temporary_write,
    .xTruncate = temporary_truncate,
    .xSync = temporary_sync,
    .xFileSize = temporary_size,
    .xLock = temporary_lock,
    .xUnlock = temporary_lock,
    .xCheckReservedLock = temporary_check_lock,
    .xFileControl = temporary_control,
    .xSectorSize = temporary_sector,
    .xDeviceCharacteristics = temporary_characteristics,
};

int lade_temporary_size(void) { return header_size; }

int lade_temporary_open(lade_source *source, sqlite3_file *file, int flags, int *out_flags) {
  sqlite3_file *opened = real(file);
  memset(opened, 0, (size_t)source->underlying->szOsFile);
  int result = source->underlying->xOpen(source->underlying, NULL, opened, flags, out_flags);
  if (result != SQLITE_OK) {
    if (opened->pMethods != NULL) opened->pMethods->xClose(opened);
    return result;
  }
  lade_temporary *temporary = (lade_temporary *)file;
  temporary->space = &source->space;
  temporary->size = 0;
  temporary->base.pMethods = &methods;
  return SQLITE_OK;
}
