import ManagedObjects

extension StoreConformance {
  static let relationshipCases: [Case] = [
    Case(name: "both ends of a one-to-many relationship agree, and follow changes and deletions") { stack in
      let context = stack.context()
      let (sales, support) = (try context.department("Sales"), try context.department("Support"))
      let (ada, bob) = (try context.employee("Ada", in: sales), try context.employee("Bob", in: sales))
      try context.save()
      func staff(_ department: ManagedObject) throws -> Value {
        try stack.context().existingObject(with: department.objectID).get("staff")
      }
      try expect(try staff(sales), equals: .objects([ada.objectID, bob.objectID]), "the objects")
      try ada.setValue(.object(support.objectID), forKey: "department")
      context.delete(bob)
      try context.save()
      try expect(try staff(sales), equals: .objects([]), "the objects that were moved and deleted")
      try expect(try staff(support), equals: .objects([ada.objectID]), "the object that was moved")
      context.delete(support)
      try context.save()
      let found = try stack.context().existingObject(with: ada.objectID)
      try expect(found.get("department"), equals: .null, "a reference to a deleted row")
    },
    Case(name: "pairs of a many-to-many relationship are added and removed one by one") { stack in
      let context = stack.context()
      let (ada, bob) = (try context.person("Ada"), try context.person("Bob"))
      let (red, blue, green) = (try context.tag("red"), try context.tag("blue"), try context.tag("green"))
      try ada.set("tags", to: [red, blue])
      try bob.set("tags", to: [red])
      try context.save()
      // Each of two contexts changes the set; both changes count.
      let (first, second) = (stack.context(), stack.context())
      let (one, two) = (try first.existingObject(with: ada.objectID), try second.existingObject(with: ada.objectID))
      _ = (one.get("tags"), two.get("tags"))
      try one.set("tags", to: [first.existingObject(with: red.objectID)])
      try first.save()
      second.mergePolicy = .mergeByPropertyObjectTrump
      try two.set("tags", to: [red, blue, green].map { try second.existingObject(with: $0.objectID) })
      try second.save()
      let other = stack.context()
      let tags = try other.existingObject(with: ada.objectID).get("tags")
      try expect(tags, equals: .objects([red.objectID, green.objectID]), "the objects of one end")
      let people = try other.existingObject(with: red.objectID).get("people")
      try expect(people, equals: .objects([ada.objectID, bob.objectID]), "the objects of the other end")
    },
    Case(name: "an ordered relationship keeps its order") { stack in
      let context = stack.context()
      let people = try ["Ada", "Bob", "Cid"].map { try context.person($0) }
      let department = try context.department("Sales", board: [people[2], people[0], people[1]])
      try context.save()
      let ids = [people[2], people[0], people[1]].map(\.objectID)
      let found = try stack.context().existingObject(with: department.objectID).get("board")
      guard case .orderedObjects(let order) = found else {
        throw ConformanceFailure(description: "an ordered relationship is \(found)")
      }
      try expect(Array(order), equals: ids, "the order")
      context.delete(people[0])
      try context.save()
      let left = try stack.context().existingObject(with: department.objectID).get("board")
      try expect(left.memberCount, equals: 2, "the number of objects after one was deleted")
    },
    Case(name: "prefetching brings the rows of to-many relationships of several objects") { stack in
      let context = stack.context()
      for number in 0..<20 {
        let department = try context.department("\(number)")
        for member in 0..<number % 4 { try context.employee("\(number).\(member)", in: department) }
      }
      try context.save()
      let other = stack.context()
      var request = FetchRequest<ManagedObject>(entityName: "Department")
      request.relationshipKeyPathsForPrefetching = ["staff"]
      let counts = try other.fetch(request).map { $0.get("staff").memberCount }
      try expect(counts.reduce(0, +), equals: 30, "the number of related rows")
      try expect(counts.count { $0 == 0 }, equals: 5, "the number of objects without any")
    },
  ]
}
