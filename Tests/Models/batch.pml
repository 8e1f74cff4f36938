/*
 * A batch of an import: the rows and the checkpoint in one transaction, after the rejects are on the disk.
 *
 * Mirrors:  Sources/Importing/Run/BatchCommit.swift (`save`, `finish`), Rejects/RejectFile.swift, Run/Importer.swift,
 *           Sources/Jobs/Queue/JobQueue+Run.swift (`write`), Sources/LadeDaemon/Intake/SpoolBridge.swift (`finished`).
 * Abstract: a file of three batches, of which the first and the third reject a record; the closing of a reject file is
 *           left out. The store's commits are atomic and ordered, but only a sync keeps them from a loss of power. Of
 *           writes to the reject file a loss of power keeps what was synced, all, or a torn piece. A commit may also
 *           fail, and the batch is applied again.
 * Holds:    when the job has ended, each row is there once and each reject once, in order, however often the process
 *           was killed, or the power failed, at any step.
 *
 * Must fail: TWO_TRANSACTIONS  the checkpoint is saved after the rows
 *            CHECKPOINT_FIRST  the checkpoint is saved before the rows
 *            NO_TRUNCATE       what a killed run wrote past the checkpoint's length stays
 *            REJECTS_LAST      the rejects are written after the commit that counts them
 *            NO_SYNC           they are written before it, and not synced
 *            NO_DIRECTORY_SYNC their file's name isn't synced
 *            ENDS_UNSYNCED     the job's end is durable before the store is
 *            FORGETS_EARLY     the checkpoint is removed before the job's end is durable
 */
#define BATCHES 3
#define REJECTS 2                 /* at most in the file; more is an error by itself */
#define DISTURBANCES 5
#define COMMITS 10
#define rejected(b) (b != 1)
#define TORN 7

/* The data store: its commits, of which the first `synced` survive a loss of power. */
typedef Commit { byte rows[BATCHES]; byte checkpoint; byte length; bool finished };
Commit log[COMMITS];
byte last, synced;
/* The reject file: in the page cache, and on the disk. */
byte cache[4], cacheLength, disk[4], diskLength;
bool cacheName, diskName;
/* The queue: durable when it is written. */
bool ended, forgotten;

/* The operation. */
byte pc, checkpoint, length, batch, disturbances, failures;
bool isOpen;
byte i;

inline copyLast() {
  assert(last < COMMITS - 1);
  for (i : 0 .. BATCHES - 1) { log[last + 1].rows[i] = log[last].rows[i] }
  log[last + 1].checkpoint = log[last].checkpoint;
  log[last + 1].length = log[last].length;
  log[last + 1].finished = log[last].finished;
  i = 0
}
inline saveRows()       { log[last + 1].rows[batch]++ }
inline saveCheckpoint() { log[last + 1].checkpoint = batch + 1; log[last + 1].length = length }

inline writeReject() {
  if
  :: rejected(batch) ->
     assert(length < 4); cache[length] = batch + 1; length++;
     if
     :: length > cacheLength -> cacheLength = length
     :: else
     fi;
     cacheName = true
  :: else
  fi
}
inline syncFile() {
  for (i : 0 .. 3) { disk[i] = (i < cacheLength -> cache[i] : 0) }
  diskLength = cacheLength; i = 0
}
inline forgetMemory() { pc = 0; checkpoint = 0; length = 0; batch = 0; isOpen = false }

/* Old states of the store aren't looked at again. */
inline trim() {
  if
  :: synced == last && last > 0 ->
     for (i : 0 .. BATCHES - 1) { log[0].rows[i] = log[last].rows[i] }
     log[0].checkpoint = log[last].checkpoint; log[0].length = log[last].length; log[0].finished = log[last].finished;
     i = 1;
     do
     :: i <= last -> log[i].rows[0] = 0; log[i].rows[1] = 0; log[i].rows[2] = 0;
        log[i].checkpoint = 0; log[i].length = 0; log[i].finished = false; i++
     :: else -> break
     od;
     last = 0; synced = 0; i = 0
  :: else
  fi
}

active proctype Import() {
  byte lost;
  do
  /* Importer: the checkpoint; the job's end alone is missing if it is finished */
  :: d_step { pc == 0 && !ended && log[last].finished -> pc = 8 }
  :: d_step { pc == 0 && !ended && !log[last].finished ->
       checkpoint = log[last].checkpoint; batch = checkpoint; length = log[last].length; pc = 1 }
  /* RejectFile.init */
  :: d_step { pc == 1 ->
       assert(length == 0 || (cacheName && cacheLength >= length));
       if
#ifndef NO_TRUNCATE
       :: cacheName ->
          for (i : 0 .. 3) { cache[i] = (i < length -> cache[i] : 0) }
          cacheLength = length; i = 0
#endif
       :: else
       fi;
#ifdef NO_TRUNCATE
       length = cacheLength;
#endif
       pc = (batch < BATCHES -> 2 : 6) }
  /* BatchCommit.save: truncate to the checkpoint's length, append, flush */
  :: d_step { pc == 2 ->
#ifndef REJECTS_LAST
       writeReject();
#endif
       pc = 3 }
  :: d_step { pc == 3 ->
#if !defined(NO_SYNC) && !defined(REJECTS_LAST)
       if
       :: rejected(batch) -> syncFile()
       :: else
       fi;
#endif
       pc = 4 }
  :: d_step { pc == 4 ->
#if !defined(NO_DIRECTORY_SYNC) && !defined(REJECTS_LAST)
       if
       :: rejected(batch) && length == 1 -> diskName = true
       :: else
       fi;
#endif
       pc = 5 }
  /* the save: rows and checkpoint */
#if defined(TWO_TRANSACTIONS)
  :: d_step { pc == 5 -> copyLast(); saveRows(); last++; pc = 10 }
  :: d_step { pc == 10 -> copyLast(); saveCheckpoint(); last++; batch++; pc = (batch < BATCHES -> 2 : 6) }
#elif defined(CHECKPOINT_FIRST)
  :: d_step { pc == 5 -> copyLast(); saveCheckpoint(); last++; pc = 10 }
  :: d_step { pc == 10 -> copyLast(); saveRows(); last++; batch++; pc = (batch < BATCHES -> 2 : 6) }
#elif defined(REJECTS_LAST)
  :: d_step { pc == 5 ->
       copyLast(); saveRows(); saveCheckpoint();
       if
       :: rejected(batch) -> log[last + 1].length = length + 1
       :: else
       fi;
       last++; pc = 10 }
  :: d_step { pc == 10 -> writeReject(); syncFile(); diskName = cacheName; batch++; pc = (batch < BATCHES -> 2 : 6) }
#else
  :: d_step { pc == 5 -> copyLast(); saveRows(); saveCheckpoint(); last++; batch++; pc = (batch < BATCHES -> 2 : 6) }
#endif
  /* it failed, and the batch is applied again: truncate(to: checkpoint.rejectsLength) */
  :: d_step { pc == 5 && failures < 1 -> failures++;
#ifndef NO_TRUNCATE
       length = log[last].length; cacheLength = (cacheName -> length : 0);
       for (i : 0 .. 3) { cache[i] = (i < cacheLength -> cache[i] : 0) }
       i = 0;
#endif
       pc = 2 }
  /* BatchCommit.finish, PersistentStore.synchronize */
  :: d_step { pc == 6 -> copyLast(); log[last + 1].finished = true; last++;
#ifdef FORGETS_EARLY
       pc = 11 }
  :: d_step { pc == 11 -> copyLast(); log[last + 1].checkpoint = 0; log[last + 1].length = 0;
       log[last + 1].finished = false; last++;
#endif
       pc = 8 }
  :: d_step { pc == 8 ->
#ifndef ENDS_UNSYNCED
       synced = last; trim();
#endif
       pc = 9 }
  /* JobQueue.write: the job's end */
  :: d_step { pc == 9 -> ended = true; pc = 0 }
  /* SpoolBridge.finished: JobCheckpoint.forget; again after a kill, as long as the file is in active/ */
  :: d_step { pc == 0 && ended && !forgotten -> copyLast();
       log[last + 1].checkpoint = 0; log[last + 1].length = 0; log[last + 1].finished = false; last++; forgotten = true }
  /* a checkpoint of the store's log, at any time */
  :: d_step { synced < last -> synced = last; trim() }
  /* a kill */
  :: d_step { disturbances < DISTURBANCES -> disturbances++; forgetMemory() }
  /* a loss of power: which commits, and what of the reject file, it leaves */
  :: atomic { disturbances < DISTURBANCES -> disturbances++; forgetMemory();
       lost = last - synced;
       do
       :: lost > 0 ->
          if
          :: log[last].rows[0] = 0; log[last].rows[1] = 0; log[last].rows[2] = 0; log[last].checkpoint = 0;
             log[last].length = 0; log[last].finished = false; last--; lost--
          :: break
          fi
       :: else -> break
       od;
       lost = 0; synced = last; trim();
       if
       :: d_step {        /* what was synced */
            for (i : 0 .. 3) { cache[i] = (i < diskLength -> disk[i] : 0) }
            cacheLength = diskLength; i = 0 }
       :: d_step { syncFile() }
       :: d_step {        /* the length has grown, and the bytes haven't come */
            for (i : 0 .. 3) {
              if
              :: i >= diskLength && i < cacheLength -> cache[i] = TORN
              :: else
              fi
            }
            syncFile() }
       fi;
       if
       :: !diskName -> cacheName = false; cacheLength = 0; cache[0] = 0; cache[1] = 0; cache[2] = 0; cache[3] = 0;
          diskLength = 0; disk[0] = 0; disk[1] = 0; disk[2] = 0; disk[3] = 0
       :: diskName = cacheName
       fi }
  :: pc == 0 && ended && forgotten -> break
  od;
  assert(log[last].rows[0] == 1 && log[last].rows[1] == 1 && log[last].rows[2] == 1);
  assert(cacheName && cacheLength == REJECTS && cache[0] == 1 && cache[1] == 3);
  assert(diskName && diskLength == REJECTS && disk[0] == 1 && disk[1] == 3)
}
