import ControlAPI
import Foundation
import Glibc

/// Lets the user correct rejected records in an editor, until the daemon takes them or the user has had enough.
struct RejectEditing {
  /// More is better edited as a copy of the reject file. A request has a mebibyte.
  private static let mostRecords = RejectRetryRequest.mostRecords
  private static let mostBytes = 512 << 10

  let session: Session
  let job: Int64

  /// Submits the corrected records; nil if there is nothing to submit. Until they are, they are kept in a file.
  func submit(_ submit: (RejectRetryRequest) async throws -> Job) async throws -> Job? {
    let (all, columns, attempt) = try await open()
    // Of a long record, only the beginning is shown.
    let rejects = all.filter { $0.recordBytes <= RejectText.longestRecord }
    for reject in all where reject.recordBytes > RejectText.longestRecord {
      session.remark("Reject \(reject.number) is too long to be edited, and stays open.")
    }
    guard !rejects.isEmpty else {
      session.remark("Job \(job) has no open rejects.")
      return nil
    }
    let text = RejectText(rejects, columns: columns, of: job)
    let file = try TemporaryText()
    do {
      try file.write(text.text())
      let made = try await edited(text, file, attempt, submit)
      file.remove()
      return made
    } catch {
      if let content = try file.content, content != text.text() {
        session.remark("Your corrections are kept in \(file.path).")
      } else {
        file.remove()
      }
      throw error
    }
  }

  /// Has the text edited until what is left is submitted; nil if nothing is left.
  private func edited(
    _ text: RejectText, _ file: TemporaryText, _ attempt: Int,
    _ submit: (RejectRetryRequest) async throws -> Job
  ) async throws -> Job? {
    while true {
      try Self.edit(file.path)
      let problems: [Int64: Reject]
      var records: [RejectCorrection]?
      let content = try file.read()
      do throws(RejectText.Repeated) {
        records = try text.corrections(in: content)
      } catch {
        report(RejectCheck(resolved: 0, rejects: [], failure: "\(error)"))
      }
      if let records {
        guard !records.isEmpty else {
          session.remark("All records were removed: nothing was submitted.")
          return nil
        }
        let outcome = try await checked(RejectRetryRequest(records: records, attempt: attempt), submit)
        if let made = outcome.made { return made }
        report(outcome.check)
        problems = Dictionary(outcome.check.rejects.map { ($0.number, $0) }) { first, _ in first }
      } else {
        problems = [:]
      }
      guard session.terminal.canAsk, Question.ask("Edit them again?") else {
        session.remark("Nothing was submitted.")
        throw ExitStatus.completedWithRejects.silently
      }
      // What couldn't be taken apart is edited as it is.
      if let records { try file.write(text.text(records, problems: problems)) }
    }
  }

  /// Submits the records if the check finds nothing wrong, with them or with the request.
  private func checked(
    _ request: RejectRetryRequest, _ submit: (RejectRetryRequest) async throws -> Job
  ) async throws -> (made: Job?, check: RejectCheck) {
    let count = request.records?.count ?? 0
    do {
      var check = try await session.client.checkRejects(job, request)
      if check.rejects.isEmpty, check.failure == nil {
        if check.resolved == Int64(count) { return (try await submit(request), check) }
        check.failure = "\(count) records were sent, and \(check.resolved) would be resolved"
      }
      return (nil, check)
    } catch ControlClientError.refused(let problem) where ["invalid_request", "conflict"].contains(problem.code) {
      return (nil, RejectCheck(resolved: 0, rejects: [], failure: problem.detail))
    }
  }

  private func report(_ check: RejectCheck) {
    for reject in check.rejects.prefix(20) {
      let column = reject.column.isEmpty ? "" : ", \(reject.column.printable)"
      StandardError.write("Reject \(reject.number)\(column): \(reject.message.printable)\n")
    }
    if check.rejects.count > 20 { StandardError.write("and \(check.rejects.count - 20) more\n") }
    if let failure = check.failure { StandardError.write("\(failure.printable)\n") }
  }

  /// The open rejects, page after page.
  private func open() async throws -> (rejects: [Reject], columns: [String], attempt: Int) {
    var query = RejectQuery()
    query.limit = RejectQuery.maximumLimit
    var rejects: [Reject] = []
    var bytes = 0
    while true {
      let page = try await session.client.openRejects(job, query)
      rejects += page.rejects
      // A longer one isn't edited.
      bytes += page.rejects.reduce(0) { $0 + ($1.recordBytes <= RejectText.longestRecord ? $1.recordBytes : 0) }
      guard rejects.count <= Self.mostRecords, bytes <= Self.mostBytes else {
        throw LocalFailure.tooMuchToEdit(job: job)
      }
      guard let next = page.next else { return (rejects, page.columns, page.attempt) }
      (query.after, query.attempt) = (next, page.attempt)
    }
  }

  /// Runs the user's editor on a file, to its end.
  private static func edit(_ path: String) throws {
    let environment = ProcessInfo.processInfo.environment
    let names = [environment["VISUAL"], environment["EDITOR"], "vi"]
    let editor = names.compactMap { $0 }.first { !$0.isEmpty } ?? "vi"
    // The variable may hold options. As Git does, the shell reads it.
    guard try ProgramBeside("sh").run(["-c", "\(editor) \"$@\"", editor, path]) == ExitStatus.success.silently else {
      throw LocalFailure.editorFailed(editor: editor)
    }
  }
}

/// A file that only the user can read, for an editor.
private struct TemporaryText {
  let path: String

  init() throws {
    var name = Array((NSTemporaryDirectory() + "/lade-rejects-XXXXXX").utf8CString)
    let descriptor = mkstemp(&name)
    path = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    guard descriptor >= 0 else { throw LocalFailure.cantWrite(path: path, reason: String(cString: strerror(errno))) }
    close(descriptor)
  }

  func write(_ text: String) throws {
    do {
      try text.write(toFile: path, atomically: false, encoding: .utf8)
    } catch {
      throw LocalFailure.cantWrite(path: path, reason: error.localizedDescription)
    }
  }

  /// nil where it is gone.
  var content: String? {
    get throws { try FileManager.default.fileExists(atPath: path) ? read() : nil }
  }

  func read() throws -> String {
    do {
      return String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
    } catch {
      throw LocalFailure.cantWrite(path: path, reason: error.localizedDescription)
    }
  }

  func remove() { unlink(path) }
}
