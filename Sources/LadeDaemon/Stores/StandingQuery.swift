import ControlAPI
import ControlServer
import Foundation
import ManagedObjects

/// One standing query. It lives as long as the stream of its events.
final class StandingQuery: @unchecked Sendable {
  // Sendable: what is constant is Sendable; `controller`, `changes` and `stream` are touched on the context's queue only.

  private let query: WatchQuery
  private let columns: ObjectColumns
  private let context: ManagedObjectContext
  /// Until it is handed out: the stream retains the query, not the other way round.
  private var stream: AsyncStream<WatchEvent>?
  private let continuation: AsyncStream<WatchEvent>.Continuation
  private var controller: FetchedResultsController<ManagedObject>?
  private var changes: [WatchChanges.Change] = []

  /// On the context's queue.
  init(
    _ query: WatchQuery, _ columns: ObjectColumns, _ request: FetchRequest<ManagedObject>,
    in context: ManagedObjectContext
  ) {
    self.query = query
    self.columns = columns
    self.context = context
    let (stream, continuation) = AsyncStream<WatchEvent>.makeStream()
    self.stream = stream
    self.continuation = continuation
    controller = FetchedResultsController(fetchRequest: request, managedObjectContext: context)
  }

  /// Begins: the stream's first event is the result. On the context's queue.
  /// - Throws: ``ControlError``, or the store's error.
  func events() throws -> AsyncStream<WatchEvent> {
    guard let controller, let stream else { return AsyncStream { $0.finish() } }
    self.stream = nil
    controller.delegate = self
    do {
      try controller.performFetch()
    } catch let error as FetchPredicateError {
      throw ControlError.invalid(field: "where or sort", reason: "\(error)")
    }
    let objects = controller.fetchedObjects ?? []
    if let problem = problem(of: objects.count) { throw problem }
    continuation.yield(
      .result(WatchResult(entity: query.entity, columns: columns.names, rows: objects.map(row))))
    // The closure retains the query until the stream is released; the controller is released on the context's queue.
    continuation.onTermination = { _ in self.context.perform { self.end() } }
    return stream
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
