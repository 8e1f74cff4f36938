// A connection over which one request goes at a time, and its answer comes.

#pragma once

#include <stdbool.h>
#include <stddef.h>

struct connection {
  int descriptor;
  // What hasn't been sent.
  const char *request;
  size_t left;
  // What has come of an answer.
  char *answer;
  size_t length, room;
  // Whether a request is on its way.
  bool busy;
};

// How many bytes the first answer of these takes, or 0 if it isn't whole.
typedef size_t (*whole_answer)(const char *bytes, size_t length);
// What to send next on a connection, after an answer (none at first); 0 for nothing more.
typedef const char *(*next_request)(struct connection *connection, int number, const char *answer);

double now(void);
void die(const char *what);
void connect_to(struct connection *connection, const char *path);
// Sends and receives on all connections until none has anything to send any more.
void converse(struct connection *connections, int count, whole_answer whole, next_request next);
// The same on one, for one request.
const char *ask(struct connection *connection, const char *request, whole_answer whole);
