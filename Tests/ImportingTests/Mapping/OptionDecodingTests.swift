import Foundation
import Testing

@testable import Importing

@Suite("Options that an older version has written")
struct OptionDecodingTests {
  private func decode<T: Decodable>(_ json: String) throws -> T {
    try JSONDecoder().decode(T.self, from: Data(json.utf8))
  }

  @Test("have defaults for missing keys")
  func missing() throws {
    #expect(try decode("{}") == MappingOptions())
    #expect(try decode("{}") == PropertyRule())
    #expect(try decode("{}") == ReaderOptions())
    #expect(try decode("{}") == ImportOptions())
    let unlimited = ImportOptions(rejectLimit: nil)
    #expect(try JSONDecoder().decode(ImportOptions.self, from: JSONEncoder().encode(unlimited)) == unlimited)
    let options: ImportOptions = try decode(
      #"{"mode":"upsert","mapping":{"trims":true,"properties":{"a":{"key":"b"}}}}"#)
    var rule = PropertyRule()
    rule.key = "b"
    #expect(options.mode == .upsert && options.mapping.trims && options.mapping.properties == ["a": rule])
  }

  @Test("come back as they were written")
  func whole() throws {
    var rule = PropertyRule()
    (rule.column, rule.constant, rule.defaultValue, rule.nulls, rule.trims) = ("c", "k", "d", ["-"], false)
    (rule.dateFormat, rule.timeZone, rule.decimalSeparator, rule.groupingSeparator) = ("yyyy", "UTC", ",", ".")
    (rule.trueWords, rule.falseWords, rule.values, rule.refusesOtherValues) = (["ja"], ["nein"], ["m": "male"], true)
    (rule.separator, rule.key, rule.creates, rule.unresolved) = ("|", "code", true, .leave)
    (rule.columns, rule.keys) = (["a", "b"], ["c", "d"])
    var options = ImportOptions(mode: .synchronise, batchSize: 7, rejectLimit: 9)
    (options.atomicity, options.isDryRun, options.allowsEmpty, options.skipsKnownFiles) = (.file, true, true, true)
    (options.rejectShare, options.lineage) = (0.5, true)
    options.mapping.properties = ["a": rule]
    options.mapping.key = ["a", "b"]
    (options.mapping.nulls, options.mapping.trims, options.mapping.filter) = (["NA"], true, "a > 1")
    (options.mapping.ignoredColumns, options.mapping.schema) = (["x"], SchemaContract(.freeze))
    #expect(try JSONDecoder().decode(ImportOptions.self, from: JSONEncoder().encode(options)) == options)
  }
}
