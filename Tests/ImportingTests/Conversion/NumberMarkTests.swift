import Foundation
import ManagedObjects
import Testing

@testable import Importing

@Suite("Numbers with a unit, and negative numbers of accountants")
struct NumberMarkTests {
  private static let dollars = PropertyRule {
    $0.unit = "$"
    $0.groupingSeparator = ","
    $0.negatives = .parentheses
  }
  private static let euros = PropertyRule {
    $0.unit = "€"
    $0.decimalSeparator = ","
    $0.groupingSeparator = "."
  }

  @Test(
    "without a word in the recipe, they are no numbers",
    arguments: ["$1,234.50", "1.234,50 €", "12.5 %", "(1,234.00)", "5-", "EUR 5"])
  func refused(text: String) throws {
    for type in [AttributeType.decimal, .double, .float] {
      #expect(try ConverterFixture.text(text, type) == .refused(.notANumber))
    }
    #expect(try ConverterFixture.text(text, .integer64) == .refused(.notAnInteger))
  }

  @Test(
    "a unit is taken before and after the number, with and without a space",
    arguments: [
      ("$1,234.50", "1234.5"), ("$ 5", "5"), ("5 $", "5"), ("5$", "5"), ("-$5", "-5"), ("$-5", "-5"), ("-5 $", "-5"),
      ("+$5", "5"), ("($1,234.00)", "-1234"), ("$(5)", "-5"), ("(5) $", "-5"), ("( 5 $ )", "-5"), (" $5 ", "5"),
      ("$\u{A0}5", "5"), ("5\u{202F}$", "5"), ("$.5", "0.5"), ("$1e3", "1000"),
    ])
  func dollars(text: String, value: String) throws {
    #expect(
      try ConverterFixture.text(text, .decimal, Self.dollars) == .value(.decimal(try #require(Decimal(string: value)))))
    #expect(try ConverterFixture.text(text, .double, Self.dollars) == .value(.double(try #require(Double(value)))))
  }

  @Test(
    "a number without its unit, with another one, or with a mark twice is refused",
    arguments: [
      "5", "-5", "(5)", "5 €", "$$5", "$5$", "--$5", "-($5)", "($-5)", "$-+5", "(($5))", "($5", "$5)", "$", "()", "($)",
      "$ ", "$12,34", "$5-", "US$5", "$five",
    ])
  func misplaced(text: String) throws {
    #expect(try ConverterFixture.text(text, .decimal, Self.dollars) == .refused(.notANumber))
  }

  @Test("units go with every separator and every type of number")
  func others() throws {
    #expect(try ConverterFixture.text("1.234,50 €", .decimal, Self.euros) == .value(.decimal(1234.5)))
    #expect(try ConverterFixture.text("-1.234 €", .integer16, Self.euros) == .value(.int(-1234)))
    #expect(try ConverterFixture.text("1.234,50 €", .integer16, Self.euros) == .refused(.notAnInteger))
    #expect(try ConverterFixture.text("1.234,50", .decimal, Self.euros) == .refused(.notANumber))
    let percent = PropertyRule { $0.unit = "%" }
    #expect(try ConverterFixture.text("12.5 %", .double, percent) == .value(.double(12.5)))
    #expect(try ConverterFixture.text("100%", .integer16, percent) == .value(.int(100)))
    let area = PropertyRule { $0.unit = "m²" }
    #expect(try ConverterFixture.text("12.5 m²", .double, area) == .value(.double(12.5)))
    let francs = PropertyRule { $0.unit = "Fr." }
    #expect(try ConverterFixture.text("Fr. 12.50", .decimal, francs) == .value(.decimal(12.5)))
  }

  @Test("a number of JSON has no unit: it is refused where one is required")
  func json() throws {
    let percent = PropertyRule { $0.unit = "%" }
    for type in [AttributeType.decimal, .double, .integer16] {
      #expect(try ConverterFixture.number("12", type, percent) == .refused(.notANumber))
    }
    let negatives = PropertyRule { $0.negatives = .parentheses }
    #expect(try ConverterFixture.number("-12.5", .double, negatives) == .value(.double(-12.5)))
    let meaning = PropertyRule { ($0.unit, $0.values) = ("%", ["0": "5 %"]) }
    #expect(try ConverterFixture.number("0", .double, meaning) == .value(.double(5)))
  }

  @Test("a minus stands behind the number where the recipe says so")
  func trailing() throws {
    let rule = PropertyRule { $0.negatives = .trailingMinus }
    for (text, value) in [("5-", -5.0), ("5 -", -5), ("-5", -5), ("5", 5), ("1.5-", -1.5)] {
      #expect(try ConverterFixture.text(text, .double, rule) == .value(.double(value)))
    }
    for text in ["-5-", "5--", "(5)", "-"] {
      #expect(try ConverterFixture.text(text, .double, rule) == .refused(.notANumber))
    }
    let minus = PropertyRule { $0.negatives = .minus }
    #expect(try ConverterFixture.text("5-", .double, minus) == .refused(.notANumber))
  }

  @Test(
    "a unit that could be part of a number, and an option for another type, are refused when the converter is made",
    arguments: [("", "1 to 100 bytes"), ("m2", "digits"), ("-", "signs"), ("(", "parentheses"), (" €", "space")])
  func badUnits(unit: String, reason: String) throws {
    let rule = PropertyRule { $0.unit = unit }
    let error = #expect(throws: ConverterError.self) { try ConverterFixture.text("1", .double, rule) }
    #expect("\(try #require(error))".contains(reason))
    for useless in [PropertyRule { $0.unit = "€" }, PropertyRule { $0.negatives = .parentheses }] {
      let error = #expect(throws: ConverterError.self) { try ConverterFixture.text("1", .string, useless) }
      #expect("\(try #require(error))".contains("has no effect"))
    }
  }

  @Test(
    "a number with a unit that the recipe doesn't name is rejected with what to do", arguments: ["$5", "12.5 %", "5 €"])
  func hint(text: String) throws {
    for type in [AttributeType.decimal, .integer64] {
      let converter = try ConverterFixture.converter(type)
      let problem = ConverterFixture.bytes(text) { converter.problem(.notANumber, text: $0) }
      #expect("\(problem)".contains("needs unit in the recipe"))
      let other = ConverterFixture.bytes("five") { converter.problem(.notANumber, text: $0) }
      #expect(!"\(other)".contains("unit"))
    }
  }

  @Test("what was expected stands in the problem")
  func problem() throws {
    let converter = try ValueConverter(attribute: ConverterFixture.attribute(.decimal), rule: Self.dollars)
    let problem = ConverterFixture.bytes("5 €") { converter.problem(.notANumber, text: $0) }
    #expect(
      "\(problem)"
        == "a: “5 €” isn't a number; expected Decimal with “.” before the fraction and “,” between groups of three digits, "
        + "with “$” before or after it, in parentheses if it is negative")
  }
}
