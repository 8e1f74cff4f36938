// Makes calls of SQLite fail: those to the system, and those for memory.

#ifndef LADE_CSQLITEFAULTS_H
#define LADE_CSQLITEFAULTS_H

/// How many kinds of calls there are, numbered from 0.
int lade_faults_kinds(void);

/// A kind's name, such as `write:ENOSPC`.
const char *lade_faults_name(int kind);

/// Takes the place of SQLite's calls. To be called before SQLite is used.
///
/// From then on the disk isn't waited for, since only the process ends and not the machine, and waiting for a lock takes a
/// hundredth of the time.
/// @return 0, or a result code of SQLite.
int lade_faults_install(void);

/// Counts calls from now on, of all threads together, and makes some fail.
/// @param kind what fails; negative for nothing.
/// @param number the call that fails, from 1.
/// @param is_lasting whether all later ones fail, too.
void lade_faults_arm(int kind, long number, int is_lasting);

/// Counts no more, and lets every call succeed.
void lade_faults_disarm(void);

/// How many calls of a kind there were since it was armed.
long lade_faults_count(int kind);

/// How many calls failed since it was armed.
long lade_faults_hits(void);

/// Runs `body` in a process of its own: a copy of this one, which must have no other threads. It runs on a new thread, whose
/// number no library has noted before.
/// @param seconds the time after which the process is killed by SIGALRM.
/// @return the process's status as of waitpid, or -1.
int lade_faults_fork(unsigned seconds, void (*body)(void *context), void *context);

#endif
