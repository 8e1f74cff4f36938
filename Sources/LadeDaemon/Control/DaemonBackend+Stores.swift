import ControlAPI
import ControlServer
import ManagedObjects
import SQLiteStore

extension DaemonBackend {
  /// Objects of a store whose file is no larger are counted without being asked for: that takes some milliseconds.
  private static let cheaplyCounted: Int64 = 16 << 20

  func stores(_ query: ControlAPI.StoreQuery) async throws -> [Store] {
    var all: [Store] = []
    for store in stores.all { all.append(try await shown(store, query)) }
    return all
  }

  func store(_ name: String, _ query: ControlAPI.StoreQuery) async throws -> Store {
    guard let store = stores[name] else { throw ControlError.noSuchStore(name, known: stores.names) }
    return try await shown(store, query)
  }

  private func shown(_ store: DataStores.Store, _ query: ControlAPI.StoreQuery) async throws -> Store {
    let path = store.configuration.path
    let sizes = StoreSizes(ofSQLiteFile: path)
    var counts: [String: Int] = [:]
    if query.counts ?? (sizes.content <= Self.cheaplyCounted) {
      counts = try await reading(store) { context in
        var counts: [String: Int] = [:]
        for name in store.entities {
          counts[name] = try context.count(for: FetchRequest<ManagedObject>(entityName: name))
        }
        return counts
      }
    }
    return Store(
      name: store.configuration.name, path: path, model: store.configuration.model, size: sizes.content,
      walSize: sizes.log,
      entities: store.entities.sorted().map { name in
        let entity = store.coordinator.model.entitiesByName[name]
        return Store.Entity(
          name: name, isAbstract: entity?.isAbstract ?? false, count: counts[name],
          properties: entity?.properties.map(\.name) ?? [])
      })
  }
}
