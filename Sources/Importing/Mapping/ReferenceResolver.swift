import ManagedObjects

/// Finds the objects that references point to, by key: one fetch a batch and relationship, and a bounded memory of keys
/// found before.
final class ReferenceResolver {
  private static let remembered = 50_000
  private let context: ManagedObjectContext
  private var known: [RelationshipDescription: [Value: ManagedObjectID]] = [:]

  init(context: ManagedObjectContext) { self.context = context }

  /// The objects of the keys that the store has.
  func find(_ reference: RecordMapping.Reference, keys: Set<Value>) throws -> [Value: ManagedObjectID] {
    var memory = known[reference.relationship] ?? [:]
    let missing = keys.filter { memory[$0] == nil }
    if !missing.isEmpty {
      if memory.count + missing.count > Self.remembered { memory.removeAll() }
      let entity = reference.relationship.destinationEntity
      for part in Array(missing).parts(of: 10_000) {
        var request = FetchRequest<ManagedObject>(
          entityName: entity.name, predicate: .isIn(reference.key.name, Array(part)))
        request.includesPendingChanges = false
        for row in try context.rows(for: request) { memory[row.values[reference.key.slot]] = row.id }
      }
    }
    known[reference.relationship] = memory
    return memory
  }

  /// Forgets what was found: rows may have been deleted by others since.
  func forget() { known.removeAll() }
}

extension Array {
  /// Its parts of at most `size` elements.
  func parts(of size: Int) -> [ArraySlice<Element>] {
    stride(from: 0, to: count, by: size).map { self[$0..<Swift.min($0 + size, count)] }
  }
}
