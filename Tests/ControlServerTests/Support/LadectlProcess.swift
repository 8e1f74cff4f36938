import Foundation
import TestSupport

/// The built `ladectl`, run as a process.
struct LadectlProcess: Sendable {
  let status: Int32
  let output: String
  let error: String

  /// Runs it, or another program, to its end.
  static func run(
    program: String? = nil, _ arguments: [String], socket: String? = nil, environment more: [String: String] = [:]
  ) async throws -> LadectlProcess {
    var environment = ProcessInfo.processInfo.environment
    environment["LADE_SOCKET"] = socket
    environment["TZ"] = "UTC"
    let run = try await ProgramOutput.of(
      URL(fileURLWithPath: program ?? folder + "/ladectl"), arguments, environment: environment.merging(more) { $1 })
    return LadectlProcess(status: run.status, output: run.text, error: run.error)
  }

  /// Where the build puts programs: beside the test bundle that is running.
  static var folder: String {
    URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().path
  }
}
