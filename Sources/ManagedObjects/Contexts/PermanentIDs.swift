/// Permanent IDs by the temporary ones that they took the place of.
///
/// Both are given in sequence, so that objects which became permanent together are one entry, however many they are: a
/// context through which an import passes remembers all of it in next to nothing.
struct PermanentIDs: Sendable {
  /// So many temporary numbers downwards from the first, whose permanent ones go upwards.
  private struct Run: Sendable {
    let first: Int64
    var count: Int64
    unowned(unsafe) let scope: IDScope
    let number: Int64

    var last: Int64 { first - count + 1 }

    func id(for temporary: Int64) -> ManagedObjectID {
      ManagedObjectID(scope: scope, number: number + (first - temporary))
    }

    func isFollowed(by next: Run) -> Bool {
      next.first == last - 1 && next.scope === scope && next.number == number + count
    }
  }

  /// In the order of the temporary numbers, from the highest down; no two overlap.
  private var runs: ContiguousArray<Run> = []
  /// Those that replace one which was given before.
  private var others: [Int64: ManagedObjectID] = [:]

  init() {}

  init(_ ids: KeyValuePairs<ManagedObjectID, ManagedObjectID>) {
    for (id, permanent) in ids { self[id] = permanent }
  }

  var isEmpty: Bool { runs.isEmpty && others.isEmpty }

  /// How many there are, about: one that was replaced counts twice.
  var count: Int { runs.reduce(others.count) { $0 + Int($1.count) } }

  /// The permanent ID that took the place of a temporary one; nil of any other.
  subscript(id: ManagedObjectID) -> ManagedObjectID? {
    get {
      guard id.isTemporaryID else { return nil }
      if !others.isEmpty, let other = others[id.number] { return other }
      let place = place(of: id.number)
      guard place < runs.count, id.number <= runs[place].first else { return nil }
      return runs[place].id(for: id.number)
    }
    set {
      guard id.isTemporaryID, let permanent = newValue else { return }
      insert(Run(first: id.number, count: 1, scope: permanent.scope, number: permanent.number))
    }
  }

  /// Takes in others, which count where both know one.
  mutating func add(_ more: PermanentIDs) {
    if isEmpty {
      self = more
    } else {
      for run in more.runs { insert(run) }
      others.merge(more.others) { $1 }
    }
  }

  /// Calls `body` with each temporary number and the permanent ID.
  func forEach(_ body: (Int64, ManagedObjectID) -> Void) {
    for run in runs {
      for temporary in run.last...run.first where others.isEmpty || others[temporary] == nil {
        body(temporary, run.id(for: temporary))
      }
    }
    for (temporary, id) in others { body(temporary, id) }
  }

  mutating func removeAll() { self = PermanentIDs() }

  /// The first run that doesn't lie wholly above a temporary number.
  private func place(of temporary: Int64) -> Int {
    var (low, high) = (0, runs.count)
    while low < high {
      let middle = (low + high) / 2
      if runs[middle].last > temporary { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private mutating func insert(_ run: Run) {
    // Nearly always it comes after the others.
    let place = runs.last.map { run.first < $0.last } == true ? runs.count : place(of: run.first)
    guard place == runs.count || runs[place].first < run.last else {
      for temporary in run.last...run.first { others[temporary] = run.id(for: temporary) }
      return
    }
    if place > 0, runs[place - 1].isFollowed(by: run) {
      runs[place - 1].count += run.count
    } else {
      runs.insert(run, at: place)
    }
  }
}
