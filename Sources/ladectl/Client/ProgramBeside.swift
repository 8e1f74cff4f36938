import ArgumentParser
import Foundation
import Glibc

/// Another of Lade's programs: next to this one, or else from $PATH.
struct ProgramBeside: Sendable {
  let path: String

  /// - Throws: ``LocalFailure/noSuchProgram(name:)``.
  init(_ name: String) throws {
    let own = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    let folders =
      [own.path] + (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
    guard
      let found = folders.map({ $0 + "/" + name }).first(where: { FileManager.default.isExecutableFile(atPath: $0) })
    else { throw LocalFailure.noSuchProgram(name: name) }
    path = found
  }

  /// Runs it to its end.
  ///
  /// Not by Foundation's `Process`, which lists the open files by copying more of each entry than there is.
  /// - Returns: its exit status, 70 if a signal ended it, and what it wrote to standard error.
  /// - Throws: ``LocalFailure/noSuchProgram(name:)`` if it can't be started.
  func outcome(_ arguments: [String]) throws -> (status: Int32, error: String) {
    let pipe = Pipe()
    let (reading, writing) = (pipe.fileHandleForReading, pipe.fileHandleForWriting)
    let pid = try start(arguments) { actions in
      posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
      posix_spawn_file_actions_adddup2(&actions, writing.fileDescriptor, STDERR_FILENO)
      posix_spawn_file_actions_addclose(&actions, reading.fileDescriptor)
      posix_spawn_file_actions_addclose(&actions, writing.fileDescriptor)
    }
    try writing.close()
    let written = try reading.readToEnd() ?? Data()
    return (Self.end(of: pid), String(decoding: written, as: UTF8.self))
  }

  /// Runs it on this terminal to its end.
  /// - Returns: the exit status: 0, or ``ExitStatus/failed`` if its own isn't 0.
  /// - Throws: ``LocalFailure/noSuchProgram(name:)`` if it can't be started.
  func run(_ arguments: [String]) throws -> ExitCode {
    Self.end(of: try start(arguments)) == 0 ? ExitStatus.success.silently : ExitStatus.failed.silently
  }

  private func start(
    _ arguments: [String], _ prepare: (inout posix_spawn_file_actions_t) -> Void = { _ in }
  ) throws -> pid_t {
    var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
    var variables: [UnsafeMutablePointer<CChar>?] =
      ProcessInfo.processInfo.environment.map { strdup("\($0)=\($1)") } + [nil]
    defer { for text in words + variables { free(text) } }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    prepare(&actions)
    var pid: pid_t = 0
    guard posix_spawn(&pid, path, &actions, nil, &words, &variables) == 0 else {
      throw LocalFailure.noSuchProgram(name: path)
    }
    return pid
  }

  /// Waits for the end of a program: its exit status, or 70 if a signal ended it.
  private static func end(of pid: pid_t) -> Int32 {
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0, errno == EINTR {}
    return status & 0x7f == 0 ? status >> 8 & 0xff : 70
  }
}
