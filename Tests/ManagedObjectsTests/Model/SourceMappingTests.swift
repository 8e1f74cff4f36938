import Foundation
import TestSupport
import Testing

@testable import ManagedObjects

@Suite("Sources of mapping models")
struct SourceMappingTests {
  private let directory: ScratchDirectory
  private let source: ManagedObjectModel
  private let destination: ManagedObjectModel
  private final class CarPolicy: EntityMigrationPolicy {}

  /// `$manager` converts the objects of `$source.owner`, by the mapping PersonToPerson: an archived expression.
  private static let owners = """
    YnBsaXN0MDDUAQIDBAUGUFNZJGFyY2hpdmVyWCRvYmplY3RzVCR0b3BYJHZlcnNpb25fEA9OU0tleWVkQXJjaGl2ZXKvEBUHCAkQFxgbICEiJS
    ouMzdAQUNESEpVJG51bGxeUGVyc29uVG9QZXJzb27SCgsMDVgkY2xhc3Nlc1okY2xhc3NuYW1low0OD18QGU5TQ29uc3RhbnRWYWx1ZUV4cHJl
    c3Npb25cTlNFeHByZXNzaW9uWE5TT2JqZWN00xESExQVFlYkY2xhc3NfEA9OU0NvbnN0YW50VmFsdWVfEBBOU0V4cHJlc3Npb25UeXBlgAKAAR
    AAVnNvdXJjZdIKCxkaoxoOD18QFE5TVmFyaWFibGVFeHByZXNzaW9u0xETHB0eH1pOU1ZhcmlhYmxlgAUQAoAEXxAQdmFsdWVGb3JLZXlQYXRo
    OlVvd25lctIKCyMkoyQOD18QHE5TS2V5UGF0aFNwZWNpZmllckV4cHJlc3Npb27TERMmJygpWU5TS2V5UGF0aIAJEAqACNIKCyssoywtD15OU0
    11dGFibGVBcnJheVdOU0FycmF50hEvMDFaTlMub2JqZWN0c4ALoTKACtIKCzQ1pDU2Dg9fEBNOU0tleVBhdGhFeHByZXNzaW9uXxAUTlNGdW5j
    dGlvbkV4cHJlc3Npb27VETgTOTo7PD0+P1tOU0FyZ3VtZW50c1lOU09wZXJhbmReTlNTZWxlY3Rvck5hbWWADYAMEAOABoAHV21hbmFnZXLTER
    McHR5CgA9fEDpkZXN0aW5hdGlvbkluc3RhbmNlc0ZvckVudGl0eU1hcHBpbmdOYW1lZDpzb3VyY2VJbnN0YW5jZXM60hEvMEWiRkeAA4AO0goL
    STajNg4P1RE4Ezk6S0xNTk+AE4ASEASAEIAR0VFSVHJvb3SAFBIAAYagAAgAEQAbACQAKQAyAEQAXABiAHEAdgB/AIoAjgCqALcAwADHAM4A4A
    DzAPUA9wD5AQABBQEJASABJwEyATQBNgE4AUsBUQFWAVoBeQGAAYoBjAGOAZABlQGZAagBsAG1AcABwgHEAcYBywHQAeYB/QIIAhQCHgItAi8C
    MQIzAjUCNwI/AkYCSAKFAooCjQKPApEClgKaAqUCpwKpAqsCrQKvArICtwK5AAAAAAAAAgEAAAAAAAAAVAAAAAAAAAAAAAAAAAAAAr4=
    """
  /// `$source.brand`, archived.
  private static let brand = """
    YnBsaXN0MDDUAQIDBAUGNzpZJGFyY2hpdmVyWCRvYmplY3RzVCR0b3BYJHZlcnNpb25fEA9OU0tleWVkQXJjaGl2ZXKsBwgJEBcYGRwhJSouVS
    RudWxsVnNvdXJjZdIKCwwNWCRjbGFzc2VzWiRjbGFzc25hbWWjDQ4PXxAUTlNWYXJpYWJsZUV4cHJlc3Npb25cTlNFeHByZXNzaW9uWE5TT2Jq
    ZWN00xESExQVFlYkY2xhc3NfEBBOU0V4cHJlc3Npb25UeXBlWk5TVmFyaWFibGWAAhACgAFfEBB2YWx1ZUZvcktleVBhdGg6VWJyYW5k0goLGh
    ujGw4PXxAcTlNLZXlQYXRoU3BlY2lmaWVyRXhwcmVzc2lvbtMREh0eHyBZTlNLZXlQYXRogAYQCoAF0goLIiOjIyQPXk5TTXV0YWJsZUFycmF5
    V05TQXJyYXnSESYnKFpOUy5vYmplY3RzgAihKYAH0goLKyykLC0OD18QE05TS2V5UGF0aEV4cHJlc3Npb25fEBROU0Z1bmN0aW9uRXhwcmVzc2
    lvbtURLxIwMTIzNDU2W05TQXJndW1lbnRzWU5TT3BlcmFuZF5OU1NlbGVjdG9yTmFtZYAKgAkQA4ADgATRODlUcm9vdIALEgABhqAACAARABsA
    JAApADIARABRAFcAXgBjAGwAdwB7AJIAnwCoAK8AtgDJANQA1gDYANoA7QDzAPgA/AEbASIBLAEuATABMgE3ATsBSgFSAVcBYgFkAWYBaAFtAX
    IBiAGfAaoBtgHAAc8B0QHTAdUB1wHZAdwB4QHjAAAAAAAAAgEAAAAAAAAAOwAAAAAAAAAAAAAAAAAAAeg=
    """
  /// A function of `$source.brand`, archived.
  private static let function = """
    YnBsaXN0MDDUAQIDBAUGRklZJGFyY2hpdmVyWCRvYmplY3RzVCR0b3BYJHZlcnNpb25fEA9OU0tleWVkQXJjaGl2ZXKvEBIHCAkQFxgZHCElKi
    43ODo7PkBVJG51bGxWc291cmNl0goLDA1YJGNsYXNzZXNaJGNsYXNzbmFtZaMNDg9fEBROU1ZhcmlhYmxlRXhwcmVzc2lvblxOU0V4cHJlc3Np
    b25YTlNPYmplY3TTERITFBUWViRjbGFzc18QEE5TRXhwcmVzc2lvblR5cGVaTlNWYXJpYWJsZYACEAKAAV8QEHZhbHVlRm9yS2V5UGF0aDpVYn
    JhbmTSCgsaG6MbDg9fEBxOU0tleVBhdGhTcGVjaWZpZXJFeHByZXNzaW9u0xESHR4fIFlOU0tleVBhdGiABhAKgAXSCgsiI6MjJA9eTlNNdXRh
    YmxlQXJyYXlXTlNBcnJhedIRJicoWk5TLm9iamVjdHOACKEpgAfSCgsrLKQsLQ4PXxATTlNLZXlQYXRoRXhwcmVzc2lvbl8QFE5TRnVuY3Rpb2
    5FeHByZXNzaW9u1REvEjAxMjM0NTZbTlNBcmd1bWVudHNZTlNPcGVyYW5kXk5TU2VsZWN0b3JOYW1lgAqACRADgAOABFdtYW5hZ2Vy0xESExQV
    OYAMWnVwcGVyY2FzZTrSESYnPKE9gAvSCgs/LaMtDg/VES8SMDFBQkNERYAQgA8QBIANgA7RR0hUcm9vdIAREgABhqAACAARABsAJAApADIARA
    BZAF8AZgBrAHQAfwCDAJoApwCwALcAvgDRANwA3gDgAOIA9QD7AQABBAEjASoBNAE2ATgBOgE/AUMBUgFaAV8BagFsAW4BcAF1AXoBkAGnAbIB
    vgHIAdcB2QHbAd0B3wHhAekB8AHyAf0CAgIEAgYCCwIPAhoCHAIeAiACIgIkAicCLAIuAAAAAAAAAgEAAAAAAAAASgAAAAAAAAAAAAAAAAAAAj
    M=
    """

  init() throws {
    directory = try ScratchDirectory()
    func person(_ attributes: AttributeDefinition...) -> EntityDefinition {
      EntityDefinition(
        "Person", attributes: attributes,
        relationships: [RelationshipDefinition("cars", to: "Car", inverse: "owner", isToMany: true)])
    }
    let owner = RelationshipDefinition("owner", to: "Person", inverse: "cars")
    source = try ManagedObjectModel(entities: [
      person(AttributeDefinition("name", .string)),
      EntityDefinition(
        "Car", attributes: [AttributeDefinition("plate", .string), AttributeDefinition("brand", .string)],
        relationships: [owner]),
      EntityDefinition("Desk", attributes: [AttributeDefinition("place", .string)]),
    ])
    destination = try ManagedObjectModel(entities: [
      person(AttributeDefinition("name", .string)),
      EntityDefinition(
        "Car",
        attributes: [
          AttributeDefinition("plate", .string), AttributeDefinition("maker", .string),
          AttributeDefinition("seats", .integer16),
        ], relationships: [owner]),
      EntityDefinition("Maker", attributes: [AttributeDefinition("name", .string)]),
    ])
  }

  /// An .xcmappingmodel as Xcode writes it, with what is given for one property and one entity.
  private func mapping(
    maker: String = "valueexpressiondata", _ expression: String = Self.brand, policy: String = "App.CarPolicy",
    filter: String = ""
  ) throws -> URL {
    func object(_ kind: String, _ id: String, _ attributes: [String: String], _ references: [String: String] = [:])
      -> String
    {
      "<object type=\"XDDEV\(kind)\" id=\"\(id)\">\n"
        + attributes.map { "<attribute name=\"\($0)\" type=\"string\">\($1)</attribute>\n" }.joined()
        + references.map { "<relationship name=\"\($0)\" type=\"0/0\" idrefs=\"\($1)\"></relationship>\n" }.joined()
        + "</object>\n"
    }
    func properties(_ attributes: String, _ relationships: String) -> [String: String] {
      ["attributemappings": attributes, "relationshipmappings": relationships]
    }
    let objects = [
      object("ATTRIBUTEMAPPING", "z1", ["name": "plate"]),
      object("ATTRIBUTEMAPPING", "z2", ["name": "maker", maker: expression]),
      object("ATTRIBUTEMAPPING", "z3", ["name": "seats"]),
      object(
        "RELATIONSHIPMAPPING", "z4",
        ["name": "owner", "autogenerateexpression": "1", "valueexpressiondata": Self.owners]),
      object("ATTRIBUTEMAPPING", "z5", ["name": "name"]),
      object(
        "RELATIONSHIPMAPPING", "z6", ["name": "cars", "autogenerateexpression": "1", "sourcekeypath": "$source.cars"]),
      object("ATTRIBUTEMAPPING", "z7", ["name": "name"]),
      object(
        "ENTITYMAPPING", "z10",
        [
          "sourcename": "Car", "destinationname": "Car", "mappingnumber": "2", "migrationpolicyclassname": policy,
          "sourcefilterpredicatestring": filter,
        ], properties("z1 z2 z3", "z4")),
      object(
        "ENTITYMAPPING", "z11", ["sourcename": "Person", "destinationname": "Person", "mappingnumber": "1"],
        properties("z5", "z6")),
      object("ENTITYMAPPING", "z12", ["destinationname": "Maker", "mappingnumber": "3"], properties("z7", "")),
      object("ENTITYMAPPING", "z13", ["sourcename": "Desk", "mappingnumber": "4"]),
      object(
        "MAPPINGMODEL", "z20",
        [
          "sourcemodelpath": "App/Cars.xcdatamodeld/Cars.xcdatamodel",
          "destinationmodelpath": "App/Cars.xcdatamodeld/Cars 2.xcdatamodel",
        ],
        ["entitymappings": "z10 z11 z12 z13"]),
    ]
    let text =
      "<?xml version=\"1.0\" standalone=\"yes\"?>\n<!DOCTYPE database SYSTEM "
      + "\"file:///System/Library/DTDs/CoreData.dtd\">\n\n<database>\n<databaseInfo><version>134481920</version>"
      + "</databaseInfo>\n" + objects.joined() + "</database>\n"
    let folder = directory.file("App/Cars to Cars 2.xcmappingmodel")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: folder.appending(path: "xcmapping.xml"))
    return folder
  }

  private func read(_ url: URL) throws -> MappingModel {
    try MappingModel(contentsOf: url, from: source, to: destination, policies: ["CarPolicy": CarPolicy.self])
  }

  private func mistakes(_ url: URL) -> [String] {
    let error = #expect(throws: ModelError.self) { try read(url) }
    guard case .malformed(let mistakes)? = error else { return [] }
    return mistakes.map(\.reason)
  }

  @Test("say what each entity and property comes from, in the order of their numbers")
  func whole() throws {
    let model = try read(mapping())
    #expect(model.entityMappings.map(\.name) == ["PersonToPerson", "CarToCar", "Maker", "Desk"])
    #expect(model.entityMappings.map(\.mappingType) == [.copy, .custom, .add, .remove])
    let car = try #require(model[destination: "Car"])
    #expect(car.entityMigrationPolicy == CarPolicy.self)
    #expect(car[property: "plate"]?.sourceName == "plate" && car[property: "maker"]?.sourceName == "brand")
    #expect(car[property: "owner"]?.sourceName == "owner")
    #expect(car[property: "seats"] != nil && car[property: "seats"]?.sourceName == nil)
    #expect(model[destination: "Person"]?[property: "cars"]?.sourceName == "cars")
    let text = MappingSummary(model, mistakes: []).text
    #expect(text.contains("CarToCar: Car to Car (custom)\n  maker: brand\n  plate: plate\n  seats: not set\n"))
    #expect(text.contains("  owner: the objects of owner\n"))
  }

  @Test("what a mapping can't express is refused by name, all of it")
  func refusals() throws {
    #expect(mistakes(try mapping(maker: "valueexpressiondata", Self.function))[0].contains("CarToCar computes maker"))
    #expect(mistakes(try mapping(maker: "valueexpressiondata", "AAAA"))[0].contains("can't be read"))
    #expect(mistakes(try mapping(maker: "sourcekeypath", "$source.brand.@count"))[0].contains("brand.@count"))
    #expect(mistakes(try mapping(policy: "App.Other"))[0].contains("App.Other, which isn't among"))
    #expect(mistakes(try mapping(filter: "plate != nil"))[0].contains("only some of the objects"))
    let (model, mistakes) = try MappingModel.read(
      mapping(policy: "App.Other", filter: "plate != nil"), from: source, to: destination)
    #expect(model.entityMappings.count == 4 && mistakes.count == 2)
  }

  @Test("damaged files and entities that aren't there are typed errors")
  func damage() throws {
    let url = try mapping()
    let file = url.appending(path: "xcmapping.xml")
    let text = try String(contentsOf: file, encoding: .utf8)
    try Data(text.replacing("XDDEVMAPPINGMODEL", with: "OTHER").utf8).write(to: file)
    #expect(throws: ModelError.self) { try read(url) }
    try Data(text.replacing("<!DOCTYPE database SYSTEM", with: "<!DOCTYPE database [<!ENTITY a \"b\">] SYSTEM").utf8)
      .write(to: file)
    #expect(throws: ModelError.self) { try read(url) }
    try Data(text.replacing(">Desk<", with: ">Chair<").utf8).write(to: file)
    #expect(mistakes(url) == ["Chair names the entity Chair, which its model doesn't have"])
    try Data(text.prefix(text.count / 2).utf8).write(to: file)
    #expect(throws: ModelError.self) { try read(url) }
    try FileManager.default.removeItem(at: file)
    #expect(throws: ModelError.self) { try read(url) }
  }

  @Test("the models that one names are found in the folders around it")
  func models() throws {
    let url = try mapping()
    #expect(try MappingModel.models(of: url).source == nil)
    for name in ["Cars.xcdatamodel", "Cars 2.xcdatamodel"] {
      try FileManager.default.createDirectory(
        at: directory.file("App/Cars.xcdatamodeld/\(name)"), withIntermediateDirectories: true)
    }
    let found = try MappingModel.models(of: url)
    #expect(found.source?.path == directory.file("App/Cars.xcdatamodeld/Cars.xcdatamodel").path)
    #expect(found.destination?.lastPathComponent == "Cars 2.xcdatamodel")
  }
}
