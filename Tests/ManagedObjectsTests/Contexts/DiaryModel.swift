import ManagedObjects
import StoreTestSupport
import TestSupport

/// A model whose objects record the calls they get, in the diary of their context and in closures that a test adds.
enum DiaryModel {
  static let model: ManagedObjectModel = {
    do {
      return try ManagedObjectModel(
        entities: [
          EntityDefinition(
            "Item",
            attributes: [
              AttributeDefinition("name", .string, isOptional: false, defaultValue: .string("new")),
              AttributeDefinition("count", .integer32, minimumValue: .int(0), maximumValue: .int(9)),
              AttributeDefinition("stamp", .string), AttributeDefinition("label", .string, isTransient: true),
            ],
            relationships: [
              RelationshipDefinition("parts", to: "Part", inverse: "owner", isToMany: true, deleteRule: .cascade),
              RelationshipDefinition("locks", to: "Part", inverse: "locked", isToMany: true, deleteRule: .deny),
            ]),
          EntityDefinition(
            "Part", attributes: [AttributeDefinition("name", .string)],
            relationships: [
              RelationshipDefinition("owner", to: "Item", inverse: "parts"),
              RelationshipDefinition("locked", to: "Item", inverse: "locks"),
            ]),
          EntityDefinition("Plain", attributes: [AttributeDefinition("name", .string)]),
        ], classes: ["Item": Item.self, "Part": Part.self])
    } catch {
      preconditionFailure("the diary's model doesn't fit together: \(error)")
    }
  }()

  static func stack(_ kind: StoreKind) throws -> CompanyStack { try CompanyStack(kind, model: model) }
}

/// The calls that objects of a context got, and closures for them to run then.
final class Diary {
  var entries: [String] = []
  var onEvent: [String: (DiaryObject) throws -> Void] = [:]

  /// The entries since the last time.
  func take() -> [String] {
    defer { entries = [] }
    return entries
  }
}

extension ManagedObjectContext {
  var diary: Diary {
    if let diary = userInfo["diary"] as? Diary { return diary }
    let diary = Diary()
    userInfo["diary"] = diary
    return diary
  }
}

class DiaryObject: ManagedObject {
  /// That of the context it had last.
  private var latestDiary: Diary?
  var name: String? {
    get { self[0] }
    set { self[0] = newValue }
  }

  private func noteThrowing(_ event: String) throws {
    latestDiary = managedObjectContext?.diary ?? latestDiary
    guard let diary = latestDiary else { return }
    diary.entries.append(event)
    try diary.onEvent[event]?(self)
  }

  private func note(_ event: String) {
    do { try noteThrowing(event) } catch { preconditionFailure("\(event) can't throw: \(error)") }
  }

  override func awakeFromInsert() { note("awakeFromInsert") }
  override func awakeFromFetch() { note("awakeFromFetch") }
  override func awake(fromSnapshotEvents flags: SnapshotEventType) { note("awake \(flags.rawValue)") }
  override func prepareForDeletion() { note("prepareForDeletion") }
  override func willSave() { note("willSave") }
  override func didSave() { note("didSave") }
  override func willTurnIntoFault() { note("willTurnIntoFault") }
  override func didTurnIntoFault() { note("didTurnIntoFault") }

  override func validateForInsert() throws {
    try super.validateForInsert()
    try noteThrowing("validateForInsert")
  }
  override func validateForUpdate() throws {
    try super.validateForUpdate()
    try noteThrowing("validateForUpdate")
  }
  override func validateForDelete() throws {
    try super.validateForDelete()
    try noteThrowing("validateForDelete")
  }
}

final class Item: DiaryObject {
  override class var propertyNames: [String]? { ["name", "count", "stamp", "label", "parts", "locks"] }
  var count: Int32? {
    get { self[1] }
    set { self[1] = newValue }
  }
  var stamp: String? {
    get { self[2] }
    set { self[2] = newValue }
  }
  var label: String? {
    get { self[3] }
    set { self[3] = newValue }
  }
  var parts: Set<Part> {
    get { objects(4) }
    set { setObjects(newValue, 4) }
  }
  var locks: Set<Part> {
    get { objects(5) }
    set { setObjects(newValue, 5) }
  }

  override func validateValue(_ value: inout Value, forKey key: String) throws {
    try super.validateValue(&value, forKey: key)
    if key == "name", value == .string("untrimmed ") { value = .string("trimmed") }
    if key == "stamp", value == .string("bad") { throw ValidationFailure(self, property: key, message: "a bad stamp") }
  }
}

final class Part: DiaryObject {
  override class var propertyNames: [String]? { ["name", "owner", "locked"] }
}
