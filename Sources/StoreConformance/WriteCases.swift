import Dispatch
import ManagedObjects
import Synchronization

extension StoreConformance {
  static let conflictCases: [Case] = [
    Case(name: "a save of rows that were changed or deleted since they were read is refused as a whole") { stack in
      let context = stack.context()
      let (ada, bob, cid) = (try context.person("Ada"), try context.person("Bob"), try context.person("Cid"))
      try context.save()
      let stale = stack.context()
      let found = try [ada, bob, cid].map { try stale.existingObject(with: $0.objectID) }
      for object in found { _ = object.get("name") }
      try ada.setValue(.int(1), forKey: "age")
      context.delete(bob)
      try context.save()
      try found[0].setValue(.int(2), forKey: "age")
      stale.delete(found[1])
      try found[2].setValue(.int(3), forKey: "age")
      stale.mergePolicy = .error
      try expectError("a stale save") { error in
        guard case .mergeConflicts(let conflicts) = error else { return false }
        return Set(conflicts.map(\.objectID)).isSubset(of: [ada.objectID, bob.objectID])
          && conflicts.contains { $0.objectID == ada.objectID }
      } _: {
        try stale.save()
      }
      let other = stack.context()
      try expect(try other.names("Person"), equals: ["Ada", "Cid"], "the rows after it")
      try expect(try other.all("Person").map { $0.get("age") }, equals: [.int(1), .null], "the values after it")
    },
    Case(name: "a new member of a set is refused as long as the row of its owner was changed or deleted") { stack in
      for deletes in [false, true] {
        let context = stack.context()
        let sales = try context.department("Sales")
        try context.save()
        let stale = stack.context()
        let found = try stale.existingObject(with: sales.objectID)
        _ = found.get("name")
        if deletes { context.delete(sales) } else { try sales.setValue(.string("Other"), forKey: "name") }
        try context.save()
        try stale.employee("Ada", in: found)
        try expectError("a save of a new member") { error in
          guard case .mergeConflicts(let conflicts) = error else { return false }
          return conflicts == [MergeConflict(objectID: sales.objectID, isDeleted: deletes)]
        } _: {
          try stale.save()
        }
        try expect(try stack.context().all("Employee").isEmpty, "a part of the save was written")
      }
    },
    Case(name: "an owner that is only compared keeps its values") { stack in
      let context = stack.context()
      let sales = try context.department("Sales", board: [context.person("Bob"), context.person("Cid")])
      let board = sales.get("board").memberCount
      try context.save()
      let other = stack.context()
      try other.employee("Ada", in: other.existingObject(with: sales.objectID))
      try other.save()
      let stored = try stack.context().existingObject(with: sales.objectID)
      try expect(stored.get("name"), equals: .string("Sales"), "the owner's value")
      try expect(stored.get("board").memberCount, equals: board, "the number of its other relationship's objects")
      try expect(stored.get("staff").memberCount, equals: 1, "the number of members")
    },
    Case(name: "rows that aren't unique are refused as a whole, and no value clashes with none") { stack in
      let context = stack.context()
      try context.person("Ada", email: "a@example.org")
      try context.person("Bob")
      try context.person("Cid")
      try context.save()
      let other = stack.context()
      try other.person("Dee")
      let clash = try other.person("Eve", email: "a@example.org")
      try expectError("a save of a row that isn't unique") { error in
        guard case .constraintConflicts(let conflicts) = error else { return false }
        return conflicts.map(\.constraint) == [["email"]] && conflicts[0].databaseObjectID != nil
      } _: {
        try other.save()
      }
      try expect(try stack.context().names("Person"), equals: ["Ada", "Bob", "Cid"], "the rows after it")
      try clash.setValue(.string("e@example.org"), forKey: "email")
      try other.save()
      try expect(try stack.context().all("Person").count, equals: 5, "the rows after the value was changed")
    },
    Case(name: "a value that is unique may pass from a deleted row to a new one in one save") { stack in
      let context = stack.context()
      let ada = try context.person("Ada", email: "a@example.org")
      try context.save()
      context.delete(ada)
      try context.employee("Bob").setValue(.string("a@example.org"), forKey: "email")
      try context.save()
      try expect(try stack.context().names("Person"), equals: ["Bob"], "the rows")
    },
    Case(name: "a reference to a row that doesn't exist is refused as a whole") { stack in
      let context = stack.context()
      let sales = try context.department("Sales")
      try context.save()
      let stale = stack.context()
      let found = try stale.existingObject(with: sales.objectID)
      _ = found.get("name")
      context.delete(sales)
      try context.save()
      try stale.employee("Ada", in: found)
      try stale.person("Bob")
      stale.mergePolicy = .error
      try expectError("a save with a broken reference") { error in
        switch error {
        case .brokenReferences, .mergeConflicts: true
        default: false
        }
      } _: {
        try stale.save()
      }
      try expect(try stack.context().all("Person").isEmpty, "a part of the save was written")
    },
  ]

  static let transactionCases: [Case] = [
    Case(name: "batch requests insert, change and delete rows in one transaction each") { stack in
      let context = stack.context()
      let objects = (0..<50).map { ["name": Value.string("\($0)"), "age": .int(Int64($0))] }
      var insert = BatchInsertRequest(entityName: "Person", objects: objects)
      insert.resultType = .count
      try expect(try context.execute(insert).count, equals: 50, "the number of inserted rows")
      var update = BatchUpdateRequest(entityName: "Person")
      update.predicate = try FetchPredicate(format: "age < 10")
      update.propertiesToUpdate = ["age": .constant(.int(100))]
      update.resultType = .count
      try expect(try context.execute(update).count, equals: 10, "the number of changed rows")
      var delete = BatchDeleteRequest(
        fetchRequest: FetchRequest<ManagedObject>(
          entityName: "Person", predicate: try FetchPredicate(format: "age == 100")))
      delete.resultType = .count
      try expect(try context.execute(delete).count, equals: 10, "the number of deleted rows")
      try expect(try stack.context().all("Person").count, equals: 40, "the rows afterwards")
    },
    Case(name: "a batch request that fails leaves nothing") { stack in
      let context = stack.context()
      try context.person("Ada", email: "a@example.org")
      try context.save()
      context.mergePolicy = .error
      let objects: [[String: Value]] = [
        ["name": .string("Bob")], ["name": .string("Cid"), "email": .string("a@example.org")],
      ]
      try expectError("a batch with a row that isn't unique") { error in
        if case .constraintConflicts = error { return true }
        return false
      } _: {
        _ = try context.execute(BatchInsertRequest(entityName: "Person", objects: objects))
      }
      try expect(try stack.context().names("Person"), equals: ["Ada"], "the rows afterwards")
    },
    Case(name: "a snapshot shows the store as it was, whatever is written afterwards") { stack in
      let context = stack.context()
      let (ada, bob) = (try context.person("Ada", age: 1), try context.person("Bob"))
      try ada.set("tags", to: [context.tag("red")])
      try context.save()
      let pinned = stack.context()
      try pinned.setQueryGenerationFrom(.current)
      try expect(try pinned.names("Person"), equals: ["Ada", "Bob"], "the rows at first")
      try ada.setValue(.int(2), forKey: "age")
      try ada.set("tags", to: [])
      context.delete(bob)
      try context.person("Cid")
      try context.save()
      try expect(try pinned.names("Person"), equals: ["Ada", "Bob"], "the rows of the snapshot")
      try expect(try pinned.names("Person", "age == 1"), equals: ["Ada"], "the values of the snapshot")
      let found = try pinned.existingObject(with: ada.objectID)
      try expect(found.get("tags").memberCount, equals: 1, "the relationships of the snapshot")
      try expect(try stack.context().names("Person"), equals: ["Ada", "Cid"], "the rows now")
    },
    Case(name: "readers on other threads see every save whole or not at all") { stack in
      try onThreads(4) { thread in
        let context = stack.context()
        for round in 0..<20 {
          if thread == 0 {
            for number in 0..<10 { try context.person("\(round).\(number)") }
            try context.save()
          } else {
            let request = FetchRequest<ManagedObject>(entityName: "Person")
            let count = try context.count(for: request)
            try expect(count % 10 == 0, "a reader sees \(count) rows, a part of a save")
          }
        }
      }
      try expect(try stack.context().all("Person").count, equals: 200, "the rows afterwards")
    },
    Case(name: "writers on several threads lose nothing of each other") { stack in
      try onThreads(4) { thread in
        let context = stack.context()
        for round in 0..<10 {
          try context.employee("\(thread).\(round)")
          try context.save()
        }
      }
      let people = try stack.context().all("Employee")
      try expect(Set(people.map { $0.get("name") }).count, equals: 40, "the number of names")
      try expect(Set(people.map(\.objectID)).count, equals: 40, "the number of IDs")
    },
  ]
}

/// Runs `body` on several threads at the same time, with the number of each.
/// - Throws: the first error that one of them throws, when all have ended.
private func onThreads(_ count: Int, _ body: @Sendable (Int) throws -> Void) throws {
  let failure = Mutex<(any Error)?>(nil)
  DispatchQueue.concurrentPerform(iterations: count) { thread in
    do {
      try body(thread)
    } catch {
      failure.withLock { $0 = $0 ?? error }
    }
  }
  if let error = failure.withLock({ $0 }) { throw error }
}
