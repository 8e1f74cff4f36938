/*
 * Several daemons with one queue: claims under leases, and the fence beside the rows. A lease may end at any moment, for a
 * daemon may be stopped for as long as it likes and go on then, knowing nothing of it: what it does next is refused.
 *
 * Mirrors:  Sources/Jobs/Ledger/JobLedger+Claim.swift (`claim`, `rescue`), LedgerTurn.swift (`job(_:claimedAs:)`),
 *           Sources/Jobs/Operations/JobOperation.swift (`fence`), Objects/JobCheckpoint.swift (`forget`),
 *           Sources/Importing/Checkpoint/JobFence.swift, Sources/ManagedObjects/Contexts/Saving/SaveFence.swift.
 * Abstract: one job of two batches, in one data store; two daemons, whose operations fail, are killed and are stopped between
 *           any two steps; a user who cancels the job while it waits, and tries it again when it was given up. The end of a
 *           lease is a step of nobody's: of the owner it is only known that it is gone, or so it seems.
 * Holds:    each row is there once; a job is moved by its latest claimant only; nothing is written once it has ended and what
 *           it kept in the store is removed.
 *
 * Must fail: NO_FENCE     a batch doesn't look at the fence
 *            UNLOCKED     it does, and doesn't keep the fence as it is until its commit
 *            READS_FIRST  the checkpoint is read before the fence is raised
 *            NO_LOOK      a claimant that has raised the fence doesn't look whether the job is still its own
 *            ANY_END      an end is written without comparing the number of the claim
 *            FORGETS_ALL  what a job keeps in the store is removed, whoever has raised the fence since
 *            KEPT         a rescue leaves the number as it is, so that of a job which is cancelled then nothing stops the owner
 *            REUSED       a rescue takes the number back, as it takes back the attempt
 *            NO_CLOSING   what a cancelled job keeps is removed without raising the fence before
 * Must hold: LATE_LEASE   a lease ends only where the owner is really gone
 */
#define BATCHES 2
#define LEASES 2
#define FAILURES 1
#define KILLS 1
#define CANCELS 1

mtype = { AVAILABLE, RUNNING, COMPLETED, DISCARDED };
mtype = { IDLE, CLAIMED, RAISED, OWN, READ, CHECKED, DONE, FAILED, ENDED, CLEARED };

/* The queue. */
mtype job = AVAILABLE;
byte claim, owner;                /* the number of the latest claim, and whose it is */
bool isLeaseOver;
bool isRemoved;                   /* it has ended, and what it kept in the store is removed */

/* The data store: 0 is no fence. */
byte fence, checkpoint, rows[BATCHES];

/* The memory of the daemons. */
mtype pc[3] = IDLE;
byte mine[3], at[3];
byte leases, failures, kills, cancels;

/* What an operation has done that is superseded is forgotten, and nothing is written anywhere. */
inline stop(d) { pc[d] = IDLE; mine[d] = 0; at[d] = 0 }

active [2] proctype Daemon() {
  byte me = _pid + 1;
  do
  /* LedgerTurn.claim */
  :: d_step { pc[me] == IDLE && job == AVAILABLE ->
       job = RUNNING; claim++; owner = me; isLeaseOver = false; mine[me] = claim; pc[me] = CLAIMED }
#ifdef READS_FIRST
  :: d_step { pc[me] == CLAIMED && at[me] == 0 && checkpoint > 0 -> at[me] = checkpoint }
#endif
  /* JobFence.raise */
  :: d_step { pc[me] == CLAIMED ->
       if
       :: fence > mine[me] -> stop(me)
       :: else -> fence = mine[me]; pc[me] = RAISED
       fi }
  /* JobOperation.fence: whether the job is still its own */
  :: d_step { pc[me] == RAISED ->
#ifdef NO_LOOK
       pc[me] = OWN }
#else
       if
       :: job == RUNNING && claim == mine[me] -> pc[me] = OWN
       :: else -> stop(me)
       fi }
#endif
  /* ImportCheckpoint.read */
  :: d_step { pc[me] == OWN ->
#ifndef READS_FIRST
       at[me] = checkpoint;
#endif
       pc[me] = READ }
  /* a batch: the fence, the rows and the checkpoint in one transaction, which locks the fence first */
#ifdef UNLOCKED
  :: d_step { pc[me] == READ && at[me] < BATCHES ->
       if
       :: fence == mine[me] -> pc[me] = CHECKED
       :: else -> pc[me] = FAILED
       fi }
  :: d_step { pc[me] == CHECKED ->
       assert(!isRemoved);
       rows[at[me]]++; assert(rows[at[me]] == 1); at[me]++; checkpoint = at[me]; pc[me] = READ }
#else
  :: d_step { pc[me] == READ && at[me] < BATCHES ->
       if
#ifndef NO_FENCE
       :: fence != mine[me] -> pc[me] = FAILED
#endif
       :: else ->
          assert(!isRemoved);
          rows[at[me]]++; assert(rows[at[me]] == 1); at[me]++; checkpoint = at[me]
       fi }
#endif
  :: d_step { pc[me] == READ && at[me] == BATCHES -> pc[me] = DONE }
  /* an operation fails, for a reason of its own */
  :: d_step { pc[me] == READ && failures < FAILURES -> failures++; pc[me] = FAILED }
  /* JobQueue.write: the end, compared with state and claim */
  :: d_step { (pc[me] == DONE || pc[me] == FAILED) &&
#ifdef ANY_END
       job == RUNNING ->
#else
       job == RUNNING && claim == mine[me] ->
#endif
       assert(claim == mine[me]);
       job = (pc[me] == DONE -> COMPLETED : DISCARDED); pc[me] = ENDED }
#ifdef ANY_END
  :: d_step { (pc[me] == DONE || pc[me] == FAILED) && job != RUNNING -> stop(me) }
#else
  :: d_step { (pc[me] == DONE || pc[me] == FAILED) && (job != RUNNING || claim != mine[me]) -> stop(me) }
#endif
  /* JobCheckpoint.forget: when the end is durable. A job that was given up and is tried again begins again then: that its rows
     are those of another run is no fault of the queue's, so they are no longer counted. */
  :: d_step { pc[me] == ENDED ->
       if
#ifdef FORGETS_ALL
       :: true ->
#else
       :: fence != mine[me] -> stop(me)
       :: else ->
#endif
          if
          :: fence <= mine[me] && job != COMPLETED -> rows[0] = 0; rows[1] = 0
          :: else
          fi;
          checkpoint = 0; pc[me] = CLEARED
       fi }
  :: d_step { pc[me] == CLEARED ->
       if
#ifdef FORGETS_ALL
       :: true ->
#else
       :: fence != mine[me] -> stop(me)
       :: else ->
#endif
          assert(checkpoint == 0);
          fence = 0; isRemoved = (job == COMPLETED || job == DISCARDED); stop(me)
       fi }
  /* rescue: the lease of the owner is over by the server's clock */
  :: d_step { job == RUNNING && isLeaseOver ->
       job = AVAILABLE; isLeaseOver = false;
#ifdef REUSED
       claim--
#elif !defined(KEPT)
       claim++
#endif
     }
  /* killed */
  :: d_step { pc[me] != IDLE && pc[me] != ENDED && pc[me] != CLEARED && kills < KILLS -> kills++; stop(me) }
  :: job == COMPLETED && pc[me] == IDLE -> break
  od
}

/* Time, and a user. */
mtype step = IDLE;
byte number;
active proctype World() {
  do
  :: d_step { job == RUNNING && !isLeaseOver && (leases < LEASES || mine[owner] != claim) &&
#ifdef LATE_LEASE
       mine[owner] != claim &&
#endif
       true ->
       if
       :: leases < LEASES -> leases++
       :: else
       fi;
       isLeaseOver = true }
  /* JobQueue.retry */
  :: d_step { job == DISCARDED -> job = AVAILABLE; isRemoved = false }
  /* JobQueue.cancel, of a job that waits; and what it keeps is removed, as above, by one that never ran it */
  :: d_step { job == AVAILABLE && cancels < CANCELS -> cancels++; job = DISCARDED; number = claim; step = ENDED }
  :: d_step { step == ENDED ->
       if
       :: number == 0 || fence > number -> step = IDLE
       :: else ->
#ifndef NO_CLOSING
          fence = number;
#endif
          step = RAISED
       fi }
#ifdef NO_CLOSING
#define isOthers(n) (fence > n)
#else
#define isOthers(n) (fence != n)
#endif
  :: d_step { step == RAISED ->
       if
       :: isOthers(number) -> step = IDLE
       :: else ->
          if
          :: checkpoint > 0 -> checkpoint = 0; rows[0] = 0; rows[1] = 0
          :: else
          fi;
          step = CLEARED
       fi }
  :: d_step { step == CLEARED ->
       if
       :: isOthers(number) -> step = IDLE
       :: else -> assert(checkpoint == 0); fence = 0; isRemoved = (job == DISCARDED); step = IDLE
       fi }
  :: job == COMPLETED && step == IDLE -> break
  od;
  assert(rows[0] == 1 && rows[1] == 1)
}
