/// The changes that one save writes, with the objects they come from.
struct SaveRequest {
  let inserted: ContiguousArray<ManagedObject>
  let updated: ContiguousArray<ManagedObject>
  let deleted: ContiguousArray<ManagedObject>
  // Not private: derived values and permanent IDs are put in after the write, in place, because a copy of an import's rows
  // would cost as much as making them.
  var changes: StoreChanges
  /// Whether these are all the context's changes, and not the part that one of several stores has written.
  var isWhole = true

  /// The part that one of several stores has written, with the rows as that store has them.
  func part(_ written: StoreChanges) -> SaveRequest {
    func objects(
      _ ids: [ManagedObjectID], _ all: ContiguousArray<ManagedObject>, _ rows: [ManagedObjectID]
    ) -> ContiguousArray<ManagedObject> {
      let byID = Dictionary(zip(rows, all)) { first, _ in first }
      return ContiguousArray(ids.compactMap { byID[$0] })
    }
    return SaveRequest(
      inserted: objects(written.inserted.map(\.id), inserted, changes.inserted.map(\.id)),
      updated: objects(written.updated.map(\.id), updated, changes.updated.map(\.id)),
      deleted: objects(written.deleted.map(\.id), deleted, changes.deleted.map(\.id)), changes: written,
      isWhole: false)
  }
}
