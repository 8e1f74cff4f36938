import Foundation
import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("A parent that saves while a child asks it")
struct PromotedWhileReadingTests {
  /// How the child asks for the objects that it knows.
  enum Way: CaseIterable {
    case objects, faults, withChanges
  }

  @Test(
    "gives objects their permanent IDs, under which the child knows them", arguments: StoreKind.allCases, Way.allCases)
  func identity(_ kind: StoreKind, _ way: Way) throws {
    let stack = try CompanyStack(kind)
    let parent = ContextQueue(.privateQueue, coordinator: stack.coordinator)
    parent.mergingInterval = .seconds(3600)
    parent.performAndWait { parent in parent.automaticallyMergesChangesFromParent = true }
    let other = ContextQueue(.privateQueue, coordinator: stack.coordinator)
    @Sendable func saveAnother() throws {
      try other.performAndWait { other in
        try other.company("Acme")
        try other.save()
      }
      // A merge of its own, so that the next one waits for the interval.
      parent.performAndWait { _ in }
    }
    try saveAnother()

    let child = ContextQueue(.privateQueue, parent: parent)
    try child.performAndWait { child in
      let ada = try child.person("Ada")
      try child.save()
      #expect(ada.objectID.isTemporaryID)
      // The parent merges this when it is asked next, and saves then.
      try other.performAndWait { other in
        try other.company("Bolt")
        try other.save()
      }
      let isSaved = Recorder<Bool>()
      let observer = parent.observe(ManagedObjectContext.didMergeChangesObjectIDsNotification) { _ in
        if isSaved.items.isEmpty {
          isSaved.note(true)
          #expect(throws: Never.self) { try parent.current.save() }
        }
      }
      defer { observer.cancel() }
      var request = FetchRequest<Person>(entityName: "Person")
      request.includesPropertyValues = way != .faults
      if way == .withChanges { ada.age = 3 }
      let found = try child.fetch(request)
      #expect(isSaved.items == [true])
      #expect(found.count == 1 && found.first === ada)
      #expect(!ada.objectID.isTemporaryID)
      #expect(child.registeredObjects.count { $0 is Person } == 1)
      #expect(ada.name == "Ada")
    }
  }
}
