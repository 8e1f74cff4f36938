import Dispatch
package import Foundation

/// What a program that has ended left.
package struct ProgramOutput: Sendable {
  package let status: Int32
  package let output: Data
  package let error: String

  package var text: String { String(decoding: output, as: UTF8.self) }

  /// Runs a program to its end.
  /// - Parameter files: what the files of its output are called; some in a folder of their own if it isn't said.
  package static func of(
    _ executable: URL, _ arguments: [String], environment: [String: String], files: String? = nil
  ) async throws -> ProgramOutput {
    let scratch = try files == nil ? ScratchDirectory() : nil
    let files = files ?? scratch?.file("run").path ?? ""
    let child = try ChildProcess(executable, arguments, environment: environment, files: files)
    let ending = try await child.ending.value()
    withExtendedLifetime(child) {}
    return try ProgramOutput(child, ending, executable, arguments)
  }

  /// The same for those that can't wait otherwise: it blocks.
  package static func now(
    _ executable: URL, _ arguments: [String], environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws -> ProgramOutput {
    let scratch = try ScratchDirectory()
    let ended = DispatchSemaphore(value: 0)
    let child = try ChildProcess(
      executable, arguments, environment: environment, files: scratch.file("run").path,
      whenEnded: { _ in ended.signal() })
    ended.wait()
    guard let ending = child.ending.current else { throw CancellationError() }
    return try ProgramOutput(child, ending, executable, arguments)
  }

  private init(
    _ child: ChildProcess, _ ending: ChildProcess.Ending, _ executable: URL, _ arguments: [String]
  ) throws {
    guard case .exit(let status) = ending else {
      throw ProgramFailure(program: executable.lastPathComponent, arguments: arguments, what: "\(ending)", error: "")
    }
    self.status = status
    output = try Data(contentsOf: URL(fileURLWithPath: child.output))
    error = String(decoding: try Data(contentsOf: URL(fileURLWithPath: child.error)), as: UTF8.self)
  }
}
