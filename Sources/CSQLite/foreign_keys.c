#include "CSQLite.h"

int lade_set_foreign_keys(sqlite3 *connection, int is_checked) {
  return sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_FKEY, is_checked, (int *)0);
}

int lade_set_triggers(sqlite3 *connection, int is_run) {
  return sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_TRIGGER, is_run, (int *)0);
}
