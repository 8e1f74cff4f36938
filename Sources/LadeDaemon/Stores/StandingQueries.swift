// The standing queries of a store are fetched results controllers in one feed of the store's main context: see
// `StoreMainContext`. The feed exists from the first query to the last.

import ControlAPI
import ControlServer
import ManagedObjects
import Synchronization

/// The standing queries of a daemon. Safe from any thread.
final class StandingQueries: Sendable {
  private struct WeakQuery {
    weak var value: StandingQuery?
  }

  private let feeds = Mutex<[String: WeakContextQueue]>([:])
  private let queries = Mutex<[String: [WeakQuery]]>([:])

  /// Ends the queries of a store whose content was replaced, which no save says. Later queries share no object with them.
  func end(of store: String) {
    feeds.withLock { $0[store] = nil }
    let ended = queries.withLock { $0.removeValue(forKey: store) ?? [] }
    for query in ended.compactMap(\.value) { query.endReplaced() }
  }

  /// Follows a query: the stream begins with its result and goes on with each change until it is released.
  /// - Throws: ``ControlError`` for a query that can't be followed, or the store's error.
  func follow(
    _ query: WatchQuery, of entity: EntityDescription, in store: DataStores.Store, limit: QueryLimit
  ) async throws -> AsyncStream<WatchEvent> {
    let columns = try ObjectColumns(query.columns, of: entity)
    try ObjectColumns.check(query.sort, of: entity)
    try columns.refuseCounts(query.sort, of: entity)
    let request = try Self.request(query, of: entity, in: store)
    let feed = feed(of: store)
    // What was saved before the fetch isn't announced as a change after it.
    await store.main.catchUp()
    return try await limit.reading { interruption in
      try await feed.perform { context in
        try self.begin(StandingQuery(query, columns, request, in: context, limit), of: store, interruption)
      }
    }
  }

  /// On the feed's queue.
  private func begin(
    _ standing: StandingQuery, of store: DataStores.Store, _ interruption: Interruption
  ) throws -> AsyncStream<WatchEvent> {
    // Before it fetches, so that it learns of every later replacement.
    queries.withLock { queries in
      queries[store.configuration.name, default: []].removeAll { $0.value == nil }
      queries[store.configuration.name, default: []].append(WeakQuery(value: standing))
    }
    return try standing.events(interruption)
  }

  private func feed(of store: DataStores.Store) -> ContextQueue {
    feeds.withLock { feeds in
      let name = store.configuration.name
      if let feed = feeds[name]?.queue, feed.persistentStoreCoordinator === store.coordinator { return feed }
      let feed = store.main.makeFeed(name: "watch \(name)")
      feeds[name] = WeakContextQueue(feed)
      return feed
    }
  }

  private static func request(
    _ query: WatchQuery, of entity: EntityDescription, in store: DataStores.Store
  ) throws -> FetchRequest<ManagedObject> {
    var request = FetchRequest<ManagedObject>(entityName: query.entity)
    if let format = query.predicate {
      let predicate = try FetchPredicate(where: format, of: entity, in: store)
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
