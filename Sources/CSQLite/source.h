// What the files of this target share.

#ifndef LADE_SOURCE_H
#define LADE_SOURCE_H

#include "CSQLite.h"

/// The temporary files of one source.
typedef struct {
  sqlite3_int64 held, allowed;
  int is_refused;
} lade_space;

struct lade_source {
  sqlite3 *connection;
  /// A file system for this connection alone, so that its temporary files can be counted. SQLite keeps a pointer to it.
  sqlite3_vfs vfs;
  sqlite3_vfs *underlying;
  char name[40];
  lade_space space;
  int (*is_over)(void *context);
  void *context;
};

/// How much memory a temporary file takes beside that of the file underneath.
int lade_temporary_size(void);

/// Opens a temporary file without a name, of which the bytes are counted.
int lade_temporary_open(lade_source *source, sqlite3_file *file, int flags, int *out_flags);

#endif
