import Foundation
import GRDB
import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("References to objects that are gone")
struct BrokenReferenceTests {
  @Test(
    "an object that refers to a row deleted since is named with its relationship", arguments: StoreKind.allCases)
  func deletedMeanwhile(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let writer = stack.context()
    let (acme, rome, bob) = (try writer.company("Acme"), try writer.city(39, "Rome"), try writer.person("Bob"))
    try writer.save()
    let here = stack.context()
    let ada = try here.person("Ada")
    ada.employer = here.object(with: acme.objectID) as? Company
    let mine = try #require(here.object(with: bob.objectID) as? Person)
    mine.visited = [try #require(here.object(with: rome.objectID) as? City)]
    writer.delete(acme)
    writer.delete(rome)
    try writer.save()
    #expect {
      try here.save()
    } throws: { error in
      guard case ManagedObjectError.brokenReferences(let broken) = error else { return false }
      return broken == [
        .init(objectID: ada.objectID, relationship: "employer", missingObjectID: acme.objectID),
        .init(objectID: bob.objectID, relationship: "visited", missingObjectID: rome.objectID),
      ]
        && "\(error)".contains("employer") && !"\(error)".contains("code 787")
    }
    #expect(try stack.context().all(Person.self).map(\.name) == ["Bob"] && here.hasChanges)
  }

  @Test(
    "deleting an object to which another context has added a new one", arguments: StoreKind.allCases, [true, false])
  func referredToMeanwhile(_ kind: StoreKind, cascades: Bool) throws {
    let stack = try CompanyStack(kind)
    let writer = stack.context()
    let acme = try writer.company("Acme")
    try writer.save()
    let here = stack.context()
    let mine = try #require(here.object(with: acme.objectID) as? Company)
    here.delete(mine)
    here.processPendingChanges()
    let other: ManagedObject
    if cascades {
      let department = try writer.insert(Department.self)
      department.company = acme
      other = department
    } else {
      let contract = try writer.insert(Contract.self)
      contract.company = acme
      other = contract
    }
    try writer.save()
    #expect {
      try here.save()
    } throws: { error in
      switch error {
      case ManagedObjectError.brokenReferences(let broken):
        return broken == [
          .init(
            objectID: other.objectID, relationship: "company", missingObjectID: acme.objectID, isDeletedBySave: true)
        ]
      case ManagedObjectError.validation(let failures): return !cascades && failures.map(\.reason) == [.deleteDenied]
      default: return false
      }
    }
    #expect(try stack.context().all(Company.self).count == 1)
  }
}
