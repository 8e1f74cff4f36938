import ControlAPI
import Foundation
import TestSupport
import Testing

@Suite("The versions of a store's model, told by a daemon", .startsDaemons)
struct ModelVersionProcessTests {
  @Test("are compared with what a migration would do to the data")
  func versions() async throws {
    let folder = try DaemonFolder(model: Members.model)
    let bundle = URL(fileURLWithPath: folder.file("Model.xcdatamodeld"))
    let first = try #require(try folder.names(in: "Model.xcdatamodeld").first { $0.hasSuffix(".xcdatamodel") })
    let name = String(first.dropLast(".xcdatamodel".count))
    // A second version that isn't current: without scores, and with a colour.
    let text = try folder.text("Model.xcdatamodeld/\(first)/contents")
    let changed = try #require(
      text.firstMatch(of: /<attribute name="score".*?<\/attribute>/).map {
        text.replacingCharacters(
          in: $0.range, with: "<attribute name=\"colour\" optional=\"YES\" attributeType=\"String\"/>")
      })
    let second = bundle.appendingPathComponent("\(name) 2.xcdatamodel")
    try FileManager.default.createDirectory(at: second, withIntermediateDirectories: false)
    try Data(changed.utf8).write(to: second.appendingPathComponent("contents"))
    if !FileManager.default.fileExists(atPath: folder.file("Model.xcdatamodeld/.xccurrentversion")) {
      let list = ["_XCCurrentVersionName": first]
      let data = try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
      try data.write(to: bundle.appendingPathComponent(".xccurrentversion"))
    }
    let daemon = try await folder.start()

    var query = QueryString()
    (query["from"], query["to"]) = (name, "\(name) 2")
    let answer: ModelVersions = try await folder.got("GET", .modelVersions(store: "main"), query)
    #expect(answer.versions == [name, "\(name) 2"] && answer.current == name)
    let difference = try #require(answer.difference)
    #expect(
      Set(difference.changes.map { "\($0.change) \($0.property ?? "") \($0.data)" }) == [
        "added colour empty", "removed score lost",
      ])
    #expect(difference.obstacles.isEmpty && difference.losses.count == 1 && !difference.allowsLosses)
    let back: ModelVersions = try await folder.got("GET", .modelVersions(store: "main"))
    #expect(back.difference?.to == name && back.difference?.from == "\(name) 2")
    let wrong = try await folder.http("GET", "/v1/stores/main/versions?from=nope")
    #expect(wrong.status == 422 && wrong.text.contains("nope"))
    #expect(try await folder.http("GET", "/v1/stores/nope/versions").status == 404)
    try await daemon.stop()
  }
}
