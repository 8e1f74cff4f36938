import Testing

@testable import Importing

/// A source with something odd in it, and what must become of it.
struct EdgeCase: Sendable, CustomTestStringConvertible {
  enum Row: Sendable, Equatable {
    /// The record's values, as `show` shows them.
    case values([String])
    /// The code of what is wrong with it.
    case problem(String)
  }

  /// What is odd, and what other programs make of it where that says something.
  var about: String
  var name: String
  var bytes: [UInt8]
  var options = ReaderOptions()
  var rows: [Row]
  var error: ReaderError?

  var testDescription: String { about }

  /// A CSV file; its header is given as `a,b` unless the text brings its own.
  static func csv(
    _ about: String, _ text: String, header: String = "a,b\n", _ rows: [Row], error: ReaderError? = nil,
    options change: (inout ReaderOptions) -> Void = { _ in }
  ) -> EdgeCase {
    var test = EdgeCase(about: about, name: "a.csv", bytes: Array((header + text).utf8), rows: rows, error: error)
    change(&test.options)
    return test
  }

  /// A JSON document; `error` is where it is malformed.
  static func json(
    _ about: String, _ text: String, _ rows: [Row], _ mistake: JSONMistake? = nil, line: Int64 = 1, column: Int64 = 0,
    error: ReaderError? = nil, root: String? = nil
  ) -> EdgeCase {
    let malformed = mistake.map { ReaderError.malformed(line: line, column: column, what: $0.description) }
    return EdgeCase(
      about: about, name: "a.json", bytes: Array(text.utf8), options: ReaderOptions(format: .json, root: root),
      rows: rows, error: malformed ?? error)
  }
}

@Suite("Edge cases")
struct EdgeCaseTests {
  @Test("an odd source is read, or refused, by its rule", arguments: EdgeCase.csvCases + EdgeCase.jsonCases)
  func edges(test: EdgeCase) throws {
    let file = try SourceFile(test.bytes, name: test.name)
    let whole = try file.read(test.options, limit: 1)
    let rows = whole.records.map { record in
      record.problem.map { EdgeCase.Row.problem($0.code) } ?? .values(record.cells)
    }
    #expect(rows == test.rows)
    #expect(whole.error == test.error)
    for blockSize in 1...17 where test.bytes.count < 1_000 {
      let result = try file.read(test.options, blockSize: blockSize)
      #expect(result.records == whole.records, "block size \(blockSize)")
      #expect(result.error == whole.error, "block size \(blockSize)")
    }
    for (index, end) in whole.ends.enumerated() {
      let rest = try file.read(test.options, from: end, blockSize: 7)
      #expect(rest.records.map(\.raw) == whole.records[(index + 1)...].map(\.raw))
      #expect(rest.records.map(\.line) == whole.records[(index + 1)...].map(\.line))
      #expect(rest.records.map(\.problem) == whole.records[(index + 1)...].map(\.problem))
      #expect(rest.error == whole.error)
    }
  }
}
