public import Foundation

/// The sections of a controller's content: maximal runs of objects with the same section name. Without section names there is
/// one section, even when it is empty.
struct SectionRuns {
  struct Run: Equatable {
    let name: String
    var count: Int
  }

  let hasSections: Bool
  private(set) var runs: [Run]
  /// Where each run begins.
  private(set) var starts: [Int]

  /// The runs of `count` objects, whose section names `name` returns.
  init(hasSections: Bool, count: Int, name: (Int) -> String) {
    self.hasSections = hasSections
    var runs: [Run] = []
    if hasSections {
      for index in 0..<count { runs.extend(by: 1, name(index)) }
    } else {
      runs = [Run(name: "", count: count)]
    }
    self.runs = runs
    starts = Self.starts(of: runs)
  }

  private init(_ runs: [Run]) {
    hasSections = true
    self.runs = runs
    starts = Self.starts(of: runs)
  }

  private static func starts(of runs: [Run]) -> [Int] {
    var (starts, next): ([Int], Int) = ([], 0)
    starts.reserveCapacity(runs.count)
    for run in runs {
      starts.append(next)
      next += run.count
    }
    return starts
  }

  /// The number of objects.
  var count: Int { (starts.last ?? 0) + (runs.last?.count ?? 0) }

  /// The run in which the object at `index` lies.
  func run(of index: Int) -> Int {
    var (low, high) = (0, starts.count)
    while low < high {
      let middle = (low + high) / 2
      if starts[middle] <= index { low = middle + 1 } else { high = middle }
    }
    return low - 1
  }

  /// The indexes of a run's objects.
  func range(of run: Int) -> Range<Int> { starts[run]..<(starts[run] + runs[run].count) }

  /// The runs after the objects at the indexes `removed` have left and others have entered at the indexes `inserted`, with
  /// their section names. Both lists ascend; `removed` refers to the content before the change, `inserted` to the one after it.
  func changed(removing removed: [Int], inserting inserted: [(index: Int, name: String)]) -> SectionRuns {
    guard hasSections else {
      var same = self
      same.runs[0].count += inserted.count - removed.count
      return same
    }
    var rest = self.removing(removed)[...]
    var (runs, laid): ([Run], Int) = ([], 0)
    for (index, name) in inserted {
      while laid < index, var run = rest.first {
        let part = min(run.count, index - laid)
        runs.extend(by: part, run.name)
        laid += part
        run.count -= part
        if run.count == 0 { rest.removeFirst() } else { rest[rest.startIndex] = run }
      }
      runs.extend(by: 1, name)
      laid += 1
    }
    for run in rest { runs.extend(by: run.count, run.name) }
    return SectionRuns(runs)
  }

  private func removing(_ removed: [Int]) -> [Run] {
    var (rest, next): ([Run], Int) = ([], 0)
    for (index, run) in runs.enumerated() {
      let end = starts[index] + run.count
      let first = next
      while next < removed.count, removed[next] < end { next += 1 }
      rest.extend(by: run.count - (next - first), run.name)
    }
    return rest
  }
}

extension [SectionRuns.Run] {
  /// Adds objects of a section at the end.
  fileprivate mutating func extend(by count: Int, _ name: String) {
    guard count > 0 else { return }
    if let last, last.name == name {
      self[self.count - 1].count += count
    } else {
      append(SectionRuns.Run(name: name, count: count))
    }
  }
}

/// Maps the sections of a content to those after a change. A section is identified by its name. Several can have one name only
/// when the order doesn't follow the names; they are then told apart by their order.
struct SectionMapping {
  /// The new index of each old section, nil for those that are deleted.
  private(set) var newIndex: [Int?]
  /// The old indexes of deleted sections, ascending.
  private(set) var deleted: [Int] = []
  /// The new indexes of inserted sections, ascending.
  private(set) var inserted: [Int] = []
  /// Whether objects that haven't changed may be in another section now: several sections have one name, or sections have
  /// changed places, and some of them count as deleted and inserted.
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

/// Finds the elements that needn't move when a list is reordered.
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

/// Index paths of two numbers, as lists with sections use them. Source: the additions that UIKit and AppKit make to
/// `IndexPath`, which Foundation on Linux doesn't have.
extension IndexPath {
  /// The path to an item of a section, both counted from 0.
  public init(item: Int, section: Int) { self.init(indexes: [section, item]) }

  /// The path to a row of a section, both counted from 0.
  public init(row: Int, section: Int) { self.init(indexes: [section, row]) }

  /// The section's number. The path has two numbers.
  public var section: Int { self[0] }
  /// The item's number in its section. The path has two numbers.
  public var item: Int { self[1] }
  /// The item's number in its section, as table views call it.
  public var row: Int { self[1] }
}
