import ControlAPI
import Foundation
import Testing

/// Objects are asked for by their numbers, which pages link to.
@Suite("Control: numbers of objects", .startsDaemons)
struct ObjectNumberTests {
  private static let recipes = "  members: { store: main, entity: Member, lineage: true }\n"

  private func rows(_ query: ObjectQuery, in folder: DaemonFolder) async throws -> [[JSONValue]] {
    try await folder.got(ObjectPage.self, "GET", .objects(entity: query.entity), query.queryString).rows
  }

  @Test("are columns, and stand in predicates and sort keys")
  func numbers() async throws {
    let folder = try DaemonFolder(model: Members.model, recipes: Self.recipes)
    let daemon = try await folder.start()
    let job = try await folder.imported(
      "number,name,manager\n70,Ada,70\n80,Eve,70\n90,Bob,80\n", as: "a.csv", into: "members")
    #expect(job.progress.inserted == 3, "\(job.reason ?? "")")
    let columns = ["number", "objectID", "manager", "manager.objectID"]
    let sort = [SortKey(keyPath: "objectID", ascending: false)]
    let all = try await rows(ObjectQuery(entity: "Member", sort: sort, columns: columns), in: folder)
    let numbers = Dictionary(all.map { ($0[0], $0[1]) }) { first, _ in first }
    let sorted = all.compactMap { row -> Int64? in
      guard case .int(let number) = row[1] else { return nil }
      return number
    }
    #expect(sorted.count == 3 && sorted == sorted.sorted(by: >))
    for row in all { #expect(row[3] == numbers[row[2]]) }
    // With counts, the columns are fetched in another way.
    let counted = try await rows(
      ObjectQuery(entity: "Member", sort: sort, columns: columns + ["team.@count"]), in: folder)
    #expect(counted.map { Array($0.prefix(4)) } == all)

    guard case .int(let ada)? = numbers[.int(70)], case .int(let eve)? = numbers[.int(80)] else {
      Issue.record("\(numbers)")
      return
    }
    for (predicate, expected) in [
      ("objectID == \(ada)", [70]), ("SELF == \(ada)", [70]), ("objectID IN {\(ada), \(eve)}", [70, 80]),
      ("manager.objectID == \(ada)", [70, 80]), ("ANY team.objectID == \(eve)", [70]),
      ("NOT objectID == \(ada) AND manager.objectID == \(ada)", [80]), ("objectID == 12345", []),
    ] as [(String, [Int64])] {
      let query = ObjectQuery(
        entity: "Member", predicate: predicate, sort: [SortKey(keyPath: "number", ascending: true)],
        columns: ["number"])
      #expect(try await rows(query, in: folder) == expected.map { [JSONValue.int($0)] }, "\(predicate)")
      #expect(try await folder.count("Member", where: predicate) == expected.count, "\(predicate)")
    }
    let origins = try await folder.got(
      RowOrigins.self, "GET", .origin(entity: "Member"),
      OriginQuery(entity: "Member", predicate: "objectID == \(eve)").queryString)
    #expect(origins.objects.map(\.number) == [eve] && origins.objects.first?.steps.first?.file == "a.csv")
    for query in [
      ObjectQuery(entity: "Member", columns: ["team.objectID"]),
      ObjectQuery(entity: "Member", columns: ["name.objectID"]),
      ObjectQuery(entity: "Member", predicate: "manager == \(ada)"),
      ObjectQuery(entity: "Member", predicate: "objectID == 'a'"),
    ] {
      let answer = try await folder.http("GET", Endpoint.objects(entity: "Member").path + "?" + query.queryString.text)
      #expect(answer.status == 422, "\(query)")
    }
    try await daemon.stop()
  }

  @Test("a store says what attributes and relationships its entities have")
  func properties() async throws {
    let folder = try DaemonFolder(model: Members.model, recipes: Self.recipes)
    let daemon = try await folder.start()
    let store = try await folder.got(Store.self, "GET", .store("main"))
    let member = try #require(store.entities.first { $0.name == "Member" })
    #expect(member.attributes.first { $0.name == "number" }?.type == "Integer 64")
    #expect(
      member.relationships == [
        .init(name: "manager", entity: "Member", isToMany: false, inverse: "team"),
        .init(name: "team", entity: "Member", isToMany: true, inverse: "manager"),
      ])
    #expect(Set(member.properties) == Set(member.attributes.map(\.name) + member.relationships.map(\.name)))
    try await daemon.stop()
  }
}
