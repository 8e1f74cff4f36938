import Foundation
import ManagedObjects
import TestSupport
import Testing

@testable import Importing

@Suite("A model that evolves", .timeLimit(.minutes(20)))
struct SchemaEvolutionTests {
  /// As a model's file has it.
  private static let model: Result<ManagedObjectModel, any Error> = Result {
    let own = try StaffModel.model.get().entities.map(\.definition).filter { !ImportModel.entities.contains($0.name) }
    return try ImportModel.adding(to: ManagedObjectModel(xml: ModelFileWriter(own).xml, file: "before"))
  }

  private let scratch: ScratchDirectory

  init() throws { scratch = try ScratchDirectory() }

  private func evolution(
    _ text: String, as name: String = "a.csv", into entity: String = "Person",
    of model: ManagedObjectModel? = nil, _ contract: SchemaContract = SchemaContract(.evolve),
    _ change: (inout ImportOptions) -> Void = { _ in }
  ) throws -> SchemaEvolution? {
    let file = scratch.file(name)
    try Data(text.utf8).write(to: file)
    var options = ImportOptions()
    options.mapping.schema = contract
    change(&options)
    let request = ImportRequest(
      job: "1", source: file, name: name, entity: entity, options: options, rejects: scratch.file("rejects"))
    let model = try model ?? Self.model.get()
    let difference = try SchemaScan(request, into: model).run { false }
    return try SchemaEvolution(of: model, for: difference, contract)
  }

  private func attributes(_ evolution: SchemaEvolution?, of entity: String = "Person") throws -> [String:
    AttributeDefinition]
  {
    let model = try ManagedObjectModel(xml: try #require(evolution).xml, file: "new")
    #expect(model.entities.allSatisfy { !ImportModel.entities.contains($0.name) })
    return Dictionary(
      uniqueKeysWithValues: try #require(model.entitiesByName[entity]).definition.attributes.map { ($0.name, $0) })
  }

  @Test("has an optional attribute for each new column with values, and everything that it had")
  func columns() throws {
    let made = try evolution("code,name,shoe size,empty,class\na,Ann,43,,x\nb,Bob,,,y\n")
    #expect(made?.changes == ["Person.shoeSize, Integer 64", "Person.classValue, String"])
    let found = try attributes(made)
    #expect(found["shoeSize"]?.type == .integer64 && found["shoeSize"]?.isOptional == true)
    #expect(found["shoeSize"]?.userInfo == ["mappedKeyName": "shoe size"])
    #expect(found["empty"] == nil)
    let before = try Self.model.get().entitiesByName["Person"]?.definition.attributes ?? []
    for attribute in before { #expect(found[attribute.name] == attribute) }
  }

  @Test("has a wider type where it loses nothing, as far as the contract says evolve")
  func types() throws {
    #expect(
      try evolution("station,at,level,grade\na,2024-01-31,x,70000\n", into: "Reading")?.changes
        == ["Reading.level: Double to String", "Reading.grade: Integer 16 to Integer 32"])
    let found = try attributes(
      try evolution("station,at,level,grade\na,2024-01-31,1,70000\n", into: "Reading"), of: "Reading")
    #expect(found["grade"]?.type == .integer32 && found["grade"]?.defaultValue == .int(3))
    var contract = SchemaContract()
    contract.columns = .evolve
    #expect(try evolution("station,at,level\na,2024-01-31,x\n", into: "Reading", contract) == nil)
    #expect(try evolution("code,name,age\na,Ann,1\n") == nil)
    // No type takes it: the record is rejected.
    #expect(try evolution("code,name,age\na,Ann,old\n") == nil)
  }

  @Test("has what inherits the attribute, too, and no name twice in a hierarchy")
  func hierarchy() throws {
    let model = try ManagedObjectModel(
      entities: [
        EntityDefinition("Animal", isAbstract: true, attributes: [AttributeDefinition("weight", .integer16)]),
        EntityDefinition("Cat", parent: "Animal", attributes: [AttributeDefinition("lives", .integer16)]),
        EntityDefinition("Dog", parent: "Animal", attributes: [AttributeDefinition("tail", .string)]),
      ])
    let made = try evolution("weight,lives,Tail\n70000,9,long\n", into: "Cat", of: model)
    #expect(made?.changes == ["Animal.weight: Integer 16 to Integer 32", "Cat.tail2, String"])
    #expect(try attributes(made, of: "Animal")["weight"]?.type == .integer32)
  }

  @Test("takes the column of two files of one entity as what holds the values of both")
  func twoFiles() throws {
    var difference = SchemaDifference()
    for (type, widened) in [(AttributeType.integer64, AttributeType.integer32), (.date, .integer64)] {
      difference.add(
        .init(
          subject: .columns, file: "f", entity: "Person", column: "x", attribute: "x", type: nil, newType: type,
          values: 1,
          example: nil, line: 1, term: .evolve, definition: AttributeDefinition("x", type)))
      difference.add(
        .init(
          subject: .types, file: "f", entity: "Person", column: "age", attribute: "age", type: .integer16,
          newType: widened, values: 1, example: nil, line: 1, term: .evolve))
    }
    let model = try Self.model.get()
    let made = try SchemaEvolution(of: model, for: difference, SchemaContract(.evolve))
    #expect(made?.changes == ["Person.x, String", "Person.age: Integer 16 to Integer 64"])
    #expect(try attributes(made)["age"]?.maximumValue == .int(150))
  }

  @Test("is refused what no attribute takes, and more than one file may bring", arguments: 0..<5)
  func refused(number: Int) throws {
    func columns(_ count: Int) -> String {
      let names = (0..<count).map { "c\($0)" }.joined(separator: ",")
      let values = Array(repeating: "1", count: count).joined(separator: ",")
      return "code,name,\(names)\na,A,\(values)\n"
    }
    let long = String(repeating: "x", count: 300)
    let texts: [(String, String)] = [
      (#"{"code":"a","name":"A","hat":{"size":1}}"#, "a.ndjson"),
      ("code,name,\(long)\na,A,1\n", "a.csv"),
      ("code,name,\"a\u{7}b\"\na,A,1\n", "a.csv"),
      (columns(SchemaEvolution.mostAttributesOfFile + 1), "a.csv"),
      (columns(SchemaDifference.limit + 1), "a.csv"),
    ]
    let (text, name) = texts[number]
    #expect {
      _ = try evolution(text, as: name)
    } throws: { error in
      guard case .cannotEvolve? = error as? MappingError else { return false }
      return true
    }
  }

  @Test("isn't what masked values are imported into")
  func masked() throws {
    var rule = PropertyRule()
    rule.mask = .redact
    var options = ImportOptions()
    options.mapping.properties["nick"] = rule
    options.mapping.schema.types = .evolve
    let person = try #require(try StaffModel.model.get().entitiesByName["Person"])
    try options.check(against: person)
    options.mapping.schema.columns = .evolve
    #expect(throws: MappingError.self) { try options.check(against: person) }
    #expect(throws: MappingError.self) { try options.mapping.check(ofFeed: [person]) }
  }

  @Test("stays as it is for a dry run, which says what is new", arguments: StoreKind.allCases)
  func dryRun(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    room.adjust = { ($0.isDryRun, $0.mapping.schema) = (true, SchemaContract(.evolve)) }
    let end = try room.run("code,name,shoe,age\na,Ann,43,x\n")
    #expect(end.notes.contains("ignored column(s) that Person doesn't have: shoe"))
    #expect(end.progress.counts.rejected == 1)
  }

  @Test(
    "leaves out no value in silence, should the source have one that it hadn't when it was read",
    arguments: StoreKind.allCases)
  func late(kind: StoreKind) throws {
    let room = try ImportRoom(kind)
    let mapping = MappingOptions { $0.schema = SchemaContract(.evolve) }
    let end = try room.run("code,name,shoe,empty\na,Ann,43,\nb,Bob,,\n", mapping: mapping)
    #expect(end.tally == "1i 0u 0= 1r 0?")
    #expect(end.notes == ["ignored column(s) that Person doesn't have: shoe, empty"])
    #expect(room.refusals() == ["2,shoe,new_column"])
  }
}

@Suite("The versions of a model", .timeLimit(.minutes(20)))
struct ModelBundleTests {
  private let scratch: ScratchDirectory
  private let bundle: ModelBundle

  init() throws {
    scratch = try ScratchDirectory()
    let folder = scratch.file("Shop.xcdatamodeld")
    try FileManager.default.createDirectory(
      at: folder.appendingPathComponent("Shop.xcdatamodel"), withIntermediateDirectories: true)
    try Self.xml("a").write(
      to: folder.appendingPathComponent("Shop.xcdatamodel/contents"), atomically: true, encoding: .utf8)
    bundle = ModelBundle(folder.path)
  }

  private static func xml(_ attributes: String...) -> String {
    ModelFileWriter([EntityDefinition("E", attributes: attributes.map { AttributeDefinition($0, .string) })]).xml
  }

  private func evolution(_ job: String, of former: String = "Shop.xcdatamodel") -> ModelBundle.Evolution {
    .init(former: former, job: job, source: "a.csv", changes: ["E.b, String"])
  }

  private var attributes: [String] {
    get throws {
      try ManagedObjectModel(contentsOf: URL(fileURLWithPath: bundle.path)).entities[0].attributes.map(\.name)
    }
  }

  @Test("get one more, which is current only when it is made so")
  func add() throws {
    #expect(try bundle.current() == "Shop.xcdatamodel")
    let version = try bundle.add(Self.xml("a", "b"), evolution("q/1"))
    #expect(version == "Shop 2.xcdatamodel")
    #expect(try bundle.current() == "Shop.xcdatamodel" && attributes == ["a"])
    #expect(bundle.evolution(of: version) == evolution("q/1") && bundle.evolution(of: "Shop.xcdatamodel") == nil)
    try bundle.makeCurrent(version)
    #expect(try bundle.current() == version && attributes == ["a", "b"])
    let next = try bundle.add(Self.xml("a", "b", "c"), evolution("q/2", of: version))
    #expect(next == "Shop 3.xcdatamodel")
    #expect(try FileManager.default.contentsOfDirectory(atPath: bundle.path).count == 4)
  }

  @Test("are used again where one was left that nothing has made current")
  func again() throws {
    let version = try bundle.add(Self.xml("a", "b"), evolution("q/1"))
    #expect(try bundle.add(Self.xml("a", "b"), evolution("q/2")) == version)
    #expect(bundle.evolution(of: version)?.job == "q/2")
    #expect(try bundle.add(Self.xml("a", "c"), evolution("q/2")) == "Shop 3.xcdatamodel")
  }

  @Test("are made whole after a kill while one was written")
  func killed() throws {
    let draft = bundle.path + "/.Shop 2.evolving"
    try FileManager.default.createDirectory(atPath: draft, withIntermediateDirectories: true)
    try "<mod".write(toFile: draft + "/contents", atomically: true, encoding: .utf8)
    try "<mo".write(toFile: draft + "/.evolution.json.new", atomically: true, encoding: .utf8)
    try "x".write(toFile: bundle.path + "/..xccurrentversion.new", atomically: true, encoding: .utf8)
    let version = try bundle.add(Self.xml("a", "b"), evolution("q/1"))
    try bundle.makeCurrent(version)
    #expect(try attributes == ["a", "b"])
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: bundle.path).sorted()
        == [".xccurrentversion", "Shop 2.xcdatamodel", "Shop.xcdatamodel"])
  }
}
