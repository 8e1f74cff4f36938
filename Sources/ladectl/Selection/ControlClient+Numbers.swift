import ControlAPI

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
