// What the files of this target share.

#ifndef LADE_SOURCE_H
#define LADE_SOURCE_H

#include "CSQLite.h"

#include <stddef.h>

/// The temporary files of one source.
typedef struct {
  sqlite3_int64 held, allowed;
  int is_refused;
} lade_space;

/// A write-ahead log over a database. Without frames there is nothing in it.
typedef struct {
  int descriptor;
  unsigned int page_size;
  /// How many pages the database has after the last commit in the log.
  unsigned int pages;
  /// The number of each page's newest frame, from 1; 0 for a page that isn't in the log.
  unsigned int *frames;
} lade_log;

struct lade_source {
  sqlite3 *connection;
  /// A file system for this connection alone, so that its temporary files can be counted. SQLite keeps a pointer to it.
  sqlite3_vfs vfs;
  sqlite3_vfs *underlying;
  char name[40];
  lade_space space;
  lade_log log;
  int (*is_over)(void *context);
  void *context;
};

/// How much memory a temporary file takes beside that of the file underneath.
int lade_temporary_size(void);

/// Opens a temporary file without a name, of which the bytes are counted.
int lade_temporary_open(lade_source *source, sqlite3_file *file, int flags, int *out_flags);

/// Reads which pages the committed transactions of a log hold; a negative descriptor is no log.
int lade_log_open(lade_log *log, int database, int descriptor);
void lade_log_close(lade_log *log);

/// Where the log has the bytes at an offset of the database; 0 if it doesn't have them.
///
/// @param left how many bytes from there are in the same page.
int lade_log_frame(const lade_log *log, sqlite3_int64 offset, sqlite3_int64 *place, int *left);

/// Reads until there is no more.
int lade_pread_all(int descriptor, void *target, size_t count, sqlite3_int64 offset, size_t *done);

#endif
