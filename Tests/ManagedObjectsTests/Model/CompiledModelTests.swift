import Foundation
import StoreTestSupport
import TestSupport
import Testing

@testable import ManagedObjects

@Suite("Compiled models", .enabled(if: CoreDataFiles.areThere, "needs ../shared/data/stores"))
struct CompiledModelTests {
  static let versions = [
    ("SampleModel", "SampleModel"), ("SampleModel", "SampleModel2"), ("SampleModel", "SampleModel3"),
    ("SampleModel3", "SampleModel3"), ("SampleModel3", "SampleModel3_v2"), ("SampleModel3", "SampleModel3_v3"),
  ]

  /// The parts of a definition that compiling keeps, in the order of names.
  static func kept(_ model: ManagedObjectModel) -> [EntityDefinition] {
    model.entities.map { entity in
      var kept = entity.definition
      kept.codeGenerationType = nil
      kept.attributes = kept.attributes.map { attribute in
        var attribute = attribute
        // The class of a value and the type of an accessor matter to generated code alone.
        attribute.usesScalarValueType = false
        attribute.attributeValueClassName = nil
        return attribute
      }.sorted { $0.name < $1.name }
      kept.relationships.sort { $0.name < $1.name }
      kept.fetchedProperties.sort { $0.name < $1.name }
      kept.indexes.sort { $0.name < $1.name }
      return kept
    }.sorted { $0.name < $1.name }
  }

  @Test("a compiled model is the model that it was compiled from", arguments: Self.versions)
  func equal(_ bundle: String, _ version: String) throws {
    let source = try ManagedObjectModel(
      contentsOf: CoreDataFiles.url("\(bundle)/\(bundle).xcdatamodeld/\(version).xcdatamodel"))
    let compiled = try ManagedObjectModel(contentsOf: CoreDataFiles.url("\(bundle)/\(bundle).momd/\(version).mom"))
    #expect(Self.kept(compiled) == Self.kept(source))
    #expect(compiled.versionIdentifier == source.versionIdentifier)
    #expect(compiled.configurations == source.configurations)
    #expect(compiled.warnings == [] && source.warnings == [])
  }

  @Test("the current version of a .momd is the one that VersionInfo.plist names")
  func currentVersion() throws {
    let model = try ManagedObjectModel(contentsOf: CoreDataFiles.url("SampleModel3/SampleModel3.momd"))
    #expect(model.versionIdentifier == "1")
    let versions = try ManagedObjectModel.versions(of: CoreDataFiles.url("SampleModel3/SampleModel3.momd"))
    #expect(versions.keys.sorted() == ["SampleModel3", "SampleModel3_v2", "SampleModel3_v3"])
  }

  @Test("an .omo is read from the .mom beside it, and refused by name without one")
  func optimised() throws {
    let model = try ManagedObjectModel(contentsOf: CoreDataFiles.url("SampleModel3/SampleModel3.momd/SampleModel3.omo"))
    #expect(model.entities.map(\.name) == ["User"])
    let fixture = try ModelFixture()
    let alone = try fixture.write("momv2$", to: "M.omo")
    let error = #expect(throws: ModelError.self) { try ManagedObjectModel(contentsOf: alone) }
    #expect(error?.description.contains("give the .mom or .momd that came with it") == true)
  }

  @Test("the model cache of a store has validation, derived attributes, fetched properties and configurations")
  func modelCache() throws {
    let model = try ManagedObjectModel(
      modelCache: CoreDataFiles.modelCache(of: "SampleModel2/SampleModel2_V2.sqlite"), file: "SampleModel2_V2.sqlite")
    #expect(model.entities.map(\.name) == ["Author", "Book", "Feedback", "GraphicNovel", "Page", "Writer"])
    let entities = Dictionary(uniqueKeysWithValues: model.entities.map { ($0.name, $0.definition) })
    let book = try #require(entities["Book"])
    let novel = try #require(entities["GraphicNovel"])
    let author = try #require(entities["Author"])
    #expect(novel.parent == "Book" && author.parent == "Writer" && entities["Writer"]?.isAbstract == true)
    #expect(novel.attributes.map(\.name) == ["isBlackAndWhite"], "inherited ones are left to the parent")
    let attributes = Dictionary(uniqueKeysWithValues: book.attributes.map { ($0.name, $0) })
    #expect(attributes["pagesCount"]?.derivationExpression == "pages.@count")
    #expect(attributes["title"]?.minimumValue == .int(3) && attributes["title"]?.maximumValue == .int(50))
    #expect(attributes["price"]?.type == .decimal && attributes["uniqueID"]?.type == .uuid)
    #expect(attributes["frontCover"]?.renamingIdentifier == "cover")
    #expect(attributes["frontCover"]?.valueTransformerName == "CoverTransformer")
    #expect(book.uniquenessConstraints == [["uniqueID"]] && book.className == "BookV2")
    let pages = try #require(book.relationships.first { $0.name == "pages" })
    #expect(pages.isToMany && pages.minimumCount == 1 && pages.maximumCount == 10_000 && pages.deleteRule == .cascade)
    #expect(pages.inverse == "book" && pages.destination == "Page")
    let fetched = Dictionary(uniqueKeysWithValues: author.fetchedProperties.map { ($0.name, $0) })
    #expect(fetched["feedbacks"]?.predicateFormat == "authorAlias == $FETCH_SOURCE.alias")
    #expect(
      fetched["favFeedbacks"]?.predicateFormat
        == "authorAlias == $FETCH_SOURCE.alias AND comment CONTAINS[c] $FETCHED_PROPERTY.userInfo.search")
    #expect(fetched["favFeedbacks"]?.userInfo == ["search": "great"])
    #expect(model.configurations["SampleConfigurationV2Part2"] == ["Feedback"])
    let warnings = model.warnings.map(\.message)
    #expect(warnings.contains { $0.contains("default value of Book.frontCover") })
    #expect(
      attributes["title"]?.validationPredicates == [
        ValidationPredicate("SELF CONTAINS \"title\"", warning: "Title must contain 'title'.")
      ])
    #expect(warnings.contains { $0.contains("Author.feedbacks sorts its objects") })
  }

  @Test("a predicate of an archive is a predicate of the format language")
  func predicatesParse() throws {
    let model = try ManagedObjectModel(
      modelCache: CoreDataFiles.modelCache(of: "SampleModel2/SampleModel2_V2.sqlite"), file: "cache")
    for property in model.entities.flatMap(\.definition.fetchedProperties) {
      let format = try #require(property.predicateFormat)
      #expect(try FetchPredicate(format: format).description == format)
    }
  }

  @Test("a compiled mapping model says what each entity and property comes from")
  func mappingModel() throws {
    final class MakerPolicy: EntityMigrationPolicy {}
    func version(_ name: String) throws -> ManagedObjectModel {
      try ManagedObjectModel(contentsOf: CoreDataFiles.url("SampleModel/SampleModel.momd/\(name).mom"))
    }
    let (source, destination) = (try version("SampleModel2"), try version("SampleModel3"))
    let url = CoreDataFiles.url("SampleModel/V2toV3.cdm")
    let mapping = try MappingModel(
      contentsOf: url, from: source, to: destination, policies: ["V2to3MakerPolicy": MakerPolicy.self])
    #expect(mapping.entityMappings.count == 5)
    let car = try #require(mapping.entityMappingsByName["CarToCar"])
    #expect(car.mappingType == .custom && car.entityMigrationPolicy == MakerPolicy.self)
    #expect(car.attributeMappings.compactMap(\.sourceName) == ["markedForDeletionAsOf", "model", "numberPlate"])
    #expect(car[property: "owner"]?.sourceName == "owner" && car[property: "createdBy"]?.sourceName == nil)
    #expect(mapping[destination: "Maker"]?.mappingType == .add)
    let error = #expect(throws: ModelError.self) { try MappingModel(contentsOf: url, from: source, to: destination) }
    #expect(error?.description.contains("V2to3MakerPolicy, which isn't among the given policies") == true)
  }

  @Test("a model with a byte changed is read, or refused with a typed error", arguments: [1, 2, 3])
  func flipped(_ seed: UInt64) throws {
    var random = Generator(state: seed)
    let model = try CoreDataFiles.data("SampleModel/SampleModel.momd/SampleModel.mom")
    let cache = try CoreDataFiles.modelCache(of: "SampleModel2/SampleModel2_V2.sqlite")
    for round in 0..<300 {
      var damaged = round % 2 == 0 ? model : cache
      for _ in 0...round % 3 {
        damaged[Int(random.next() % UInt64(damaged.count))] ^= UInt8(truncatingIfNeeded: random.next() | 1)
      }
      if round % 7 == 0 { damaged = damaged.prefix(Int(random.next() % UInt64(damaged.count))) }
      do {
        _ =
          try round % 2 == 0
          ? ManagedObjectModel(compiled: damaged, file: "m") : ManagedObjectModel(modelCache: damaged, file: "m")
      } catch is ModelError {
        continue
      }
    }
  }

  @Test("an archive of something else is refused by its class")
  func otherArchive() throws {
    let error = #expect(throws: ModelError.self) {
      try ManagedObjectModel(compiled: Data("<plist/>".utf8), file: "M.mom")
    }
    #expect(error == .unreadable(path: "M.mom", reason: "it isn't a binary property list"))
  }

  @Test("a model cache that unpacks to more than the limit is refused")
  func tooLarge() throws {
    let cache = try CoreDataFiles.modelCache(of: "SampleModel2/SampleModel2_V2.sqlite")
    #expect(try Inflate.decompress(cache, limit: 1 << 20).starts(with: Data("bplist00".utf8)))
    let error = #expect(throws: ArchiveDamage.self) { try Inflate.decompress(cache, limit: 10_000) }
    #expect(error?.reason.contains("larger") == true)
  }
}

/// Random numbers that are the same in every run (SplitMix64).
private struct Generator: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
