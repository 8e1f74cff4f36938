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
    let parent = ManagedObjectContext(.privateQueue, coordinator: stack.coordinator)
    parent.mergingInterval = .seconds(3600)
    parent.performAndWait { parent.automaticallyMergesChangesFromParent = true }
    let other = ManagedObjectContext(.privateQueue, coordinator: stack.coordinator)
    @Sendable func saveAnother() throws {
      try other.performAndWait {
        try other.company("Acme")
        try other.save()
      }
      // A merge of its own, so that the next one waits for the interval.
      parent.performAndWait {}
    }
    try saveAnother()

    let child = ManagedObjectContext(.privateQueue, parent: parent)
    try child.performAndWait {
      let ada = try child.person("Ada")
      try child.save()
      #expect(ada.objectID.isTemporaryID)
      // The parent merges this when it is asked next, and saves then.
      try other.performAndWait {
        try other.company("Bolt")
        try other.save()
      }
      let isSaved = Recorder<Bool>()
      let observer = NotificationCenter.default.addObserver(
        forName: ManagedObjectContext.didMergeChangesObjectIDsNotification, object: parent, queue: nil
      ) { _ in
        if isSaved.items.isEmpty {
          isSaved.note(true)
          #expect(throws: Never.self) { try parent.save() }
        }
      }
      defer { NotificationCenter.default.removeObserver(observer) }
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
