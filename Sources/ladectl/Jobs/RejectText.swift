import ControlAPI

/// The text in which rejected records are edited: each after a line with its number and the reason.
///
///     #lade 5 line 7, age: “x” isn't an integer
///     7,Ann,x
///
/// The records are as they were in the source. What is removed stays open.
struct RejectText: Sendable {
  /// The bytes of the longest record that the daemon shows as a whole.
  static let longestRecord = 64 << 10

  /// A record stands there more than once, and it isn't clear which one counts.
  struct Repeated: Error, CustomStringConvertible {
    let number: Int64

    var description: String { "Reject \(number) stands there twice: leave one of them." }
  }

  /// What begins the lines that are no part of a record.
  let mark: String
  private let rejects: [Reject]
  private let heading: [String]

  /// - Parameter columns: those of the source, if its records don't name them.
  init(_ rejects: [Reject], columns: [String], of job: Int64) {
    self.rejects = rejects
    // A record may have such a line itself.
    var mark = "#lade"
    while rejects.contains(where: { Self.hasLine($0.record, mark) }) { mark += "-" }
    self.mark = mark
    heading =
      [
        "The open rejects of job \(job), each after a line with its number and why it was rejected.",
        "Correct the records and leave those lines. A record that you remove, or leave empty, stays open.",
        "Nothing is imported if you remove all.",
      ] + (columns.isEmpty ? [] : ["Columns: \(columns.map(\.printable).joined(separator: ", "))"])
  }

  /// The text to edit.
  /// - Parameters:
  ///   - records: what stands for the records; for others, what was rejected.
  ///   - problems: why records were found wrong, in place of why they were rejected.
  func text(_ records: [RejectCorrection]? = nil, problems: [Int64: Reject] = [:]) -> String {
    var text = heading.map { "\(mark) \($0)\n" }.joined()
    let given = records.map { Dictionary($0.map { ($0.number, $0) }) { $1 } }
    for reject in rejects {
      if let given, given[reject.number] == nil { continue }
      let reason = problems[reject.number] ?? reject
      let column = reason.column.isEmpty ? "" : ", \(reason.column.printable)"
      let message = reason.message.printable
      text += "\n\(mark) \(reject.number) line \(reject.line)\(column): \(message)\n"
      text += (given?[reject.number]?.record ?? reject.record) + "\n"
    }
    return text
  }

  /// The records of an edited text; without text where they are what was rejected.
  func corrections(in text: String) throws(Repeated) -> [RejectCorrection] {
    let known = Dictionary(rejects.map { ($0.number, $0) }) { $1 }
    var records: [(number: Int64, lines: [Substring])] = []
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      let words = line.split(separator: " ", maxSplits: 2)
      if words.first == mark[...] {
        if words.count > 1, let number = Int64(words[1]), known[number] != nil { records.append((number, [])) }
      } else if !records.isEmpty {
        records[records.count - 1].lines.append(line)
      }
    }
    var seen: Set<Int64> = []
    var corrections: [RejectCorrection] = []
    for (number, lines) in records {
      guard seen.insert(number).inserted else { throw Repeated(number: number) }
      var lines = lines[...]
      while lines.last?.allSatisfy({ $0 == "\r" || $0 == "\n" }) == true { lines.removeLast() }
      guard !lines.isEmpty, let reject = known[number] else { continue }
      let record = lines.joined(separator: "\n")
      let original = reject.record.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\n")
      // As bytes: a correction may be that of a composed character.
      let isUnchanged = record.utf8.elementsEqual(original.utf8) && reject.isReadable
      corrections.append(RejectCorrection(number: number, record: isUnchanged ? nil : record))
    }
    return corrections
  }

  private static func hasLine(_ record: String, _ mark: String) -> Bool {
    record.split(separator: "\n").contains { $0.split(separator: " ", maxSplits: 1).first == mark[...] }
  }
}
