import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

/// Compiled models that no compiler writes. Each of them would take minutes, gigabytes or the stack without a limit.
@Suite("Compiled models of unknown origin")
struct HostileArchiveTests {
  private let archive = ArchiveWriter()

  /// The archive of a model of these entities, each with its name's number.
  private func model(entities: [(key: Int, value: Int)]) -> Data {
    archive.data(root: archive.object("NSManagedObjectModel", ["NSEntities": .object(archive.dictionary(entities))]))
  }

  /// The archive of a model of one entity with these properties.
  private func model(named name: String = "E", _ properties: [(key: Int, value: Int)]) -> Data {
    let name = archive.text(name)
    let fields: [String: ArchiveWriter.Field] = [
      "NSEntityName": .object(name), "NSProperties": .object(archive.dictionary(properties)),
    ]
    return model(entities: [(name, archive.object("NSEntityDescription", fields))])
  }

  private func attribute(_ name: Int, _ more: [String: ArchiveWriter.Field] = [:]) -> Int {
    let fields: [String: ArchiveWriter.Field] = ["NSPropertyName": .object(name), "NSAttributeType": .integer(700)]
    return archive.object("NSAttributeDescription", fields.merging(more) { $1 })
  }

  private func comparison(_ constant: Int, to value: String) -> Int {
    archive.object(
      "NSComparisonPredicate",
      [
        "NSLeftExpression": .object(archive.object("NSSelfExpression")),
        "NSRightExpression": .object(
          archive.object("NSConstantValueExpression", ["NSConstantValue": .object(constant)])),
        "NSPredicateOperator": .object(archive.object(value, ["NSOperatorType": .integer(5)])),
      ])
  }

  private func refusal(_ data: Data) -> String? {
    let error = #expect(throws: ModelError.self) { try CompiledModelReader.read(data, file: "M.mom") }
    guard case .unreadable("M.mom", let reason)? = error else { return nil }
    return reason
  }

  @Test("an archive with nothing unusual in it is a model, with its validation and its default values")
  func usual() throws {
    let name = archive.text("title")
    let predicate = comparison(archive.text("none"), to: "NSEqualityPredicateOperator")
    let title = attribute(
      name,
      ["NSDefaultValue": .object(archive.text("new")), "NSValidationPredicates": .object(archive.array([predicate]))])
    let contents = try CompiledModelReader.read(model([(name, title)]), file: "M.mom")
    let attribute = try #require(contents.entities.first?.attributes.first)
    #expect(attribute.name == "title" && attribute.defaultValue == .string("new") && contents.warnings == [])
    #expect(attribute.validationPredicates.map(\.predicateFormat) == ["SELF != \"none\""])
    let cache = ArchiveWriter.deflated(model([(name, title)]))
    #expect(try ManagedObjectModel(modelCache: cache, file: "M").entities.map(\.definition) == contents.entities)
  }

  @Test("a hierarchy of many levels is refused, and one of a hundred is read")
  func depth() throws {
    func chain(_ length: Int) -> Data {
      var entities: [(key: Int, value: Int)] = []
      for number in 0..<length {
        let name = archive.text("E\(number)")
        var fields: [String: ArchiveWriter.Field] = ["NSEntityName": .object(name)]
        if let last = entities.last { fields["NSSuperentity"] = .object(last.value) }
        entities.append((name, archive.object("NSEntityDescription", fields)))
      }
      return model(entities: entities)
    }
    #expect(refusal(chain(5000))?.contains("inherits from 100 entities or more") == true)
    #expect(try ManagedObjectModel(compiled: chain(100), file: "M.mom").entities.count == 100)
    let definitions = (0..<5000).map { EntityDefinition("E\($0)", parent: $0 == 0 ? nil : "E\($0 - 1)") }
    let error = #expect(throws: ModelError.self) { try ManagedObjectModel(entities: definitions) }
    #expect(error?.description.contains("make fewer levels") == true)
  }

  @Test("a hierarchy that would become much more than is in the file is refused")
  func width() throws {
    let root = archive.text("Root")
    let attributes = (0..<400).map { number in
      let name = archive.text("a\(number)")
      return (name, attribute(name))
    }
    let parent = archive.object(
      "NSEntityDescription",
      ["NSEntityName": .object(root), "NSProperties": .object(archive.dictionary(attributes))])
    var entities = [(root, parent)]
    for number in 0..<2000 {
      let name = archive.text("E\(number)")
      entities.append(
        (
          name,
          archive.object("NSEntityDescription", ["NSEntityName": .object(name), "NSSuperentity": .object(parent)])
        ))
    }
    #expect(refusal(model(entities: entities))?.contains("inherit more properties") == true)
  }

  @Test("attributes that contain the same elements many times over are refused")
  func sharedElements() throws {
    let name = archive.text("a")
    var inner = attribute(name)
    for _ in 0..<6 {
      let elements = archive.array(Array(repeating: inner, count: 60))
      inner = archive.object(
        "NSCompositeAttributeDescription",
        [
          "NSPropertyName": .object(name), "NSAttributeType": .integer(2100), "NSElements": .object(elements),
        ])
    }
    #expect(refusal(model([(name, inner)]))?.contains("more than 50000 properties") == true)
  }

  @Test("one piece of an archive that is many objects is read once")
  func sharedObjects() throws {
    var fields: [String: ArchiveWriter.Field] = [:]
    for number in 0..<2000 { fields["f\(number)"] = .bool(true) }
    let one = attribute(archive.text("a"), fields)
    let properties = (0..<5000).map { (archive.text("p\($0)"), archive.again(one)) }
    let contents = try CompiledModelReader.read(model(properties), file: "M.mom")
    #expect(contents.entities.first?.attributes.count == 5000)
  }

  @Test("long names of entities, properties, classes and fields are refused")
  func names() throws {
    let long = String(repeating: "n", count: 1 << 20)
    let name = archive.text("a")
    #expect(refusal(model(named: long, []))?.contains("has more than 1000 bytes") == true)
    #expect(refusal(model([(archive.text(long), attribute(name))]))?.contains("has more than 1000 bytes") == true)
    #expect(refusal(model([(name, archive.object(long))]))?.contains("too long") == true)
    #expect(refusal(model([(name, attribute(name, [long: .bool(true)]))]))?.contains("too long") == true)
  }

  @Test("warnings end after a thousand")
  func warnings() throws {
    let properties = (0..<2000).map { number in (archive.text("p\(number)"), archive.object("NSOther")) }
    let warnings = try CompiledModelReader.read(model(properties), file: "M.mom").warnings.map(\.message)
    #expect(warnings.count == 1001 && warnings.last == "there are more such warnings")
  }

  @Test("a predicate that is large, or refers to one part many times, is left out with a warning")
  func predicates() throws {
    var part = comparison(archive.text(String(repeating: "c", count: 60_000)), to: "NSEqualityPredicateOperator")
    for _ in 0..<40 {
      part = archive.object(
        "NSCompoundPredicate",
        ["NSCompoundPredicateType": .integer(2), "NSSubpredicates": .object(archive.array([part, part]))])
    }
    let name = archive.text("a")
    let contents = try CompiledModelReader.read(
      model([(name, attribute(name, ["NSValidationPredicates": .object(archive.array([part]))]))]), file: "M.mom")
    #expect(contents.entities.first?.attributes.first?.validationPredicates == [])
    #expect(
      contents.warnings.map(\.message) == [
        "the validation of E.a has a predicate or expression that is too large; it is left out"
      ])
  }

  @Test("damage within a predicate is damage, and no part that isn't known")
  func damagedPredicate() throws {
    let name = archive.text("a")
    let predicate = archive.object("NSCompoundPredicate", ["NSSubpredicates": .object(9999)])
    let reason = refusal(
      model([(name, attribute(name, ["NSValidationPredicates": .object(archive.array([predicate]))]))]))
    #expect(reason == "the archive has no object 9999")
  }

  @Test("a default value that its type can't hold has no effect, and a warning says so")
  func defaults() throws {
    let name = archive.text("a")
    let contents = try CompiledModelReader.read(
      model([(name, attribute(name, ["NSAttributeType": .integer(600), "NSDefaultValue": .real(1e300)]))]),
      file: "M.mom")
    #expect(contents.entities.first?.attributes.first?.defaultValue == .null && contents.warnings.count == 1)
  }
}
