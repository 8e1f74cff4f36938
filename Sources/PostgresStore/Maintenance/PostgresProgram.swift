import Foundation
import Glibc
import ManagedObjects

/// One of PostgreSQL's programs that runs: pg_dump or pg_restore. It is ended when its work isn't wanted any more. For one thread.
///
/// Not by Foundation's `Process`, which lists the open files by copying more of each entry than there is.
final class PostgresProgram {
  /// Between two looks whether it has ended, in milliseconds.
  private static let interval: Int32 = 50
  private static let blockSize = 1 << 16

  private let name: String
  private let pid: pid_t
  private let watch: MaintenanceWatch
  /// What it writes.
  private let output: FileHandle?
  /// Where its messages go: a file without a name.
  private let messages: UnsafeMutablePointer<FILE>
  private var isEnded = false

  /// Starts it.
  /// - Parameters:
  ///   - name: `pg_dump`.
  ///   - environment: what it gets beside this process's own.
  ///   - readsOutput: whether ``nextBlock()`` will read what it writes.
  /// - Throws: ``MaintenanceError/missingProgram(name:remedy:)``.
  init(
    _ name: String, _ arguments: [String], environment: [String: String] = [:], readsOutput: Bool,
    _ watch: MaintenanceWatch
  ) throws {
    guard let path = Self.path(of: name) else {
      throw MaintenanceError.missingProgram(
        name: name,
        remedy: "install PostgreSQL's client programs, of the server's version or a later one "
          + "(Debian: postgresql-client)")
    }
    guard let messages = tmpfile() else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    self.name = name
    self.watch = watch
    self.messages = messages
    var ends: [Int32] = [-1, -1]
    if readsOutput {
      guard pipe(&ends) == 0 else {
        fclose(messages)
        throw POSIXError(.init(rawValue: errno) ?? .EIO)
      }
      // No other program that starts now keeps an end open.
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    }
    output = readsOutput ? FileHandle(fileDescriptor: ends[0], closeOnDealloc: true) : nil
    let merged = ProcessInfo.processInfo.environment.merging(environment) { $1 }.merging(["LC_ALL": "C"]) { $1 }
    let started = Self.start(
      path, arguments, merged, output: readsOutput ? ends[1] : nil, messages: fileno(messages))
    if readsOutput { close(ends[1]) }
    guard let started else {
      fclose(messages)
      throw MaintenanceError.programFailed(name: name, reason: "it can't be started")
    }
    pid = started
  }

  deinit {
    if !isEnded { _ = end(by: SIGKILL) }
    fclose(messages)
  }

  /// Where a program is: in `PATH`, or where Debian has those of the latest version.
  static func path(of name: String) -> String? {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
    let root = "/usr/lib/postgresql"
    let versions = ((try? FileManager.default.contentsOfDirectory(atPath: root)) ?? [])
      .sorted { Double($0) ?? 0 > Double($1) ?? 0 }
    return (folders + versions.map { "\(root)/\($0)/bin" }).map { $0 + "/" + name }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  private static func start(
    _ path: String, _ arguments: [String], _ environment: [String: String], output: Int32?, messages: Int32
  ) -> pid_t? {
    var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
    var variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup("\($0)=\($1)") } + [nil]
    defer { for text in words + variables { free(text) } }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    if let output {
      posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    } else {
      posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
    }
    posix_spawn_file_actions_adddup2(&actions, messages, STDERR_FILENO)
    // A daemon's threads block signals by which it is to be stopped.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    var all = sigset_t()
    sigemptyset(&none)
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    var pid: pid_t = 0
    return posix_spawn(&pid, path, &actions, &attributes, &words, &variables) == 0 ? pid : nil
  }

  /// Reads some of what it writes; nil at the end.
  func nextBlock() throws -> ArraySlice<UInt8>? {
    guard let descriptor = output?.fileDescriptor else { return nil }
    var block = [UInt8](repeating: 0, count: Self.blockSize)
    while true {
      try watch.check()
      var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&ready, 1, Self.interval) > 0 else { continue }
      let count = read(descriptor, &block, block.count)
      if count == 0 { return nil }
      if count > 0 { return block[..<count] }
      guard errno == EINTR || errno == EAGAIN else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    }
  }

  /// Waits for its end.
  /// - Parameter tick: called every now and then.
  /// - Throws: ``MaintenanceError/programFailed(name:reason:)`` with its own words.
  func finish(_ tick: () -> Void = {}) throws {
    var status: Int32 = 0
    while true {
      let answer = waitpid(pid, &status, WNOHANG)
      if answer == pid { break }
      guard answer == 0 || errno == EINTR else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
      try watch.check()
      tick()
      _ = poll(nil, 0, Self.interval)
    }
    isEnded = true
    guard status == 0 else {
      throw MaintenanceError.programFailed(name: name, reason: said ?? "its status is \(status)")
    }
  }

  /// Its messages in one line; nil if it had none.
  private var said: String? {
    fseek(messages, 0, SEEK_END)
    // The first ones say what is wrong.
    let size = min(ftell(messages), 4096)
    guard size > 0 else { return nil }
    rewind(messages)
    var bytes = [UInt8](repeating: 0, count: size)
    let count = fread(&bytes, 1, size, messages)
    let lines = String(decoding: bytes[..<count], as: UTF8.self).split(whereSeparator: \.isNewline)
    let prefix = name + ": "
    return lines.map { $0.hasPrefix(prefix) ? String($0.dropFirst(prefix.count)) : String($0) }.joined(separator: "; ")
  }

  private func end(by signal: Int32) -> Int32 {
    kill(pid, signal)
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0, errno == EINTR {}
    isEnded = true
    return status
  }
}
