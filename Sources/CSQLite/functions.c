// Functions in place of SQLite's own. A call is one step to SQLite, which nothing stops; so none may take more than a
// bounded time for each byte of its arguments, and one that may take long asks whether there is time left.
//
// They give what SQLite's own give, also for what isn't UTF-8, has a zero byte in it, or is a number or a blob.

#define _GNU_SOURCE
#include "source.h"

#include <string.h>

/// Bytes, or comparisons of bytes, that are looked at without asking.
enum { few_bytes = 1 << 20 };

/// Whether there is no time left for looking at so many bytes.
static int is_over(sqlite3_context *context, sqlite3_int64 bytes) {
  const lade_source *source = sqlite3_user_data(context);
  if (bytes < few_bytes || !source->is_over(source->context)) return 0;
  sqlite3_result_error_code(context, SQLITE_INTERRUPT);
  return 1;
}

static int continues(unsigned char byte) { return (byte & 0xC0) == 0x80; }

// memmem takes linear time for long needles, and for those of up to 256 bytes compares as many for each byte at worst.

static int position(const unsigned char *text, int count, const unsigned char *needle, int length, int is_text) {
  // No character but a damaged one at the beginning is looked for from its middle on.
  if (is_text && continues(needle[0])) return length <= count && memcmp(text, needle, (size_t)length) == 0;
  const unsigned char *found = memmem(text, (size_t)count, needle, (size_t)length);
  if (found == NULL) return 0;
  if (!is_text) return (int)(found - text) + 1;
  int before = 1;
  for (const unsigned char *at = text + 1; at <= found; at++) before += !continues(*at);
  return before;
}

static void lade_instr(sqlite3_context *context, int argc, sqlite3_value **argv) {
  int kinds[2] = {sqlite3_value_type(argv[0]), sqlite3_value_type(argv[1])};
  if (kinds[0] == SQLITE_NULL || kinds[1] == SQLITE_NULL) return;
  int count = sqlite3_value_bytes(argv[0]);
  int length = sqlite3_value_bytes(argv[1]);
  if (length == 0) return sqlite3_result_int(context, 1);
  if (is_over(context, (sqlite3_int64)count + length)) return;
  if (kinds[0] == SQLITE_BLOB && kinds[1] == SQLITE_BLOB) {
    const unsigned char *blob = sqlite3_value_blob(argv[0]);
    const unsigned char *needle = sqlite3_value_blob(argv[1]);
    if (needle == NULL || (count > 0 && blob == NULL)) return sqlite3_result_error_nomem(context);
    return sqlite3_result_int(context, position(blob, count, needle, length, 0));
  }
  // A blob becomes text in a copy: the argument stays what it is.
  sqlite3_value *copies[2] = {NULL, NULL};
  const unsigned char *texts[2];
  int counts[2];
  for (int index = 0; index < 2; index++) {
    sqlite3_value *value = argv[index];
    if (kinds[index] == SQLITE_BLOB) value = copies[index] = sqlite3_value_dup(value);
    texts[index] = value == NULL ? NULL : sqlite3_value_text(value);
    counts[index] = value == NULL ? 0 : sqlite3_value_bytes(value);
  }
  if (texts[1] == NULL || (counts[0] > 0 && texts[0] == NULL)) {
    sqlite3_result_error_nomem(context);
  } else if (counts[1] == 0 || counts[0] == 0) {
    sqlite3_result_int(context, counts[1] == 0);
  } else {
    sqlite3_result_int(context, position(texts[0], counts[0], texts[1], counts[1], 1));
  }
  sqlite3_value_free(copies[0]);
  sqlite3_value_free(copies[1]);
}

static void lade_replace(sqlite3_context *context, int argc, sqlite3_value **argv) {
  const unsigned char *text = sqlite3_value_text(argv[0]);
  if (text == NULL) return;
  int count = sqlite3_value_bytes(argv[0]);
  const unsigned char *pattern = sqlite3_value_text(argv[1]);
  if (pattern == NULL) return;
  if (pattern[0] == 0) return sqlite3_result_value(context, argv[0]);
  int length = sqlite3_value_bytes(argv[1]);
  const unsigned char *with = sqlite3_value_text(argv[2]);
  if (with == NULL) return;
  int growth = sqlite3_value_bytes(argv[2]) - length;
  if (is_over(context, (sqlite3_int64)count + length)) return;

  const unsigned char *end = text + count;
  sqlite3_int64 made = count;
  int limit = sqlite3_limit(sqlite3_context_db_handle(context), SQLITE_LIMIT_LENGTH, -1);
  const unsigned char *found, *from = text;
  while ((found = memmem(from, (size_t)(end - from), pattern, (size_t)length)) != NULL) {
    made += growth;
    from = found + length;
  }
  if (made > limit) return sqlite3_result_error_toobig(context);
  char *result = sqlite3_malloc64((sqlite3_uint64)made + 1);
  if (result == NULL) return sqlite3_result_error_nomem(context);
  char *to = result;
  for (;;) {
    found = memmem(text, (size_t)(end - text), pattern, (size_t)length);
    size_t before = (size_t)((found == NULL ? end : found) - text);
    memcpy(to, text, before);
    to += before;
    if (found == NULL) break;
    memcpy(to, with, (size_t)(length + growth));
    to += length + growth;
    text = found + length;
  }
  *to = 0;
  sqlite3_result_text(context, result, (int)made, sqlite3_free);
}

/// The characters to be trimmed: those of one byte by that byte, longer ones in their order. It is the first one that
/// counts, which in text that isn't UTF-8 may begin or end as another.
typedef struct {
  const unsigned char *bytes;
  int count;
  short start[LADE_TRIM_BYTES], length[LADE_TRIM_BYTES], order[LADE_TRIM_BYTES];
  short single[256];
} lade_trim_set;

enum { no_member = LADE_TRIM_BYTES };

static void make_set(lade_trim_set *set, const unsigned char *bytes) {
  set->bytes = bytes;
  set->count = 0;
  for (int byte = 0; byte < 256; byte++) set->single[byte] = no_member;
  short order = 0;
  for (int at = 0; bytes[at] != 0; order++) {
    int start = at++;
    if (bytes[start] >= 0xC0) {
      while (continues(bytes[at])) at++;
    }
    if (at == start + 1) {
      if (set->single[bytes[start]] == no_member) set->single[bytes[start]] = order;
      continue;
    }
    set->start[set->count] = (short)start;
    set->length[set->count] = (short)(at - start);
    set->order[set->count++] = order;
  }
}

/// How many bytes the member has that the text begins or ends with; 0 if there is none.
static int match(const lade_trim_set *set, const unsigned char *text, int count, int at_end) {
  int single = set->single[at_end ? text[count - 1] : text[0]];
  for (int index = 0; index < set->count && set->order[index] < single; index++) {
    int length = set->length[index];
    if (length > count) continue;
    const unsigned char *part = at_end ? text + count - length : text;
    const unsigned char *member = set->bytes + set->start[index];
    if (part[length - 1] == member[length - 1] && memcmp(part, member, (size_t)length) == 0) return length;
  }
  return single == no_member ? 0 : 1;
}

static void trim(sqlite3_context *context, sqlite3_value **argv, int at_start, int at_end) {
  if (sqlite3_value_type(argv[0]) == SQLITE_NULL) return;
  const unsigned char *text = sqlite3_value_text(argv[0]);
  if (text == NULL) return;
  int count = sqlite3_value_bytes(argv[0]);
  const unsigned char *characters = sqlite3_value_text(argv[1]);
  if (characters == NULL) return;
  int length = sqlite3_value_bytes(argv[1]);
  if (length > LADE_TRIM_BYTES) {
    char *message = sqlite3_mprintf(
        "the second argument of trim, ltrim and rtrim has %d bytes; it may have %d", length, LADE_TRIM_BYTES);
    if (message == NULL) return sqlite3_result_error_nomem(context);
    sqlite3_result_error(context, message, -1);
    return sqlite3_free(message);
  }
  if (is_over(context, (sqlite3_int64)count * (length + 1))) return;
  lade_trim_set set;
  make_set(&set, characters);
  int taken;
  while (at_start && count > 0 && (taken = match(&set, text, count, 0)) > 0) {
    text += taken;
    count -= taken;
  }
  while (at_end && count > 0 && (taken = match(&set, text, count, 1)) > 0) count -= taken;
  sqlite3_result_text(context, (const char *)text, count, SQLITE_TRANSIENT);
}

static void lade_trim(sqlite3_context *context, int argc, sqlite3_value **argv) { trim(context, argv, 1, 1); }
static void lade_ltrim(sqlite3_context *context, int argc, sqlite3_value **argv) { trim(context, argv, 1, 0); }
static void lade_rtrim(sqlite3_context *context, int argc, sqlite3_value **argv) { trim(context, argv, 0, 1); }

/// The character that a text is, as SQLite reads one; 0 if it isn't one.
static unsigned int only_character(const unsigned char *text) {
  unsigned int character = *text;
  if (character == 0) return 0;
  text++;
  if (character >= 0xC0) {
    static const unsigned char bits[] = {0x1F, 0x1F, 0x1F, 0x1F, 0x0F, 0x0F, 0x07, 0x03};
    character &= character >= 0xFE ? 0 : character >= 0xFC ? 1 : bits[(character - 0xC0) >> 3];
    while (continues(*text)) character = (character << 6) + (*text++ & 0x3F);
    int is_surrogate = (character & 0xFFFFF800) == 0xD800;
    if (character < 0x80 || is_surrogate || (character & 0xFFFFFFFE) == 0xFFFE) character = 0xFFFD;
  }
  return *text == 0 ? character : 0;
}

/// Whether the result stands before the texts are looked at.
static int is_settled(sqlite3_context *context, sqlite3_value **argv) {
  int is_blob = sqlite3_value_type(argv[0]) == SQLITE_BLOB || sqlite3_value_type(argv[1]) == SQLITE_BLOB;
  if (is_blob && sqlite3_compileoption_used("LIKE_DOESNT_MATCH_BLOBS")) {
    sqlite3_result_int(context, 0);
    return 1;
  }
  int length = sqlite3_value_bytes(argv[0]);
  if (length > sqlite3_limit(sqlite3_context_db_handle(context), SQLITE_LIMIT_LIKE_PATTERN_LENGTH, -1)) {
    sqlite3_result_error(context, "LIKE or GLOB pattern too complex", -1);
    return 1;
  }
  return 0;
}

static int has_texts(sqlite3_context *context, sqlite3_value **argv, const char **pattern, const char **text) {
  *pattern = (const char *)sqlite3_value_text(argv[0]);
  *text = (const char *)sqlite3_value_text(argv[1]);
  if (*pattern == NULL || *text == NULL) return 0;
  sqlite3_int64 length = sqlite3_value_bytes(argv[0]) + 1;
  return !is_over(context, length * sqlite3_value_bytes(argv[1]));
}

static void lade_like(sqlite3_context *context, int argc, sqlite3_value **argv) {
  if (is_settled(context, argv)) return;
  unsigned int escape = 0;
  if (argc == 3) {
    const unsigned char *given = sqlite3_value_text(argv[2]);
    if (given == NULL) return;
    escape = only_character(given);
    if (escape == 0) return sqlite3_result_error(context, "ESCAPE expression must be a single character", -1);
    if (escape == '%' || escape == '_')
      return sqlite3_result_error(context, "% and _ can't be the ESCAPE character here", -1);
  }
  const char *pattern, *text;
  if (has_texts(context, argv, &pattern, &text))
    sqlite3_result_int(context, sqlite3_strlike(pattern, text, escape) == 0);
}

static void lade_glob(sqlite3_context *context, int argc, sqlite3_value **argv) {
  const char *pattern, *text;
  if (!is_settled(context, argv) && has_texts(context, argv, &pattern, &text))
    sqlite3_result_int(context, sqlite3_strglob(pattern, text) == 0);
}

int lade_source_add_functions(lade_source *source, int (*is_over)(void *context), void *context) {
  source->is_over = is_over;
  source->context = context;
  const struct {
    const char *name;
    int count;
    void (*function)(sqlite3_context *, int, sqlite3_value **);
  } functions[] = {
      {"instr", 2, lade_instr}, {"replace", 3, lade_replace}, {"trim", 2, lade_trim}, {"ltrim", 2, lade_ltrim},
      {"rtrim", 2, lade_rtrim}, {"like", 2, lade_like},       {"like", 3, lade_like}, {"glob", 2, lade_glob},
      {"unhex", 2, NULL},
  };
  int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
  for (size_t index = 0; index < sizeof functions / sizeof *functions; index++) {
    int result = sqlite3_create_function_v2(
        source->connection, functions[index].name, functions[index].count, flags, source,
        functions[index].function, NULL, NULL, NULL);
    if (result != SQLITE_OK) return result;
  }
  return SQLITE_OK;
}
