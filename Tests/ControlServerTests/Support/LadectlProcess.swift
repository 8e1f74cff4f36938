import Foundation
import Glibc

/// The built `ladectl`, run as a process with pipes.
struct LadectlProcess: Sendable {
  let status: Int32
  let output: String
  let error: String

  /// Runs it, or another program, to its end.
  static func run(
    program: String? = nil, _ arguments: [String], socket: String? = nil, environment more: [String: String] = [:]
  ) async throws -> LadectlProcess {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program ?? folder + "/ladectl")
    process.arguments = arguments
    var environment = ProcessInfo.processInfo.environment
    environment["LADE_SOCKET"] = socket
    environment["TZ"] = "UTC"
    process.environment = environment.merging(more) { $1 }
    let (output, error) = (Pipe(), Pipe())
    process.standardOutput = output
    process.standardError = error
    process.standardInput = FileHandle.nullDevice
    let (ended, continuation) = AsyncStream<Int32>.makeStream()
    process.terminationHandler = { process in
      continuation.yield(process.terminationStatus)
      continuation.finish()
    }
    try process.run()
    async let written = read(output.fileHandleForReading)
    async let complained = read(error.fileHandleForReading)
    var status: Int32 = -1
    for await number in ended { status = number }
    return try await LadectlProcess(status: status, output: written, error: complained)
  }

  /// Where the build puts programs: beside the test bundle that is running.
  static var folder: String {
    URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().path
  }

  private static func read(_ handle: FileHandle) async throws -> String {
    try await withCheckedThrowingContinuation { continuation in
      // A thread of its own, for reading blocks.
      Thread.detachNewThread {
        continuation.resume(with: Result { String(decoding: try handle.readToEnd() ?? Data(), as: UTF8.self) })
      }
    }
  }
}
