package import Foundation

/// A program that is run as a process of its own and measured from outside by the helper `measure`, which
/// `swift build` puts beside the running executable.
package struct MeasuredProgram: Sendable {
  /// A path, or a name to look for in `PATH`.
  package var program: String
  package var arguments: [String]

  /// Nothing runs yet: see ``run()``.
  package init(_ program: String, _ arguments: [String]) {
    self.program = program
    self.arguments = arguments
  }

  /// Runs the program to its end; what it says on standard error goes to ours.
  ///
  /// - Throws: ``MeasuringError`` if it couldn't be started or ended with another status than 0.
  package func run() throws -> MeasuredRun {
    let report = FileManager.default.temporaryDirectory.appending(path: "lade-bench-\(UUID().uuidString).json")
    let output = Pipe()
    let process = Process()
    process.executableURL = programBeside("measure")
    process.arguments = [report.path, program] + arguments
    process.standardOutput = output
    try process.run()
    let said = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    guard process.terminationReason == .exit, process.terminationStatus == 0 else {
      throw MeasuringError.notStarted(program: program)
    }
    let figures = try JSONDecoder().decode(Figures.self, from: Data(contentsOf: report))
    try FileManager.default.removeItem(at: report)
    guard figures.status == 0 else {
      throw MeasuringError.failed(program: program, status: figures.status)
    }
    return MeasuredRun(
      seconds: figures.seconds, peakMiB: figures.peakKiB / 1024, output: String(decoding: said, as: UTF8.self))
  }

  /// What `measure` writes.
  private struct Figures: Decodable {
    var seconds: Double
    var peakKiB: Double
    var status: Int
  }
}

/// What one run took.
package struct MeasuredRun: Sendable {
  /// From fork to exit, by the wall clock.
  package var seconds: Double
  /// The most resident memory that the process ever had at once.
  package var peakMiB: Double
  /// All of its standard output.
  package var output: String
}

/// Where `swift build` put the executable target of that name: beside the running one.
package func programBeside(_ name: String) -> URL {
  URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().appending(path: name)
}

/// The file of that name in one of `PATH`'s folders, if it may be run.
package func programInPath(_ name: String) -> URL? {
  let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
  return folders.lazy.map { URL(filePath: String($0)).appending(path: name) }
    .first { FileManager.default.isExecutableFile(atPath: $0.path) }
}

/// Why a run gave no figures. What the program itself had to say stands on standard error already.
package enum MeasuringError: Error, CustomStringConvertible {
  case notStarted(program: String)
  /// Status 128 and more: ended by that signal.
  case failed(program: String, status: Int)

  package var description: String {
    switch self {
    case .notStarted(let program): "\(program) couldn't be started"
    case .failed(let program, let status) where status > 128: "\(program) was ended by signal \(status - 128)"
    case .failed(let program, let status): "\(program) ended with status \(status)"
    }
  }
}
