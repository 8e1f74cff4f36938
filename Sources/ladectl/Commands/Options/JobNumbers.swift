import ArgumentParser
import ControlAPI

/// Job numbers on the command line: `12`, `12-20`, `7,9,12-20`.
struct JobNumbers: Sendable, Hashable {
  let ranges: [ClosedRange<Int64>]

  /// Parses it.
  /// - Throws: `ValidationError` that lists the accepted forms.
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

  /// The numbers if all are given individually; nil if there is a range.
  static func singles(_ numbers: [JobNumbers]) -> [Int64]? {
    let ranges = numbers.flatMap(\.ranges)
    return ranges.allSatisfy { $0.count == 1 } ? ranges.map(\.lowerBound) : nil
  }
}

extension ControlClient {
  /// The selected jobs, each once, in the given order. Individually named jobs are included even if they don't exist, which is an
  /// error later; a range includes only existing jobs.
  func numbers(_ named: [JobNumbers]) async throws -> [Int64] {
    var numbers: [Int64] = []
    var seen: Set<Int64> = []
    for range in named.flatMap(\.ranges) {
      let found = range.count == 1 ? [range.lowerBound] : try await self.numbers(in: range)
      numbers += found.filter { seen.insert($0).inserted }
    }
    return numbers
  }

  private func numbers(in range: ClosedRange<Int64>) async throws -> [Int64] {
    var numbers: [Int64] = []
    var query = JobQuery(limit: JobQuery.maximumLimit)
    query.before = range.upperBound == .max ? nil : range.upperBound + 1
    while true {
      let list = try await jobs(query)
      numbers += list.jobs.map(\.id).filter { $0 >= range.lowerBound }
      guard let next = list.next, next > range.lowerBound else { return numbers.reversed() }
      query.before = next
    }
  }
}
