import ControlAPI
import Importing

/// The options of a ticket or a submission, which override the recipe's: the same keys as a recipe has.
struct SubmissionOptions {
  private static let keys = [
    "format", "delimiter", "quote", "header", "columns", "root", "reject_limit", "batch_size",
  ]
  private let options: [String: OptionValue]

  init(_ options: [String: OptionValue]) { self.options = options }

  /// - Throws: ``SubmissionProblem``.
  func apply(to target: inout ImportOptions) throws {
    if let unknown = options.keys.filter({ !Self.keys.contains($0) }).sorted().first {
      throw SubmissionProblem(
        field: "options", reason: "there is no option \(unknown)",
        advice: "There are \(Self.keys.joined(separator: ", ")).")
    }
    if let name = try text("format") {
      guard let format = SourceFormat(rawValue: name) else {
        throw SubmissionProblem(
          field: "options.format", reason: "there is no format \(name)",
          advice: "There are \(SourceFormat.allCases.map(\.rawValue).joined(separator: ", ")).")
      }
      target.reader.format = format
    }
    if let delimiter = try text("delimiter") { target.reader.delimiter = delimiter == "tab" ? "\t" : delimiter }
    if let quote = try text("quote") { target.reader.quote = quote == "none" ? nil : quote }
    if let root = try text("root") { target.reader.root = root }
    switch options["header"] {
    case nil: break
    case .bool(let header)?: target.reader.header = header
    case .string("true")?: target.reader.header = true
    case .string("false")?: target.reader.header = false
    case .string?, .int?, .strings?: throw wrong("header", "true or false")
    }
    switch options["columns"] {
    case nil: break
    case .strings(let names)?: target.reader.columns = names
    case .string(let names)?: target.reader.columns = names.split(separator: ",").map(String.init)
    case .bool?, .int?: throw wrong("columns", "a list of names")
    }
    if options["reject_limit"] == .string("none") {
      target.rejectLimit = nil
    } else if let limit = try number("reject_limit", in: 0...Int(Int32.max)) {
      target.rejectLimit = limit
    }
    if let size = try number("batch_size", in: 1...1_000_000) { target.batchSize = size }
  }

  private func text(_ key: String) throws -> String? {
    switch options[key] {
    case nil: return nil
    case .string(let text)?: return text
    case .int(let number)?: return String(number)
    case .bool?, .strings?: throw wrong(key, "a string")
    }
  }

  private func number(_ key: String, in range: ClosedRange<Int>) throws -> Int? {
    let number: Int?
    switch options[key] {
    case nil: return nil
    case .int(let value)?: number = value
    case .string(let text)?: number = Int(text)
    case .bool?, .strings?: number = nil
    }
    guard let number, range.contains(number) else {
      throw wrong(key, "a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  private func wrong(_ key: String, _ expected: String) -> SubmissionProblem {
    SubmissionProblem(field: "options.\(key)", reason: "it must be \(expected)")
  }
}
