// SQLite's C interface, and a way to open a database that was handed over as a descriptor.

#ifndef LADE_CSQLITE_H
#define LADE_CSQLITE_H

#include <sqlite3.h>

/// Opens a database through an open descriptor, to be read: no path is followed, no journal or write-ahead log beside it is
/// looked for, nothing is locked or mapped. Temporary files of queries are the system's. The descriptor stays the
/// caller's, who closes it after the connection.
///
/// The schema isn't trusted: its functions may be harmless ones only, no extension is loaded, no trigger
/// runs, and there are no virtual tables.
///
/// @return a result code of SQLite; the connection is to be closed also when it isn't SQLITE_OK, unless it is NULL.
int lade_sqlite_open(int descriptor, int allows_views, sqlite3 **connection);

#endif
