import Foundation
import Glibc
import TestSupport

/// Makes system calls of a daemon fail, and records what it does to the disk, by a library that is preloaded into it
/// (`Tests/FaultShim/faultshim.c`).
final class FaultShim {
  /// What happens at a call.
  enum Verb: Int64, CaseIterable, Sendable {
    /// It fails, and nothing is done.
    case error = 1
    /// A write writes half, and says so; other calls fail.
    case short
    /// The process is killed after half of a write; of what has no half, after it.
    case torn
    case killBefore, killAfter
  }

  /// A call that fails.
  struct Fault: Sendable, CustomStringConvertible {
    /// What it is called, and its path, as the log has them.
    let call: String
    /// The first, the second, … of these.
    let number: Int64
    let verb: Verb
    /// How many of the same fail after it.
    var more: Int64 = 0

    var description: String { "\(verb)\(more > 0 ? " (\(more) more)" : "") at \(number) of \(call)" }
  }

  private static let library = Result { try PreloadedLibrary.compiled("FaultShim/faultshim.c") }

  /// For ``DaemonFolder/launch(_:)``.
  let environment: [String: String]
  let journal: String
  private let folder: DaemonFolder
  private let control: FileHandle
  private let log: String

  /// - Parameters:
  ///   - watch: what calls count, each a part of "CALL PATH"; its end, if $ follows.
  ///   - error: the number of the error; a likely one if it isn't given.
  init(in folder: DaemonFolder, watch: [String], error: Int32? = nil) throws {
    self.folder = folder
    let path = try folder.write(Data(count: 40), to: "fault")
    (log, journal) = (folder.file("fault.log"), folder.file("fault.journal"))
    var environment = [
      "LD_PRELOAD": PreloadedLibrary.variable(try Self.library.get()), "FAULT": path, "FAULT_LOG": log,
      "FAULT_WATCH": watch.joined(separator: ","),
    ]
    if let error { environment["FAULT_ERROR"] = "\(error)" }
    self.environment = environment
    control = try FileHandle(forUpdating: URL(fileURLWithPath: path))
  }

  /// The same, and what the daemon changes in its folder is recorded in ``journal``.
  var recording: [String: String] {
    environment.merging(["FAULT_JOURNAL": journal, "FAULT_ROOT": folder.path]) { $1 }
  }

  /// Begins to count again.
  func arm(_ fault: Fault?) throws {
    try control.seek(toOffset: 0)
    let numbers = [0, fault?.number ?? 0, fault?.verb.rawValue ?? 0, fault?.more ?? 0, 0]
    try control.write(contentsOf: numbers.withUnsafeBytes { Data($0) })
  }

  /// How many calls have failed since.
  func hits() throws -> Int64 {
    try control.seek(toOffset: 32)
    guard let bytes = try control.read(upToCount: 8), bytes.count == 8 else { throw POSIXError(.EIO) }
    return bytes.withUnsafeBytes { $0.loadUnaligned(as: Int64.self) }
  }

  /// What calls there were, "CALL PATH", and how often.
  func calls() throws -> [String: Int64] {
    var counts: [String: Int64] = [:]
    for line in try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n") {
      let words = line.split(separator: " ")
      if words.count >= 4 { counts[words[2] + " " + words[3], default: 0] += 1 }
    }
    return counts
  }
}
