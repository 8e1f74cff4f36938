import Foundation

/// A program that was started. What it writes goes to files, so that nothing has to be read for it to go on. It is killed
/// when nobody holds this any more.
final class ChildProcess: Sendable {
  enum Ending: Sendable, Hashable {
    case exit(Int32)
    case signal(Int32)
  }

  private let process: Process
  /// How it ended.
  let ending: Once<Ending>
  let output: String
  let error: String

  /// - Parameters:
  ///   - files: what the files of its output are called, to which `.out` and `.err` are added.
  ///   - whenEnded: called on some thread as soon as it has ended.
  init(
    _ executable: URL, _ arguments: [String], environment: [String: String], files: String,
    whenEnded: @escaping @Sendable (Ending) -> Void = { _ in }
  ) throws {
    (output, error) = (files + ".out", files + ".err")
    let ending = Once<Ending>()
    self.ending = ending
    process = Process()
    process.executableURL = executable
    process.arguments = arguments
    process.environment = environment
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try Self.file(output)
    process.standardError = try Self.file(error)
    process.terminationHandler = { process in
      let how: Ending =
        process.terminationReason == .uncaughtSignal
        ? .signal(process.terminationStatus) : .exit(process.terminationStatus)
      ending.set(how)
      whenEnded(how)
    }
    try process.run()
  }

  deinit { send(SIGKILL) }

  var pid: Int32 { process.processIdentifier }

  /// Sends a signal, if it still runs.
  func send(_ signal: Int32) {
    if ending.current == nil, process.isRunning { kill(process.processIdentifier, signal) }
  }

  private static func file(_ path: String) throws -> FileHandle {
    try Data().write(to: URL(fileURLWithPath: path))
    return try FileHandle(forWritingTo: URL(fileURLWithPath: path))
  }
}

/// What a program that has ended left.
struct ProgramOutput: Sendable {
  let status: Int32
  let output: Data
  let error: String

  var text: String { String(decoding: output, as: UTF8.self) }

  /// Runs a program to its end.
  static func of(
    _ executable: URL, _ arguments: [String], environment: [String: String], files: String
  ) async throws -> ProgramOutput {
    let child = try ChildProcess(executable, arguments, environment: environment, files: files)
    let ending = try await child.ending.value()
    guard case .exit(let status) = ending else {
      throw ProgramFailure(program: executable.lastPathComponent, arguments: arguments, what: "\(ending)", error: "")
    }
    return ProgramOutput(
      status: status, output: try Data(contentsOf: URL(fileURLWithPath: child.output)),
      error: String(decoding: try Data(contentsOf: URL(fileURLWithPath: child.error)), as: UTF8.self))
  }
}

/// A program that didn't do what a test needs it for.
struct ProgramFailure: Error, CustomStringConvertible {
  let program: String
  let arguments: [String]
  let what: String
  let error: String

  var description: String { "\(program) \(arguments.joined(separator: " ")): \(what)\n\(error)" }
}
