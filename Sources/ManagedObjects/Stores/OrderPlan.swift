/// Computes which positions to write to bring the members of an ordered relationship into a wanted order.
///
/// Members are sorted by position. Positions have gaps, so that a member that moves fits between two others and is the only
/// one written. As many members as possible keep their positions; everything is renumbered only when there is no gap left
/// between two of them. Members without a position come last.
package enum OrderPlan {
  /// The gap between new positions.
  package static let step: Int64 = 1024

  /// One member of an ordered relationship as the store has it.
  package struct Member: Sendable, Hashable {
    /// The number of the member's row.
    package let number: Int64
    /// Its position; nil when it has none.
    package let position: Int64?

    package init(number: Int64, position: Int64?) {
      self.number = number
      self.position = position
    }

    /// Whether it comes before another one.
    package func isBefore(_ other: Member) -> Bool {
      switch (position, other.position) {
      case (let a?, let b?): return a == b ? number < other.number : a < b
      case (_?, nil): return true
      case (nil, _?): return false
      case (nil, nil): return number < other.number
      }
    }
  }

  /// The members whose positions change, with their new ones.
  /// - Parameters:
  ///   - stored: the members as they are, in their order.
  ///   - wanted: the numbers in the wanted order. Members that aren't stored are ignored; stored members that aren't wanted,
  ///     which others have added, stay behind their predecessor.
  package static func changes(from stored: [Member], to wanted: [Int64]) -> [(number: Int64, position: Int64)] {
    let positions = Dictionary(stored.map { ($0.number, $0.position) }) { first, _ in first }
    let target = target(stored, wanted, isStored: { positions[$0] != nil })
    guard target != stored.map(\.number) || stored.contains(where: { $0.position == nil }) else { return [] }
    let known = target.map { positions[$0] ?? nil }
    let kept = longestIncreasing(known)
    var new = known
    var start = 0
    while start < target.count {
      guard !kept[start] else {
        start += 1
        continue
      }
      var end = start
      while end < target.count, !kept[end] { end += 1 }
      let count = Int64(end - start)
      let before = start > 0 ? new[start - 1] : nil
      let after = end < target.count ? known[end] : nil
      var distance = step
      var first = (before ?? 0) + step
      if let after {
        if let before {
          distance = (after - before) / (count + 1)
          first = before + distance
        } else {
          first = after - step * count
        }
      }
      guard distance > 0 else { return renumbered(target, known) }
      for index in start..<end { new[index] = first + distance * Int64(index - start) }
      start = end
    }
    return target.indices.compactMap { index in
      guard let position = new[index], position != known[index] else { return nil }
      return (target[index], position)
    }
  }

  /// The resulting order: the wanted members, and between them those that others have added.
  private static func target(_ stored: [Member], _ wanted: [Int64], isStored: (Int64) -> Bool) -> [Int64] {
    let names = Set(wanted)
    var strangers: [Int64?: [Int64]] = [:]
    var previous: Int64?
    for member in stored {
      if names.contains(member.number) {
        previous = member.number
      } else {
        strangers[previous, default: []].append(member.number)
      }
    }
    var target = strangers[nil] ?? []
    for number in wanted where isStored(number) {
      target.append(number)
      target += strangers[number] ?? []
    }
    return target
  }

  private static func renumbered(_ target: [Int64], _ known: [Int64?]) -> [(number: Int64, position: Int64)] {
    target.indices.compactMap { index in
      let position = Int64(index + 1) * step
      return known[index] == position ? nil : (target[index], position)
    }
  }

  /// Which of the positions form a longest increasing subsequence.
  private static func longestIncreasing(_ positions: [Int64?]) -> [Bool] {
    // By length, the index of the smallest last element of a subsequence of that length; and the predecessor of each index.
    var tails: [(position: Int64, place: Int)] = []
    var before = Array(repeating: -1, count: positions.count)
    for (place, position) in positions.enumerated() {
      guard let position else { continue }
      var (low, high) = (0, tails.count)
      while low < high {
        let middle = (low + high) / 2
        if tails[middle].position < position { low = middle + 1 } else { high = middle }
      }
      if low > 0 { before[place] = tails[low - 1].place }
      if low == tails.count { tails.append((position, place)) } else { tails[low] = (position, place) }
    }
    var kept = Array(repeating: false, count: positions.count)
    var place = tails.last?.place ?? -1
    while place >= 0 {
      kept[place] = true
      place = before[place]
    }
    return kept
  }
}
