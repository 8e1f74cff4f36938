// The standard load's records, as they are to be bound.

#include <stddef.h>
#include <stdint.h>

struct text {
  char *start;
  int length;
};

struct person {
  int64_t id, age;
  double balance;
  struct text name, email, created, note;
};

// A piece of the file with the records that end in it. Their texts stand in `bytes`.
struct piece {
  char *bytes;
  size_t length;
  struct person *people;
  int count, capacity;
};

// Takes the records out of a piece's bytes, in place, and returns how many bytes they are; what is left is the
// beginning of a record, or nothing at the end of the file. Ends the process on what isn't the standard load.
size_t take_records(struct piece *piece, int is_last);

// Says what went wrong on standard error, and ends the process with status 1.
_Noreturn void fail(const char *what, const char *why);
