extension ManagedObjectContext.Gathered {
  /// The part of it that one of several stores has written, as that has it.
  func part(_ written: StoreChanges) -> ManagedObjectContext.Gathered {
    func objects(
      _ ids: [ManagedObjectID], _ all: ContiguousArray<ManagedObject>, _ rows: [ManagedObjectID]
    ) -> ContiguousArray<ManagedObject> {
      let byID = Dictionary(zip(rows, all)) { first, _ in first }
      return ContiguousArray(ids.compactMap { byID[$0] })
    }
    return ManagedObjectContext.Gathered(
      inserted: objects(written.inserted.map(\.id), inserted, changes.inserted.map(\.id)),
      updated: objects(written.updated.map(\.id), updated, changes.updated.map(\.id)),
      deleted: objects(written.deleted.map(\.id), deleted, changes.deleted.map(\.id)), changes: written,
      isWhole: false)
  }
}
