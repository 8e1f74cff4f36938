/*
 * What follows the end of a job: its file is put away; it may be tried again, pruned or removed.
 *
 * Mirrors:  Sources/Jobs/Queue/SettlingJobs.swift, JobPruner.swift, JobQueue+Change.swift (`retry`, `remove`),
 *           JobQueue+Run.swift (`putAway`, `clearAway`), Sources/Jobs/Ledger/JobLedger+Upkeep.swift (`prune`),
 *           Sources/LadeDaemon/Intake/SpoolBridge.swift (`finished`, `revive`, `removed`).
 * Abstract: one job that fails whenever it runs, its file, two users who try it again, one who removes it, the pruner,
 *           and a kill at any step. Moves are durable (see handover.pml). The write of a retry may fail once.
 * Holds:    an operation runs with its file in active/; a job that is removed has no file there; when all is quiet the
 *           file of a job that has ended isn't there either.
 *
 * Must fail: UNMARKED       a job whose file is being brought back may be pruned, removed and tried again by another
 *            UNSYNCHRONISED its file is brought back though a removal is under way that began before
 *            NOT_AGAIN      its file is brought back though it ran meanwhile, and is being put away
 *            PRUNES_BUSY    a job whose file is being put away is pruned
 *            LEFT           the file that was brought back stays when the retry fails
 *            NO_SETTLING    a start doesn't put away what an earlier process left in active/
 */
#define KILLS 3

mtype = { AVAILABLE, RUNNING, ENDED, REMOVED };
mtype = { ACTIVE, CORRUPT, GONE };

mtype job = AVAILABLE;
mtype file = ACTIVE;
/* Memory. */
bool settling, reviving, clearing, isBusy;
byte putAway, pruner, retry[2], remover;
byte kills, failures;

/* Nothing else happens on the ledger's queue while the pruner has it. */
#define isFree (pruner != 1)

inline settle() { settling = true }

#define user(n)                                                                                                     \
  :: d_step { retry[n] == 0 && job == ENDED && !settling -> retry[n] = 1 }                        /* whenEnded */   \
  :: d_step { retry[n] == 1 && !marked && !settling -> reviving = true; retry[n] = 2 }                              \
  :: d_step { retry[n] == 1 && (marked || settling) -> retry[n] = 9 }                                           /* refused */     \
  :: d_step { retry[n] == 2 && awaited -> retry[n] = (job == ENDED && again -> 3 : 8) }           /* endedJob */    \
  :: d_step { retry[n] == 3 -> retry[n] = (file == GONE -> 8 : 4);                                /* reclaim */     \
       file = (file == CORRUPT -> ACTIVE : file) }                                                                  \
  :: d_step { retry[n] == 4 && isFree ->                                                                            \
       if                                                                                                           \
       :: job == ENDED -> job = AVAILABLE; retry[n] = 8                                                             \
       :: else -> retry[n] = 5                                                                                      \
       fi }                                                                                                         \
  :: d_step { retry[n] == 4 && isFree && failures < 1 -> failures++; retry[n] = 5 }                                 \
  :: d_step { retry[n] == 5 -> afterwards; retry[n] = 8 }                                                           \
  :: d_step { retry[n] == 8 -> reviving = false; retry[n] = 9 }

#ifdef UNMARKED
#define marked false
#else
#define marked reviving
#endif
#ifdef UNSYNCHRONISED
#define awaited true
#else
#define awaited isFree
#endif
#ifdef NOT_AGAIN
#define again true
#else
#define again !settling
#endif
#ifdef LEFT
#define afterwards skip
#else
#define afterwards settling = true
#endif

active proctype Daemon() {
  do
  /* an operation */
  :: d_step { job == AVAILABLE && isFree -> assert(file == ACTIVE); job = RUNNING }
  :: d_step { job == RUNNING && isFree -> assert(file == ACTIVE); job = ENDED; settle() }
  /* putAway: `finished`, then those who wait go on */
  :: d_step { settling && putAway == 0 -> file = (file == ACTIVE -> CORRUPT : file); putAway = 1 }
  :: d_step { putAway == 1 -> putAway = 0; settling = false }
  /* the pruner: what is busy, then the turn */
  :: d_step { pruner == 0 && job == ENDED -> isBusy = (settling || marked); pruner = 1 }
  :: d_step { pruner == 1 ->
#ifdef PRUNES_BUSY
       if
       :: job == ENDED -> job = REMOVED; clearing = true; assert(file != ACTIVE)
#else
       if
       :: job == ENDED && !isBusy -> job = REMOVED; clearing = true; assert(file != ACTIVE)
#endif
       :: else
       fi;
       pruner = 2; isBusy = false }
  /* `remove` */
  :: d_step { remover == 0 && job == ENDED && !settling -> remover = 1 }
  :: d_step { remover == 1 && isFree ->
       if
       :: job == ENDED && !marked && !settling -> job = REMOVED; clearing = true; assert(file != ACTIVE)
       :: else
       fi;
       remover = 2 }
  /* clearAway: `removeKept` looks into corrupt/ and done/ */
  :: d_step { clearing -> file = (file == CORRUPT -> GONE : file); clearing = false }
  user(0)
  user(1)
  :: d_step { kills < KILLS -> kills++;
       settling = false; reviving = false; clearing = false; isBusy = false; putAway = 0;
       pruner = (pruner == 1 -> 2 : pruner); remover = (remover == 1 -> 2 : remover);
       retry[0] = (retry[0] > 0 -> 9 : 0); retry[1] = (retry[1] > 0 -> 9 : 0);
       if
#ifndef NO_SETTLING
       :: job == ENDED && file == ACTIVE -> settle()
#endif
       :: else
       fi;
       job = (job == RUNNING -> AVAILABLE : job) }
  :: (job == ENDED || job == REMOVED) && !settling && !clearing && pruner != 1 && remover != 1 &&
     (retry[0] == 0 || retry[0] == 9) && (retry[1] == 0 || retry[1] == 9) -> break
  od;
  assert(file != ACTIVE)
}
