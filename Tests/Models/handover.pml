/*
 * The hand-over of an entry: incoming/ -> its job is durable -> active/ -> the job runs -> done/.
 *
 * Mirrors:  Sources/Spool/Intake/SpoolIntake.swift (steps 1 to 7), HandOver.swift, HandOverRecovery.swift,
 *           Sources/Spool/Directories/SpoolDirectories.swift (`finish`), Sources/LadeDaemon/Intake/SpoolBridge.swift,
 *           Sources/Jobs/Queue/JobQueue+Change.swift (Files), Sources/Jobs/Ledger/JobLedger+Submit.swift (`existing`).
 * Abstract: one entry: a ticket and its file (with -DHOT: a file in a hot folder), and later another file of the same
 *           name. A rename is atomic; a loss of power keeps any subset of those that aren't synced. What the queue says
 *           is durable at once. The rows of a job are there when it has ended (see batch.pml).
 * Holds:    the entry makes one job, ever; a job runs only with its file in active/; no other file is taken for it; in
 *           the end the rows are there once, unless it was cancelled, and the entry is in done/; a job is removed only without files in active/.
 *
 * Must fail: NO_IDENTITY       the entry that comes again isn't recognised
 *            MOVES_FIRST       the file is moved before its job is durable
 *            FORGETS_UNSYNCED  the identity is forgotten before the moves are synced
 *            STARTS_UNSYNCED   a start doesn't sync what the process before it moved
 *            ENDS_FORGET       a job that has ended is put away before its entry has left incoming/ for good
 *            PRUNES_EARLY      such a job may be pruned
 *            NO_RECOVERY       a ticket in active/ doesn't bring its file
 *            NO_RETURN         a job whose file was lost from active/ doesn't wait for it again
 *            TICKET_LEFT       a start believes that the ticket has left incoming/ because its file has
 *            SETTLES_EARLY     a start puts away what is in active/ of a job that has ended, though its file is to come
 *            SCANS_EARLY       a scan counts as complete though a ticket in active/ waits for its file
 *            AWAITED_PUT_AWAY  a job that waits for its file again is cancelled, and its ticket put away before that comes
 *            TAKES_ANOTHER     a ticket that lies in active/ takes a file though its own is in done/
 * Must hold: HOT
 */
#define DISTURBANCES 4

mtype = { INCOMING, ACTIVE, DONE };
mtype = { NONE, WAITING, AVAILABLE, RUNNING, ENDED, REMOVED };

/* Places, as they look and as they are on the disk. */
mtype file = INCOMING, fileOnDisk = INCOMING;
#ifdef HOT
mtype ticket = DONE, ticketOnDisk = DONE;
#else
mtype ticket = INCOMING, ticketOnDisk = INCOMING;
#endif
bool another;                    /* a file of the same name, in incoming/ */
bool isWritten;                  /* it is open for writing there, so that it isn't taken yet */
/* The queue's store. */
mtype job = NONE;
bool origin, awaits, named;
/* Memory. */
byte start, intake, putAway;
bool settling, needsRecovery, hasTried, unconfirmed, scanned;
/* Watched. */
byte rows, disturbances, writes;
bool cancelled;

inline sync() { fileOnDisk = file; ticketOnDisk = ticket }
inline forgetMemory() {
  start = 0; intake = 0; putAway = 0; settling = false; needsRecovery = false; hasTried = false;
  unconfirmed = false; scanned = false
}
inline arrive() {
  awaits = false; named = true;
  if
  :: job == WAITING -> job = AVAILABLE
  :: else
  fi
}
/* handOverCompleted: LedgerTurn.takeFile with `isOnDisk` */
inline complete() {
  arrive(); origin = false;
  if
  :: job == ENDED -> settling = true
  :: else
  fi
}

#define running (start == 5)
/* A file alone is an entry only in a hot folder. */
#ifdef HOT
#define isEntry (file == INCOMING)
#else
#define isEntry (ticket == INCOMING)
#endif
#ifdef SCANS_EARLY
#define hasRecovered hasTried
#else
#define hasRecovered hasTried && !needsRecovery
#endif
#define known (file == ACTIVE || file == DONE)

active proctype Daemon() {
  do
  /* --- DaemonParts.start --------------------------------------------------------------------------------------- */
  /* SpoolIntake.synchroniseMoves */
  :: d_step { start == 0 ->
#ifndef STARTS_UNSYNCED
       sync();
#endif
       start = 1 }
  /* SpoolBridge.recover: jobs whose entries may still come again */
  :: d_step { start == 1 ->
       if
       :: job != NONE && job != REMOVED && origin ->
          if
          :: file == ACTIVE ->
#ifndef TICKET_LEFT
             if
             :: ticket == INCOMING -> ticket = ACTIVE; sync()
             :: else
             fi;
#endif
             complete()
#ifndef NO_RETURN
          :: file != ACTIVE && !awaits && job != ENDED -> awaits = true; job = WAITING
#endif
          :: else
          fi
       :: else
       fi;
       start = 2 }
  /* JobQueue.settle: what lies in active/ of jobs that have ended */
  :: d_step { start == 2 ->
       if
#ifdef SETTLES_EARLY
       :: job == ENDED && (file == ACTIVE || ticket == ACTIVE) && named -> settling = true
#else
       :: job == ENDED && (file == ACTIVE || ticket == ACTIVE) && named && !awaits && !origin -> settling = true
#endif
       :: else
       fi;
       start = 3 }
  /* JobQueue.start: rescue */
  :: d_step { start == 3 ->
       if
       :: job == RUNNING -> job = AVAILABLE
       :: else
       fi;
       needsRecovery = true; start = 5 }

  /* --- SpoolIntake --------------------------------------------------------------------------------------------- */
  /* HandOverRecovery.finish */
  :: d_step { running && intake == 0 && needsRecovery ->
       needsRecovery = false; hasTried = true;
       if
#ifndef NO_RECOVERY
#ifdef TAKES_ANOTHER
       :: ticket == ACTIVE && file != ACTIVE ->
#else
       :: ticket == ACTIVE && !known ->
#endif
          assert(file == INCOMING || !another);
          if
          :: file == INCOMING && isWritten -> needsRecovery = true
          :: file == INCOMING && !isWritten -> file = ACTIVE; unconfirmed = true; intake = 6
          :: else
          fi
#endif
       :: else
       fi }
  /* 1: examined, and synced */
#ifdef HOT
  :: d_step { running && intake == 0 && hasTried && file == INCOMING && !isWritten -> intake = 2 }
#else
  /* with its own file, or with another that is there instead */
  :: d_step { running && intake == 0 && hasTried && ticket == INCOMING && !isWritten && (file == INCOMING || another) ->
       intake = 2 }
#endif
#ifdef MOVES_FIRST
  :: d_step { intake == 2 && file == INCOMING -> file = ACTIVE; intake = 12 }
  :: d_step { intake == 12 ->
#else
  /* 2: accept */
  :: d_step { intake == 2 ->
#endif
       if
#ifndef NO_IDENTITY
       :: job != NONE && origin
#endif
       :: else -> assert(job == NONE); job = WAITING; origin = true; awaits = true
       fi;
       intake = 3 }
  /* 3 and 4 */
  :: d_step { intake == 3 -> ticket = (ticket == INCOMING -> ACTIVE : ticket); intake = 4 }
  :: d_step { intake == 4 ->
       if
       :: known
       :: else -> assert(file == INCOMING); file = ACTIVE
       fi;
       intake = 5 }
  /* 5: filesArrived, which may not get through */
  :: d_step { intake == 5 && job != REMOVED -> unconfirmed = true; arrive(); intake = 6 }
  :: d_step { intake == 5 -> unconfirmed = true; intake = 6 }
#ifdef FORGETS_UNSYNCED
  :: d_step { intake == 6 -> intake = 7 }
  :: d_step { intake == 7 && job != REMOVED -> complete(); unconfirmed = false; intake = 8 }
  :: d_step { intake == 8 -> sync(); intake = 0 }
#else
  /* 6 and 7 */
  :: d_step { intake == 6 -> sync(); intake = 7 }
  :: d_step { intake == 7 -> assert(job != REMOVED); complete(); unconfirmed = false; intake = 0 }
#endif
  /* SpoolBridge.scanCompleted: jobs from before this start whose entries are gone. `withdraw` ends what waits. */
  :: d_step { running && intake == 0 && hasRecovered && !scanned && !isEntry ->
       scanned = true;
       if
       :: origin && file != ACTIVE && job != NONE && job != REMOVED ->
          origin = false;
          if
          :: job == ENDED && !awaits -> settling = true
          :: job == WAITING && awaits -> job = ENDED
          :: else
          fi
       :: else
       fi }

  /* --- the queue ----------------------------------------------------------------------------------------------- */
  :: d_step { running && job == AVAILABLE -> assert(file == ACTIVE); job = RUNNING }
  :: d_step { running && job == RUNNING -> assert(file == ACTIVE); rows++; job = ENDED;
#ifdef ENDS_FORGET
       settling = true
#else
       settling = !origin
#endif
     }
  /* a user cancels it. One that waits for its file is settled at once, and has nothing to put away yet. */
  :: d_step { running && (job == WAITING || job == AVAILABLE) -> job = ENDED; cancelled = true;
#if defined(ENDS_FORGET)
       settling = named
#elif defined(AWAITED_PUT_AWAY)
       settling = (named && (awaits || !origin))
#else
       settling = (named && !awaits && !origin)
#endif
     }
  /* SpoolBridge.finished, SpoolDirectories.move: the ticket first */
  :: d_step { running && settling && putAway == 0 -> ticket = (ticket == ACTIVE -> DONE : ticket); putAway = 1 }
  :: d_step { putAway == 1 -> file = (file == ACTIVE -> DONE : file); putAway = 2 }
  :: d_step { putAway == 2 -> sync(); putAway = 0; settling = false }
  /* JobLedger.prune */
#ifdef PRUNES_EARLY
  :: d_step { running && job == ENDED && !settling ->
#else
  :: d_step { running && job == ENDED && !settling && !origin ->
#endif
       assert(file != ACTIVE && ticket != ACTIVE); job = REMOVED; origin = false }

  /* a program opens the file once more, and closes it */
  :: d_step { file == INCOMING && job != NONE && writes < 2 -> isWritten = true; writes++ }
  :: d_step { isWritten -> isWritten = false }

  /* --- others -------------------------------------------------------------------------------------------------- */
  /* A submitter hands over another file of that name; its own ticket is still to come. */
  :: d_step { !another && file != INCOMING && fileOnDisk != INCOMING && ticket != INCOMING -> another = true }
  :: d_step { disturbances < DISTURBANCES -> disturbances++; forgetMemory() }
  :: atomic { disturbances < DISTURBANCES -> disturbances++;
       if
       :: file = fileOnDisk
       :: fileOnDisk = file
       fi;
       if
       :: ticket = ticketOnDisk
       :: ticketOnDisk = ticket
       fi;
       forgetMemory() }
  :: running && intake == 0 && !needsRecovery && scanned && (job == ENDED || job == REMOVED) && !settling && !origin ->
       break
  od;
  assert(rows == 1 || rows == 0 && cancelled);
  assert(file == DONE && ticket == DONE)
}
