import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("Pages beyond all bounds")
struct PageBoundTests {
  @Test(
    "begin at the first row or behind the last one, with unsaved changes and without", arguments: StoreKind.allCases)
  func bounds(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let context = stack.context()
    for age in Int32(1)...3 { try context.person("Ada", age: age) }
    try context.save()
    func ages(_ offset: Int, _ limit: Int) throws -> [Int32?] {
      let request = FetchRequest<Person>(
        entityName: "Person", sortDescriptors: [FetchSortDescriptor("age")], fetchLimit: limit, fetchOffset: offset)
      #expect(try context.count(for: request) == context.fetchIDs(request).count)
      return try context.fetch(request).map(\.age)
    }
    for isChanged in [false, true] {
      if isChanged { try context.all(Person.self, sortedBy: "age")[1].age = 9 }
      let all: [Int32?] = isChanged ? [1, 3, 9] : [1, 2, 3]
      #expect(try ages(0, .max) == all)
      #expect(try ages(2, .max) == [all[2]])
      #expect(try ages(.max, 1).isEmpty)
      #expect(try ages(.max, .max).isEmpty)
      #expect(try ages(-1, 2) == [all[0], all[1]])
      #expect(try ages(.min, 0) == all)
      #expect(try ages(1, -1) == [all[1], all[2]])
    }
  }
}
