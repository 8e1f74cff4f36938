import Foundation
import ManagedObjects
import Testing

@testable import Importing

@Suite("Numbers from text")
struct NumberConversionTests {
  @Test(
    "an integer is a sign and digits that fit its type, or another notation of a whole number, as in JSON",
    arguments: [
      ("0", AttributeType.integer16, Int64(0)), ("-32768", .integer16, -32768), ("+32767", .integer16, 32767),
      ("2147483647", .integer32, 2_147_483_647), ("-9223372036854775808", .integer64, .min),
      ("9223372036854775807", .integer64, .max), ("000000000000000000000000000012", .integer16, 12),
      (" \t7  ", .integer16, 7), ("-0", .integer64, 0), ("1.0", .integer16, 1), ("-12.00", .integer32, -12),
      ("1e3", .integer16, 1000), ("9223372036854775807.0", .integer64, .max),
    ])
  func integers(text: String, type: AttributeType, value: Int64) throws {
    #expect(try ConverterFixture.text(text, type) == .value(.int(value)))
  }

  @Test(
    "a text that isn't an integer, or doesn't fit, is refused and never wraps",
    arguments: [
      ("12.5", AttributeType.integer64, ConversionCode.notAnInteger), ("1e", .integer64, .notAnInteger),
      ("40000.0", .integer16, .outOfRange), ("1e400", .integer64, .outOfRange), ("1.0.0", .integer64, .notAnInteger),
      ("-", .integer64, .notAnInteger), ("+", .integer64, .notAnInteger), ("--1", .integer64, .notAnInteger),
      ("1 2", .integer64, .notAnInteger), ("0x1F", .integer64, .notAnInteger), ("1,000", .integer64, .notAnInteger),
      ("١", .integer64, .notAnInteger), ("32768", .integer16, .outOfRange), ("-32769", .integer16, .outOfRange),
      ("2147483648", .integer32, .outOfRange), ("9223372036854775808", .integer64, .outOfRange),
      ("-9223372036854775809", .integer64, .outOfRange), ("18446744073709551616", .integer64, .outOfRange),
      ("18446744073709551617", .integer64, .outOfRange), ("99999999999999999999999", .integer64, .outOfRange),
    ])
  func refusedIntegers(text: String, type: AttributeType, code: ConversionCode) throws {
    #expect(try ConverterFixture.text(text, type) == .refused(code))
  }

  @Test("a JSON number of whole value is an integer, however it is written")
  func wholeNumbers() throws {
    for text in ["12", "12.0", "1.2e1", "120e-1", "12.000000000000000000000000"] {
      #expect(try ConverterFixture.number(text, .integer16) == .value(.int(12)), "\(text)")
    }
    #expect(try ConverterFixture.number("0.0e999999999", .integer16) == .value(.int(0)))
    #expect(try ConverterFixture.number("-9.223372036854775808e18", .integer64) == .value(.int(.min)))
    #expect(try ConverterFixture.number("12.5", .integer16) == .refused(.notAnInteger))
    #expect(try ConverterFixture.number("1e-1", .integer64) == .refused(.notAnInteger))
    #expect(try ConverterFixture.number("1e19", .integer64) == .refused(.outOfRange))
    #expect(try ConverterFixture.number("1e999999999999", .integer64) == .refused(.outOfRange))
    #expect(try ConverterFixture.number("40000.0", .integer16) == .refused(.outOfRange))
  }

  @Test(
    "a double is the one nearest to the text",
    arguments: [
      "0", "-0", "1", "1.5", "-122.394876", ".5", "5.", "1e22", "1e23", "-1E-22", "1e-23", "9007199254740993",
      "9007199254740992.5", "123456789012345678", "-122.39487600000001", "0.1234567890123456789",
      "1844674407370955161.5", "9.999999999999999999", "0.30000000000000004", "2.2250738585072014e-308", "5e-324",
      "1.7976931348623157e308", "0.000000000000000000000000000000000000001", "1e-400",
      "3.14159265358979323846264338327950288419716939937510582097494459", "8.5e+03", "00000000000000000000001.25",
      "100000000000000016777215", "100000000000000016777216",
    ])
  func doubles(text: String) throws {
    let expected = try #require(strtod(text, nil))
    #expect(try ConverterFixture.text(text, .double) == .value(.double(expected)))
  }

  @Test("a hundred thousand random doubles come back as they were, in every notation of 15 to 19 digits")
  func randomDoubles() throws {
    var state: UInt64 = 42
    func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ state >> 29
    }
    let converter = try ConverterFixture.converter(.double)
    var wrong: [String] = []
    for _ in 0..<100_000 {
      var text = String(next() >> (next() % 20))
      text.insert(".", at: text.index(text.startIndex, offsetBy: Int(next() % UInt64(text.count + 1))))
      if next() % 4 == 0 { text += "e\(Int(next() % 50) - 25)" }
      let outcome = Outcome { () throws(ConversionCode) in try ConverterFixture.bytes(text, converter.convert(text:)) }
      if outcome != .value(.double(strtod(text, nil))) { wrong.append(text) }
    }
    #expect(wrong == [])
  }

  @Test("infinity, nan, hexadecimal and commas are no numbers, and overflow is out of range")
  func refusedDoubles() throws {
    for text in [
      "inf", "-Infinity", "nan", "NaN", "0x1p3", "1,5", "1.2.3", "e5", "1e", "1e+", "1e5.0", ".", "-.", "1_0", "$5",
    ] {
      #expect(try ConverterFixture.text(text, .double) == .refused(.notANumber), "\(text)")
      #expect(try ConverterFixture.text(text, .decimal) == .refused(.notANumber), "\(text)")
    }
    for text in ["1e309", "-1e999999999999999999999"] {
      #expect(try ConverterFixture.text(text, .double) == .refused(.outOfRange), "\(text)")
    }
    #expect(try ConverterFixture.text("1e39", .float) == .refused(.outOfRange))
  }

  @Test("a float is rounded to what a Float holds")
  func floats() throws {
    #expect(try ConverterFixture.text("0.1", .float) == .value(.double(Double(Float(0.1)))))
    #expect(try ConverterFixture.text("2.5", .float) == .value(.double(2.5)))
  }

  @Test(
    "a decimal is exact to 38 digits",
    arguments: [
      "0", "-0.00", "1.10", "-12.345", "12345678901234567890", "0.1234567890123456789012345678901234567",
      "12345678901234567890123456789012345678", "-1234567890123456789.0123456789012345678", "1e127", "1.5e-20", "100",
      "10000000000000000000000000000000000000000000", "0.000000000000000000000000000001", "1000000000000000000001",
      "1000000000000000000001e-5",
    ])
  func decimals(text: String) throws {
    let expected = try #require(Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")))
    #expect(try ConverterFixture.text(text, .decimal) == .value(.decimal(expected)))
  }

  @Test("a decimal of more digits than can be held is refused, not rounded")
  func refusedDecimals() throws {
    #expect(try ConverterFixture.text("123456789012345678901234567890123456789", .decimal) == .refused(.tooPrecise))
    #expect(try ConverterFixture.text("1e400", .decimal) == .refused(.outOfRange))
    #expect(try ConverterFixture.text("1e-400", .decimal) == .refused(.outOfRange))
  }
}
