import Glibc

/// What libdispatch logs by itself.
package enum DispatchLog {
  /// libdispatch raises the priority of some of its threads, and writes a line to the system log for each one where it may
  /// not: in a container, the limit of the unit (`LimitNICE=`) may have no effect. Where that is so, its log is turned off,
  /// because the threads work with the ordinary priority as well. `LIBDISPATCH_LOG` set by somebody stays.
  ///
  /// Call this before any other thread runs.
  package static func quietIfPrioritiesAreDenied() {
    let thread = __priority_which_t(PRIO_PROCESS.rawValue)
    let before = getpriority(thread, 0)
    if setpriority(thread, 0, -10) == 0 {
      setpriority(thread, 0, before)
    } else {
      setenv("LIBDISPATCH_LOG", "NO", 0)
    }
  }
}
