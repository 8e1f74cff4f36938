// Standing queries live in a context of their store that has a queue of its own and merges by itself what imports save:
// made for the first query, gone with the last. Not in one of the main queue: a query looks at each row that is saved, and
// its first look is a fetch that may read all of a table. Nothing of that is to be waited for by whoever asks for a job
// (rule 2 of the design).

import ControlAPI
import ControlServer
import ManagedObjects
import Synchronization

/// The standing queries of a daemon. Safe from any thread.
final class StandingQueries: Sendable {
  private struct WeakContext {
    weak var value: ManagedObjectContext?
  }

  private struct WeakQuery {
    weak var value: StandingQuery?
  }

  private let contexts = Mutex<[String: WeakContext]>([:])
  private let merges: MergeMeter
  private let queries = Mutex<[String: [WeakQuery]]>([:])

  /// - Parameter merges: what measures how far the queries lag behind.
  init(merges: MergeMeter) { self.merges = merges }

  /// Ends the queries of a store whose content was replaced, which no save tells of.
  func end(of store: String) {
    let ended = queries.withLock { $0.removeValue(forKey: store) ?? [] }
    for query in ended.compactMap(\.value) { query.endReplaced() }
  }

  /// Follows a query from now on: its result, then each change, until the stream is let go of.
  /// - Throws: ``ControlError`` for a query that can't be followed, or the store's error.
  func follow(
    _ query: WatchQuery, of entity: EntityDescription, in store: DataStores.Store
  ) async throws -> AsyncStream<WatchEvent> {
    let columns = try ObjectColumns(query.columns, of: entity)
    try ObjectColumns.check(query.sort, of: entity)
    let request = try Self.request(query)
    let context = context(of: store)
    return try await context.perform {
      context.automaticallyMergesChangesFromParent = true
      let standing = StandingQuery(query, columns, request, in: context)
      // Before it has fetched: what is replaced after that is told.
      self.queries.withLock { queries in
        queries[store.configuration.name, default: []].removeAll { $0.value == nil }
        queries[store.configuration.name, default: []].append(WeakQuery(value: standing))
      }
      return try standing.events()
    }
  }

  private func context(of store: DataStores.Store) -> ManagedObjectContext {
    contexts.withLock { contexts in
      let name = store.configuration.name
      if let context = contexts[name]?.value, context.persistentStoreCoordinator === store.coordinator {
        return context
      }
      let context = ManagedObjectContext(.privateQueue, coordinator: store.coordinator, name: "watch \(name)")
      // What an import saves within that time is looked at together.
      context.mergingInterval = .milliseconds(50)
      context.didMergeSaves = { [merges] in merges.note($0.lag, in: .watch) }
      contexts[name] = WeakContext(value: context)
      return context
    }
  }

  private static func request(_ query: WatchQuery) throws -> FetchRequest<ManagedObject> {
    var request = FetchRequest<ManagedObject>(entityName: query.entity)
    if let format = query.predicate {
      let predicate: FetchPredicate
      do {
        predicate = try FetchPredicate(format: format)
      } catch {
        throw ControlError.invalid(field: "where", reason: "\(error)")
      }
      // It can take without end on the right text, and is asked for each row that is saved.
      if predicate.uses(.matches) {
        throw ControlError.invalid(
          field: "where", reason: "a standing query can't use MATCHES", hint: "Use LIKE, BEGINSWITH or CONTAINS.")
      }
      request.predicate = predicate
    }
    request.sortDescriptors =
      query.sort.map { FetchSortDescriptor($0.keyPath, ascending: $0.ascending) } + [FetchSortDescriptor("SELF")]
    request.fetchLimit = query.limit ?? WatchQuery.maximumLimit + 1
    return request
  }
}
