import Testing

@testable import Jobs

@Suite("The kinds of jobs that are offered")
struct StandardKindsTests {
  @Test("are those that a daemon does")
  func kinds() {
    #expect(StandardKinds.submitted == OperationCatalogue.standard.kinds.filter { $0 != ChangeOperation.kind }.sorted())
    #expect(Set(StandardKinds.all) == Set(StandardKinds.submitted + [ChangeOperation.kind]))
  }
}
