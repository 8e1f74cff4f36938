/*
 * The hand-over of an entry from another file system: a copy, and a note of what is to be unlinked.
 *
 * Mirrors:  Sources/Spool/Intake/HandOver.swift (`moveAcross`, `synchronise`, `finishRemoval`), HandOverRecovery.swift
 *           (`finishRemovals`), Sources/LadeDaemon/Intake/SpoolBridge.swift (`recover`).
 * Abstract: one file in a hot folder, and later another of the same name. A copy is whole when it has its name, which it
 *           gets after its data is on the disk. A loss of power keeps any subset of the changes of directories that
 *           aren't synced. The job runs when its file is there. See handover.pml for the rest.
 * Holds:    the entry makes one job, and its rows are there once; the file is never lost; the other file is left alone;
 *           in the end the entry is gone, its copy in done/, and the note removed.
 *
 * Must fail: NO_NOTE          there is no note, and a start finds the copy
 *            NOTE_LATE        it is written after the copy
 *            UNLINKS_UNSYNCED the entry is unlinked before the copy's name is synced
 *            FORGETS_NOTE     the note is removed before the unlinking is synced
 *            BY_NAME          a start unlinks what has the entry's name
 */
#define DISTURBANCES 4

mtype = { ABSENT, ENTRY, OTHER };           /* what the name in incoming/ is */
mtype = { NOWHERE, ACTIVE, DONE };          /* where the copy is */
mtype = { NONE, WAITING, AVAILABLE, ENDED };

mtype name = ENTRY, nameOnDisk = ENTRY;
mtype copy = NOWHERE, copyOnDisk = NOWHERE;
bool note, noteOnDisk;
mtype job = NONE;
bool origin;
/* Memory. */
byte start, pc, putAway;
bool settling;
/* Watched. */
byte rows, disturbances;
bool other;

inline syncActive()   { copyOnDisk = copy; noteOnDisk = note }
inline syncIncoming() { nameOnDisk = name }
inline complete() {
  origin = false;
  if
  :: job == WAITING -> job = AVAILABLE
  :: job == ENDED -> settling = true
  :: else
  fi
}
inline forgetMemory() { start = 0; pc = 0; putAway = 0; settling = false }

active proctype Daemon() {
  do
  /* --- the start: synchroniseMoves, recover, settle; then finishRemovals ---------------------------------------- */
  :: d_step { start == 0 -> syncActive(); syncIncoming(); start = 1 }
  :: d_step { start == 1 ->
       if
       :: origin && copy == ACTIVE -> complete()
       :: origin && copy != ACTIVE && job == AVAILABLE -> job = WAITING
       :: !origin && job == ENDED && copy == ACTIVE -> settling = true
       :: else
       fi;
       start = 2 }
  :: d_step { start == 2 && !note -> start = 4 }
#ifdef BY_NAME
  :: d_step { start == 2 && note && copy != NOWHERE && name != ABSENT -> assert(name != OTHER);
#else
  :: d_step { start == 2 && note && copy != NOWHERE && name == ENTRY ->
#endif
       name = ABSENT; start = 3 }
  :: d_step { start == 2 && note && (copy == NOWHERE || name != ENTRY) -> note = false; start = 4 }
  :: d_step { start == 3 -> syncIncoming(); note = false; pc = 8; start = 4 }

  /* --- the intake: accept, then moveAcross ---------------------------------------------------------------------- */
  :: d_step { start == 4 && pc == 0 && name == ENTRY ->
       if
       :: job != NONE && origin
       :: else -> assert(job == NONE); job = WAITING; origin = true
       fi;
       pc = 1 }
  /* a job has or has had its file */
  :: d_step { pc == 1 && copy != NOWHERE -> pc = 4 }
  :: d_step { pc == 1 && copy == NOWHERE ->
#if !defined(NO_NOTE) && !defined(NOTE_LATE)
       note = true; syncActive();
#endif
       pc = 2 }
  :: d_step { pc == 2 -> copy = ACTIVE; pc = 3 }
  :: d_step { pc == 3 ->
#ifdef NOTE_LATE
       note = true; syncActive();
#endif
       pc = 4 }
#ifdef UNLINKS_UNSYNCED
  :: d_step { pc == 4 -> pc = 5 }
  :: d_step { pc == 5 -> name = (name == ENTRY -> ABSENT : name); pc = 6 }
#else
  :: d_step { pc == 4 -> syncActive(); pc = 5 }
  :: d_step { pc == 5 -> name = (name == ENTRY -> ABSENT : name); pc = 6 }
#endif
  /* filesArrived, which may not get through */
  :: d_step { pc == 6 && job == WAITING -> job = AVAILABLE }
#ifdef FORGETS_NOTE
  :: d_step { pc == 6 -> note = false; syncActive(); pc = 7 }
  :: d_step { pc == 7 -> complete(); pc = 9 }
  :: d_step { pc == 9 -> syncIncoming(); pc = 0 }
#else
  :: d_step { pc == 6 -> syncActive(); pc = 7 }
  :: d_step { pc == 7 -> syncIncoming(); pc = 8 }
  :: d_step { pc == 8 -> note = false; pc = 10 }
  :: d_step { pc == 10 -> complete(); pc = 0 }
#endif

  /* --- the queue ----------------------------------------------------------------------------------------------- */
  :: d_step { start >= 2 && job == AVAILABLE -> assert(copy == ACTIVE); rows++; job = ENDED; settling = !origin }
  :: d_step { start >= 2 && settling && putAway == 0 -> copy = (copy == ACTIVE -> DONE : copy); putAway = 1 }
  :: d_step { putAway == 1 -> syncActive(); putAway = 0; settling = false }

  /* --- others -------------------------------------------------------------------------------------------------- */
  :: d_step { !other && name == ABSENT && nameOnDisk == ABSENT -> other = true; name = OTHER; nameOnDisk = OTHER }
  :: d_step { disturbances < DISTURBANCES -> disturbances++; forgetMemory() }
  :: atomic { disturbances < DISTURBANCES -> disturbances++;
       if
       :: name = nameOnDisk
       :: nameOnDisk = name
       fi;
       if
       :: copy = copyOnDisk
       :: copyOnDisk = copy
       fi;
       if
       :: note = noteOnDisk
       :: noteOnDisk = note
       fi;
       assert(name == ENTRY || copy != NOWHERE);      /* the file isn't lost */
       forgetMemory() }
  :: start == 4 && pc == 0 && name != ENTRY && job == ENDED && !settling && !origin -> break
  od;
  assert(rows == 1 && copy == DONE && !note && (name == OTHER) == other)
}
