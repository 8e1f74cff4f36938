import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("Uniqueness of several values together")
struct CompoundUniquenessTests {
  @Test("the values clash together, not each for itself", arguments: StoreKind.allCases)
  func together(_ kind: StoreKind) throws {
    let context = try CompanyStack(kind).context()
    for (name, country, number) in [("A", "CH", 1), ("B", "CH", 2), ("C", "IT", 1)] {
      let company = try context.company(name)
      company.country = country
      company.registration = number
    }
    try context.save()
    let clash = try context.company("D")
    clash.country = "IT"
    clash.registration = 1
    #expect {
      try context.save()
    } throws: { error in
      guard case ManagedObjectError.constraintConflicts(let conflicts) = error else { return false }
      return conflicts.first?.constraint == ["country", "registration"]
    }
  }

  @Test("an object without one of the values clashes with none", arguments: StoreKind.allCases)
  func withoutValue(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    for name in ["A", "B"] {
      let context = stack.context()
      try context.company(name).country = "CH"
      try context.company(name + name)
      try context.save()
    }
    #expect(try stack.context().all(Company.self).count == 4)
  }
}
