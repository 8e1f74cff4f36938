/*
 * One owner of a job: the lock of the directories, which is held as long as the process lives. Lade has no lease and no
 * heartbeat: nothing is concluded from time, and a process that hangs keeps its jobs until it is ended.
 *
 * Mirrors:  Sources/LadeDaemon/Daemon/OpenStores.swift (`InstanceLock`), DaemonParts.swift (`start`, `close`),
 *           Sources/Jobs/Ledger/JobLedger+Claim.swift (`rescue`), Sources/Importing/Run/BatchCommit.swift.
 * Abstract: one job of three batches, in one data store; two processes over the same directories, each of which may be
 *           started, stopped and killed; an operation may be as slow as it likes, and outlive `drain_timeout`.
 * Holds:    the rows are those of one run; no two operations of the job run; the job ends.
 *
 * Must fail: NO_LOCK         a second daemon begins beside the first
 *            UNLOCKS_AT_END  a daemon that ends gives the lock back while an operation still runs
 *            LEASE           the lock is a lease instead, which another process takes over when it isn't renewed in time
 *            NO_RESCUE       a start leaves the job running as the process before it did
 * Must hold: LEASE+FENCE     the same lease, if the transaction of each batch compares the number of the claim: what the
 *                            rules of ARCHITECTURE.md ask for once several daemons share a queue
 */
#define BATCHES 3
#define STARTS 8

mtype = { AVAILABLE, RUNNING, COMPLETED };
mtype = { DOWN, STARTING, UP, CLOSING };

/* Durable. */
mtype job = AVAILABLE;
byte claim;                       /* the number of the latest claim */
byte checkpoint, rows[BATCHES];

/* The kernel's: who has the lock. 0 is nobody. */
byte owner;

/* The memory of the processes. */
mtype process[3] = DOWN;
bool operation[3], holdsClaim[3];
byte at[3], mine[3];
byte starts;

inline end(p) {                   /* however a process ends, its operations end with it, and the kernel gives its lock back */
  process[p] = DOWN; operation[p] = false; at[p] = 0; mine[p] = 0;
  if
  :: owner == p -> owner = 0
  :: else
  fi
}

active [2] proctype Daemon() {
  byte me = _pid + 1;
  do
  :: d_step { process[me] == DOWN && job != COMPLETED && starts < STARTS -> starts++; process[me] = STARTING }
  /* InstanceLock: LOCK_NB, or it ends with status 75 */
#ifdef NO_LOCK
  :: d_step { process[me] == STARTING -> process[me] = UP;
#else
  :: d_step { process[me] == STARTING && owner != 0 && owner != me -> process[me] = DOWN; starts-- }
  :: d_step { process[me] == STARTING && owner == 0 -> owner = me; process[me] = UP;
#endif
       /* rescue */
       if
#ifndef NO_RESCUE
       :: job == RUNNING -> job = AVAILABLE
#endif
       :: else
       fi }
#ifdef LEASE
  /* The other's lease has run out, for all that this one can see. */
  :: d_step { process[me] == STARTING && owner == 3 - me -> owner = me; process[me] = UP;
       if
       :: job == RUNNING -> job = AVAILABLE
       :: else
       fi }
#endif
  /* a claim, and the operation reads the checkpoint */
  :: d_step { process[me] == UP && job == AVAILABLE && !operation[me] ->
       job = RUNNING; claim++; mine[me] = claim;
#ifndef LEASE
       assert(!operation[3 - me]);
#endif
       operation[me] = true; at[me] = checkpoint }
  /* a batch: rows and checkpoint */
  :: d_step { operation[me] && at[me] < BATCHES ->
       if
#ifdef FENCE
       :: mine[me] != claim -> operation[me] = false; at[me] = 0
#endif
       :: else -> rows[at[me]]++; assert(rows[at[me]] == 1); at[me]++; checkpoint = at[me]
       fi }
  /* the job's end, by the process whose queue it is in */
  :: d_step { operation[me] && at[me] == BATCHES ->
       operation[me] = false; at[me] = 0;
       if
       :: job == RUNNING && mine[me] == claim -> job = COMPLETED
       :: else
       fi }
  /* DaemonParts.close: where an operation still runs, stores and locks are kept until the process ends */
  :: d_step { process[me] == UP && starts < STARTS -> process[me] = CLOSING;
#ifdef UNLOCKS_AT_END
       if
       :: owner == me -> owner = 0
       :: else
       fi
#endif
     }
  :: d_step { (process[me] == CLOSING || process[me] == UP && job == COMPLETED) && !operation[me] -> end(me); skip }
  /* a drained operation stops at its batch */
  :: d_step { process[me] == CLOSING && operation[me] ->
       operation[me] = false;
       if
       :: job == RUNNING && mine[me] == claim -> job = AVAILABLE
       :: else
       fi;
       end(me) }
  /* killed; the last one isn't */
  :: d_step { (process[me] == UP || process[me] == CLOSING) && starts < STARTS -> end(me); skip }
  :: process[me] == DOWN && (job == COMPLETED || starts == STARTS) -> break
  od
}

active proctype Judge() {
  job == COMPLETED;
  assert(rows[0] == 1 && rows[1] == 1 && rows[2] == 1)
}
