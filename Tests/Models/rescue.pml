/*
 * The rescue of jobs after a crash, and what hangs on their ends: followers, batches, callbacks.
 *
 * Mirrors:  Sources/Jobs/States/JobStateMachine.swift, Sources/Jobs/Ledger/LedgerTurn.swift (`apply`, `tell`,
 *           `settleFollowers`, `countInBatch`, `leaveBatch`), JobLedger+Claim.swift (`rescue`),
 *           Sources/Jobs/Queue/JobQueue.swift (`start`, `drain`), JobQueue+Run.swift (`record`).
 * Abstract: job 0 with one attempt, in a batch of itself; job 1 follows it; job 2 is the batch's callback. A user may
 *           cancel job 0, and remove it when it has ended; the daemon may be stopped and killed at any step.
 * Holds:    a crash uses up no attempt; once a request to cancel is durable, no operation of the job begins; job 1 and
 *           the callback run once, if job 0 succeeded, and are cancelled or wait for it to be tried again if it didn't;
 *           nothing waits for a job that is gone.
 *
 * Must fail: IGNORES_CANCEL    a rescued job is available again although it was to be stopped
 *            COUNTS_AGAIN      the attempt that a crash cut short counts
 *            CLAIMS_FIRST      jobs are claimed before what an earlier process left running is put back
 *            FOLLOWERS_LATER   followers are settled in a transaction after that of the end
 *            BATCH_LATER       the batch is counted in a transaction after that of the end
 *            CALLBACK_LEFT     a callback waits for a job that was removed without success
 */
#define DISTURBANCES 5
#define MOST 1

mtype = { SCHEDULED, AVAILABLE, RUNNING, COMPLETED, CANCELLED, DISCARDED, REMOVED };

/* Durable. */
mtype job[3];
byte attempt, pending = 1, failed;
bool cancelRequested, followed = true, toFollow, toCount;
/* Memory. */
bool isUp, isRescued, drains, stops;
byte operations[3];
/* Watched. */
byte disturbances, ran[3];

#define ended(j) (job[j] == COMPLETED || job[j] == CANCELLED || job[j] == DISCARDED)

inline dependencyMet(j)    { job[j] = (job[j] == SCHEDULED -> AVAILABLE : job[j]) }
inline dependencyFailed(j) { job[j] = (job[j] == SCHEDULED -> CANCELLED : job[j]) }

inline settleFollowers() {
  if
  :: followed && job[0] == COMPLETED -> followed = false; dependencyMet(1)
  :: followed && job[0] != COMPLETED -> followed = false; dependencyFailed(1)
  :: else
  fi
}
inline countInBatch() {
  pending--;
  if
  :: job[0] != COMPLETED -> failed++
  :: else
  fi;
  if
  :: pending == 0 && failed == 0 -> dependencyMet(2)
  :: else
  fi
}
inline end(state) {
  job[0] = state; cancelRequested = false;
#ifdef FOLLOWERS_LATER
  toFollow = true;
#else
  settleFollowers();
#endif
#ifdef BATCH_LATER
  toCount = true
#else
  countInBatch()
#endif
}
/* `interrupted`, `rescued` */
inline putBack() {
  if
#ifndef IGNORES_CANCEL
  :: cancelRequested -> end(CANCELLED)
#endif
  :: else ->
#ifndef COUNTS_AGAIN
     attempt--;
#endif
     job[0] = AVAILABLE
  fi
}
inline forgetMemory() {
  isUp = false; isRescued = false; drains = false; stops = false; toFollow = false; toCount = false;
  operations[0] = 0; operations[1] = 0; operations[2] = 0
}

init {
  d_step { job[0] = AVAILABLE; job[1] = SCHEDULED; job[2] = SCHEDULED }
  do
  :: d_step { !isUp -> isUp = true }
  /* JobLedger.rescue */
  :: d_step { isUp && !isRescued ->
       isRescued = true;
       if
       :: job[0] == RUNNING -> putBack()
       :: else
       fi;
       job[1] = (job[1] == RUNNING -> AVAILABLE : job[1]); job[2] = (job[2] == RUNNING -> AVAILABLE : job[2]) }
  /* a claim */
#ifdef CLAIMS_FIRST
#define mayClaim (isUp && !drains)
#else
#define mayClaim (isUp && isRescued && !drains)
#endif
  :: d_step { mayClaim && job[0] == AVAILABLE && attempt < MOST ->
       assert(operations[0] == 0 && !cancelRequested);
       job[0] = RUNNING; attempt++; operations[0]++ }
  /* no attempt is left: as when it fails */
  :: d_step { mayClaim && job[0] == AVAILABLE && attempt >= MOST -> end(DISCARDED); assert(false) }
  :: d_step { mayClaim && job[1] == AVAILABLE -> assert(operations[1] == 0); job[1] = RUNNING; operations[1]++ }
  :: d_step { mayClaim && job[2] == AVAILABLE -> assert(operations[2] == 0); job[2] = RUNNING; operations[2]++ }
  /* ends: it succeeds, fails, is cancelled, or makes way for the daemon's end */
  :: d_step { operations[0] > 0 && !toFollow && !toCount -> operations[0]--; assert(job[0] == RUNNING); ran[0]++; end(COMPLETED) }
  :: d_step { operations[0] > 0 && !toFollow && !toCount -> operations[0]--; assert(job[0] == RUNNING);
       if
       :: cancelRequested -> end(CANCELLED)
       :: else -> end(DISCARDED)
       fi }
  :: d_step { operations[0] > 0 && stops -> operations[0]--; assert(job[0] == RUNNING); end(CANCELLED) }
  :: d_step { operations[0] > 0 && drains -> operations[0]--; assert(job[0] == RUNNING); putBack() }
  :: d_step { operations[1] > 0 -> operations[1]--; job[1] = COMPLETED; ran[1]++ }
  :: d_step { operations[2] > 0 -> operations[2]--; job[2] = COMPLETED; ran[2]++ }
  /* a user */
  :: d_step { isUp && !cancelRequested && job[0] == RUNNING && isRescued -> cancelRequested = true; stops = true }
  :: d_step { isUp && isRescued && job[0] == AVAILABLE -> end(CANCELLED) }
  :: d_step { isUp && isRescued && ended(0) && !toFollow && !toCount ->
#ifndef CALLBACK_LEFT
       if
       :: job[0] != COMPLETED -> dependencyFailed(2)
       :: else
       fi;
#endif
       job[0] = REMOVED }
  /* the transactions of what comes later */
  :: d_step { toFollow -> toFollow = false; settleFollowers() }
  :: d_step { toCount -> toCount = false; countInBatch() }
  /* a stop, and a kill */
  :: d_step { isUp && isRescued && !drains && disturbances < DISTURBANCES -> disturbances++; drains = true }
  :: d_step { drains && operations[0] == 0 && operations[1] == 0 && operations[2] == 0 -> forgetMemory() }
  :: d_step { isUp && disturbances < DISTURBANCES -> disturbances++; forgetMemory() }
  :: isUp && isRescued && !drains && (ended(0) || job[0] == REMOVED) && job[1] != AVAILABLE && job[1] != RUNNING &&
     job[2] != AVAILABLE && job[2] != RUNNING && !toFollow && !toCount -> break
  od;
  assert(ended(1) && (job[1] == COMPLETED) == (ran[1] == 1));
  assert((job[0] == COMPLETED || job[0] == REMOVED && failed == 0) == (ran[2] == 1));
  /* what waits waits for a job that can be tried again */
  assert(ended(2) || job[2] == SCHEDULED && (job[0] == CANCELLED || job[0] == DISCARDED));
  assert(pending == 0)
}
