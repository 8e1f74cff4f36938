import ControlAPI

extension ControlClient {
  func objects(_ query: ObjectQuery) async throws -> ObjectPage {
    try await send(.GET, .objects(entity: query.entity), query.queryString)
  }

  func count(_ query: ObjectQuery) async throws -> ObjectCount {
    try await send(.GET, .count(entity: query.entity), query.queryString)
  }

  func stores(_ query: StoreCountQuery = StoreCountQuery()) async throws -> StoreList {
    try await send(.GET, .stores, query.queryString)
  }

  func store(_ name: String, _ query: StoreCountQuery = StoreCountQuery()) async throws -> Store {
    try await send(.GET, .store(name), query.queryString)
  }

  func backups(of store: String) async throws -> BackupList { try await send(.GET, .backups(store: store)) }

  /// Follows a standing query until the stream ends or `each` returns `false`.
  func watch(_ query: WatchQuery, each: @Sendable (WatchEvent) async throws -> Bool) async throws {
    try await events(.watch, query.queryString, read: { try WatchEvent($0) }, each: each)
  }
}
