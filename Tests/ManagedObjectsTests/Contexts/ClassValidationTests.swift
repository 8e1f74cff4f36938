import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("Validation by a class of one's own")
struct ClassValidationTests {
  private struct TooGrand: Error, CustomStringConvertible {
    var description: String { "too grand" }
  }

  /// The property and code of each failure that is thrown.
  private func failures(_ body: () throws -> Void) -> [String] {
    do {
      try body()
      return []
    } catch ManagedObjectError.validation(let failures) {
      return failures.map { "\($0.property) \($0.code)" }.sorted()
    } catch {
      return ["\(error)"]
    }
  }

  @Test(
    "what the model, the properties and the whole object refuse is reported together", arguments: StoreKind.allCases)
  func together(_ kind: StoreKind) throws {
    let stack = try DiaryModel.stack(kind)
    let context = stack.context()
    let saved = try context.insert(Item.self)
    let locked = try context.insert(Item.self)
    locked.locks = [try context.insert(Part.self)]
    try context.save()
    context.diary.onEvent["validateForInsert"] = { _ in throw TooGrand() }
    context.diary.onEvent["validateForUpdate"] = { object in
      throw ManagedObjectError.validation([
        ValidationFailure(object, property: "name", message: "one"), ValidationFailure(object, message: "two"),
      ])
    }
    context.diary.onEvent["validateForDelete"] = { throw ValidationFailure($0, message: "needed") }
    saved.count = -1
    let new = try context.insert(Item.self)
    (new.name, new.count, new.stamp) = (nil, 10, "bad")
    context.delete(locked)
    #expect(
      failures { try context.save() } == [
        " refused", " refused", " refused", "count above_maximum", "count below_minimum", "locks delete_denied",
        "name missing_value", "name refused", "stamp refused",
      ])
    #expect(try stack.context().count(for: FetchRequest<Item>(entityName: "Item")) == 2)
    context.diary.onEvent = [:]
    context.rollback()
    saved.count = 2
    try context.save()
  }

  @Test("a failure says which object and why", arguments: StoreKind.allCases)
  func words(_ kind: StoreKind) throws {
    let context = try DiaryModel.stack(kind).context()
    let item = try context.insert(Item.self)
    context.diary.onEvent["validateForInsert"] = { _ in throw TooGrand() }
    #expect {
      try context.save()
    } throws: { error in
      guard case ManagedObjectError.validation(let failures) = error else { return false }
      return failures.map(\.objectID) == [item.objectID] && "\(error)" == "Item: too grand"
    }
  }

  @Test("a value may be replaced while it is checked", arguments: StoreKind.allCases)
  func replacing(_ kind: StoreKind) throws {
    let stack = try DiaryModel.stack(kind)
    let context = stack.context()
    try context.insert(Item.self).name = "untrimmed "
    try context.save()
    #expect(!context.hasChanges)
    #expect(try stack.context().all(Item.self).first?.name == "trimmed")
  }

  @Test("called by the program, validation throws what a save would", arguments: StoreKind.allCases)
  func called(_ kind: StoreKind) throws {
    let context = try DiaryModel.stack(kind).context()
    let item = try context.insert(Item.self)
    try item.validateForInsert()
    (item.name, item.count, item.stamp) = (nil, 10, "bad")
    #expect(
      failures { try item.validateForInsert() } == ["count above_maximum", "name missing_value", "stamp refused"])
    #expect(failures { try item.validateForUpdate() }.count == 3)
    var value = Value.int(11)
    #expect(failures { try item.validateValue(&value, forKey: "count") } == ["count above_maximum"])
    value = .int(3)
    try item.validateValue(&value, forKey: "count")
    #expect(throws: ManagedObjectError.unknownProperty(entity: "Item", name: "size")) {
      try item.validateValue(&value, forKey: "size")
    }
    item.locks = [try context.insert(Part.self)]
    #expect(failures { try item.validateForDelete() } == ["locks delete_denied"])
    let plain = try context.insert("Plain")
    try plain.validateForInsert()
    try plain.validateForDelete()
  }
}
