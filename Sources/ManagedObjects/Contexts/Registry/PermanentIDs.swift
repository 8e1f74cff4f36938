/// Permanent IDs by the temporary ones that they replaced.
///
/// Both are given in sequence, so objects that became permanent together are one entry, however many they are. A context
/// through which an import passes remembers all of its IDs in little memory.
struct PermanentIDs: Sendable {
  /// `count` temporary numbers downwards from the first; their permanent numbers go upwards.
  private struct Run: Sendable {
    let first: Int64
    var count: Int64
    // Scopes live as long as the process (see `IDScope`), so the reference needn't be counted.
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
  /// IDs that replace one given before.
  private var others: [Int64: ManagedObjectID] = [:]

  init() {}

  init(_ ids: KeyValuePairs<ManagedObjectID, ManagedObjectID>) {
    for (id, permanent) in ids { self[id] = permanent }
  }

  var isEmpty: Bool { runs.isEmpty && others.isEmpty }

  /// About how many there are: one that was replaced counts twice.
  var count: Int { runs.reduce(others.count) { $0 + Int($1.count) } }

  /// The permanent ID that replaced a temporary one; nil for any other ID.
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

  /// Adds others, which win where both have one.
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
