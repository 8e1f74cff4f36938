#include "records.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fail(const char *what, const char *why) {
  fprintf(stderr, "limit: %s: %s\n", what, why);
  exit(1);
}

// One field from `at`, without quotes and with doubled ones undone; `next` is behind its comma or newline.
// Returns 0 if the bytes end before that.
static int take_field(char *at, char *end, char separator, struct text *field, char **next) {
  if (at < end && *at == '"') {
    char *out = ++at;
    field->start = out;
    for (;;) {
      char *quote = memchr(at, '"', (size_t)(end - at));
      if (quote == NULL || quote + 1 >= end) return 0;
      size_t length = (size_t)(quote - at);
      if (out != at) memmove(out, at, length);
      out += length;
      if (quote[1] != '"') {
        if (quote[1] != separator) fail("a quoted field", "something follows its quotes");
        field->length = (int)(out - field->start);
        *next = quote + 2;
        return 1;
      }
      *out++ = '"';
      at = quote + 2;
    }
  }
  char *stop = at;
  while (stop < end && *stop != separator) stop++;
  if (stop == end) return 0;
  field->start = at;
  field->length = (int)(stop - at);
  *next = stop + 1;
  return 1;
}

static int64_t integer(struct text text) {
  int64_t value = 0;
  for (int place = 0; place < text.length; place++) {
    unsigned digit = (unsigned)(text.start[place] - '0');
    if (digit > 9) fail("a field", "isn't a number");
    value = value * 10 + digit;
  }
  return value;
}

// With at most 15 digits, of which the quotient is the nearest double.
static double decimal(struct text text) {
  static const double powers[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};
  int64_t value = 0;
  int place = 0, fraction = -1, is_negative = text.length > 0 && text.start[0] == '-';
  for (place = is_negative; place < text.length; place++) {
    char digit = text.start[place];
    if (digit == '.' && fraction < 0) {
      fraction = 0;
      continue;
    }
    if (digit < '0' || digit > '9') fail("a field", "isn't a decimal");
    value = value * 10 + (digit - '0');
    if (fraction >= 0) fraction++;
  }
  if (text.length > 15 || fraction > 9) fail("a field", "has too many digits");
  double magnitude = fraction > 0 ? (double)value / powers[fraction] : (double)value;
  return is_negative ? -magnitude : magnitude;
}

// As the store writes dates: 2015-01-31T12:34:56Z is kept as 2015-01-31 12:34:56.
static void convert_date(struct text *text) {
  if (text->length != 20 || text->start[10] != 'T' || text->start[19] != 'Z') fail("a field", "isn't a date");
  text->start[10] = ' ';
  text->length = 19;
}

// Returns where the next record begins, or NULL if this one isn't all there.
static char *take_record(char *at, char *end, struct person *person) {
  struct text id, age, balance;
  if (!take_field(at, end, ',', &id, &at) || !take_field(at, end, ',', &person->name, &at)
      || !take_field(at, end, ',', &person->email, &at) || !take_field(at, end, ',', &age, &at)
      || !take_field(at, end, ',', &balance, &at) || !take_field(at, end, ',', &person->created, &at)
      || !take_field(at, end, '\n', &person->note, &at)) {
    return NULL;
  }
  person->id = integer(id);
  person->age = integer(age);
  person->balance = decimal(balance);
  convert_date(&person->created);
  return at;
}

size_t take_records(struct piece *piece, int is_last) {
  char *at = piece->bytes, *end = piece->bytes + piece->length;
  // Up to the last newline outside of quotes: of a record begun with, the quotes would be taken out twice.
  char *stop = end;
  piece->count = 0;
  if (!is_last) {
    long quotes = 0;
    for (char *byte = at; byte < end; byte++) quotes += *byte == '"';
    while (stop > at && !(stop[-1] == '\n' && quotes % 2 == 0)) quotes -= *--stop == '"';
  }
  while (at < stop) {
    if (piece->count == piece->capacity) {
      piece->capacity = piece->capacity == 0 ? 16384 : 2 * piece->capacity;
      piece->people = realloc(piece->people, (size_t)piece->capacity * sizeof *piece->people);
      if (piece->people == NULL) fail("records", "no memory");
    }
    char *next = take_record(at, stop, &piece->people[piece->count]);
    if (next == NULL) fail("the file", "ends within a record");
    piece->count++;
    at = next;
  }
  return (size_t)(at - piece->bytes);
}
