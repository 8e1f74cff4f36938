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
  /// - Returns: its exit status, and what it wrote to standard error.
  /// - Throws: ``LocalFailure/noSuchProgram(name:)`` if it can't be started.
  func outcome(_ arguments: [String]) throws -> (status: Int32, error: String) {
    let process = Process()
    let pipe = Pipe()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    process.standardOutput = FileHandle.nullDevice
    process.standardError = pipe
    do {
      try process.run()
    } catch {
      throw LocalFailure.noSuchProgram(name: path)
    }
    let written = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: written, as: UTF8.self))
  }

  /// Runs it on this terminal to its end.
  /// - Returns: the exit status: 0, or ``ExitStatus/failed`` if its own isn't 0.
  /// - Throws: ``LocalFailure/noSuchProgram(name:)`` if it can't be started.
  func run(_ arguments: [String]) throws -> ExitCode {
    var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
    var variables: [UnsafeMutablePointer<CChar>?] =
      ProcessInfo.processInfo.environment.map { strdup("\($0)=\($1)") } + [nil]
    defer { for text in words + variables { free(text) } }
    var pid: pid_t = 0
    guard posix_spawn(&pid, path, nil, nil, &words, &variables) == 0 else {
      throw LocalFailure.noSuchProgram(name: path)
    }
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0, errno == EINTR {}
    return status == 0 ? ExitStatus.success.silently : ExitStatus.failed.silently
  }
}
