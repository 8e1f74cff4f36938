import Foundation

/// How far a job has come that changes others. It is written by the transactions that change them, so a job that is killed and
/// runs again changes none twice, and counts none twice.
package struct ChangeCheckpoint: Codable, Sendable, Equatable {
  /// Jobs with smaller numbers haven't been looked at; nil: none has.
  private(set) var before: Int64?
  /// Those of the page in hand that are changed. They may not match the filter any more, or again by now.
  private(set) var done: Set<Int64> = []
  package private(set) var result = JobChangeResult()

  init() {}

  /// Reads a text that ``text()`` has written; nil is the beginning.
  init(_ text: String?) throws {
    self = try text.map { try JSONDecoder().decode(Self.self, from: Data($0.utf8)) } ?? Self()
  }

  func text() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    return String(decoding: try encoder.encode(self), as: UTF8.self)
  }

  /// A job was changed, in this transaction.
  mutating func note(changed id: Int64) {
    done.insert(id)
    result.changed += 1
  }

  /// A page is done but for those that can't be changed.
  /// - Parameter last: the smallest number of the page.
  mutating func endPage(at last: Int64, refused: [JobChangeResult.Refusal]) {
    before = last
    done = []
    result.refused += refused.count
    result.refusals += refused.prefix(max(0, JobChangeResult.mostRefusals - result.refusals.count))
  }

  func progress(of total: Int64) -> JobProgress {
    let records = Int64(result.changed + result.refused)
    return JobProgress(
      records: records, updated: Int64(result.changed), unchanged: Int64(result.refused),
      recordsTotal: total > 0 ? max(total, records) : 0)
  }
}
