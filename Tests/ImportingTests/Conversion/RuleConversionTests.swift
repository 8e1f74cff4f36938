import Foundation
import ManagedObjects
import Testing

@testable import Importing

@Suite("Texts under a recipe's rules")
struct RuleConversionTests {
  @Test("a text is trimmed, then null, then what it stands for, then converted")
  func order() throws {
    let rule = PropertyRule {
      $0.trims = true
      $0.nulls = ["NA", "-"]
      $0.values = ["a": "alpha", "NA": "not so", "x": ""]
    }
    #expect(try ConverterFixture.text(" a\t", .string, rule) == .value(.string("alpha")))
    #expect(try ConverterFixture.text(" NA ", .string, rule) == .value(.null))
    #expect(try ConverterFixture.text("-", .string, rule) == .value(.null))
    #expect(try ConverterFixture.text("na", .string, rule) == .value(.string("na")))
    #expect(try ConverterFixture.text(" b c ", .string, rule) == .value(.string("b c")))
    #expect(try ConverterFixture.text("  ", .string, rule) == .value(.null))
    #expect(try ConverterFixture.text("x", .string, rule) == .value(.null))
  }

  @Test("a string that isn't trimmed is compared as it is, a number without the space around it")
  func untrimmed() throws {
    let rule = PropertyRule { $0.nulls = ["NA", "-1"] }
    #expect(try ConverterFixture.text(" NA", .string, rule) == .value(.string(" NA")))
    #expect(try ConverterFixture.text(" ", .string, rule) == .value(.string(" ")))
    #expect(try ConverterFixture.text(" NA ", .integer16, rule) == .value(.null))
    #expect(try ConverterFixture.text(" -1", .integer16, rule) == .value(.null))
    #expect(try ConverterFixture.text("-10", .integer16, rule) == .value(.int(-10)))
  }

  @Test("values have the attribute's type, written as the recipe says")
  func values() throws {
    let grade = PropertyRule {
      $0.values = ["A": "1,5", "B": "2"]
      $0.decimalSeparator = ","
    }
    #expect(try ConverterFixture.text("A", .decimal, grade) == .value(.decimal(1.5)))
    #expect(try ConverterFixture.text("3,25", .decimal, grade) == .value(.decimal(3.25)))
    #expect(try ConverterFixture.text("C", .decimal, grade) == .refused(.notANumber))
    let bad = PropertyRule { $0.values = ["A": "one"] }
    #expect(throws: ConverterError.self) { try ConverterFixture.text("A", .integer16, bad) }
  }

  @Test("a text that has no value is refused where the recipe says so, and null is none")
  func refusesOthers() throws {
    let rule = PropertyRule {
      $0.values = ["m": "male", "f": "female"]
      $0.refusesOtherValues = true
      $0.nulls = ["?"]
    }
    #expect(try ConverterFixture.text("f", .string, rule) == .value(.string("female")))
    #expect(try ConverterFixture.text("female", .string, rule) == .refused(.unknownValue))
    #expect(try ConverterFixture.text("?", .string, rule) == .value(.null))
    #expect(try ConverterFixture.text("", .string, rule) == .refused(.unknownValue))
    let converter = try ValueConverter(attribute: ConverterFixture.attribute(.string), rule: rule)
    let problem = ConverterFixture.bytes("x") { converter.problem(.unknownValue, text: $0) }
    #expect("\(problem)" == "a: “x” isn't one of the values that the recipe knows: f, m")
  }

  @Test("JSON numbers and booleans may be nulls and values as well")
  func json() throws {
    let rule = PropertyRule {
      $0.nulls = ["-999"]
      $0.values = ["1": "active", "true": "yes"]
    }
    #expect(try ConverterFixture.number("1", .string, rule) == .value(.string("active")))
    #expect(try ConverterFixture.number("2", .string, rule) == .value(.string("2")))
    #expect(try ConverterFixture.number("-999", .string, rule) == .value(.null))
    let converter = try ValueConverter(attribute: ConverterFixture.attribute(.string), rule: rule)
    #expect(Outcome { () throws(ConversionCode) in try converter.convert(bool: true) } == .value(.string("yes")))
    #expect(Outcome { () throws(ConversionCode) in try converter.convert(bool: false) } == .value(.string("false")))
  }

  @Test("words for true and false, in either case")
  func words() throws {
    let rule = PropertyRule {
      $0.trueWords = ["Ja", "Ökay", "x"]
      $0.falseWords = ["nein"]
    }
    for text in ["ja", " JA ", "ökay", "ÖKAY", "X"] {
      #expect(try ConverterFixture.text(text, .boolean, rule) == .value(.bool(true)))
    }
    #expect(try ConverterFixture.text("Nein", .boolean, rule) == .value(.bool(false)))
    for text in ["yes", "1", "true", "j", "neina"] {
      #expect(try ConverterFixture.text(text, .boolean, rule) == .refused(.notABoolean))
    }
    #expect(try ConverterFixture.number("1", .boolean, rule) == .value(.bool(true)))
    let converter = try ValueConverter(attribute: ConverterFixture.attribute(.boolean, name: "flag"), rule: rule)
    let problem = ConverterFixture.bytes("yes") { converter.problem(.notABoolean, text: $0) }
    #expect("\(problem)" == "flag: “yes” isn't ja, ökay, x or nein; expected Boolean")
  }

  @Test("words for one of the two leave the usual ones for the other")
  func halfOfTheWords() throws {
    let rule = PropertyRule { $0.trueWords = ["on"] }
    #expect(try ConverterFixture.text("ON", .boolean, rule) == .value(.bool(true)))
    #expect(try ConverterFixture.text("no", .boolean, rule) == .value(.bool(false)))
    let both = PropertyRule { $0.trueWords = ["No"] }
    #expect(throws: ConverterError.self) { try ConverterFixture.text("no", .boolean, both) }
    let none = PropertyRule { $0.falseWords = [] }
    #expect(throws: ConverterError.self) { try ConverterFixture.text("no", .boolean, none) }
  }

  @Test("a rule that values of the type have no use for is refused")
  func useless() throws {
    let rules: [(AttributeType, String, PropertyRule)] = [
      (.string, "date_format", PropertyRule { $0.dateFormat = "yyyy" }),
      (.integer16, "time_zone", PropertyRule { $0.timeZone = "UTC" }),
      (.date, "decimal_separator", PropertyRule { $0.decimalSeparator = "," }),
      (.string, "grouping_separator", PropertyRule { $0.groupingSeparator = "." }),
      (.string, "true_words", PropertyRule { $0.trueWords = ["ja"] }),
      (.uuid, "false_words", PropertyRule { $0.falseWords = ["nein"] }),
    ]
    for (type, option, rule) in rules {
      #expect(
        throws: ConverterError.uselessOption(attribute: "a", option: option, type: type.rawValue),
        performing: { try ConverterFixture.text("", type, rule) })
    }
    #expect(throws: ConverterError.self) {
      try ConverterFixture.text("", .string, PropertyRule { $0.refusesOtherValues = true })
    }
  }

  @Test("a rule that says nothing new makes the converter there is without it")
  func trivial() throws {
    for type in [AttributeType.integer16, .date, .boolean, .double] {
      let attribute = try ConverterFixture.attribute(type)
      #expect(try ValueConverter(attribute: attribute, rule: PropertyRule { $0.trims = true }).kind != .ruled)
    }
    #expect(
      try ValueConverter(attribute: ConverterFixture.attribute(.string), rule: PropertyRule { $0.nulls = [] }).kind
        == .string)
  }

  @Test("a table of many texts finds each and no other")
  func table() {
    let texts = (0..<1000).map { "text \($0 * 7)" } + ["", "é", "text 0"]
    let table = TextSet(texts)
    #expect(table.count == 1002)
    for (number, text) in texts.dropLast().enumerated() {
      #expect(Array(text.utf8).withUnsafeBytes { table.find($0) } == number)
    }
    for text in ["text 1", "tex", "e\u{301}", String(repeating: "x", count: 100_000)] {
      #expect(Array(text.utf8).withUnsafeBytes { table.find($0) } == nil)
    }
  }
}
