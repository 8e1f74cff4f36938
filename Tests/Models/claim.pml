/*
 * The claims of one lane: who may run which job, and when.
 *
 * Mirrors:  Sources/Jobs/Ledger/JobLedger.swift, JobLedger+Claim.swift, LedgerTurn.swift (`apply`, `hasBegun`),
 *           Sources/Jobs/Queue/JobQueue+Run.swift, QueueState.swift, RunningJobs.swift, UpcomingJobs.swift.
 * Abstract: jobs have no priorities, files, stores or retries; requests of one turn come in any order; the index of
 *           claims is the number of the job. A kill leaves the store, and the next start rescues what was running.
 * Holds:    no more operations run than there are slots; a job that was cancelled while it waited never runs; no
 *           operation of a job runs beside or after another in one process; an end is written only after its claim;
 *           nothing stays undone.
 *
 * Must fail: NO_MARK      a change of a waiting job leaves it among those that may begin ahead of their claims
 *            NO_CLAIM     a change of a job that has begun doesn't write its claim first
 *            FREES_TWICE  the end of a job that has passed its slot on frees the slot once more
 *            NO_FILTER    jobs that have begun are looked up as next again
 *            NO_GUARD     an available job that has begun is claimed, and run, like any other
 *            NO_RESCUE    a start leaves what was running as it is
 * Must hold: SLOTS=2
 */
#define JOBS 4
#ifndef SLOTS
#define SLOTS 1
#endif
#define KILLS 2
#define FAILURES 2

mtype = { AVAILABLE, RUNNING, COMPLETED, CANCELLED };   /* the store */
mtype = { NONE, BEGINNING, MADE, ENDED };               /* operations, in memory */
mtype = { IDLE, BODIES, SLOTTING, CLAIMING, LOOKING, SAVING, NOTING };

/* Durable. */
mtype store[JOBS] = AVAILABLE;
bool stopAsked[JOBS];

/* The memory of a process. */
mtype op[JOBS] = NONE;
bool claimed[JOBS], passedOn[JOBS], stop[JOBS];
bool upcoming[JOBS];
bool endInLine[JOBS], cancelInLine[JOBS], claimsInLine;
byte unwritten[JOBS];       /* 1: its end is to be put in line; 2: the job it passed its slot to is to be made; 3: claims */
byte successor[JOBS];
mtype phase = IDLE;
mtype next[JOBS] = AVAILABLE;
bool nextStop[JOBS], runs[JOBS], stops[JOBS], ends[JOBS], took[JOBS], changed[JOBS];
byte free;
bool upkeep;                /* the turn only claims */
bool work;                  /* the lane may have work */

/* What the model watches. */
byte begun[JOBS], kills, failures;
bool wasCancelled[JOBS];

byte i, k;

#define holds(j)   ((op[j] == MADE || op[j] == ENDED) && !passedOn[j])
#define taken      (SLOT(0) + SLOT(1) + SLOT(2) + SLOT(3))
#define SLOT(j)    ((holds(j) || op[j] == BEGINNING) -> 1 : 0)
#define EXEC(j)    (op[j] == MADE -> 1 : 0)
#define executing  (EXEC(0) + EXEC(1) + EXEC(2) + EXEC(3))
#define hasBegun(j) (op[j] != NONE && !claimed[j])

inline begin(j) {
  assert(op[j] == NONE || op[j] == BEGINNING);
  assert(!wasCancelled[j]);                /* a cancelled job never runs */
  assert(begun[j] == 0);                   /* and no job twice */
  begun[j]++;
  op[j] = MADE;
  assert(executing <= SLOTS)
}

/* LedgerTurn.hasBegun: the observer's `willChange`. */
inline willChange(j) {
#ifndef NO_MARK
  if
  :: op[j] == NONE -> upcoming[j] = false
  :: else
  fi
#endif
  skip
}

/* LedgerTurn.apply: the claim first. */
inline claimFirst(j) {
  if
#ifndef NO_CLAIM
  :: next[j] == AVAILABLE && hasBegun(j) -> next[j] = RUNNING; runs[j] = true
#endif
  :: else -> willChange(j)
  fi
}

inline forget() {
  for (i : 0 .. JOBS - 1) {
    op[i] = NONE; claimed[i] = false; passedOn[i] = false; stop[i] = false; upcoming[i] = false;
    endInLine[i] = false; cancelInLine[i] = false; unwritten[i] = 0; successor[i] = 0; begun[i] = 0;
    next[i] = AVAILABLE; nextStop[i] = false; runs[i] = false; stops[i] = false; ends[i] = false; took[i] = false; changed[i] = false
  }
  claimsInLine = false; phase = IDLE; free = 0; upkeep = false; i = 0; k = 0
}

/* JobLedger.rescue: before the first claim. */
inline start() {
  for (i : 0 .. JOBS - 1) {
    if
#ifndef NO_RESCUE
    :: store[i] == RUNNING && stopAsked[i] -> store[i] = CANCELLED; wasCancelled[i] = true
    :: store[i] == RUNNING && !stopAsked[i] -> store[i] = AVAILABLE
#endif
    :: else
    fi
  }
  work = true; i = 0
}

inline beginTurn() {
  for (i : 0 .. JOBS - 1) {
    next[i] = store[i]; nextStop[i] = stopAsked[i];
    runs[i] = false; stops[i] = false; ends[i] = false; took[i] = false; changed[i] = false
  }
  i = 0
}

#define waits (endInLine[0] || endInLine[1] || endInLine[2] || endInLine[3] || cancelInLine[2] || claimsInLine)

active proctype Daemon() {
  d_step { start() }
  do
  /* --- the ledger's queue ------------------------------------------------------------------------------------ */
  :: d_step { phase == IDLE && waits -> beginTurn(); upkeep = false; phase = BODIES }
  :: d_step { phase == IDLE && !waits && work && taken < SLOTS ->     /* claimWork */
       beginTurn(); upkeep = true; phase = SLOTTING }
  /* JobQueue.write(outcome): `record` */
#define bodyOfEnd(j)                                                                                                \
  :: d_step { phase == BODIES && endInLine[j] ->                                                                    \
       endInLine[j] = false; took[j] = true; claimFirst(j); assert(next[j] == RUNNING);                             \
       next[j] = (stop[j] -> CANCELLED : COMPLETED); ends[j] = true }
  bodyOfEnd(0)
  bodyOfEnd(1)
  bodyOfEnd(2)
  bodyOfEnd(3)
  /* JobQueue.cancel, of one job */
  :: d_step { phase == BODIES && cancelInLine[2] ->
       cancelInLine[2] = false; claimFirst(2);
       if
       :: next[2] == AVAILABLE -> next[2] = CANCELLED
       :: next[2] == RUNNING -> nextStop[2] = true; stops[2] = true
       :: else
       fi }
  /* JobQueue.writeClaims */
  :: d_step { phase == BODIES && claimsInLine -> claimsInLine = false;
       for (i : 0 .. JOBS - 1) {
         if
         :: next[i] == AVAILABLE && hasBegun(i) -> next[i] = RUNNING; runs[i] = true
         :: else
         fi
       }
       i = 0 }
  :: d_step { phase == BODIES && !waits -> phase = SLOTTING }
  /* ledgerWillCommit: `slots(of:after:)` */
  :: d_step { phase == SLOTTING ->
       k = taken;
       for (i : 0 .. JOBS - 1) {
         if
#ifdef FREES_TWICE
         :: ends[i] && (op[i] == MADE || op[i] == ENDED) -> k--
#else
         :: ends[i] && holds(i) -> k--
#endif
         :: else
         fi
       }
       free = (k < SLOTS -> SLOTS - k : 0); i = 0; k = 0; phase = CLAIMING }
  /* LedgerTurn.claim */
  :: d_step { phase == CLAIMING ->
       for (i : 0 .. JOBS - 1) {
         if
#ifdef NO_GUARD
         :: free > 0 && store[i] == AVAILABLE && next[i] == AVAILABLE ->
#else
         :: free > 0 && store[i] == AVAILABLE && next[i] == AVAILABLE && !hasBegun(i) ->
#endif
            willChange(i); next[i] = RUNNING; runs[i] = true; free--
         :: else
         fi
       }
       if
       :: upkeep && free > 0 -> work = false      /* noteClaims */
       :: else
       fi;
       i = 0; phase = LOOKING }
  /* JobQueue.lookAhead: only where a short job has ended, so it may or may not */
  :: d_step { phase == LOOKING && !upkeep && (ends[0] || ends[1] || ends[2] || ends[3]) ->
       for (i : 0 .. JOBS - 1) {
#ifdef NO_FILTER
         upcoming[i] = (store[i] == AVAILABLE && next[i] == AVAILABLE)
#else
         upcoming[i] = (store[i] == AVAILABLE && next[i] == AVAILABLE && op[i] == NONE)
#endif
       }
       i = 0; phase = SAVING }
  :: d_step { phase == LOOKING -> phase = SAVING }
  /* the save: all or nothing; what failed is tried again */
  :: d_step { phase == SAVING ->
       for (i : 0 .. JOBS - 1) {
         assert(!(ends[i] && store[i] == AVAILABLE && !runs[i]));
         changed[i] = (store[i] != next[i]);
         store[i] = next[i]; stopAsked[i] = nextStop[i];
         if
         :: next[i] == CANCELLED -> assert(op[i] != MADE); wasCancelled[i] = true
         :: else
         fi
       }
       i = 0; phase = NOTING }
  :: d_step { phase == SAVING && failures < FAILURES -> failures++;
       for (i : 0 .. JOBS - 1) {
         if
         :: took[i] -> endInLine[i] = true
         :: else
         fi
       }
       claimsInLine = true; work = true; i = 0; phase = IDLE }
  /* ledgerDidCommit, with QueueState.note */
  :: d_step { phase == NOTING ->
       for (i : 0 .. JOBS - 1) {
         if
         :: changed[i] && store[i] != RUNNING ->
            if
            :: op[i] == ENDED -> op[i] = NONE; passedOn[i] = false; claimed[i] = false; work = true
            :: else
            fi
         :: store[i] == RUNNING && runs[i] ->
            if
#ifdef NO_GUARD
            :: claimed[i] = true; begin(i)
#else
            :: op[i] == NONE -> claimed[i] = true; begin(i)
            :: op[i] != NONE -> claimed[i] = true
#endif
            fi
         :: else
         fi;
         if
         :: stops[i] && op[i] != NONE -> stop[i] = true
         :: else
         fi
       }
       beginTurn(); phase = IDLE }
  /* --- the threads of operations ----------------------------------------------------------------------------- */
#define thread(j)                                                                                                   \
  :: d_step { op[j] == MADE && unwritten[j] == 0 ->                                                                 \
       op[j] = ENDED; unwritten[j] = 1; successor[j] = JOBS;                                                        \
       for (i : 0 .. JOBS - 1) {                                                                                    \
         if                                                                                                         \
         :: successor[j] == JOBS && upcoming[i] && taken <= SLOTS -> successor[j] = i                               \
         :: else                                                                                                    \
         fi                                                                                                         \
       }                                                                                                            \
       i = 0;                                                                                                       \
       if                                                                                                           \
       :: successor[j] < JOBS ->                                                                                    \
          upcoming[successor[j]] = false; passedOn[j] = true;                                                       \
          assert(op[successor[j]] == NONE); op[successor[j]] = BEGINNING                                            \
       :: else                                                                                                      \
       fi }                                                                                                         \
  :: d_step { unwritten[j] == 1 -> endInLine[j] = true; unwritten[j] = (successor[j] < JOBS -> 2 : 0) }             \
  :: d_step { unwritten[j] == 2 -> begin(successor[j]); unwritten[j] = 3 }                                          \
  :: d_step { unwritten[j] == 3 -> claimsInLine = true; unwritten[j] = 0 }
  thread(0)
  thread(1)
  thread(2)
  thread(3)
  /* --- a user, and the end of the process -------------------------------------------------------------------- */
  :: d_step { !cancelInLine[2] && !wasCancelled[2] && !stopAsked[2] && store[2] != COMPLETED -> cancelInLine[2] = true }
  :: d_step { kills < KILLS -> kills++; forget(); start() }
  :: phase == IDLE && !waits && !(work && taken < SLOTS) && op[0] == NONE && op[1] == NONE && op[2] == NONE &&
     op[3] == NONE && !unwritten[0] && !unwritten[1] && !unwritten[2] && !unwritten[3] -> break
  od;
  for (i : 0 .. JOBS - 1) { assert(store[i] == COMPLETED || store[i] == CANCELLED) }
}
