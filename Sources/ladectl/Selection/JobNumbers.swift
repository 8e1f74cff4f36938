import ArgumentParser

/// Jobs by their numbers, as one gives them on a command line: `12`, `12-20`, `7,9,12-20`.
struct JobNumbers: Sendable, Hashable {
  let ranges: [ClosedRange<Int64>]

  /// Reads it.
  /// - Throws: `ValidationError` with the forms that there are.
  init(parsing text: String) throws {
    ranges = try text.split(separator: ",", omittingEmptySubsequences: false).map { part in
      let ends = part.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false).map(Self.number)
      guard let first = ends.first ?? nil, let last = ends.last ?? nil else {
        throw ValidationError("'\(text)' isn't a job's number; write 12, a range such as 12-20, or 7,9,12-20.")
      }
      guard first <= last else { throw ValidationError("'\(part)' is a range from the greater number to the smaller.") }
      return first...last
    }
  }

  private static func number(_ text: Substring) -> Int64? {
    text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(text) : nil
  }

  /// The numbers that were given one by one; nil where there is a range among them.
  static func singles(_ numbers: [JobNumbers]) -> [Int64]? {
    let ranges = numbers.flatMap(\.ranges)
    return ranges.allSatisfy { $0.count == 1 } ? ranges.map(\.lowerBound) : nil
  }
}
