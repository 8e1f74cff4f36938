// limit-keys DATABASE CSV text|two ROWS
//
// What keys in no order cost SQLite: the readings of `bench import --only text-key` (or `two-key`) into the table of Lade's
// store with its unique index, by a C loop that does nothing else, ROWS of them in each commit. It is as durable as Lade's
// store (WAL, synchronous=NORMAL, a sync at the end), with its page size and cache. Lade saves 10,000 rows at a time; a
// number as large as the file makes one commit.

#define _GNU_SOURCE
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { columns = 7, longest_line = 1 << 16 };

static _Noreturn void fail(const char *what, const char *why) {
  fprintf(stderr, "limit-keys: %s: %s\n", what, why);
  exit(1);
}

static void run(sqlite3 *db, const char *sql) {
  char *error = NULL;
  if (sqlite3_exec(db, sql, NULL, NULL, &error) != SQLITE_OK) fail(sql, error);
}

// The seconds of a time such as 2000-01-01T00:00:01Z, which a store keeps as a number.
static double seconds(const char *text) {
  struct tm time = {0};
  if (strptime(text, "%Y-%m-%dT%H:%M:%SZ", &time) == NULL) fail(text, "isn't a time");
  return (double)timegm(&time);
}

int main(int argc, char **argv) {
  int is_text = argc == 5 && strcmp(argv[3], "text") == 0;
  long rows = argc == 5 ? strtol(argv[4], NULL, 10) : 0;
  if (rows <= 0 || (!is_text && strcmp(argv[3], "two") != 0)) {
    fprintf(stderr, "usage: limit-keys DATABASE CSV text|two ROWS\n");
    return 64;
  }
  FILE *file = fopen(argv[2], "r");
  if (file == NULL) fail(argv[2], "can't be opened");
  sqlite3 *db;
  if (sqlite3_open(argv[1], &db) != SQLITE_OK) fail(argv[1], sqlite3_errmsg(db));
  run(db, "PRAGMA page_size = 16384; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
          "PRAGMA cache_size = -16384; PRAGMA wal_autocheckpoint = 1024;"
          "CREATE TABLE Reading (id INTEGER PRIMARY KEY, number INTEGER, code TEXT, station TEXT, at REAL, level REAL,"
          " grade INTEGER, note TEXT)");
  run(db, is_text ? "CREATE UNIQUE INDEX Reading_key ON Reading (code)"
                  : "CREATE UNIQUE INDEX Reading_key ON Reading (station, at)");
  sqlite3_stmt *insert;
  const char *sql = "INSERT INTO Reading (number, code, station, at, level, grade, note) VALUES (?, ?, ?, ?, ?, ?, ?)"
                    " ON CONFLICT DO NOTHING";
  if (sqlite3_prepare_v2(db, sql, -1, &insert, NULL) != SQLITE_OK) fail(sql, sqlite3_errmsg(db));

  char line[longest_line];
  if (fgets(line, sizeof line, file) == NULL) fail(argv[2], "is empty");
  long done = 0;
  run(db, "BEGIN");
  while (fgets(line, sizeof line, file) != NULL) {
    char *rest = line, *cell[columns];
    for (int place = 0; place < columns; place++) {
      cell[place] = strsep(&rest, place == columns - 1 ? "\n" : ",");
      if (cell[place] == NULL) fail(argv[2], "isn't the readings");
    }
    sqlite3_bind_int64(insert, 1, strtoll(cell[0], NULL, 10));
    sqlite3_bind_text(insert, 2, cell[1], -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, 3, cell[2], -1, SQLITE_STATIC);
    sqlite3_bind_double(insert, 4, seconds(cell[3]));
    sqlite3_bind_double(insert, 5, strtod(cell[4], NULL));
    sqlite3_bind_int64(insert, 6, strtoll(cell[5], NULL, 10));
    sqlite3_bind_text(insert, 7, cell[6], -1, SQLITE_STATIC);
    if (sqlite3_step(insert) != SQLITE_DONE) fail("a row", sqlite3_errmsg(db));
    sqlite3_reset(insert);
    if (++done % rows == 0) run(db, "COMMIT; BEGIN");
  }
  run(db, "COMMIT; PRAGMA synchronous = FULL; PRAGMA user_version = 1");
  printf("%ld rows\n", done);
  return 0;
}
