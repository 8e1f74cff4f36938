// An operation that needs a data store to itself begins when no other runs there, and no other begins until it ends. To keep
// it from starving, nothing begins in the store from when it is first in its lane. A waiting job stays `available` and takes
// no slot.

/// Which jobs use which data store, and which one is next to have a store to itself. A value, kept by the queue and changed on
/// the ledger's queue.
struct StoreUse {
  /// A job that has a store to itself, or is to have.
  struct Holder: Equatable {
    let id: Int64
    let kind: String
    let lane: String
  }

  /// How many jobs share a store.
  private var sharing: [String: Int] = [:]
  private var alone: [String: Holder] = [:]
  private(set) var next: [String: Holder] = [:]
  /// Where several daemons share the queue: the stores that jobs of others share, and those that one has to itself. Each claim
  /// looks at them again.
  private var sharedByOthers: Set<String> = []
  private var othersAlone: Set<String> = []

  /// Stores that a job has to itself, or is next to have.
  var closed: Set<String> { Set(alone.keys).union(next.keys).union(othersAlone) }

  /// Forgets what other daemons do in a store.
  mutating func forgetOthers(in store: String) {
    sharedByOthers.remove(store)
    othersAlone.remove(store)
  }

  /// Takes note of a job of another daemon.
  mutating func noteOther(in store: String, access: StoreAccess) {
    switch access {
    case .none: break
    case .shared: sharedByOthers.insert(store)
    case .exclusive: othersAlone.insert(store)
    }
  }

  /// Lets a job into its store if possible now; an exclusive job that has to wait closes the store to others.
  mutating func enter(_ holder: Holder, store: String?, access: StoreAccess) -> Bool {
    guard let store, access != .none else { return true }
    if alone[store] != nil || othersAlone.contains(store) { return false }
    if let first = next[store], first != holder { return false }
    switch access {
    case .none: break
    case .shared:
      // Under an earlier catalogue it waited for exclusive use.
      next[store] = nil
      sharing[store, default: 0] += 1
    case .exclusive:
      guard sharing[store] == nil, !sharedByOthers.contains(store) else {
        next[store] = holder
        return false
      }
      next[store] = nil
      alone[store] = holder
    }
    return true
  }

  /// A job has ended: jobs that wait for its store may begin.
  mutating func leave(_ id: Int64, store: String?, access: StoreAccess) {
    guard let store, access != .none else { return }
    if alone[store]?.id == id {
      alone[store] = nil
    } else if let number = sharing[store] {
      sharing[store] = number > 1 ? number - 1 : nil
    }
  }

  /// A job that isn't available any more gives up its claim to a store.
  /// - Returns: whether it was.
  mutating func giveUp(_ id: Int64) -> Bool {
    guard let store = next.first(where: { $0.value.id == id })?.key else { return false }
    next[store] = nil
    return true
  }

  /// The jobs of a lane that can have their store to themselves now.
  func ready(lane: String) -> [Holder] {
    next.filter { $0.value.lane == lane && sharing[$0.key] == nil && alone[$0.key] == nil }.map(\.value)
  }

  /// Takes over from another value which jobs are next.
  mutating func takeNext(of other: StoreUse) { next = other.next }

  /// What keeps a job from its store, in words; nil if nothing does.
  func obstacle(to id: Int64, store: String?, access: StoreAccess) -> String? {
    guard let store, access != .none else { return nil }
    if let holder = alone[store] { return "store \(store), which job \(holder.id) (\(holder.kind)) has alone" }
    if let holder = next[store] {
      guard holder.id == id else { return "store \(store), which job \(holder.id) (\(holder.kind)) is to have alone" }
      let number = sharing[store] ?? 0
      return "store \(store), in which \(number == 1 ? "a job runs" : "\(number) jobs run")"
    }
    return nil
  }
}
