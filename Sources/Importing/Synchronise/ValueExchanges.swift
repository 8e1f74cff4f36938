import Dispatch
import ManagedObjects
import Synchronization

/// Which records of a `replace` have unique values that other objects had before it.
///
/// Belongs to the import's thread, in the import's transaction: the context sees what the records have made of the objects,
/// and another thread what they were before.
struct ValueExchanges {
  /// How many objects are looked at together.
  private static let together = 5_000
  private let context: ManagedObjectContext
  private let entity: EntityDescription
  private let seen: SeenObjects
  private let reading = DispatchQueue(label: "lade.import.before")

  init(context: ManagedObjectContext, entity: EntityDescription, seen: SeenObjects) {
    self.context = context
    self.entity = entity
    self.seen = seen
  }

  /// The objects whose records have a value of one of these objects, or of one of the former, and so on, by row number. If the
  /// first keep their values, all these records are rejected, and their objects keep theirs. An object with a further
  /// record isn't among them, because that record may be applied then.
  /// - Parameter limit: how many there may be; beyond it, some are left out.
  func losers(ifKept numbers: [Int64], limit: Int) throws -> [Int64] {
    var known = Set(numbers)
    var all = numbers
    var place = 0
    while place < all.count, all.count - numbers.count <= limit {
      let some = Array(all[place...].prefix(Self.together))
      place += some.count
      let takers = try holders(of: before(some)).filter { known.insert($0).inserted }
      // A new object had no values before.
      all += try before(Array(seen.describedOnce(among: takers))).map(\.id.number).sorted()
      context.reset()
    }
    return Array(all.dropFirst(numbers.count))
  }

  /// The objects that have unique values of these rows now.
  private func holders(of rows: [StoreRow]) throws -> [Int64] {
    var numbers: [Int64] = []
    for attributes in entity.uniquenessConstraints {
      let keys = Set(rows.map { row in UniqueKey(attributes.map { row.values[$0.slot] }) }.filter { !$0.isPartial })
      for predicate in UniqueKey.predicates(attributes, keys) {
        let request = FetchRequest<ManagedObject>(
          entityName: entity.name, predicate: predicate, includesSubentities: false)
        for object in try context.fetch(request)
        where keys.contains(UniqueKey(attributes.map { object.value(at: $0.slot) })) {
          numbers.append(object.objectID.number)
        }
      }
    }
    return numbers
  }

  /// Those of the rows that existed before the transaction, as they were.
  private func before(_ numbers: [Int64]) throws -> [StoreRow] {
    let coordinator = context.persistentStoreCoordinator
    let ids = try numbers.map { try coordinator.managedObjectID(entity: entity.name, number: $0) }
    guard let first = ids.first, let store = coordinator.persistentStore(for: first)?.content else { return [] }
    let done = DispatchSemaphore(value: 0)
    let rows = Mutex(Result<[StoreRow], any Error>.success([]))
    // Not `sync`, which may run on this thread, where the transaction is seen.
    reading.async {
      let result = Result { try store.rows(with: ids) }
      rows.withLock { $0 = result }
      done.signal()
    }
    done.wait()
    return try rows.withLock { try $0.get() }
  }
}
