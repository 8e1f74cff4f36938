/// Where a context reads and writes: its coordinator or parent, or the query generation that it is pinned to. It also keeps
/// the error of a read whose caller couldn't throw.
final class ContextSource {
  // Touched on the context's queue only.

  /// The source in use.
  private(set) var current: any ObjectSource
  /// The state of the stores that the context is pinned to; nil while it reads whatever they hold.
  private(set) var generation: QueryGenerationToken?
  private var coordinator: PersistentStoreCoordinator
  /// The coordinator or the parent.
  private var unpinned: any ObjectSource
  /// The error of a read whose caller couldn't throw, until it is thrown.
  private var deferredError: (any Error)?
  /// Whether the block of the read has ended. Only a save throws the error from then on.
  private var isForSaves = false
  private var saveBeforeRead = Int64.max

  init(_ source: any ObjectSource, coordinator: PersistentStoreCoordinator) {
    current = source
    unpinned = source
    self.coordinator = coordinator
  }

  /// Gives the context of this source its coordinator or parent, before its first read.
  func attach(to source: any ObjectSource, coordinator: PersistentStoreCoordinator) {
    current = source
    unpinned = source
    self.coordinator = coordinator
  }

  // MARK: Query generations

  /// Where the latest rows are, even for a pinned context: a save has to compare with them.
  var latest: any ObjectSource { generation == nil ? current : coordinator }

  /// Pins the context to a state of the stores; nil unpins it.
  func pin(to token: QueryGenerationToken?) {
    generation = token
    if let token {
      current = GenerationSource(token: token, coordinator: coordinator)
    } else {
      current = unpinned
    }
  }

  /// Moves a pinned context to the current state of the stores.
  func advanceGeneration() {
    if generation != nil { pin(to: QueryGenerationToken(coordinator)) }
  }

  // MARK: Reading

  /// Notes that a read begins.
  func noteRead() { saveBeforeRead = coordinator.latestSave }

  /// The number of the latest save that the last read is sure to have seen.
  var latestSave: Int64 { generation?.latestSave ?? saveBeforeRead }

  /// Runs a read during which any other read fails, because the store is delivering its rows one by one.
  func readExclusively(_ body: (any ObjectSource) throws -> Void) rethrows {
    let source = current
    current = SourceInUse()
    defer { current = source }
    try body(source)
  }

  /// Runs a read whose caller can't throw. Its error is thrown by the next call of the same block that can, or by the next
  /// save; that of a read which was interrupted, by the ``Interruption`` itself.
  func reading<T>(_ body: () throws -> T) -> T? {
    do {
      return try body()
    } catch {
      deferError(error)
      return nil
    }
  }

  /// Keeps an error for the next call that can throw, unless the read was interrupted: that concerns only the one who asked
  /// for it, and others may use the context after it.
  func deferError(_ error: any Error) {
    if error is Interrupted || Interruption.isRequested { return }
    (deferredError, isForSaves) = (error, false)
  }

  /// Throws the error of an earlier read of the same block.
  @inline(__always)
  func throwDeferredError() throws {
    guard let error = deferredError, !isForSaves else { return }
    deferredError = nil
    throw error
  }

  /// Throws the error of an earlier read, because what is saved may come of it.
  func throwDeferredErrorBeforeSave() throws {
    isForSaves = false
    try throwDeferredError()
  }

  /// Ends a block of the program: later ones have nothing to do with an error that is left, except that they may save what
  /// this one has changed.
  /// - Returns: the error, if nothing in the block has thrown it.
  func endBlock(hasChanges: Bool) -> (any Error)? {
    guard let error = deferredError, !isForSaves else { return nil }
    if hasChanges { isForSaves = true } else { deferredError = nil }
    return error
  }

  /// Whether an error of the block that is ending hasn't been thrown.
  @inline(__always)
  var hasErrorOfBlock: Bool { deferredError != nil && !isForSaves }

  /// Runs a read of one object, which throws its own errors and leaves earlier ones to others.
  func readingOne<T>(_ body: () throws -> T) rethrows -> T {
    guard let earlier = deferredError else { return try body() }
    let wasForSaves = isForSaves
    deferredError = nil
    defer { if deferredError == nil { (deferredError, isForSaves) = (earlier, wasForSaves) } }
    return try body()
  }

  /// Forgets the error of an earlier read.
  func forgetDeferredError() { deferredError = nil }
}

/// Replaces a context's source while a fetch delivers its rows one by one and each becomes an object.
private struct SourceInUse: ObjectSource {
  private var error: FetchRequestError { .readWhileMaking }

  func rows(_ fetch: StoreFetch) throws -> [StoreRow] { throw error }
  func ids(_ fetch: StoreFetch) throws -> [ManagedObjectID] { throw error }
  func count(_ fetch: StoreFetch) throws -> Int { throw error }
  func dictionaries(_ query: StoreQuery) throws -> [ContiguousArray<Value>] { throw error }
  func rows(with ids: [ManagedObjectID]) throws -> [StoreRow] { throw error }
  func relatedIDs(of id: ManagedObjectID, _ relationship: RelationshipDescription) throws -> Value { throw error }
  func relatedRows(of ids: [ManagedObjectID], _ relationship: RelationshipDescription) throws -> [RelatedRow] {
    throw error
  }
  func write(_ changes: StoreChanges) throws -> StoreWriteResult { throw error }
  func permanentIDs(for entities: [EntityDescription], in stores: [Int: PersistentStore]) throws -> [ManagedObjectID] {
    throw error
  }
}
