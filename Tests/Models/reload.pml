/*
 * A reload of the configuration while jobs run: it applies as a whole or not at all.
 *
 * Mirrors:  Sources/LadeDaemon/Daemon/Reloader.swift, CurrentConfiguration.swift, DaemonParts.swift (`start`),
 *           Sources/Jobs/Queue/JobQueue+Reconfigure.swift, JobQueue+Submit.swift (`check`), JobQueue+Change.swift
 *           (`retry`), Sources/Jobs/Ledger/LedgerTurn.swift (`check(lane:)`), Sources/Jobs/Schedules/ScheduleRunner.swift.
 * Abstract: a configuration has a lane with a recipe and a schedule for it (version 1), or none of that (version 2), or the
 *           lane alone (version 3). An operator writes one or another; a submitter hands in a job by the recipe; another job of the lane has
 *           failed, and a user tries it again; the schedule's job waits for its file. Reloads may be refused, and the
 *           daemon killed, at any step. A start takes any configuration, and says which jobs wait in lanes that are gone.
 * Holds:    no reload takes the lane from a job that hasn't ended, and no job comes to a lane that isn't there; queue
 *           and rest go by one configuration; a job that runs goes by the options that it was made with; every job
 *           whose lane is there ends.
 *
 * Must fail: DROPS_LANES    the lane is dropped whatever waits in it
 *            COUNTS_BEFORE  its jobs are counted before the turn in which it is dropped
 *            CHECKED_ONCE   a submission isn't checked again in the turn that makes the job
 *            RETRIES_BLINDLY  a job that has ended is tried again whatever has become of its lane
 *            PUT_BEFORE     the rest goes by the new configuration before the queue has taken it
 *            READS_RECIPES  an operation looks the recipe up when it begins
 *            UNFETCHED      a start leaves a job waiting for the file of a schedule that is gone
 */
#define RELOADS 5
#define KILLS 2

mtype = { NONE, SCHEDULED, AVAILABLE, RUNNING, ENDED };

/* Durable. Job 0 is the submitter's, 1 the one that has failed, 2 the schedule's. */
mtype job[3];
byte written = 1;                /* the file */
/* Memory. */
byte queue = 1, current = 1;     /* the versions that these go by */
byte reload, next, submit, retry;
bool isBusy, fetches = true;
/* Watched. */
byte reloads, kills;
bool byStart;                    /* the lane went with a start */

#define unended(j) (job[j] == SCHEDULED || job[j] == AVAILABLE || job[j] == RUNNING)
#define inUse (unended(0) || unended(1) || unended(2))
#define hasLane(version) (version != 2)
#define hasRecipe(version) (version == 1)

#ifdef PUT_BEFORE
#define putBefore current = next
#else
#define putBefore skip
#endif

init {
  d_step { job[0] = NONE; job[1] = ENDED; job[2] = SCHEDULED }
  do
  /* the operator */
  :: d_step { reload == 0 && reloads < RELOADS -> written = (written == 3 -> 1 : written + 1); reload = 1; reloads++ }
  :: d_step { reload == 0 && reloads < RELOADS -> written = (written == 1 -> 3 : written - 1); reload = 1; reloads++ }
  /* Reloader.perform: reads, and plans */
  :: d_step { reload == 1 -> next = written; isBusy = inUse; putBefore; reload = 2 }
  /* JobQueue.reconfigure, on the ledger's queue, with `committed` */
  :: d_step { reload == 2 ->
#if defined(DROPS_LANES)
       isBusy = false;
#elif !defined(COUNTS_BEFORE)
       isBusy = inUse;
#endif
       if
       :: !hasLane(next) && hasLane(queue) && isBusy
       :: else -> queue = next; current = next; byStart = false
       fi;
       isBusy = false; next = 0; reload = 0;
       /* one configuration everywhere, and no job in a lane that has gone */
       assert(current == queue);
       assert(hasLane(queue) || !inUse || byStart) }

  /* a submission: SubmissionPlan and `check`, then the turn */
  :: d_step { submit == 0 -> submit = (hasRecipe(current) && hasLane(queue) -> 1 : 9) }
  :: d_step { submit == 1 ->
       if
#ifndef CHECKED_ONCE
       :: !hasLane(queue)
#endif
       :: else -> job[0] = AVAILABLE; assert(hasLane(queue))
       fi;
       submit = 9 }
  /* JobQueue.retry: the check, then the turn */
  :: d_step { retry == 0 && job[1] == ENDED ->
#ifdef RETRIES_BLINDLY
       retry = 1 }
#else
       retry = (hasLane(queue) -> 1 : 9) }
#endif
  :: d_step { retry == 1 ->
       if
#ifndef RETRIES_BLINDLY
       :: !hasLane(queue)
#endif
       :: else -> job[1] = AVAILABLE; assert(hasLane(queue))
       fi;
       retry = 9 }

  /* claims are of lanes that there are */
  :: d_step { job[0] == AVAILABLE && hasLane(queue) -> job[0] = RUNNING;
#ifdef READS_RECIPES
       assert(hasRecipe(current))
#endif
     }
  :: d_step { job[1] == AVAILABLE && hasLane(queue) -> job[1] = RUNNING }
  :: d_step { job[2] == AVAILABLE && hasLane(queue) -> job[2] = RUNNING }
  :: d_step { job[0] == RUNNING -> job[0] = ENDED }
  :: d_step { job[1] == RUNNING -> job[1] = ENDED }
  :: d_step { job[2] == RUNNING -> job[2] = ENDED }
  /* ScheduledFiles.fetch: it is there, or the schedule isn't */
  :: d_step { fetches && job[2] == SCHEDULED -> fetches = false; job[2] = (hasRecipe(current) -> AVAILABLE : ENDED) }

  :: d_step { kills < KILLS -> kills++;
       reload = 0; next = 0; isBusy = false; submit = (submit == 1 -> 9 : submit); retry = (retry == 1 -> 9 : retry);
       /* the start */
       queue = written; current = written;
       job[0] = (job[0] == RUNNING -> AVAILABLE : job[0]);
       job[1] = (job[1] == RUNNING -> AVAILABLE : job[1]);
       job[2] = (job[2] == RUNNING -> AVAILABLE : job[2]);
       fetches = hasRecipe(queue);
#ifndef UNFETCHED
       job[2] = (job[2] == SCHEDULED && !hasRecipe(queue) -> ENDED : job[2]);
#endif
       byStart = (!hasLane(queue) && inUse) }
  :: reload == 0 && submit == 9 && (retry == 9 || job[1] != ENDED) &&
     !(fetches && job[2] == SCHEDULED) && !(hasLane(queue) && (job[0] == AVAILABLE || job[1] == AVAILABLE || job[2] == AVAILABLE)) &&
     job[0] != RUNNING && job[1] != RUNNING && job[2] != RUNNING -> break
  od;
  /* what waits waits for its lane, which a start took away */
  assert(!inUse || !hasLane(queue) && byStart && job[2] != SCHEDULED)
}
