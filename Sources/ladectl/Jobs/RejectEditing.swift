import ControlAPI
import Foundation
import Glibc

/// Lets the user correct rejected records in an editor, until the daemon takes them or the user has had enough.
struct RejectEditing {
  /// More is better edited as a copy of the reject file. A request has a mebibyte.
  private static let mostRecords = 1_000
  private static let mostBytes = 512 << 10

  let session: Session
  let job: Int64

  /// The corrected records; nil if there is nothing to submit.
  func corrections() async throws -> [RejectCorrection]? {
    let (all, columns) = try await open()
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
    defer { file.remove() }
    var shown = text.text()
    while true {
      try file.write(shown)
      try Self.edit(file.path)
      let records = text.corrections(in: try file.read())
      guard !records.isEmpty else {
        session.remark("All records were removed: nothing was submitted.")
        return nil
      }
      let check: RejectCheck
      do {
        check = try await session.client.checkRejects(job, RejectRetryRequest(records: records))
      } catch ControlClientError.refused(let problem) where problem.code == "invalid_request" {
        check = RejectCheck(resolved: 0, rejects: [], failure: problem.detail)
      }
      if check.rejects.isEmpty, check.failure == nil { return records }
      report(check)
      guard session.terminal.canAsk, Question.ask("Edit them again?") else {
        session.remark("Nothing was submitted.")
        throw ExitStatus.completedWithRejects.silently
      }
      shown = text.text(records, problems: Dictionary(check.rejects.map { ($0.number, $0) }) { first, _ in first })
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
  private func open() async throws -> (rejects: [Reject], columns: [String]) {
    var query = RejectQuery()
    query.limit = RejectQuery.maximumLimit
    var rejects: [Reject] = []
    var bytes = 0
    while true {
      let page = try await session.client.openRejects(job, query)
      rejects += page.rejects
      bytes += page.rejects.reduce(0) { $0 + $1.recordBytes }
      guard rejects.count <= Self.mostRecords, bytes <= Self.mostBytes else {
        throw LocalFailure.tooMuchToEdit(job: job)
      }
      guard let next = page.next else { return (rejects, page.columns) }
      query.after = next
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

  func read() throws -> String {
    do {
      return String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
    } catch {
      throw LocalFailure.cantWrite(path: path, reason: error.localizedDescription)
    }
  }

  func remove() { unlink(path) }
}
