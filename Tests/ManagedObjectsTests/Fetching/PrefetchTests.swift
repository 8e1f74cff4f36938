import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("Prefetching")
struct PrefetchTests {
  /// Ten companies with three employees each, of whom each has a desk and is in two of four projects.
  private func companies(_ kind: StoreKind) throws -> CompanyStack {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    let projects = try (0..<4).map { number in
      let project = try context.insert(Project.self)
      project.title = "Project \(number)"
      return project
    }
    for number in 0..<10 {
      let company = try context.company("C\(number)")
      for place in 0..<3 {
        let person = try context.person("P\(number).\(place)")
        person.employer = company
        person.desk = try context.insert(Desk.self)
        person.desk?.label = "D\(number).\(place)"
        person.projects = [projects[number % 4], projects[(number + place) % 3]]
      }
    }
    try context.save()
    return stack
  }

  /// Checks how often `body` reads from the store.
  private func expect(
    _ stack: CompanyStack, reads expected: Int, at location: SourceLocation = #_sourceLocation,
    _ body: () throws -> Void
  ) rethrows {
    let before = stack.reads.items.count
    try body()
    #expect(stack.reads.items.count - before == expected, sourceLocation: location)
  }

  @Test("reads a to-one relationship of all objects at once", arguments: StoreKind.allCases)
  func toOne(_ kind: StoreKind) throws {
    let stack = try companies(kind)
    let context = stack.context()
    var request = FetchRequest<Person>(entityName: "Person")
    try expect(stack, reads: 11) { _ = try context.fetch(request).map { $0.employer?.name } }
    context.reset()
    request.relationshipKeyPathsForPrefetching = ["employer", "desk"]
    var found: [Person] = []
    try expect(stack, reads: 3) { found = try context.fetch(request) }
    expect(stack, reads: 0) {
      for person in found {
        #expect(person.employer?.name?.last == person.name?.dropFirst().first)
        #expect(person.desk?.label?.dropFirst() == person.name?.dropFirst())
      }
    }
  }

  @Test("reads sets, and the objects behind them", arguments: StoreKind.allCases)
  func toMany(_ kind: StoreKind) throws {
    let stack = try companies(kind)
    let context = stack.context()
    var request = FetchRequest<Company>(entityName: "Company")
    request.relationshipKeyPathsForPrefetching = ["employees.projects", "employees.desk", "departments"]
    var found: [Company] = []
    try expect(stack, reads: 5) { found = try context.fetch(request) }
    expect(stack, reads: 0) {
      for company in found {
        #expect(company.employees.count == 3 && company.departments.isEmpty)
        for person in company.employees {
          #expect(person.projects.allSatisfy { $0.title != nil } && !person.projects.isEmpty)
          #expect(person.desk?.label != nil)
        }
      }
    }
    let plain = stack.context()
    for company in found {
      let same = try #require(plain.object(with: company.objectID) as? Company)
      #expect(Set(same.employees.map(\.objectID)) == Set(company.employees.map(\.objectID)))
      for person in company.employees {
        let same = try #require(plain.object(with: person.objectID) as? Person)
        #expect(Set(same.projects.map(\.objectID)) == Set(person.projects.map(\.objectID)))
      }
    }
  }

  @Test("keeps unsaved changes of the sets", arguments: StoreKind.allCases)
  func changed(_ kind: StoreKind) throws {
    let stack = try companies(kind)
    let context = stack.context()
    let mover = try #require(try context.named("P0.0", Person.self))
    let target = try #require(try context.named("C1", Company.self))
    mover.employer = target
    var request = FetchRequest<Company>(entityName: "Company", sortDescriptors: [FetchSortDescriptor("name")])
    request.relationshipKeyPathsForPrefetching = ["employees"]
    let found = try context.fetch(request)
    #expect(found[0].employees.count == 2 && found[1].employees.count == 4 && found[1].employees.contains(mover))
    try context.save()
    #expect(try stack.context().named("C1", Company.self)?.employees.count == 4)
  }

  @Test("goes by batch with a batch size", arguments: StoreKind.allCases)
  func batches(_ kind: StoreKind) throws {
    let stack = try companies(kind)
    let context = stack.context()
    var request = FetchRequest<Company>(entityName: "Company", sortDescriptors: [FetchSortDescriptor("name")])
    request.relationshipKeyPathsForPrefetching = ["employees"]
    request.fetchBatchSize = 5
    let objects = try context.fetch(request)
    expect(stack, reads: 4) { for company in objects { #expect(company.employees.allSatisfy { $0.name != nil }) } }
    context.reset()
    let array = try context.fetchBatched(request)
    expect(stack, reads: 4) { for company in array { #expect(company.employees.allSatisfy { $0.name != nil }) } }
  }

  @Test("of a child asks the store once for each relationship, too", arguments: StoreKind.allCases)
  func child(_ kind: StoreKind) throws {
    let stack = try companies(kind)
    let parent = stack.context()
    let child = ManagedObjectContext(.confinement, parent: parent)
    var request = FetchRequest<Company>(entityName: "Company")
    request.relationshipKeyPathsForPrefetching = ["employees.desk"]
    var found: [Company] = []
    try expect(stack, reads: 3) { found = try child.fetch(request) }
    expect(stack, reads: 0) {
      for company in found { #expect(company.employees.allSatisfy { $0.desk?.label != nil }) }
    }
  }

  @Test("a path that isn't a relationship is refused", arguments: StoreKind.allCases)
  func refused(_ kind: StoreKind) throws {
    let context = try companies(kind).context()
    var request = FetchRequest<Company>(entityName: "Company")
    for path in ["name", "employes", "employees.name", ""] {
      request.relationshipKeyPathsForPrefetching = [path]
      #expect(throws: FetchPredicateError.self) { try context.fetch(request) }
    }
  }
}
