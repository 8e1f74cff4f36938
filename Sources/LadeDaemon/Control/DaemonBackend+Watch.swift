import ControlAPI
import ControlServer

extension DaemonBackend {
  func watch(_ query: WatchQuery) async throws -> AsyncStream<WatchEvent> {
    let (store, entity) = try target(ObjectQuery(entity: query.entity, store: query.store))
    return try await standing.follow(query, of: entity, in: store)
  }
}
