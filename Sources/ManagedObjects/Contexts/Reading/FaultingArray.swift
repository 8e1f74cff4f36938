/// The objects that a request finds, read a batch at a time as they are accessed.
///
/// The IDs are read once, so count and order stay, whatever happens in the store. Iterating over a million objects costs
/// memory for their IDs and for a few batches of objects. The array belongs to its context's queue, like its objects, and
/// must not be used after the context is reset. A row that has been deleted since reads as nil throughout.
///
/// Source: the array that `fetch(_:)` of Core Data returns for a request with a `fetchBatchSize`.
public struct FaultingArray<Element: ManagedObject>: RandomAccessCollection {
  private let content: FaultingContent

  init(_ content: FaultingContent) { self.content = content }

  /// 0.
  public var startIndex: Int { 0 }
  /// The number of objects.
  public var endIndex: Int { content.ids.count }
  /// The IDs of all objects, without reading any.
  public var objectIDs: [ManagedObjectID] { content.ids }

  /// The object at a position. Reads its batch, unless that is one of the latest few.
  ///
  /// When the store can't be read, the object is a fault, and the context's next call that can throw throws the error.
  public subscript(position: Int) -> Element {
    precondition(content.ids.indices.contains(position), "\(position) isn't in 0..<\(content.ids.count)")
    // Safe: `fetchBatched(_:)` refuses a fetch that may bring objects of another class.
    return unsafeDowncast(content.object(at: position), to: Element.self)
  }
}

/// The content that a faulting array and its copies share.
final class FaultingContent {
  private struct Batch {
    let number: Int
    let objects: [ManagedObject]
    /// The objects that were prefetched for them.
    let others: [ManagedObject]
  }

  private static let capacity = 3
  let ids: [ManagedObjectID]
  private let context: ManagedObjectContext
  private let size: Int
  private let paths: [[RelationshipDescription]]
  /// Objects that aren't in the store yet, by position: their IDs will change.
  private let unsaved: [Int: ManagedObject]
  /// The latest last.
  private var batches: [Batch] = []

  init(
    _ ids: [ManagedObjectID], unsaved: [Int: ManagedObject], size: Int, _ paths: [[RelationshipDescription]],
    _ context: ManagedObjectContext
  ) {
    self.ids = ids
    self.unsaved = unsaved
    self.size = size
    self.paths = paths
    self.context = context
  }

  func object(at position: Int) -> ManagedObject {
    context.confinement.check()
    let number = position / size
    if let last = batches.last, last.number == number { return last.objects[position - number * size] }
    if let index = batches.firstIndex(where: { $0.number == number }) {
      batches.append(batches.remove(at: index))
    } else {
      if batches.count == Self.capacity { batches.removeFirst() }
      batches.append(read(number))
    }
    return batches[batches.count - 1].objects[position - number * size]
  }

  private func read(_ number: Int) -> Batch {
    let places = number * size..<min((number + 1) * size, ids.count)
    // Held while they are filled.
    let objects = places.map { unsaved[$0] ?? context.fault(ids[$0]) }
    let others = context.reading {
      try context.fill(ids[places])
      return try context.prefetch(paths, of: objects)
    }
    return Batch(number: number, objects: objects, others: others ?? [])
  }
}

extension ManagedObjectContext {
  /// The objects that a request finds, as a collection that reads them a batch at a time.
  ///
  /// Batches are of ``FetchRequest/fetchBatchSize`` objects, 100 when that is 0.
  /// - Throws: what ``fetch(_:)`` throws, and ``ManagedObjectError/classMismatch(_:)`` when the entity's objects, or those
  ///   of one that inherits from it, aren't of the request's class.
  public func fetchBatched<T: ManagedObject>(_ request: FetchRequest<T>) throws -> FaultingArray<T> {
    try prepareToRead()
    let fetch = try bind(request)
    guard fetch.brings(T.self) else {
      throw ManagedObjectError.classMismatch(["not all objects of \(fetch.entity.name) are \(T.self)s"])
    }
    let paths = try request.prefetchPaths(in: fetch.entity)
    let ids = request.includesPendingChanges ? try self.ids(fetch) : try source.ids(fetch)
    var unsaved: [Int: ManagedObject] = [:]
    for (place, id) in ids.enumerated() where id.isTemporaryID { unsaved[place] = registry.object(with: id) }
    let size = request.fetchBatchSize > 0 ? request.fetchBatchSize : 100
    return FaultingArray(FaultingContent(ids, unsaved: unsaved, size: size, paths, self))
  }
}
