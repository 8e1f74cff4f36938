/*
 * A submission over the control socket: its job is durable, then its file is copied into active/, then the job runs.
 *
 * Mirrors:  Sources/LadeDaemon/Control/DaemonBackend+Jobs.swift (`submit`, `handOver`, `giveUp`),
 *           Sources/LadeDaemon/Intake/LateHandOvers.swift, SpoolBridge.swift (`recover`, `finished`),
 *           Sources/Jobs/Ledger/JobLedger+Submit.swift (`existing`), Queue/JobQueue+Change.swift (`takeFile`).
 * Abstract: two submitters with one unique key and a file each; a copy may fail, and so may each write to the queue,
 *           once; a kill at any step. Copies are durable when they have their names.
 * Holds:    a job runs with the file of the submission that made it; only that submission's failure ends it; every job
 *           ends without a start in between; nothing stays in active/.
 *
 * Must fail: HANDS_OVER_ALL  a submission that was answered with a job that is there hands its file over, too
 *            NO_LATE         what couldn't be written to the queue isn't tried again
 *            NO_RECOVERY     a start leaves a job that waits for a file which nobody brings
 */
#define JOBS 2
#define KILLS 1
#define FAILURES 1

mtype = { NONE, WAITING, AVAILABLE, ENDED };
mtype:late = { NOTHING, ARRIVED, FAILED };

/* Durable. `name` and `maker` are 1 or 2, the submitter whose file that is. */
mtype job[JOBS] = NONE;
bool awaits[JOBS], copied[4];            /* copied[2 * job + submitter - 1] */
byte name[JOBS], maker[JOBS];
/* Memory. */
byte pc[3], its[3];                        /* by submitter */
mtype:late late[JOBS] = NOTHING;
byte lateName[JOBS];
bool settling[JOBS];
/* Watched. */
byte kills, failures, copyFailures;
byte i;

#define copyOf(j, s) copied[2 * (j) + (s) - 1]

inline arrived(j, s) {
  if
  :: job[j] == WAITING -> job[j] = AVAILABLE; awaits[j] = false; name[j] = s
  :: job[j] == ENDED && awaits[j] -> awaits[j] = false; name[j] = s; settling[j] = true
  :: else
  fi
}
inline cancel(j) {
  if
  :: job[j] == WAITING || job[j] == AVAILABLE -> job[j] = ENDED; settling[j] = (name[j] != 0)
  :: else
  fi
}

#define submitter(s)                                                                                                \
  :: d_step { pc[s] == 0 && kills == 0 ->              /* `existing`, or a new job, in one turn */                  \
       if                                                                                                           \
       :: job[0] == WAITING || job[0] == AVAILABLE -> its[s] = 0; pc[s] = known                                      \
       :: else ->                                                                                                   \
          if                                                                                                        \
          :: job[1] == WAITING || job[1] == AVAILABLE -> its[s] = 1; pc[s] = known                                   \
          :: else ->                                                                                                \
             its[s] = (job[0] == NONE -> 0 : 1);                                                                     \
             assert(job[its[s]] == NONE);                                                                            \
             job[its[s]] = WAITING; awaits[its[s]] = true; maker[its[s]] = s; pc[s] = 1                                \
          fi                                                                                                        \
       fi }                                                                                                         \
  :: d_step { pc[s] == 1 && (job[its[s]] == ENDED || !awaits[its[s]]) -> pc[s] = 9 }                                  \
  :: d_step { pc[s] == 1 && job[its[s]] != ENDED && awaits[its[s]] -> pc[s] = 2 }                                     \
  :: d_step { pc[s] == 2 -> copyOf(its[s], s) = true; pc[s] = 3 }                                                    \
  :: d_step { pc[s] == 2 && copyFailures < 1 -> copyFailures++; pc[s] = 4 }                                         \
  :: d_step { pc[s] == 3 -> arrived(its[s], s); pc[s] = 9 }                                                          \
  :: d_step { pc[s] == 3 && failures < FAILURES -> failures++; late[its[s]] = later(ARRIVED); lateName[its[s]] = s; pc[s] = 9 } \
  :: d_step { pc[s] == 4 -> assert(maker[its[s]] == s); cancel(its[s]); pc[s] = 9 }              /* giveUp */         \
  :: d_step { pc[s] == 4 && failures < FAILURES -> assert(maker[its[s]] == s); failures++; late[its[s]] = later(FAILED); pc[s] = 9 }

#ifdef HANDS_OVER_ALL
#define known 1
#else
#define known 9
#endif

#ifdef NO_LATE
#define later(what) NOTHING
#else
#define later(what) what
#endif

#define theJob(j)                                                                                                   \
  :: d_step { late[j] == ARRIVED -> arrived(j, lateName[j]); late[j] = NOTHING }                         \
  :: d_step { late[j] == FAILED -> cancel(j); late[j] = NOTHING }                                        \
  :: d_step { job[j] == AVAILABLE ->                                                                                \
       assert(name[j] == maker[j] && copyOf(j, name[j])); job[j] = ENDED; settling[j] = true }                      \
  :: d_step { settling[j] -> copyOf(j, name[j]) = false; settling[j] = false }                 /* finished */

active proctype Daemon() {
  do
  submitter(1)
  submitter(2)
  theJob(0)
  theJob(1)
  :: d_step { kills < KILLS && (pc[1] || pc[2]) ->
       kills++;
       for (i : 0 .. JOBS - 1) {
         late[i] = NOTHING; lateName[i] = 0; settling[i] = false;
         /* recover: its file is there under the name that its source gives it, or it won't come */
         if
#ifndef NO_RECOVERY
         :: awaits[i] && job[i] != ENDED && copyOf(i, maker[i]) -> arrived(i, maker[i])
         :: awaits[i] && job[i] != ENDED && !copyOf(i, maker[i]) -> job[i] = ENDED
#endif
         :: else
         fi;
         /* settle: what is in active/ of jobs that have ended. A job that never had a file has no name for one. */
         if
         :: job[i] == ENDED && name[i] != 0 && copyOf(i, name[i]) -> settling[i] = true
         :: else
         fi
       }
       i = 0; pc[1] = 9; pc[2] = 9 }
  :: pc[1] == 9 && pc[2] == 9 && late[0] == NOTHING && late[1] == NOTHING && !settling[0] && !settling[1] &&
     job[0] != AVAILABLE && job[1] != AVAILABLE -> break
  od;
  assert(job[0] == ENDED && (job[1] == ENDED || job[1] == NONE));
  assert(!copied[0] && !copied[1] && !copied[2] && !copied[3])
}
