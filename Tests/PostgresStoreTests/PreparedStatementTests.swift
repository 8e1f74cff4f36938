import ManagedObjects
import PostgresStore
import TestSupport
import Testing

@Suite("Statements that a session keeps prepared", .onPostgres)
struct PreparedStatementTests {
  @Test("are prepared again when there have been too many of them")
  func many() throws {
    let names = (0..<8).map { "value\($0)" }
    let item = EntityDefinition("Item", attributes: names.map { AttributeDefinition($0, .integer64) })
    let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(entities: [item]))
    try coordinator.addPersistentStore(
      .postgres(try PostgresCluster.shared().address(), schema: PostgresCluster.newSchema()))
    let context = ManagedObjectContext(.confinement, coordinator: coordinator)
    let object = try context.insert("Item")
    try context.save()
    // Each set of changed attributes has a statement of its own.
    for round in 1...2 {
      for set in 1..<(1 << names.count) {
        for (place, name) in names.enumerated() where set & (1 << place) != 0 {
          try object.setValue(Value.int(Int64(round * 1000 + set)), forKey: name)
        }
        try context.save()
      }
    }
    let other = ManagedObjectContext(.confinement, coordinator: coordinator)
    let saved = try other.fetch(FetchRequest<ManagedObject>(entityName: "Item"))
    #expect(saved.map { $0.value(forKey: "value0") } == [Value.int(2255)])
    try coordinator.close()
  }
}
