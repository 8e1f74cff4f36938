/// Which sections of a changed content were there before. A section is known by its name; among several of the same name,
/// which only an order that doesn't follow the names brings about, by their order.
struct SectionMapping {
  /// The new index of each old section, nil for those that are deleted.
  private(set) var newIndex: [Int?]
  /// Old indexes of sections that are gone, ascending.
  private(set) var deleted: [Int] = []
  /// New indexes of sections that weren't there, ascending.
  private(set) var inserted: [Int] = []
  /// Whether objects that haven't changed themselves may have come into another section: there are several of one name,
  /// or sections have changed places, of which some then count as deleted and inserted.
  private(set) var movesObjects = false

  init(from old: SectionRuns, to new: SectionRuns) {
    if old.runs.count == new.runs.count, zip(old.runs, new.runs).allSatisfy({ $0.name == $1.name }) {
      newIndex = old.runs.indices.map { $0 }
      movesObjects = Set(old.runs.map(\.name)).count < old.runs.count
      return
    }
    var places: [String: [Int]] = [:]
    for (index, run) in new.runs.enumerated().reversed() { places[run.name, default: []].append(index) }
    movesObjects = places.count < new.runs.count || Set(old.runs.map(\.name)).count < old.runs.count
    newIndex = old.runs.map { places[$0.name]?.popLast() }
    let kept = newIndex.compactMap { $0 }
    if !zip(kept, kept.dropFirst()).allSatisfy({ $0 < $1 }) {
      movesObjects = true
      let staying = Set(IncreasingSubsequence.longest(of: kept).map { kept[$0] })
      for (index, new) in newIndex.enumerated() where new.map({ !staying.contains($0) }) == true {
        newIndex[index] = nil
      }
    }
    let known = Set(newIndex.compactMap { $0 })
    deleted = newIndex.indices.filter { newIndex[$0] == nil }
    inserted = new.runs.indices.filter { !known.contains($0) }
  }
}

/// What needn't move when a list is put into a new order.
enum IncreasingSubsequence {
  /// The indexes, ascending, of a longest increasing subsequence of different numbers.
  static func longest(of numbers: [Int]) -> [Int] {
    var tails: [Int] = []
    var before = [Int](repeating: -1, count: numbers.count)
    for (index, number) in numbers.enumerated() {
      var (low, high) = (0, tails.count)
      while low < high {
        let middle = (low + high) / 2
        if numbers[tails[middle]] < number { low = middle + 1 } else { high = middle }
      }
      if low > 0 { before[index] = tails[low - 1] }
      if low == tails.count { tails.append(index) } else { tails[low] = index }
    }
    var result: [Int] = []
    var next = tails.last ?? -1
    while next >= 0 {
      result.append(next)
      next = before[next]
    }
    return result.reversed()
  }
}
