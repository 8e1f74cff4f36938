import Foundation
import ManagedObjects

extension StoreConformance {
  static let fetchCases: [Case] = [
    Case(name: "predicates over attributes select the same rows as in every store") { stack in
      let context = try people(stack)
      let expected: [(String, [String])] = [
        ("age == 36", ["Ada"]), ("age != 36", ["Bob", "Cid", "Eve"]), ("age > 36", ["Bob"]),
        ("age <= 36", ["Ada", "Cid"]),
        ("age BETWEEN {20, 40}", ["Ada", "Cid"]), ("age == nil", ["Eve"]), ("age IN {36, 41, 99}", ["Ada", "Bob"]),
        ("name BEGINSWITH 'B'", ["Bob"]), ("name CONTAINS[c] 'D'", ["Ada", "Cid"]), ("name ENDSWITH 'e'", ["Eve"]),
        ("name LIKE '?i*'", ["Cid"]), ("name MATCHES '[AB].*'", ["Ada", "Bob"]), ("name ==[c] 'ADA'", ["Ada"]),
        ("age > 20 AND name < 'B'", ["Ada"]), ("age == 41 OR name == 'Eve'", ["Bob", "Eve"]),
        ("NOT (age > 36)", ["Ada", "Cid", "Eve"]), ("TRUEPREDICATE", ["Ada", "Bob", "Cid", "Eve"]),
        ("FALSEPREDICATE", []),
      ]
      for (format, names) in expected { try expect(try context.names("Person", format), equals: names, format) }
    },
    Case(name: "predicates follow relationships") { stack in
      let context = stack.context()
      let (sales, empty) = (try context.department("Sales"), try context.department("Empty"))
      try context.employee("Ada", age: 36, in: sales)
      try context.employee("Bob", age: 41, in: sales)
      try context.employee("Cid")
      try context.save()
      let other = stack.context()
      try expect(try other.names("Employee", "department.name == 'Sales'"), equals: ["Ada", "Bob"], "a path")
      try expect(try other.names("Employee", "department == nil"), equals: ["Cid"], "no object")
      try expect(try other.names("Department", "ANY staff.age > 40"), equals: ["Sales"], "ANY")
      try expect(try other.names("Department", "staff.@count == 0"), equals: ["Empty"], "@count")
      try expect(
        try other.names("Department", "SUBQUERY(staff, $s, $s.age < 40).@count == 1"), equals: ["Sales"], "SUBQUERY")
      let request = FetchRequest<ManagedObject>(
        entityName: "Employee", predicate: .equal("department", .object(empty.objectID)))
      try expect(try other.count(for: request), equals: 0, "rows that lead to one without any")
    },
    Case(name: "rows come in order, by pages, and as many as are counted") { stack in
      let context = try people(stack)
      func names(_ sort: [FetchSortDescriptor], limit: Int = 0, offset: Int = 0) throws -> [Value] {
        let request = FetchRequest<ManagedObject>(
          entityName: "Person", sortDescriptors: sort, fetchLimit: limit, fetchOffset: offset)
        let found = try context.fetch(request)
        try expect(try context.count(for: request), equals: found.count, "the count")
        try expect(try context.fetchIDs(request), equals: found.map(\.objectID), "the IDs")
        return found.map { $0.get("name") }
      }
      let byAge = [FetchSortDescriptor("age", ascending: false), FetchSortDescriptor("name")]
      try expect(try names(byAge), equals: ["Bob", "Ada", "Cid", "Eve"].map(Value.string), "descending, nil last")
      try expect(try names(byAge, limit: 2), equals: ["Bob", "Ada"].map(Value.string), "the first page")
      try expect(try names(byAge, limit: 2, offset: 2), equals: ["Cid", "Eve"].map(Value.string), "the second page")
      try expect(try names(byAge, limit: 2, offset: 9), equals: [], "a page behind the last")
    },
    Case(name: "text comes in the order of words where a descriptor asks for it") { stack in
      let context = stack.context()
      let names = [
        "Zebra", "file 10", "apple", "\u{C4}pfel", "file 2", "Apple", "a\u{308}pfel", "\u{E9}t\u{E9}", "Eta",
      ]
      for name in names { try context.person(name) }
      try context.save()
      func order(_ comparison: FetchSortDescriptor.Comparison, ascending: Bool = true) throws -> [String] {
        var request = FetchRequest<ManagedObject>(
          entityName: "Person",
          sortDescriptors: [FetchSortDescriptor("name", ascending: ascending, comparison: comparison)])
        let found = try stack.context().fetch(request)
        try expect(try stack.context().fetchIDs(request), equals: found.map(\.objectID), "the IDs")
        request.propertiesToFetch = ["name"]
        let values = found.map { $0.get("name") }
        try expect(
          try stack.context().fetchDictionaries(request).map { $0.value(forKey: "name") ?? .null }, equals: values,
          "dictionaries")
        return values.map(\.plainText)
      }
      let standard = [
        "\u{C4}pfel", "a\u{308}pfel", "apple", "Apple", "Eta", "\u{E9}t\u{E9}", "file 2", "file 10", "Zebra",
      ]
      let sorted = try order(.localizedStandard)
      try expect(
        Set(sorted.prefix(2)), equals: Set(standard.prefix(2)), "two ways to write one word, and one in capitals")
      try expect(Array(sorted.dropFirst(2)), equals: Array(standard.dropFirst(2)), "localizedStandard")
      try expect(try order(.localizedStandard, ascending: false), equals: sorted.reversed(), "descending")
      try expect(
        try order(.localized).filter { $0.hasPrefix("file") }, equals: ["file 10", "file 2"], "digits as characters")
      try expect(try order(.natural).prefix(3).map { $0 }, equals: ["Apple", "Eta", "Zebra"], "bytes")
    },
    Case(name: "a fetch of an entity finds those that inherit from it, unless it says otherwise") { stack in
      let context = stack.context()
      try context.person("Ada")
      try context.employee("Bob")
      try context.save()
      let other = stack.context()
      try expect(try other.names("Person"), equals: ["Ada", "Bob"], "with subentities")
      try expect(try other.names("Employee"), equals: ["Bob"], "the subentity")
      try expect(try other.all("Person").map(\.entity.name), equals: ["Person", "Employee"], "the objects' entities")
      let request = FetchRequest<ManagedObject>(entityName: "Person", includesSubentities: false)
      try expect(try other.count(for: request), equals: 1, "without subentities")
    },
    Case(name: "dictionaries bring columns, aggregates and groups") { stack in
      let context = try people(stack)
      try context.person("Fay", age: 41)
      try context.save()
      var request = FetchRequest<ManagedObject>(entityName: "Person", sortDescriptors: [FetchSortDescriptor("name")])
      request.propertiesToFetch = ["name", "age"]
      let rows = try context.fetchDictionaries(request)
      try expect(
        rows.map { $0.value(forKey: "age") ?? .null }, equals: [.int(36), .int(41), .int(25), .null, .int(41)],
        "a column")

      request.sortDescriptors = []
      request.propertiesToFetch = [
        .expression(ExpressionDescription("sum", .sum("age"))), .expression(ExpressionDescription("count", .count())),
        .expression(ExpressionDescription("oldest", .maximum("age"))),
      ]
      let all = try context.fetchDictionaries(request)
      try expect(all.count, equals: 1, "the number of dictionaries of aggregates")
      try expect(all.first?.value(forKey: "sum"), equals: .int(143), "a sum")
      try expect(all.first?.value(forKey: "count"), equals: .int(5), "a count")
      try expect(all.first?.value(forKey: "oldest"), equals: .int(41), "a maximum")

      request.propertiesToFetch = ["age", .expression(ExpressionDescription("count", .count()))]
      request.propertiesToGroupBy = ["age"]
      request.havingPredicate = try FetchPredicate(format: "count > 1")
      let groups = try context.fetchDictionaries(request)
      try expect(groups.count, equals: 1, "the number of groups")
      try expect(groups.first?.value(forKey: "age"), equals: .int(41), "a group's value")

      var distinct = FetchRequest<ManagedObject>(entityName: "Person")
      distinct.propertiesToFetch = ["age"]
      distinct.returnsDistinctResults = true
      try expect(try context.fetchDictionaries(distinct).count, equals: 4, "the number of distinct values")
    },
  ]

  /// A context over Ada 36, Bob 41, Cid 25, and Eve without an age.
  private static func people(_ stack: Stack) throws -> ManagedObjectContext {
    let context = stack.context()
    for (name, age) in [("Ada", 36), ("Bob", 41), ("Cid", 25), ("Eve", nil)] as [(String, Int64?)] {
      try context.person(name, age: age)
    }
    try context.save()
    return stack.context()
  }
}
