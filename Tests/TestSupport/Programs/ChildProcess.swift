package import Foundation
import Glibc
import Synchronization

/// A program that was started. What it writes goes to files, so that nothing has to be read for it to go on. It is killed
/// when this object is released.
///
/// Foundation's `Process` lists the open files by copying more of each entry than there is, which ends the tests once in a
/// while when there are thousands of them.
package final class ChildProcess: Sendable {
  package enum Ending: Sendable, Hashable {
    case exit(Int32)
    case signal(Int32)
  }

  package let pid: Int32
  /// How it ended.
  package let ending: Once<Ending>
  package let output: String
  package let error: String
  /// Whether the number still stands for it; no signal is sent afterwards.
  private let isThere = Flag()

  /// Shared by the object and the thread that waits for the end.
  private final class Flag: Sendable {
    let state = Mutex(true)
  }

  /// - Parameters:
  ///   - files: what the files of its output are called, to which `.out` and `.err` are added.
  ///   - whenEnded: called on some thread as soon as it has ended.
  package init(
    _ executable: URL, _ arguments: [String], environment: [String: String], files: String,
    whenEnded: @escaping @Sendable (Ending) -> Void = { _ in }
  ) throws {
    (output, error) = (files + ".out", files + ".err")
    let ending = Once<Ending>()
    self.ending = ending
    pid = try Self.spawn(executable.path, arguments, environment, output, error)
    Thread.detachNewThread { [pid, isThere] in
      let how = Self.waited(for: pid, isThere)
      ending.set(how)
      whenEnded(how)
    }
  }

  deinit { send(SIGKILL) }

  /// Sends a signal, if it still runs.
  package func send(_ signal: Int32) {
    isThere.state.withLock { isThere in
      if isThere { kill(pid, signal) }
    }
  }

  /// Glibc's function that closes what else is open, which its headers keep from Swift.
  private static var closeFrom: CloseFrom? {
    dlsym(nil, "posix_spawn_file_actions_addclosefrom_np").map { unsafeBitCast($0, to: CloseFrom.self) }
  }
  private typealias CloseFrom = @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32

  /// Starts it with nothing open but its three files, in a group of its own, and with signals as they are by default.
  private static func spawn(
    _ path: String, _ arguments: [String], _ environment: [String: String], _ output: String, _ error: String
  ) throws -> Int32 {
    func check(_ code: Int32) throws {
      if code != 0 { throw POSIXError(.init(rawValue: code) ?? .EIO) }
    }
    var actions = posix_spawn_file_actions_t()
    try check(posix_spawn_file_actions_init(&actions))
    defer { posix_spawn_file_actions_destroy(&actions) }
    try check(posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0))
    for (descriptor, file) in [(1, output), (2, error)] {
      try check(
        posix_spawn_file_actions_addopen(&actions, Int32(descriptor), file, O_WRONLY | O_CREAT | O_TRUNC, 0o644))
    }
    if let closeFrom { try check(closeFrom(&actions, 3)) }
    var attributes = posix_spawnattr_t()
    try check(posix_spawnattr_init(&attributes))
    defer { posix_spawnattr_destroy(&attributes) }
    var (none, all) = (sigset_t(), sigset_t())
    sigemptyset(&none)
    sigfillset(&all)
    try check(posix_spawnattr_setsigmask(&attributes, &none))
    try check(posix_spawnattr_setsigdefault(&attributes, &all))
    try check(posix_spawnattr_setpgroup(&attributes, 0))
    let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP
    try check(posix_spawnattr_setflags(&attributes, Int16(flags)))
    var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
    var variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup("\($0)=\($1)") } + [nil]
    defer { for text in words + variables { free(text) } }
    var pid: Int32 = 0
    try check(posix_spawn(&pid, path, &actions, &attributes, &words, &variables))
    return pid
  }

  private static func waited(for pid: Int32, _ isThere: Flag) -> Ending {
    var info = siginfo_t()
    while waitid(P_PID, id_t(pid), &info, WEXITED | WNOWAIT) != 0, errno == EINTR {}
    // Only now the number may be given to another.
    return isThere.state.withLock { isThere in
      isThere = false
      var status: Int32 = 0
      while waitpid(pid, &status, 0) < 0, errno == EINTR {}
      let signal = status & 0x7f
      return signal == 0 ? .exit((status >> 8) & 0xff) : .signal(signal)
    }
  }
}
