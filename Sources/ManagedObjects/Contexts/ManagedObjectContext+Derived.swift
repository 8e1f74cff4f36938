// Derived attributes are computed by the store, in the transaction of the save that changes what they depend on. The
// saving context takes them on as soon as the save returns; other contexts, when they merge it.

extension ManagedObjectContext {
  /// Takes on what the store changed beyond what it was asked: in the objects known here and in what is told of the save.
  /// Returns what concerns rows that the save doesn't tell of otherwise.
  func take(_ refreshed: [StoreWriteResult.Refresh], into changes: inout StoreChanges) -> [StoreWriteResult.Refresh] {
    guard !refreshed.isEmpty else { return [] }
    let byID = Dictionary(refreshed.map { ($0.id, $0) }) { $1 }
    var told: Set<ManagedObjectID> = []
    for index in changes.inserted.indices {
      guard let refresh = byID[changes.inserted[index].id] else { continue }
      for (slot, value) in refresh.values { changes.inserted[index].values[slot] = value }
      told.insert(refresh.id)
    }
    for index in changes.updated.indices {
      guard let refresh = byID[changes.updated[index].id] else { continue }
      for (slot, value) in refresh.values { changes.updated[index].values[slot] = value }
      told.insert(refresh.id)
    }
    for refresh in refreshed { take(refresh) }
    return refreshed.filter { !told.contains($0.id) }
  }

  /// Takes on what the store changed of one row, if it is known here.
  func take(_ refresh: StoreWriteResult.Refresh) {
    guard let object = registry.object(with: refresh.id), object.state != .detached else { return }
    guard !object.isUnfilled else { return object.forgetPartialValues() }
    var hasChanged = false
    for (slot, value) in refresh.values {
      if !object.committed.isEmpty { object.committed[slot] = value }
      if object.slots[slot] == value { continue }
      object.slots[slot] = value
      hasChanged = true
    }
    if hasChanged { pending.noteRefreshed(object) }
  }
}
