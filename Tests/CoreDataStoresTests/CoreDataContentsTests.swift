import Foundation
import ManagedObjects
import TestSupport
import Testing

@testable import CoreDataStores

@Suite("What a Core Data store says of its model, and its values")
struct CoreDataContentsTests {
  private static let stores = [
    "SampleModel/SampleModel_V1.sqlite", "SampleModel/SampleModel_V2.sqlite", "SampleModel2/SampleModel2_V1.sqlite",
    "SampleModel2/SampleModel2_V2.sqlite", "SampleModel3/SampleModel3_V1.sqlite",
  ]

  @Test(
    "digest and checksum are those that Core Data wrote",
    .enabled(if: CoreDataFiles.areThere, "needs ../shared/data/stores"), arguments: stores)
  func digest(_ name: String) throws {
    let metadata = try CoreDataMetadata(StoreConnection(copyOf: name))
    let (entries, hashes) = try (metadata.entries(), metadata.hashes())
    #expect(entries[CoreDataMetadata.Key.digest] as? String == CoreDataMetadata.digest(of: hashes))
    if let checksum = entries[CoreDataMetadata.Key.checksum] as? String {
      #expect(checksum == CoreDataMetadata.checksum(of: hashes))
    }
  }

  @Test(
    "the hashes of a compiled model are those of a store that was made by it",
    .enabled(if: CoreDataFiles.areThere, "needs ../shared/data/stores"))
  func compiled() throws {
    let stored = try CoreDataMetadata(StoreConnection(copyOf: "SampleModel/SampleModel_V1.sqlite"))
    let found = try CoreDataMetadata.hashes(ofCompiledModel: CoreDataFiles.url("SampleModel/SampleModel.momd"))
    #expect(try found == stored.hashes())
  }

  @Test("SHA-512 is that of the standard's examples, at the edges of a block")
  func sha512() {
    func hash(_ text: String) -> String { SHA512.hash(Data(text.utf8)).map { String(format: "%02x", $0) }.joined() }
    #expect(hash("abc").hasPrefix("ddaf35a193617abacc417349ae20413112e6fa4e89a97ea2"))
    #expect(hash("").hasPrefix("cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc"))
    #expect(hash(String(repeating: "a", count: 111)).hasPrefix("fa9121c7b32b9e01733d034cfc78cbf67f926c7ed83e8220"))
    #expect(hash(String(repeating: "a", count: 112)).hasPrefix("c01d080efd492776a1c43bd23dd99d0a2e626d481e16782e"))
  }

  @Test("metadata of a new store names what is missing, and has what Core Data looks for")
  func metadata() throws {
    let model = try ManagedObjectModel(entities: [EntityDefinition("Tag"), EntityDefinition("Album")])
    let hash = Data(repeating: 1, count: 32)
    let error = #expect(throws: CoreDataFileError.self) { try CoreDataMetadata(for: model, hashes: ["Tag": hash]) }
    #expect(error == .noHashes(entity: "Album"))
    let metadata = try CoreDataMetadata(for: model, hashes: ["Tag": hash, "Album": hash, "Gone": hash])
    let entries = try metadata.entries()
    #expect(try metadata.hashes() == ["Tag": hash, "Album": hash])
    #expect(entries["NSStoreType"] as? String == "SQLite" && entries["_NSAutoVacuumLevel"] as? String == "2")
    #expect(entries["NSStoreModelVersionHashesVersion"] as? Int == 3)
    #expect(metadata.version == 1 && UUID(uuidString: metadata.uuid) != nil)
  }

  @Test("values are written as Core Data keeps them, and read back the same")
  func values() throws {
    var kept = AttributeDefinition("kept", .binaryData)
    kept.allowsExternalBinaryDataStorage = true
    let uuid = try #require(UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF"))
    let cases: [(AttributeDefinition, Value, Value)] = [
      (AttributeDefinition("flag", .boolean), .bool(true), .int(1)),
      (AttributeDefinition("number", .integer64), .int(.min), .int(.min)),
      (AttributeDefinition("ratio", .double), .double(0.1), .double(0.1)),
      (AttributeDefinition("price", .decimal), .decimal(Decimal(string: "3.3333333333") ?? 0), .double(3.3333333333)),
      (AttributeDefinition("text", .string), .string("é"), .string("é")),
      (AttributeDefinition("at", .date), .date(Date(timeIntervalSinceReferenceDate: -1.5)), .double(-1.5)),
      (
        AttributeDefinition("key", .uuid), .uuid(uuid),
        .data(Data([0, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF]))
      ),
      (
        AttributeDefinition("link", .uri), .uri(try #require(URL(string: "https://example.org/"))),
        .string("https://example.org/")
      ),
      (AttributeDefinition("bytes", .binaryData), .data(Data([1, 2])), .data(Data([1, 2]))),
      (kept, .data(Data([9])), .data(Data([1, 9]))), (AttributeDefinition("none", .string), .null, .null),
    ]
    let model = try ManagedObjectModel(entities: [EntityDefinition("Thing", attributes: cases.map(\.0))])
    for (definition, value, stored) in cases {
      let attribute = try #require(model.entities[0].propertiesByName[definition.name] as? AttributeDescription)
      #expect(try CoreDataValue.encoded(value, of: attribute) == stored, "\(definition.name)")
      #expect(try CoreDataValue.decoded(stored, of: attribute) == value, "\(definition.name)")
    }
    let attribute = try #require(model.entities[0].propertiesByName["kept"] as? AttributeDescription)
    let reference = Value.data(Data([2]) + Data(uuid.uuidString.utf8) + Data([0]))
    var asked: [String] = []
    let read = try CoreDataValue.decoded(reference, of: attribute) { name in
      asked.append(name)
      return Data([7])
    }
    #expect(read == .data(Data([7])) && asked == [uuid.uuidString])
    #expect(throws: CoreDataFileError.self) { try CoreDataValue.decoded(reference, of: attribute) }
    #expect(throws: CoreDataFileError.self) {
      try CoreDataValue.decoded(.data(Data([2]) + Data("../../etc/passwd".utf8)), of: attribute) { _ in Data() }
    }
  }
}
