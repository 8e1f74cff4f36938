import Foundation
import GRDB
import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("Transformable attributes")
struct TransformableTests {
  @Test("values come back from the store as they were set, Codable or by a transformer", arguments: StoreKind.allCases)
  func roundTrip(_ kind: StoreKind) throws {
    let stack = try TransformableStack(kind)
    let writer = stack.context()
    let picture = try writer.insert("Picture")
    try picture.setTransformable(Color(), forKey: "color")
    try picture.setTransformable(["a/b", "ü"], forKey: "tags")
    try picture.setTransformable(Point(x: 3, y: -4), forKey: "point")
    try picture.setTransformable([1, 2], forKey: "list")
    try writer.save()

    let reader = stack.context()
    let read = try #require(try stack.picture(in: reader))
    #expect(try read.transformable(forKey: "color") == Color())
    #expect(try read.transformable(forKey: "tags") == ["a/b", "ü"])
    #expect(try read.transformable(forKey: "point") == Point(x: 3, y: -4))
    #expect(try read.transformable(forKey: "list") == [1, 2])
    try read.setTransformable(nil as Color?, forKey: "color")
    try reader.save()
    #expect(try read.transformable(forKey: "color") as Color? == nil)
    #expect(read.value(forKey: "color") == .null)
  }

  @Test("Codable values stand in the file as JSON with sorted keys")
  func readable() throws {
    let stack = try TransformableStack(.sqlite)
    let context = stack.context()
    let picture = try context.insert("Picture")
    try picture.setTransformable(Color(), forKey: "color")
    try picture.setTransformable(["a/b"], forKey: "tags")
    try picture.setTransformable(Point(x: 1, y: 2), forKey: "point")
    try context.save()
    let row = try DatabaseQueue(path: stack.file.path).read { db in
      try Row.fetchOne(
        db, sql: "SELECT CAST(color AS TEXT), CAST(tags AS TEXT), CAST(point AS TEXT), typeof(color) FROM Picture")
    }
    #expect(
      row.map { $0.databaseValues.map { String.fromDatabaseValue($0) } }
        == ["{\"blue\":\"Infinity\",\"green\":0.25,\"red\":0.5}", "[\"a/b\"]", "1,2", "blob"])
  }

  @Test("setting an equal value changes nothing")
  func equalValue() throws {
    let stack = try TransformableStack(.inMemory)
    let context = stack.context()
    let picture = try context.insert("Picture")
    try picture.setTransformable(Color(), forKey: "color")
    try context.save()
    try picture.setTransformable(Color(), forKey: "color")
    #expect(!picture.hasChanges)
    try picture.setTransformable(Color(red: 1), forKey: "color")
    #expect(picture.changedValues().keys.map { $0 } == ["color"])
  }

  @Test("only the type that the model declares is decoded; another is an error with both names")
  func otherType() throws {
    let stack = try TransformableStack(.inMemory)
    let picture = try stack.context().insert("Picture")
    try picture.setTransformable(Color(), forKey: "color")
    #expect(
      throws: TransformableError.typeMismatch(
        entity: "Picture", attribute: "color", declared: "Color", requested: "Dictionary<String, Double>")
    ) { try picture.transformable(forKey: "color") as [String: Double]? }
    #expect(throws: TransformableError.self) { try picture.setTransformable(["no"], forKey: "color") }
    #expect(throws: TransformableError.self) { try picture.setTransformable([1], forKey: "tags") }
    #expect(
      throws: TransformableError.typeMismatch(
        entity: "Picture", attribute: "point", declared: "Point", requested: "Color")
    ) { try picture.setTransformable(Color(), forKey: "point") }
    #expect(try picture.transformable(forKey: "color") == Color())
  }

  @Test("an attribute that declares no type decodes nothing, and the message says what to enter")
  func undeclared() throws {
    let stack = try TransformableStack(.inMemory)
    let picture = try stack.context().insert("Picture")
    let error = #expect(throws: TransformableError.self) { try picture.setTransformable(Color(), forKey: "open") }
    #expect(error?.description.contains("Picture.open declares no type") == true)
    try picture.setValue(.data(Data("{}".utf8)), forKey: "open")
    #expect(throws: TransformableError.self) { try picture.transformable(forKey: "open") as Color? }
  }

  @Test("a transformer that isn't registered, and a type that isn't Codable, are errors by name")
  func missing() throws {
    let stack = try TransformableStack(.inMemory)
    let picture = try stack.context().insert("Picture")
    #expect(throws: TransformableError.unknownTransformer(entity: "Picture", attribute: "lost", name: "Nowhere")) {
      try picture.setTransformable(Point(x: 0, y: 0), forKey: "lost")
    }
    #expect(throws: TransformableError.notCodable(entity: "Picture", attribute: "plain", requested: "Plain")) {
      try picture.setTransformable(Plain(), forKey: "plain")
    }
    #expect(throws: TransformableError.notTransformable(entity: "Picture", attribute: "title", type: "String")) {
      try picture.setTransformable("x", forKey: "title")
    }
    #expect(throws: ManagedObjectError.unknownProperty(entity: "Picture", name: "titel")) {
      try picture.setTransformable("x", forKey: "titel")
    }
  }

  @Test("data that isn't the type is a typed error, and reads as nil where nothing can be thrown")
  func foreignData() throws {
    let stack = try TransformableStack(.inMemory)
    let context = stack.context()
    let picture = try context.insert("Picture")
    try picture.setValue(.data(Data("bplist00".utf8)), forKey: "color")
    try picture.setValue(.data(Data("1,2,3".utf8)), forKey: "point")
    let error = #expect(throws: TransformableError.self) { try picture.transformable(forKey: "color") as Color? }
    guard case .undecodable("Picture", "color", "Color", _) = error else {
      Issue.record("unexpected: \(String(describing: error))")
      return
    }
    #expect(throws: TransformableError.self) { try picture.transformable(forKey: "point") as Point? }
    #expect(picture.transformable(0) as Color? == nil)
    #expect(throws: TransformableError.self) { try context.save() }
    try context.save()
    picture.setTransformable(["k": 1] as [String: Int]?, 5)
    #expect(picture.value(at: 5) == .null)
    #expect(throws: TransformableError.self) { try context.save() }
    try context.save()
  }
}
