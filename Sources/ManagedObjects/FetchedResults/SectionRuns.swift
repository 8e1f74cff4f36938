/// How a controller's content falls into sections: maximal runs of objects with the same section name. Without section
/// names there is one section, also when it is empty.
struct SectionRuns {
  struct Run: Equatable {
    let name: String
    var count: Int
  }

  let hasSections: Bool
  private(set) var runs: [Run]
  /// Where each run begins.
  private(set) var starts: [Int]

  /// The runs of that many objects, of which `name` tells the section.
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

  /// The runs once the objects at the indexes `removed` have gone and others, named, stand at the indexes `inserted`.
  /// Both ascend; the former count before the change, the latter after it.
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
