import Foundation
import ManagedObjects
import Testing

@testable import Importing

@Suite("Cells of every other type")
struct ValueConversionTests {
  @Test("booleans are read in every usual spelling, in letters of either case")
  func booleans() throws {
    for text in ["true", "TRUE", "True", "yes", "YES", "1", "t", "T", "y", "Y", " true "] {
      #expect(try ConverterFixture.text(text, .boolean) == .value(.bool(true)), "\(text)")
    }
    for text in ["false", "FALSE", "no", "No", "0", "f", "F", "n", "N"] {
      #expect(try ConverterFixture.text(text, .boolean) == .value(.bool(false)), "\(text)")
    }
    for text in ["2", "on", "ja", "truee", "tru", "-1", "1.0", "u", "\u{0E}O"] {
      #expect(try ConverterFixture.text(text, .boolean) == .refused(.notABoolean), "\(text)")
    }
  }

  @Test("a UUID is 32 hexadecimal digits in five groups")
  func uuids() throws {
    let uuid = UUID()
    #expect(try ConverterFixture.text(uuid.uuidString, .uuid) == .value(.uuid(uuid)))
    #expect(try ConverterFixture.text(uuid.uuidString.lowercased(), .uuid) == .value(.uuid(uuid)))
    for text in [
      "E621E1F8-C36C-495A-93FC-0C247A3E6E5G", "E621E1F8C36C495A93FC0C247A3E6E5F", "E621E1F8-C36C-495A-93FC-0C247A3E6E5",
      "E621E1F8+C36C-495A-93FC-0C247A3E6E5F", "E621E1F8-C36C-495A-93FC-0C247A3E6E@F", "x",
    ] {
      #expect(try ConverterFixture.text(text, .uuid) == .refused(.notAUUID), "\(text)")
    }
  }

  @Test("URIs and base64 are read, and refused when they are neither")
  func others() throws {
    #expect(
      try ConverterFixture.text("https://example.org/a?b=c", .uri)
        == .value(.uri(#require(URL(string: "https://example.org/a?b=c")))))
    #expect(try ConverterFixture.text("a b^c", .uri) == .refused(.notAURI))
    #expect(try ConverterFixture.text("AAECAw==", .binaryData) == .value(.data(Data([0, 1, 2, 3]))))
    #expect(try ConverterFixture.text("AAEC*w==", .binaryData) == .refused(.notBase64))
  }

  @Test("bytes are base64, and text that may as well be hexadecimal is refused until the recipe says which it is")
  func bytes() throws {
    let md5 = "d41d8cd98f00b204e9800998ecf8427e"
    for text in [md5, md5.uppercased(), "deadbeef", "0123456789"] {
      #expect(try ConverterFixture.text(text, .binaryData) == .refused(.ambiguousBinary), "\(text)")
    }
    for text in ["AAAAAAAA", "cafe", "AAECAAE=", "dEADbEEF"] {
      #expect(
        try ConverterFixture.text(text, .binaryData) == .value(.data(#require(Data(base64Encoded: text)))), "\(text)")
    }
    let hex = PropertyRule { $0.binaryEncoding = .hexadecimal }
    for text in ["deadbeef", "DEADBEEF", "0xDeadBeef", "\\xdeadbeef"] {
      #expect(try ConverterFixture.text(text, .binaryData, hex) == .value(.data(Data([0xDE, 0xAD, 0xBE, 0xEF]))))
    }
    for text in ["abc", "xy", "AAEC*w==", "0x0"] {
      #expect(try ConverterFixture.text(text, .binaryData, hex) == .refused(.notHexadecimal))
    }
    #expect(try ConverterFixture.text("\\x00ff", .binaryData) == .value(.data(Data([0, 255]))))
    let base64 = PropertyRule { $0.binaryEncoding = .base64 }
    #expect(
      try ConverterFixture.text("deadbeef", .binaryData, base64)
        == .value(.data(#require(Data(base64Encoded: "deadbeef")))))
    #expect(throws: ConverterError.self) { try ConverterFixture.text("", .string, hex) }
  }

  @Test("a string keeps its spaces, and is the empty text when empty unless the caller says otherwise")
  func strings() throws {
    #expect(try ConverterFixture.text("  a ä 🐟 ", .string) == .value(.string("  a ä 🐟 ")))
    #expect(try ConverterFixture.text(" ", .string) == .value(.string(" ")))
    #expect(try ConverterFixture.text("", .string) == .value(.string("")))
    let ofKeys = try ValueConverter(
      attribute: ConverterFixture.attribute(.string), dateFormat: nil, emptyStringIsNull: true)
    #expect(try ConverterFixture.bytes("", ofKeys.convert(text:)) == .null)
    let rule = PropertyRule { $0.nulls = ["", "NA"] }
    #expect(try ConverterFixture.text("", .string, rule) == .value(.null))
    #expect(try ConverterFixture.text("", .string, PropertyRule { $0.nulls = ["NA"] }) == .value(.string("")))
    #expect(try ConverterFixture.text(" ", .string, PropertyRule { $0.trims = true }) == .value(.null))
  }

  @Test(
    "empty text is null for every type but strings, also where it is only spaces",
    arguments: [
      AttributeType.integer16, .integer32, .integer64, .decimal, .double, .float, .boolean, .date, .binaryData, .uuid,
      .uri,
    ])
  func empty(type: AttributeType) throws {
    #expect(try ConverterFixture.text("", type) == .value(.null))
    #expect(try ConverterFixture.text(" \t ", type) == .value(.null))
  }

  @Test("JSON booleans and numbers go where they make sense, and nowhere else")
  func jsonKinds() throws {
    func bool(_ type: AttributeType) throws -> Outcome {
      let converter = try ConverterFixture.converter(type)
      return Outcome { () throws(ConversionCode) in try converter.convert(bool: true) }
    }
    #expect(try bool(.boolean) == .value(.bool(true)))
    #expect(try bool(.integer16) == .value(.int(1)))
    #expect(try bool(.string) == .value(.string("true")))
    for type in [AttributeType.double, .decimal, .date, .uuid] { #expect(try bool(type) == .refused(.wrongKind)) }
    #expect(try ConverterFixture.number("10248909829", .string) == .value(.string("10248909829")))
    #expect(try ConverterFixture.number("1", .boolean) == .value(.bool(true)))
    #expect(try ConverterFixture.number("2", .boolean) == .refused(.notABoolean))
    #expect(try ConverterFixture.number("1.20", .decimal) == .value(.decimal(#require(Decimal(string: "1.2")))))
    for type in [AttributeType.uuid, .uri, .binaryData] {
      #expect(try ConverterFixture.number("1", type) == .refused(.wrongKind))
    }
  }

  @Test(
    "types without a notation in text are refused when the converter is made",
    arguments: [AttributeType.transformable, .objectID, .composite, .undefined])
  func unsupported(type: AttributeType) throws {
    #expect(throws: ConverterError.unsupportedType(attribute: "a", type: type)) {
      try ConverterFixture.converter(type)
    }
  }

  @Test("a problem says attribute, type and text, cut at 60 characters")
  func problem() throws {
    let converter = try ValueConverter(attribute: ConverterFixture.attribute(.integer16, name: "age"), dateFormat: nil)
    let short = ConverterFixture.bytes("forty", { converter.problem(.notAnInteger, text: $0) })
    #expect(
      short.description == "age: “forty” isn't a whole number; expected Integer 16 (-32768 to 32767)")
    #expect(short.code.rawValue == "not_an_integer")
    let long = ConverterFixture.bytes(
      String(repeating: "é", count: 100_000), { converter.problem(.notAnInteger, text: $0) })
    #expect(long.text == String(repeating: "é", count: 60) + "…")
  }
}
