import Foundation

/// Members of a club, in a CSV of any length: with quotes, commas and newlines inside quotes, with managers that stand
/// anywhere in the file, and with rows that can't be imported. The same numbers make the same file.
struct Members: Sendable {
  static let model = model()

  /// The model with more properties.
  static func model(with more: ModelText.Property...) -> ModelText { model(with: more) }

  static func model(with more: [ModelText.Property]) -> ModelText {
    ModelText(
      ModelText.entity(
        "Member", unique: ["number"],
        [
          .attribute("number", "Integer 64"), .attribute("name"),
          .attribute("joined", "Date", optional: true, dateFormat: "yyyy-MM-dd"),
          .attribute("age", "Integer 16", optional: true), .attribute("score", "Double", optional: true),
          .attribute("note", optional: true),
          .toOne("manager", "Member", inverse: "team", by: "number"), .toMany("team", "Member", inverse: "manager"),
        ] + more))
  }

  /// What can be wrong with a row, and what the reject file calls it.
  enum Fault: String, CaseIterable, Sendable {
    case badInteger = "not_an_integer"
    case badDate = "not_a_date"
    case tooShort = "too_few_fields"
    case tooLong = "too_many_fields"
    case strayQuote = "text_after_quote"
    case duplicateKey = "duplicate_key"
    case missingName = "missing_value"
  }

  /// A row that can't be imported: its line, from 1, and what is wrong with it.
  struct Reject: Hashable, Sendable {
    let line: Int
    let fault: String
  }

  /// A change of the store in an early batch of 500 members, with batches before it and after it (``KillPoint``), and before SQLite
  /// copies its log into the database for the first time.
  static let early = 400

  let csv: Data
  let rows: Int
  let rejects: [Reject]
  var good: Int { rows - rejects.count }

  /// - Parameters:
  ///   - first: the number of the first of them.
  ///   - faults: how many rows are bad; of every kind about as many.
  ///   - kinds: what is wrong with those.
  ///   - managers: who is a manager has a number below this: anybody, unless it is said.
  ///   - version: other versions have the same numbers, and other scores in a third of the rows.
  init(
    rows: Int, from first: Int = 0, faults: Int = 0, kinds: [Fault] = Fault.allCases, managers: Int? = nil,
    version: Int = 1
  ) {
    self.rows = rows
    var random = SeededGenerator(seed: 2026)
    var bad: [Int: Fault] = [:]
    while bad.count < faults {
      bad[first + Int.random(in: 10..<rows, using: &random)] = kinds[bad.count % kinds.count]
    }
    var text: [UInt8] = Array("number,name,joined,age,score,note,manager\n".utf8)
    text.reserveCapacity(rows * 64)
    var rejects: [Reject] = []
    var line = 2
    for row in first..<first + rows {
      let fault = bad[row]
      if let fault { rejects.append(Reject(line: line, fault: fault.rawValue)) }
      var number = row
      if fault == .duplicateKey {
        // Half of them right before it, the others anywhere before it.
        let lowest = row.isMultiple(of: 2) ? max(first, row - 20) : first
        repeat { number = Int.random(in: lowest..<row, using: &random) } while bad[number] != nil
      }
      let name = fault == .missingName ? "" : fault == .strayQuote ? "\"A\"B" : "Member \(row)"
      let joined = fault == .badDate ? "2026-13-45" : "20\(10 + row % 15)-0\(1 + row % 9)-1\(row % 10)"
      let age = fault == .badInteger ? "old" : "\(18 + row % 70)"
      let score = Double(row % 977) / 8 + (version > 1 && row.isMultiple(of: 3) ? Double(version) : 0)
      let hasNewline = row % 50 == 7
      let note = hasNewline ? "\"said \"\"hm\"\", and\nleft\"" : row % 50 == 9 ? "\"one, two\"" : "note \(row)"
      let manager = row % 50 == 3 ? "\(first + row * 7919 % (managers ?? rows))" : ""
      switch fault {
      case .tooShort: text += Array("\(number),\(name)\n".utf8)
      case .tooLong: text += Array("\(number),\(name),\(joined),\(age),\(score),plain,,more\n".utf8)
      default: text += Array("\(number),\(name),\(joined),\(age),\(score),\(note),\(manager)\n".utf8)
      }
      line += hasNewline && fault != .tooShort && fault != .tooLong ? 2 : 1
    }
    csv = Data(text)
    self.rejects = rejects
  }
}
