import Foundation
import ManagedObjects

extension StoreConformance {
  static let identityCases: [Case] = [
    Case(name: "the store has an identifier, which is part of every permanent ID") { stack in
      try expect(!stack.store.identifier.isEmpty, "the identifier is empty")
      let context = stack.context()
      let ada = try context.person("Ada")
      try expect(ada.objectID.isTemporaryID, "a new object has a permanent ID")
      try context.save()
      try expect(!ada.objectID.isTemporaryID, "a saved object has a temporary ID")
      try expect(ada.objectID.storeIdentifier, equals: stack.store.identifier, "the identifier in the ID")
      let uri = ada.objectID.uriRepresentation
      try expect(
        stack.coordinator.managedObjectID(forURIRepresentation: uri) == ada.objectID, "a URI stands for another object")
    },
    Case(name: "an ID is never given twice, also not of a deleted row, and is shared by no entity of the hierarchy") {
      stack in
      let context = stack.context()
      var ids: Set<ManagedObjectID> = []
      for round in 0..<5 {
        let objects = try (0..<4).map { try $0 % 2 == 0 ? context.person("\(round)") : context.employee("\(round)") }
        try context.save()
        for object in objects {
          try expect(ids.insert(object.objectID).inserted, "\(object.objectID) was given again")
          context.delete(object)
        }
        try context.save()
      }
    },
    Case(name: "a permanent ID that was obtained before the save is the saved row's") { stack in
      let context = stack.context()
      let (ada, bob) = (try context.person("Ada"), try context.employee("Bob"))
      try context.obtainPermanentIDs(for: [ada, bob])
      let ids = [ada.objectID, bob.objectID]
      try expect(ids.allSatisfy { !$0.isTemporaryID } && ids[0] != ids[1], "the IDs aren't permanent")
      try context.person("Cid")
      try context.save()
      try expect([ada.objectID, bob.objectID], equals: ids, "the IDs after the save")
      let other = stack.context()
      try expect(try other.existingObject(with: ids[1]).get("name"), equals: .string("Bob"), "the row of the ID")
      try expect(Set(try other.all("Person").map(\.objectID)).count, equals: 3, "the number of different IDs")
    },
  ]

  static let rowCases: [Case] = [
    Case(name: "values of every type are read as they were written, and null as null") { stack in
      let values: [String: Value] = [
        "name": .string("Zoë \u{1F469}\u{200D}\u{1F680} \"quoted\"\n"), "age": .int(-40), "number": .int(.max),
        "height": .double(1.7250000000000001),
        "salary": .decimal(Decimal(string: stack.demands == .all ? "1234567890.0123456789" : "1234567890.01235") ?? 0),
        "born": .date(Date(timeIntervalSince1970: -12_345.5)), "isActive": .bool(true),
        "photo": .data(Data([0, 255, 10, 0])), "badge": .uuid(UUID()),
        "page": .uri(URL(string: "https://example.org/a?b=c#d") ?? URL(fileURLWithPath: "/")),
      ]
      let context = stack.context()
      let full = try context.person("")
      for (name, value) in values { try full.setValue(value, forKey: name) }
      let empty = try context.insert("Person")
      try context.save()
      let other = stack.context()
      let (found, none) = (
        try other.existingObject(with: full.objectID), try other.existingObject(with: empty.objectID)
      )
      for (name, value) in values {
        try expect(found.get(name), equals: value, name)
        try expect(none.get(name), equals: .null, "\(name) of a row without values")
      }
    },
    Case(name: "changes and deletions are written, and nothing else changes") { stack in
      let context = stack.context()
      let (ada, bob, cid) = (
        try context.person("Ada", age: 1), try context.person("Bob", age: 2), try context.person("Cid")
      )
      try context.save()
      try ada.setValue(.null, forKey: "age")
      try bob.setValue(.string("Bert"), forKey: "name")
      context.delete(cid)
      try context.save()
      let other = stack.context()
      try expect(try other.names("Person"), equals: ["Ada", "Bert"], "the names")
      try expect(try other.all("Person").map { $0.get("age") }, equals: [.null, .int(2)], "the ages")
      try expect(
        throwsNotFound { _ = try other.existingObject(with: cid.objectID) }, "a deleted row can be read")
    },
    Case(name: "a large value is read as it was written, found by a predicate, replaced and cleared") { stack in
      let values = [Data(repeating: 1, count: 300_000), Data(repeating: 2, count: 200_000), Data([3])]
      let context = stack.context()
      let ada = try context.person("Ada")
      for value in values {
        try ada.setValue(.data(value), forKey: "photo")
        try context.save()
        let other = stack.context()
        try expect(try other.existingObject(with: ada.objectID).get("photo"), equals: .data(value), "the value")
        let request = FetchRequest<ManagedObject>(
          entityName: "Person", predicate: try FetchPredicate(format: "photo == %@", Value.data(value)))
        try expect(try other.count(for: request), equals: 1, "the number of rows with the value")
      }
      try ada.setValue(.null, forKey: "photo")
      try context.save()
      try expect(try stack.context().existingObject(with: ada.objectID).get("photo"), equals: .null, "no value")
    },
    Case(name: "transient attributes aren't stored") { stack in
      let context = stack.context()
      let ada = try context.person("Ada")
      try ada.setValue(.string("unsaved"), forKey: "note")
      try context.save()
      try expect(try stack.context().existingObject(with: ada.objectID).get("note"), equals: .null, "the attribute")
    },
    Case(name: "many rows are saved at once and found by their IDs") { stack in
      let context = stack.context()
      let people = try (0..<3000).map { try context.person("\($0)", age: Int64($0)) }
      try context.save()
      let other = stack.context()
      let ids = people.map { Value.object($0.objectID) }
      let request = FetchRequest<ManagedObject>(entityName: "Person", predicate: .isIn("objectID", ids))
      try expect(try other.count(for: request), equals: 3000, "the number of rows")
      let found = try other.fetch(request)
      try expect(Set(found.map(\.objectID)).count, equals: 3000, "the number of different rows")
    },
  ]

  private static func throwsNotFound(_ body: () throws -> Void) -> Bool {
    do {
      try body()
    } catch ManagedObjectError.objectNotFound {
      return true
    } catch {
      return false
    }
    return false
  }
}
