/*
 * The hand-over of a set: its files -> a folder beside them -> the folder is complete -> its job is durable -> active/ -> done/.
 *
 * Mirrors:  Sources/Spool/Sets/SetFolders.swift (`gather`, `putBack`, `finish`), SetName.swift, Sources/Spool/Intake/HandOver.swift
 *           (`move` and `moveAcross` of a set, `discard`, `finishRemoval`), SpoolIntake.swift (steps 2 to 7),
 *           Sources/LadeDaemon/Intake/SpoolBridge.swift (`recover`).
 * Abstract: a set of two files, that are there from the beginning. A rename is atomic; a loss of power keeps any subset of
 *           those that aren't synced. A folder is durable when it was made. Its mark is another one than that of every
 *           folder before, and changes with what is in it; the queue knows a job by it. With -DACROSS active/ is on another file system.
 * Holds:    the set makes one job, ever; it runs only with both files; no file is lost; in the end its rows are there once,
 *           both files are in done/, and nothing is left in incoming/.
 *
 * Must fail: NO_STAGE            a folder that is found counts as complete
 *            MARKS_UNSYNCED      the folder is called complete before the files in it are synced
 *            ACCEPTS_UNSYNCED    the job is made before that name is synced
 *            ACCEPTS_EARLY       the job is made before the folder has all files
 *            MOVES_FIRST         the folder is moved before its job is durable
 *            FORGETS_UNSYNCED    the mark is forgotten before the move is synced
 *            STARTS_UNSYNCED     a start doesn't sync what the process before it moved
 *            NO_RETURN           a job whose folder was lost from active/ doesn't wait for it again
 *            ACROSS+NO_NOTE      there is no note of what was copied, and a start finds the copy
 *            ACROSS+UNLINKS_SET  the files are removed from a folder that is called complete
 * Must hold: ACROSS
 */
#define DISTURBANCES 4

mtype = { NONE, GATHERING, SET, TAKEN, ACTIVE, DONE };
mtype = { HOT, IN, GONE };
mtype = { NO_JOB, WAITING, AVAILABLE, ENDED };

/* Places, as they look and as they are on the disk. */
mtype folder = NONE, folderOnDisk = NONE;   /* without ACROSS also where it goes */
mtype a = HOT, aOnDisk = HOT, b = HOT, bOnDisk = HOT;
mtype copy = NONE, copyOnDisk = NONE;
bool note, noteOnDisk;
byte mark, noteMark;
/* The queue's store. */
mtype job = NO_JOB;
bool origin;
byte jobMark;
/* Memory. */
byte start, intake, putAway;
bool settling;
/* Watched. */
byte rows, disturbances;

inline syncIncoming() { aOnDisk = a; bOnDisk = b; folderOnDisk = folder }
inline syncActive() { copyOnDisk = copy; noteOnDisk = note; folderOnDisk = folder }
inline forgetMemory() { start = 0; intake = 0; putAway = 0; settling = false }
inline complete() {
  origin = false;
  if
  :: job == WAITING -> job = AVAILABLE
  :: job == ENDED -> settling = true
  :: else
  fi
}
/* SpoolBridge.accept: one mark is one job */
inline accept() {
  if
  :: job != NO_JOB && origin && jobMark == mark
  :: else -> assert(job == NO_JOB); job = WAITING; origin = true; jobMark = mark
  fi
}

#ifdef ACROSS
#define isActive (copy == ACTIVE)
#define isWhole true
#define isKnown (copy != NONE)
#else
#define isActive (folder == ACTIVE)
#define isWhole (a == IN && b == IN)
#define isKnown (folder == ACTIVE || folder == DONE)
#endif
#define running (start == 4)

active proctype Daemon() {
  do
  /* --- the start: synchroniseMoves, recover; then finishRemovals --------------------------------------------- */
  :: d_step { start == 0 ->
#ifndef STARTS_UNSYNCED
       syncActive(); syncIncoming();
#endif
       start = 1 }
  :: d_step { start == 1 ->
       if
       :: origin && isActive -> complete()
#ifndef NO_RETURN
       :: origin && !isActive && job == AVAILABLE -> job = WAITING
#endif
       :: !origin && job == ENDED && isActive -> settling = true
       :: else
       fi;
       start = 2 }
  /* finishRemoval: the folder that was copied is called so */
  :: d_step { start == 2 && note && isKnown && folder == SET && noteMark == mark -> folder = TAKEN; syncIncoming(); start = 3 }
  :: d_step { start == 2 && note && !(isKnown && folder == SET && noteMark == mark) -> note = false; start = 4 }
  :: d_step { start == 2 && !note -> start = 4 }
  :: d_step { start == 3 -> note = false; start = 4 }

  /* --- SetFolders.putBack: what a kill left unfinished ---------------------------------------------------------- */
#ifndef NO_STAGE
  :: d_step { running && intake == 0 && folder == GATHERING && a == IN -> a = HOT }
  :: d_step { running && intake == 0 && folder == GATHERING && b == IN -> b = HOT }
  :: d_step { running && intake == 0 && folder == GATHERING && a == HOT && b == HOT ->
       syncIncoming(); folder = NONE; folderOnDisk = NONE }
#endif
  /* what is left of a folder that was copied */
  :: d_step { running && intake == 0 && folder == TAKEN && a == IN -> a = GONE }
  :: d_step { running && intake == 0 && folder == TAKEN && b == IN -> b = GONE }
  :: d_step { running && intake == 0 && folder == TAKEN && a == GONE && b == GONE -> folder = NONE }

  /* --- SetFolders.gather ---------------------------------------------------------------------------------------- */
  :: d_step { running && intake == 0 && folder == NONE && a == HOT && b == HOT ->
       folder = GATHERING; folderOnDisk = GATHERING; mark++; intake = 1 }
#ifdef ACCEPTS_EARLY
  :: d_step { intake == 1 -> accept(); a = IN; intake = 2 }
#else
  :: d_step { intake == 1 -> a = IN; intake = 2 }
#endif
  :: d_step { intake == 2 -> b = IN; intake = 3 }
  :: d_step { intake == 3 ->
#ifndef MARKS_UNSYNCED
       aOnDisk = a; bOnDisk = b;
#endif
       intake = 4 }
  :: d_step { intake == 4 -> folder = SET; intake = 5 }
  :: d_step { intake == 5 ->
#ifndef ACCEPTS_UNSYNCED
       folderOnDisk = folder;
#endif
       intake = 6 }

  /* --- SpoolIntake: the folder is an entry ----------------------------------------------------------------------- */
#ifdef NO_STAGE
  :: d_step { running && intake == 0 && (folder == SET || folder == GATHERING) -> intake = 6 }
#else
  :: d_step { running && intake == 0 && folder == SET -> intake = 6 }
#endif
#ifdef MOVES_FIRST
  :: d_step { intake == 6 -> folder = ACTIVE; intake = 16 }
  :: d_step { intake == 16 -> accept(); intake = 8 }
#else
  :: d_step { intake == 6 -> accept(); intake = 7 }
#endif
#ifdef ACROSS
  /* moveAcross */
  :: d_step { intake == 7 && isKnown -> intake = 21 }
  :: d_step { intake == 7 && !isKnown ->
#ifndef NO_NOTE
       note = true; noteMark = mark; syncActive();
#endif
       intake = 20 }
  :: d_step { intake == 20 -> assert(a == IN && b == IN); copy = ACTIVE; intake = 21 }
  :: d_step { intake == 21 -> syncActive(); intake = 22 }
#ifdef UNLINKS_SET
  :: d_step { intake == 22 -> a = GONE; mark++; intake = 23 }
#else
  :: d_step { intake == 22 -> folder = TAKEN; syncIncoming(); intake = 23 }
#endif
  :: d_step { intake == 23 -> a = GONE; intake = 24 }
  :: d_step { intake == 24 -> b = GONE; intake = 25 }
  :: d_step { intake == 25 -> folder = NONE; intake = 8 }
#else
  :: d_step { intake == 7 -> folder = ACTIVE; intake = 8 }
#endif
  /* filesArrived, which may not get through */
  :: d_step { intake == 8 && job == WAITING -> job = AVAILABLE }
#ifdef FORGETS_UNSYNCED
  :: d_step { intake == 8 -> complete(); intake = 9 }
  :: d_step { intake == 9 -> syncActive(); syncIncoming(); note = false; intake = 0 }
#else
  :: d_step { intake == 8 -> syncActive(); syncIncoming(); intake = 9 }
  :: d_step { intake == 9 -> note = false; intake = 10 }
  :: d_step { intake == 10 -> complete(); intake = 0 }
#endif

  /* --- the queue ----------------------------------------------------------------------------------------------- */
  :: d_step { start >= 2 && job == AVAILABLE -> assert(isActive && isWhole); rows++; job = ENDED; settling = !origin }
  :: d_step { start >= 2 && settling && putAway == 0 ->
#ifdef ACROSS
       copy = (copy == ACTIVE -> DONE : copy);
#else
       folder = (folder == ACTIVE -> DONE : folder);
#endif
       putAway = 1 }
  :: d_step { putAway == 1 -> syncActive(); putAway = 0; settling = false }

  /* --- others -------------------------------------------------------------------------------------------------- */
  :: d_step { disturbances < DISTURBANCES -> disturbances++; forgetMemory() }
  :: atomic { disturbances < DISTURBANCES -> disturbances++;
       if
       :: a = aOnDisk
       :: aOnDisk = a
       fi;
       if
       :: b = bOnDisk
       :: bOnDisk = b
       fi;
       if
       :: folder = folderOnDisk
       :: folderOnDisk = folder
       fi;
       if
       :: copy = copyOnDisk
       :: copyOnDisk = copy
       fi;
       if
       :: note = noteOnDisk
       :: noteOnDisk = note
       fi;
       assert(a != GONE && b != GONE || copy != NONE);      /* the files aren't lost */
       forgetMemory() }
  :: running && intake == 0 && job == ENDED && !settling && !origin && (folder == NONE || folder == DONE) -> break
  od;
  assert(rows == 1 && !note);
#ifdef ACROSS
  assert(copy == DONE && folder == NONE)
#else
  assert(folder == DONE && isWhole)
#endif
}
