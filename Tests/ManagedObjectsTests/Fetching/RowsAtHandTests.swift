import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("Rows become objects while the store reads them")
struct RowsAtHandTests {
  private func refetch<T: ManagedObject>(_ type: T.Type) -> FetchRequest<T> {
    var request = FetchRequest<T>(entityName: "\(type)")
    request.includesPendingChanges = false
    request.shouldRefreshRefetchedObjects = true
    return request
  }

  @Test("a changed object that is read again keeps its change of a set", arguments: StoreKind.allCases)
  func changedSets(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let ada = try context.person("Ada")
    let (loom, engine) = (try context.insert(Project.self), try context.insert(Project.self))
    ada.projects = [loom]
    try context.save()
    let other = stack.context()
    let same = try #require(try other.named("Ada", Person.self))
    same.name = "Ada Lovelace"
    try other.save()

    ada.projects = [loom, engine]
    #expect(try context.fetch(refetch(Person.self)).map(\.name) == ["Ada Lovelace"])
    #expect(ada.projects == [loom, engine])
    try context.save()
    #expect(try stack.context().all(Person.self).first?.projects.count == 2)
  }

  @Test("what an object does when its values have become others may read the store", arguments: StoreKind.allCases)
  func awaking(_ kind: StoreKind) throws {
    let stack = try DiaryModel.stack(kind)
    let writer = stack.context()
    let item = try writer.insert(Item.self)
    let part = try writer.insert(Part.self)
    item.parts = [part]
    try writer.save()

    let context = stack.context()
    let found = try context.all(Item.self)
    context.diary.onEvent["awake \(SnapshotEventType.refresh.rawValue)"] = { object in
      guard let item = object as? Item else { return }
      item.label = "\(item.parts.count) part"
    }
    #expect(try context.fetch(refetch(Item.self)).map(\.label) == ["1 part"])
    #expect(found.map(\.label) == ["1 part"])
  }

  @Test("an object that reads the store while it is made gets an error", arguments: StoreKind.allCases)
  func initializers(_ kind: StoreKind) throws {
    let model = try ManagedObjectModel(
      entities: [
        EntityDefinition(
          "Counting",
          relationships: [RelationshipDefinition("others", to: "Counting", inverse: "others", isToMany: true)])
      ], classes: ["Counting": Counting.self])
    let stack = try CompanyStack(kind, model: model)
    let writer = stack.context()
    let one = try writer.insert(Counting.self)
    one.setObjects([try writer.insert(Counting.self)], 0)
    try writer.save()

    let context = stack.context()
    let found = try context.fetch(FetchRequest<Counting>(entityName: "Counting"))
    #expect(found.map(\.count) == [0, 0])
    #expect(throws: FetchRequestError.readWhileMaking) { try context.save() }
    #expect(found.map { ($0.objects(0) as Set<Counting>).count } == [1, 1])
  }
}

/// Counts what a relationship holds when it is made.
private final class Counting: ManagedObject {
  private(set) var count = 0
  override class var propertyNames: [String]? { ["others"] }

  required init(_ place: ObjectPlace) {
    super.init(place)
    if !isInserted { count = (objects(0) as Set<Counting>).count }
  }
}
