import Foundation
import Testing

@testable import ManagedObjects

@Suite("Where a model's file is found")
struct ModelLocationTests {
  let fixture: ModelFixture
  let empty = ModelFixture.model("")

  init() throws { fixture = try ModelFixture() }

  func reason(_ url: URL) throws -> String {
    let error = try #require(throws: ModelError.self) { try ManagedObjectModel(contentsOf: url) }
    guard case .unreadable(_, let reason) = error else {
      Issue.record("\(error)")
      return ""
    }
    return reason
  }

  func named(_ name: String) -> String { ModelFixture.model("<entity name=\"\(name)\"/>") }

  func marker(_ name: String) -> String {
    "<plist version=\"1.0\"><dict><key>_XCCurrentVersionName</key><string>\(name)</string></dict></plist>"
  }

  @Test("a folder of one version needs no mark")
  func single() throws {
    try fixture.write(named("A"), to: "M.xcdatamodeld/M.xcdatamodel/contents")
    let model = try ManagedObjectModel(contentsOf: fixture.folder.appendingPathComponent("M.xcdatamodeld"))
    #expect(model.entities.map(\.name) == ["A"])
  }

  @Test("the marked version is the one that is read")
  func marked() throws {
    try fixture.write(named("A"), to: "M.xcdatamodeld/M.xcdatamodel/contents")
    try fixture.write(named("B"), to: "M.xcdatamodeld/M 2.xcdatamodel/contents")
    try fixture.write(marker("M 2.xcdatamodel"), to: "M.xcdatamodeld/.xccurrentversion")
    let model = try ManagedObjectModel(contentsOf: fixture.folder.appendingPathComponent("M.xcdatamodeld"))
    #expect(model.entities.map(\.name) == ["B"])
  }

  @Test("several versions and no mark is an error that names them")
  func unmarked() throws {
    for name in ["M", "M 2", "M 10"] { try fixture.write(empty, to: "M.xcdatamodeld/\(name).xcdatamodel/contents") }
    #expect(try reason(fixture.folder.appendingPathComponent("M.xcdatamodeld")).contains("M, M 2, M 10"))
  }

  @Test("a mark can't lead out of the folder", arguments: ["../../other.xcdatamodel", "M 3.xcdatamodel", ""])
  func badMark(name: String) throws {
    try fixture.write(empty, to: "M.xcdatamodeld/M.xcdatamodel/contents")
    try fixture.write(empty, to: "other.xcdatamodel/contents")
    try fixture.write(marker(name), to: "M.xcdatamodeld/.xccurrentversion")
    #expect(try reason(fixture.folder.appendingPathComponent("M.xcdatamodeld")).contains("isn't there"))
  }

  @Test("a mark that isn't a property list is malformed")
  func noPropertyList() throws {
    try fixture.write(empty, to: "M.xcdatamodeld/M.xcdatamodel/contents")
    for text in ["<plist", "<plist version=\"1.0\"><array/></plist>"] {
      try fixture.write(text, to: "M.xcdatamodeld/.xccurrentversion")
      let error = try #require(throws: ModelError.self) {
        try ManagedObjectModel(contentsOf: fixture.folder.appendingPathComponent("M.xcdatamodeld"))
      }
      #expect(error.place != nil)
    }
  }

  @Test("what isn't there, an empty folder and a damaged compiled model are unreadable, each with its reason")
  func nothing() throws {
    #expect(try reason(fixture.folder.appendingPathComponent("none.xcdatamodel")).contains("no such file"))
    #expect(try reason(fixture.folder).contains("no model in this folder"))
    let mom = try fixture.write("x", to: "M.mom")
    #expect(try reason(mom).contains("binary property list"))
    try fixture.write("x", to: "Old.xcdatamodel/elements")
    #expect(try reason(fixture.folder.appendingPathComponent("Old.xcdatamodel")).contains("binary property list"))
    try fixture.write("x", to: "Empty.xcdatamodel/layout")
    #expect(try reason(fixture.folder.appendingPathComponent("Empty.xcdatamodel")).contains("Xcode 3"))
    let old = fixture.folder.appendingPathComponent("Old.xcdatamodel")
    let error = #expect(throws: ModelError.self) { try ManagedObjectModel.currentContents(of: old) }
    #expect(error.map { "\($0)" }?.contains("ladectl model convert") == true)
  }

  @Test("a device isn't waited for, and a file past the limit isn't taken")
  func hostileFiles() throws {
    #expect(try reason(URL(fileURLWithPath: "/dev/zero")).contains("regular file"))
    let url = try fixture.write("", to: "contents")
    let handle = try FileHandle(forWritingTo: url)
    try handle.truncate(atOffset: UInt64(ModelXML.sizeLimit) + 1)
    try handle.close()
    #expect(try reason(url).contains("64 MiB"))
  }
}
