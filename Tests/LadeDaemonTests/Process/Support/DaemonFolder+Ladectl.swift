import ControlAPI
import Foundation
import TestSupport

/// What tests ask the daemon, by `ladectl`, and decoded.
extension DaemonFolder {
  /// Runs a verb that has to succeed, and reads its result.
  func asked<Answer: Decodable>(_ type: Answer.Type = Answer.self, _ arguments: String...) async throws -> Answer {
    let run = try await ladectl(arguments + ["--json"])
    guard run.status == 0 else {
      throw ProgramFailure(
        program: "ladectl", arguments: arguments, what: "status \(run.status)\n\(run.text)", error: run.error)
    }
    return try WireFormat.decode(type, from: run.output)
  }

  func job(_ id: Int64) async throws -> Job { try await asked(Job.self, "show", "\(id)") }

  /// The jobs, the oldest first, after the daemon has taken everything that was dropped before.
  func jobs() async throws -> [Job] {
    guard try await spoolIsTaken() else {
      throw ProgramFailure(program: "laded", arguments: [], what: "ended with entries in incoming/", error: "")
    }
    return try await listedJobs()
  }

  /// The jobs that exist now, the oldest first.
  func listedJobs() async throws -> [Job] {
    try await asked(JobList.self, "list", "--limit", "1000").jobs.sorted { $0.id < $1.id }
  }

  /// Waits until the daemon has taken or refused every entry in `incoming/`; false if it ends before.
  func spoolIsTaken() async throws -> Bool {
    while try hasEntries() {
      guard try await ladectl("status").status == 0 else { return false }
    }
    return true
  }

  /// Whether there is a ticket in `incoming/`, or anything in a folder of it.
  private func hasEntries() throws -> Bool {
    /// The names in a folder; none if it is gone.
    func visibleNames(in folder: String) throws -> [String] {
      do {
        return try FileManager.default.contentsOfDirectory(atPath: folder).filter { !$0.hasPrefix(".") }
      } catch CocoaError.fileReadNoSuchFile {
        return []
      }
    }
    let incoming = file("spool/incoming")
    return try visibleNames(in: incoming).contains { name in
      if name.hasSuffix(".job") { return true }
      var isFolder: ObjCBool = false
      let path = incoming + "/" + name
      guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue else {
        return false
      }
      return try !visibleNames(in: path).isEmpty
    }
  }

  /// Makes the daemon scan its spool: a reload asks for a scan, and a second one waits until it is over.
  /// - Returns: whether the daemon answered.
  @discardableResult
  func scanned() async throws -> Bool {
    for _ in 1...2 { guard try await ladectl("reload").status == 0 else { return false } }
    return true
  }

  func count(_ entity: String, where predicate: String? = nil) async throws -> Int {
    guard let predicate else { return try await asked(ObjectCount.self, "count", entity).count }
    return try await asked(ObjectCount.self, "count", entity, "--where", predicate).count
  }

  /// A job when it has ended, whichever way.
  func ended(_ id: Int64) async throws -> Job {
    let run = try await ladectl("wait", "\(id)", "--json")
    guard [0, 2, 3].contains(run.status) else {
      throw ProgramFailure(program: "ladectl", arguments: ["wait"], what: "status \(run.status)", error: run.error)
    }
    return try await job(id)
  }

  /// Drops a file into a hot folder, and waits for the end of its job.
  func imported(_ data: Data, as name: String, into recipe: String) async throws -> Job {
    let before = Set(try await jobs().map(\.id))
    try drop(data, as: name, into: recipe)
    guard let job = try await jobs().first(where: { $0.source == name && !before.contains($0.id) }) else {
      throw ProgramFailure(program: "laded", arguments: [], what: "made no job of \(name)", error: "")
    }
    return try await ended(job.id)
  }

  func imported(_ text: String, as name: String, into recipe: String) async throws -> Job {
    try await imported(Data(text.utf8), as: name, into: recipe)
  }
}
