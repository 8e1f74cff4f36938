/// Which positions to write so that the members of an ordered relationship stand in the order wanted.
///
/// Members are sorted by position; positions are apart, so that one that moves finds room between two others and is the
/// only one written. Those that keep their order among each other, as many as possible, keep their positions; only when
/// there is no room between two of them is everything numbered anew. A member without a position stands last.
package enum OrderPlan {
  /// How far apart positions are when there is nothing between them.
  package static let step: Int64 = 1024

  /// One member of an ordered relationship as the store has it.
  package struct Member: Sendable, Hashable {
    /// The number of the member's row.
    package let number: Int64
    /// Where it stands; nil when nobody has said.
    package let position: Int64?

    package init(number: Int64, position: Int64?) {
      self.number = number
      self.position = position
    }

    /// Whether it stands before another one.
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
  ///   - wanted: the numbers in the order wanted. What isn't stored is ignored; what is stored and isn't wanted, which
  ///     somebody else has added, stays behind the one that it stands behind.
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

  /// The order to be reached: what is wanted, and between it what somebody else has added.
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

  /// Which of the positions form a longest increasing row.
  private static func longestIncreasing(_ positions: [Int64?]) -> [Bool] {
    // By length, the place of the smallest last member of a row that long; and of each place the one before it.
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
