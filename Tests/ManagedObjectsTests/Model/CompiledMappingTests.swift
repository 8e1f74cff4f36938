import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

@Suite("Compiled mapping models")
struct CompiledMappingTests {
  @Test("a constant has the type of the attribute that gets it, whatever others of that name are")
  func constants() throws {
    let model = try ManagedObjectModel(entities: [
      EntityDefinition("Flag", attributes: [AttributeDefinition("kind", .boolean)]),
      EntityDefinition(
        "Item", attributes: [AttributeDefinition("kind", .integer16), AttributeDefinition("name", .string)]),
    ])
    let archive = ArchiveWriter()
    let constant = archive.object("NSConstantValueExpression", ["NSConstantValue": .integer(1)])
    let kind = archive.object(
      "NSPropertyMapping",
      ["NSDestinationPropertyName": .object(archive.text("kind")), "NSValueExpression": .object(constant)])
    let mapping = archive.object(
      "NSEntityMapping",
      [
        "NSMappingName": .object(archive.text("ItemToItem")), "NSMappingType": .integer(5),
        "NSSourceEntityName": .object(archive.text("Item")),
        "NSDestinationEntityName": .object(archive.text("Item")),
        "NSAttributeMappings": .object(archive.array([kind])),
      ])
    let root = archive.object("NSMappingModel", ["NSEntityMappings": .object(archive.array([mapping]))])
    let folder = try ScratchDirectory()
    let file = folder.file("Mapping.cdm")
    try archive.data(root: root).write(to: file)
    let read = try MappingModel(contentsOf: file, from: model, to: model)
    guard case .value(.int(1))? = read[destination: "Item"]?[property: "kind"]?.source else {
      Issue.record("\(String(describing: read[destination: "Item"]?[property: "kind"]?.source))")
      return
    }
  }

  @Test("a mapping model isn't a model, whatever the file is named, and the error says what it is")
  func notAModel() throws {
    let archive = ArchiveWriter()
    let folder = try ScratchDirectory()
    for name in ["Mapping.cdm", "Mapping.mom"] {
      let file = folder.file(name)
      try archive.data(root: archive.object("NSMappingModel")).write(to: file)
      let error = #expect(throws: ModelError.self) { try ManagedObjectModel(contentsOf: file) }
      #expect(error?.description.contains("it is a mapping model") == true, "\(String(describing: error))")
    }
  }
}
