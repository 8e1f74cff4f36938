import ControlAPI
import ControlServer
import Foundation
import ManagedObjects
import Synchronization

/// One standing query. It lives as long as the stream of its events.
final class StandingQuery: @unchecked Sendable {
  // Sendable: what is constant is Sendable; `controller`, `changes` and `stream` are touched on the context's queue only.

  private let query: WatchQuery
  private let columns: ObjectColumns
  private let queue: ContextQueue
  /// How long the first fetch, and each examination of what was saved, may take.
  private let limit: QueryLimit
  /// Whether the stream has no reader any more.
  private let isReleased = Atomic<Bool>(false)
  /// Until it is handed out: the stream retains the query, not the other way round.
  private var stream: AsyncStream<WatchEvent>?
  private let continuation: AsyncStream<WatchEvent>.Continuation
  private var controller: FetchedResultsController<ManagedObject>?
  private var changes: [WatchChanges.Change] = []

  /// On the context's queue.
  init(
    _ query: WatchQuery, _ columns: ObjectColumns, _ request: FetchRequest<ManagedObject>,
    in context: ManagedObjectContext, _ limit: QueryLimit
  ) {
    self.limit = limit
    self.query = query
    self.columns = columns
    queue = context.queue
    let (stream, continuation) = AsyncStream<WatchEvent>.makeStream()
    self.stream = stream
    self.continuation = continuation
    controller = FetchedResultsController(fetchRequest: request, managedObjectContext: context)
  }

  /// Begins: the stream's first event is the result. On the context's queue.
  /// - Throws: ``ControlError``, or the store's error.
  func events(_ interruption: Interruption) throws -> AsyncStream<WatchEvent> {
    guard let controller, let stream else { return AsyncStream { $0.finish() } }
    self.stream = nil
    controller.delegate = self
    do {
      let rows = try interruption.limit {
        try controller.performFetch()
        let objects = controller.fetchedObjects ?? []
        if let problem = problem(of: objects.count) { throw problem }
        return objects.map(row)
      }
      continuation.yield(.result(WatchResult(entity: query.entity, columns: columns.names, rows: rows)))
    } catch let error as FetchPredicateError {
      throw ControlError.invalid(field: "where or sort", reason: "\(error)")
    }
    controller.makeInterruption = { [weak self, limit] in
      let deadline = ContinuousClock.now + limit.time
      return Interruption { [weak self] in
        guard let self, !self.isReleased.load(ordering: .relaxed) else { return .cancelled }
        return ContinuousClock.now > deadline ? .timedOut : nil
      }
    }
    controller.wasInterrupted = { [weak self] in self?.endLate() }
    // The closure retains the query until the stream is released; the controller is released on the context's queue.
    continuation.onTermination = { _ in
      self.isReleased.store(true, ordering: .relaxed)
      self.queue.perform { _ in self.end() }
    }
    return stream
  }

  /// Ends it because what was saved takes too long to examine.
  private func endLate() {
    continuation.yield(.problem(ControlError.timeLimit(limit.time, key: limit.key).problem))
    continuation.finish()
  }

  /// Ends it because all of the store was replaced. From any thread.
  func endReplaced() {
    continuation.yield(
      .problem(
        Problem(
          status: 409, code: "store_replaced", title: "The store was replaced",
          detail: "A restore or a migration has replaced the store that the query is of.", hint: "Ask again.")))
    continuation.finish()
  }

  private func end() {
    controller = nil
    changes = []
    continuation.finish()
  }

  private func problem(of count: Int) -> Problem? {
    guard query.limit == nil, count > WatchQuery.maximumLimit else { return nil }
    return Problem(
      status: 422, code: "too_many_results", title: "Too many results",
      detail: "More than \(WatchQuery.maximumLimit) objects of \(query.entity) match.",
      hint: "Narrow them by where, or say limit, to follow only the first of them.")
  }

  private func row(_ object: ManagedObject) -> WatchRow { WatchRow(id: object.objectID.number, values: values(object)) }

  private func values(_ object: ManagedObject) -> [JSONValue] {
    columns.paths.map { ObjectColumns.value($0, of: object) }
  }
}

extension StandingQuery: FetchedResultsControllerDelegate {
  func controllerWillChangeContent(_ controller: FetchedResultsController<ManagedObject>) { changes = [] }

  func controller(
    _ controller: FetchedResultsController<ManagedObject>, didChange object: ManagedObject, at indexPath: IndexPath?,
    for type: FetchedResultsChangeType, newIndexPath: IndexPath?
  ) {
    changes.append(
      WatchChanges.Change(
        kind: WatchChanges.Kind(type), from: indexPath?.item, to: newIndexPath?.item, id: object.objectID.number,
        values: type == .delete ? nil : values(object)))
  }

  func controllerDidChangeContent(_ controller: FetchedResultsController<ManagedObject>) {
    if !changes.isEmpty { continuation.yield(.changes(WatchChanges(changes: changes))) }
    changes = []
    if let problem = problem(of: controller.fetchedObjects?.count ?? 0) {
      continuation.yield(.problem(problem))
      continuation.finish()
    }
  }
}

extension WatchChanges.Kind {
  fileprivate init(_ type: FetchedResultsChangeType) {
    switch type {
    case .insert: self = .insert
    case .delete: self = .delete
    case .move: self = .move
    case .update: self = .update
    }
  }
}
