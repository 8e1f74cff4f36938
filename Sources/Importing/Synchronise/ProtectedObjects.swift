// In `replace`, a record may take a unique value from an object whose own record is still to come: two people may exchange
// their addresses. Only at the end is it known that the object's own record was rejected, or that nothing will be deleted.
// The object stays then, and has to stay with its value, so the record that took it has to be rejected.
//
// The import is one transaction. It is rolled back, and the file is read again with such objects protected from the start. So
// are those whose records will be rejected in consequence, each having a value of the next: `ValueExchanges` finds a chain
// of any length at once. These rejections may concern further objects in another way: a record refers to one that was
// rejected, or a further record of its object counts now. So this may have to be repeated, and if objects are still
// incomplete after some passes, the job fails and changes nothing.
//
// Nothing of this is kept across a kill: a killed job finds the store as it was before its first pass.

/// Objects that an earlier pass over the source found to stay, by the job of the import and the number of their row.
final class ProtectedObjects {
  /// How often a source is read.
  static let passes = 10
  /// How many objects are remembered.
  static let limit = 1_000_000
  private var numbers: [String: Set<Int64>] = [:]
  private var pass = 1

  /// The objects of an import that no record may take a unique value from.
  func of(_ job: String) -> Set<Int64> { numbers[job] ?? [] }

  /// Protects objects in the next pass.
  /// - Throws: ``MappingError/cannotKeep(entity:count:examples:)`` if there can't be another pass.
  func protect(_ objects: IncompleteObjects) throws(MappingError) {
    let known = of(objects.job)
    guard pass < Self.passes, known.count + objects.numbers.count <= Self.limit else {
      throw .cannotKeep(entity: objects.entity, count: Int64(objects.numbers.count), examples: objects.examples)
    }
    pass += 1
    numbers[objects.job] = known.union(objects.numbers)
  }
}

/// At the end of a pass, objects that stay have lost unique values to other records.
struct IncompleteObjects: Error {
  let job: String
  let entity: String
  let numbers: [Int64]
  /// Some of them, for a message.
  let examples: [String]
}
