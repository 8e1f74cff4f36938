// SQLite's C interface, a way to open a database that was handed over as a descriptor, and what Swift can't call.

#ifndef LADE_CSQLITE_H
#define LADE_CSQLITE_H

#include <sqlite3.h>

/// A database that is read through an open descriptor.
typedef struct lade_source lade_source;

/// Opens a database through an open descriptor, to be read: no path is followed, no journal or write-ahead log beside it is
/// looked for, nothing is locked or mapped. The descriptors stay the caller's, who closes them after the source.
///
/// The schema isn't trusted: its functions may be harmless ones only, no extension is loaded, no trigger
/// runs, and there are no virtual tables.
///
/// @param log a descriptor of the database's write-ahead log, whose committed transactions are read as if they were in the
/// database; negative for none.
/// @param temporary_bytes how much all temporary files of its queries may hold at a time. They are the system's, and
/// have no name.
/// @return a result code of SQLite; the source is to be closed also when it isn't SQLITE_OK, unless it is NULL.
int lade_source_open(int descriptor, int log, int allows_views, sqlite3_int64 temporary_bytes, lade_source **source);

/// Writes what the committed transactions of a database's write-ahead log hold into a copy of the database, which needs no log
/// then.
///
/// @param log a descriptor of the log; negative for none.
/// @return a result code of SQLite.
int lade_log_apply(int database, int log, int copy);

/// The source's connection, closed with it.
sqlite3 *lade_source_connection(const lade_source *source);

/// Whether a temporary file wasn't written on, since all together would have held more than they may.
int lade_source_is_out_of_space(const lade_source *source);

/// Closes the connection, whose statements are finalized, and lets the source go.
void lade_source_close(lade_source *source);

/// Puts functions of the same results in place of SQLite's own which take quadratic time, or may take long: instr and
/// replace, which are linear; trim, ltrim and rtrim with a second argument, which may have LADE_TRIM_BYTES; LIKE and GLOB.
/// Of unhex there is that of one argument alone.
///
/// @param is_over asked before a call that may take long; if it answers other than 0, the statement ends as if it had been
/// interrupted.
/// @return a result code of SQLite.
int lade_source_add_functions(lade_source *source, int (*is_over)(void *context), void *context);

/// Has a connection check foreign keys from now on, or not; also within a transaction, unlike the pragma.
///
/// @return a result code of SQLite.
int lade_set_foreign_keys(sqlite3 *connection, int is_checked);

/// Has a connection run triggers from now on, or not.
///
/// @return a result code of SQLite.
int lade_set_triggers(sqlite3 *connection, int is_run);

/// Has connections of the process report a read that the device refuses as SQLITE_IOERR_READ, and not as SQLITE_CORRUPT. Done
/// once, whoever calls it again.
///
/// @return a result code of SQLite.
int lade_distinguish_failed_reads(void);

/// The name of a file system by which databases of other programs are opened to be read: it is the usual one, and makes no log
/// and no journal beside them.
///
/// @return NULL if it can't be registered.
const char *lade_reading_vfs(void);

/// How long the second argument of trim, ltrim and rtrim may be.
#define LADE_TRIM_BYTES 256

#endif
