import Foundation
import ManagedObjects
import Testing

@testable import Importing

@Suite("Numbers with separators of their own")
struct SeparatorConversionTests {
  private static let german = PropertyRule {
    $0.decimalSeparator = ","
    $0.groupingSeparator = "."
  }

  @Test(
    "a comma before the fraction and dots between groups",
    arguments: [
      ("1.234,56", 1234.56), ("1234,56", 1234.56), ("-1.234.567,5", -1234567.5), ("+0,5", 0.5), (",5", 0.5), ("5,", 5),
      ("12.34.567", 1234567), (" 1.234,5e2 ", 123450), ("0", 0), ("12.345.678", 12345678),
    ])
  func german(text: String, value: Double) throws {
    #expect(try ConverterFixture.text(text, .double, Self.german) == .value(.double(value)))
    #expect(
      try ConverterFixture.text(text, .decimal, Self.german)
        == .value(.decimal(try #require(Decimal(string: "\(value)")))))
  }

  @Test(
    "a separator where none can stand is no number",
    arguments: [
      ".123", "123.", "1..2", "-.1", "1.,5", "1,.5", "1,234.5", "1,2,3", "1.234,5.6", "1e1.0", ",", ".", "1 234", "",
      "1.2", "12.34", "1.0", "1.5", "1234.567", "1.2345", "12.34.5678", "123.45.678", "1.234.56.789", "1.23,5", "1.2e3",
    ])
  func misplaced(text: String) throws {
    let expected = text.isEmpty ? Outcome.value(.null) : .refused(.notANumber)
    #expect(try ConverterFixture.text(text, .double, Self.german) == expected)
    #expect(try ConverterFixture.text(text, .float, Self.german) == expected)
  }

  @Test("whole numbers have groups too, and no fraction")
  func integers() throws {
    #expect(try ConverterFixture.text("1.234.567", .integer32, Self.german) == .value(.int(1_234_567)))
    #expect(try ConverterFixture.text("-9.223.372.036.854.775.808", .integer64, Self.german) == .value(.int(.min)))
    #expect(try ConverterFixture.text("40.000", .integer16, Self.german) == .refused(.outOfRange))
    #expect(try ConverterFixture.text("1,5", .integer32, Self.german) == .refused(.notAnInteger))
    #expect(try ConverterFixture.text("1.234,", .integer32, Self.german) == .value(.int(1_234)))
    #expect(try ConverterFixture.text("1.234,0", .integer32, Self.german) == .value(.int(1_234)))
    #expect(try ConverterFixture.text("1.5", .integer64, Self.german) == .refused(.notANumber))
  }

  @Test("any one character separates groups, whatever bytes it has")
  func otherGroups() throws {
    for group in [" ", "\u{A0}", "\u{202F}", "'", "’", "_", ","] {
      let rule = PropertyRule { $0.groupingSeparator = group }
      #expect(try ConverterFixture.text("1\(group)234\(group)567.25", .double, rule) == .value(.double(1_234_567.25)))
      #expect(try ConverterFixture.text("1\(group)\(group)2", .double, rule) == .refused(.notANumber))
    }
    let middle = PropertyRule { $0.decimalSeparator = "·" }
    #expect(try ConverterFixture.text("1·5", .decimal, middle) == .value(.decimal(1.5)))
    #expect(try ConverterFixture.text("1.5", .decimal, middle) == .refused(.notANumber))
  }

  @Test("a JSON number is as JSON says")
  func jsonNumbers() throws {
    #expect(try ConverterFixture.number("1.234", .double, Self.german) == .value(.double(1.234)))
    #expect(try ConverterFixture.number("12.0", .integer16, Self.german) == .value(.int(12)))
  }

  @Test(
    "a separator that can't be one is refused when the converter is made",
    arguments: [
      (",", ",", "differ from decimal_separator"), (nil, ".", "unless decimal_separator names another"),
      ("", nil, "one character"), ("::", nil, "one character"), ("5", nil, "a character that numbers use themselves"),
      ("-", nil, "a character that numbers use themselves"), (nil, "e", "a character that numbers use themselves"),
      (nil, "٣", "a character that numbers use themselves"),
    ] as [(String?, String?, String)])
  func refused(fraction: String?, group: String?, reason: String) throws {
    let rule = PropertyRule {
      $0.decimalSeparator = fraction
      $0.groupingSeparator = group
    }
    let error = #expect(throws: ConverterError.self) { try ConverterFixture.text("1", .double, rule) }
    #expect("\(try #require(error))".contains(reason))
    #expect("\(try #require(error))".hasPrefix("a's "))
  }

  @Test("what was expected stands in the problem")
  func problem() throws {
    let converter = try ValueConverter(attribute: ConverterFixture.attribute(.double), rule: Self.german)
    let problem = ConverterFixture.bytes("1..2") { converter.problem(.notANumber, text: $0) }
    #expect(
      "\(problem)"
        == "a: “1..2” isn't a number; expected Double with “,” before the fraction and “.” between groups of three digits"
    )
  }
}
