import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("A batch insert's row that meets two stored rows")
struct BatchTwoRowsTests {
  private static let model: ManagedObjectModel = {
    do {
      return try ManagedObjectModel(entities: [
        EntityDefinition(
          "Part",
          attributes: [
            AttributeDefinition("name", .string), AttributeDefinition("code", .string),
            AttributeDefinition("serial", .integer64), AttributeDefinition("weight", .integer64),
          ],
          relationships: [
            RelationshipDefinition("notes", to: "Note", inverse: "part", isToMany: true, deleteRule: .cascade),
            RelationshipDefinition("base", to: "Part"),
          ], uniquenessConstraints: [["code"], ["serial"]]),
        EntityDefinition("SparePart", parent: "Part"),
        EntityDefinition(
          "Note", attributes: [AttributeDefinition("text", .string)],
          relationships: [RelationshipDefinition("part", to: "Part", inverse: "notes")]),
      ])
    } catch {
      preconditionFailure("the test's model doesn't fit together: \(error)")
    }
  }()

  /// One part with the code, and one with the serial number, that has a note and is the first one's base.
  private func stack(_ kind: StoreKind) throws -> (CompanyStack, byCode: ManagedObjectID, bySerial: ManagedObjectID) {
    let stack = try CompanyStack(kind, model: Self.model)
    let context = stack.context()
    let (first, second) = (try context.insert("Part"), try context.insert("Part"))
    try first.setValue(.string("first"), forKey: "name")
    try first.setValue(.string("A"), forKey: "code")
    try second.setValue(.string("second"), forKey: "name")
    try second.setValue(.int(7), forKey: "serial")
    try first.setValue(.object(second.objectID), forKey: "base")
    let note = try context.insert("Note")
    try note.setValue(.object(second.objectID), forKey: "part")
    try context.save()
    return (stack, first.objectID, second.objectID)
  }

  private let row: [String: Value] = [
    "name": .string("both"), "code": .string("A"), "serial": .int(7), "weight": .int(3),
  ]

  private func summary(_ stack: CompanyStack) throws -> [String] {
    let request = FetchRequest<ManagedObject>(entityName: "Part", sortDescriptors: [.init("objectID")])
    return try stack.context().fetch(request).map { part in
      ["name", "code", "serial", "weight"].map { part.value(forKey: $0)?.plainText ?? "-" }.joined(separator: " ")
    }
  }

  @Test("is refused under the error policy, with both rows named", arguments: StoreKind.allCases)
  func refused(_ kind: StoreKind) throws {
    let (stack, byCode, bySerial) = try stack(kind)
    #expect {
      try stack.context().execute(BatchInsertRequest(entityName: "Part", objects: [row]))
    } throws: { error in
      guard case ManagedObjectError.constraintConflicts(let conflicts) = error else { return false }
      return conflicts.map(\.databaseObjectID) == [byCode, bySerial]
        && "\(error)" == "1 object(s) are in the store already: Part by code, as \(byCode) is; Part by serial, as "
          + "\(bySerial) is"
    }
    #expect(try summary(stack).count == 2)
  }

  @Test("goes into the first one; what it trumps the other with takes that away", arguments: StoreKind.allCases)
  func trumps(_ kind: StoreKind) throws {
    for policy in [MergePolicy.mergeByPropertyObjectTrump, .overwrite] {
      let (stack, byCode, _) = try stack(kind)
      let context = stack.context()
      context.mergePolicy = policy
      var request = BatchInsertRequest(entityName: "Part", objects: [row])
      request.resultType = .objectIDs
      #expect(try context.execute(request).objectIDs == [byCode])
      #expect(try summary(stack) == ["both A 7 3"])
      let reader = stack.context()
      #expect(try reader.count(for: FetchRequest<ManagedObject>(entityName: "Note")) == 0, "its delete rule cascades")
      let base = reader.object(with: byCode).value(forKey: "base")
      #expect(base == .null, "nothing refers to a row that is gone")
    }
  }

  @Test("fills the first one, and leaves the other what it has, when the store trumps", arguments: StoreKind.allCases)
  func storeTrumps(_ kind: StoreKind) throws {
    let (stack, _, _) = try stack(kind)
    let context = stack.context()
    context.mergePolicy = .mergeByPropertyStoreTrump
    try context.execute(BatchInsertRequest(entityName: "Part", objects: [row]))
    #expect(try summary(stack) == ["first A  3", "second  7 "])
    context.mergePolicy = .rollback
    try context.execute(BatchInsertRequest(entityName: "Part", objects: [row]))
    #expect(try summary(stack) == ["first A  3", "second  7 "])
  }

  @Test("rows that had gone into the one that makes way aren't lost", arguments: StoreKind.allCases)
  func arrivals(_ kind: StoreKind) throws {
    let (stack, _, _) = try stack(kind)
    let context = stack.context()
    context.mergePolicy = .mergeByPropertyObjectTrump
    let later: [String: Value] = ["name": .string("later"), "code": .string("B")]
    let other: [String: Value] = ["code": .string("B"), "serial": .int(7)]
    try context.execute(BatchInsertRequest(entityName: "Part", objects: [other]))
    try context.execute(BatchInsertRequest(entityName: "Part", objects: [row, later]))
    #expect(try summary(stack) == ["both A 7 3", "later B  "])
  }

  @Test("a row of another entity makes way, or stays", arguments: StoreKind.allCases)
  func otherEntity(_ kind: StoreKind) throws {
    let (stack, _, _) = try stack(kind)
    let context = stack.context()
    let spare: [String: Value] = ["name": .string("spare"), "code": .string("A")]
    context.mergePolicy = .mergeByPropertyStoreTrump
    try context.execute(BatchInsertRequest(entityName: "SparePart", objects: [spare]))
    #expect(try summary(stack) == ["first A  ", "second  7 "])
    context.mergePolicy = .mergeByPropertyObjectTrump
    try context.execute(BatchInsertRequest(entityName: "SparePart", objects: [spare]))
    #expect(try summary(stack) == ["second  7 ", "spare A  "])
  }
}
