import Foundation
import ManagedObjects
import TestSupport
import Testing

struct PredicateFormatTests {
  private func error(_ format: String, _ arguments: [PredicateArgument] = []) throws -> PredicateFormatError {
    try #require(throws: PredicateFormatError.self) { try FetchPredicate(format: format, arguments: arguments) }
  }

  @Test("precedence is NOT, AND, OR")
  func precedence() throws {
    let a = FetchPredicate.equal("a", .int(1))
    let b = FetchPredicate.equal("b", .int(2))
    let c = FetchPredicate.equal("c", .int(3))
    #expect(try FetchPredicate(format: "NOT a == 1 AND b == 2 OR c == 3") == .or([.and([.not(a), b]), c]))
    #expect(try FetchPredicate(format: "a == 1 OR b == 2 AND c == 3") == .or([a, .and([b, c])]))
    #expect(try FetchPredicate(format: "NOT (a == 1 OR b == 2) AND c == 3") == .and([.not(.or([a, b])), c]))
  }

  @Test(
    "numbers are read with their exact value",
    arguments: [
      ("1", Value.int(1)), ("-1", .int(-1)), ("+7", .int(7)), ("1.0", .double(1)), ("1e3", .double(1000)),
      (".5", .double(0.5)),
      ("0x1F", .int(31)), ("0b101", .int(5)), ("0o17", .int(15)), ("-2.5E-3", .double(-0.0025)),
      ("9223372036854775807", .int(.max)), ("-9223372036854775808", .int(.min)),
      ("0.1234567890123456789", .decimal(PredicateFixture.decimal("0.1234567890123456789"))),
      ("18446744073709551615", .decimal(PredicateFixture.decimal("18446744073709551615"))),
    ])
  func numbers(_ text: String, _ value: Value) throws {
    #expect(try FetchPredicate(format: "x == \(text)") == .equal("x", value))
  }

  @Test("a keyword is read in either case, and behind # or a dot as a name")
  func keywords() throws {
    #expect(
      try FetchPredicate(format: "a beginswith[CD] 'x' and not b between {1, 2}")
        == .and([
          .comparison(
            .path("a"), .beginsWith, .constant(.string("x")), options: [.caseInsensitive, .diacriticInsensitive]),
          .not(.between("b", .int(1), .int(2))),
        ]))
    #expect(try FetchPredicate(format: "#not == #true") == .comparison(.path("not"), .equal, .path("true")))
    #expect(try FetchPredicate(format: "a.in.like == NULL") == .equal("a.in.like", .null))
    #expect(FetchPredicate.equal("in.like.a", .null).description == "#in.#like.a == NIL")
  }

  @Test("placeholders take every type that a value has")
  func placeholders() throws {
    let date = Date(timeIntervalSince1970: 1)
    let uuid = UUID()
    let missing: String? = nil
    let predicate = try FetchPredicate(
      format: "%K == %@ AND b == %@ AND c IN %@ AND d == %d AND e == %f AND f == %s AND g == %@ AND h == %@",
      "a.x", date, uuid, [1, 2], 3, 4, "five", missing, nil)
    #expect(
      predicate
        == .and([
          .equal("a.x", .date(date)), .equal("b", .uuid(uuid)), .isIn("c", [.int(1), .int(2)]), .equal("d", .int(3)),
          .equal("e", .double(4)), .equal("f", .string("five")), .equal("g", .null), .equal("h", .null),
        ]))
  }

  @Test("what a placeholder can't take is refused")
  func wrongArguments() throws {
    #expect(try error("a == %d", [.value(.string("x"))]).reason == "the argument of %d must be a whole number")
    #expect(try error("%K == 1", [.value(.int(1))]).reason == "the argument of %K must be a string with a key path")
    #expect(try error("a == %@").reason == "there is no argument for %@, the placeholder 1")
    #expect(try error("a == 1", [.value(.int(1))]).reason == "the format has 0 placeholders, but there are 1 arguments")
    #expect(
      try error("a == %@", [.list([.int(1)])]).reason == "expected one value or a key path after ==, found a list")
    #expect(throws: PredicateFormatError.self) { try FetchPredicate(format: "a == %@", Locale(identifier: "C")) }
  }

  @Test("an error names the place and draws a caret below it")
  func caret() throws {
    let wrong = try error("name == AND x == 1")
    #expect(wrong.column == 9)
    #expect(
      wrong.description == """
        predicate, column 9: expected a value or a key path (a property of that name is written #AND), found AND
          name == AND x == 1
                  ^
        """)
    #expect(try error("").column == 1)
    #expect(try error("a == 1 b").reason == "expected AND, OR or the end, found b")
    #expect(try error("a == 'x").reason == "the string that starts here isn't closed by '")
    #expect(try error("(a == 1").reason == "expected ) for the ( at column 1, found the end")
    #expect(try error("a").reason == "expected an operator such as ==, <, IN, BETWEEN or CONTAINS, found the end")
    #expect(try error("a NOT IN {1}").reason.hasPrefix("expected an operator (NOT stands before the comparison)"))
    #expect(try error("a BETWEEN {1}").reason == "expected two values for BETWEEN, found 1")
    #expect(try error("a IN 5").reason == "expected a list in braces after IN, found the number 5")
    #expect(try error("a IN {{1}, 2}").reason == "expected a value, found a list within a list")
    #expect(try error("modulus:by:(a) == 1").reason == "expected 2 arguments for modulus:by:, found 1")
    #expect(try error("SUBQUERY(a, b, TRUEPREDICATE).@count == 1").reason == "expected a variable such as $x, found b")
    #expect(try error("a + == 1").reason == "expected a value or a key path, found ==")
    #expect(try error("a ==[x] 'y'").reason == "expected c, d or cd in brackets, found x")
    #expect(try error("a == '\\d'").reason == "\\d isn't an escape; a backslash itself is written \\\\")
    #expect(try error("a == 12abc").reason == "12abc isn't a number")
    #expect(
      try error("a == 5 %% 2").reason == "a percent sign stands only in quoted strings, and is written once there")
    #expect(try error("'\u{1F680}\u{1F1E8}\u{1F1ED}' == ~").column == 9)
  }

  @Test(
    "what isn't supported is refused by name",
    arguments: [
      ("median(a) > 1", "the function median"), ("FETCH(a, b, c) == 1", "the function FETCH"),
      ("FUNCTION(a, 'b') == 1", "the method b of FUNCTION"),
      ("CAST('x', 'NSNumber') == 1", "CAST of \"x\" to NSNumber"), ("CAST(a, 'NSUUID') == b", "CAST to NSUUID"),
    ])
  func unsupported(_ format: String, _ part: String) throws {
    #expect(try error(format).problem == .unsupported(part))
  }

  @Test("a format nested beyond reason is refused and doesn't exhaust the stack")
  func depth() throws {
    let deep = String(repeating: "(", count: 100_000) + "a == 1" + String(repeating: ")", count: 100_000)
    #expect(throws: PredicateFormatError.self) { try FetchPredicate(format: deep) }
    #expect(throws: PredicateFormatError.self) {
      try FetchPredicate(format: String(repeating: "NOT ", count: 100_000) + "a == 1")
    }
    #expect(throws: PredicateFormatError.self) {
      try FetchPredicate(format: "a IN " + String(repeating: "{", count: 100_000))
    }
    let wide = Array(repeating: "a == 1", count: 5_000).joined(separator: " OR ")
    #expect(throws: Never.self) { try FetchPredicate(format: wide) }
  }

  @Test("values without a literal are written as CAST and read back")
  func casts() throws {
    let values: [Value] = [
      .date(Date(timeIntervalSinceReferenceDate: 12_345.678)), .uuid(UUID()), .data(Data([0, 255])),
      .decimal(PredicateFixture.decimal("1.25")), .double(.infinity), .string("'\"\\\n\u{301}\u{0}"), .bool(false),
      .null,
    ]
    let predicate = FetchPredicate.and(values.map { .equal("x", $0) } + [.isIn("y", values)])
    #expect(try FetchPredicate(format: predicate.description) == predicate)
  }

  @Test("every beginning of a valid format, and every one-character change, is either read or refused")
  func mutations() {
    let format = "NOT (a.b ==[cd] 'x\\u00e9' OR #in IN {1, -2.5e3, \"y\"}) AND c BETWEEN {0x1F, %@} && SELF != nil"
    for count in 0...format.count { _ = try? FetchPredicate(format: String(format.prefix(count)), 1) }
    for index in format.indices {
      for character in "'\"\\%[]{}(),.#$@-0e\u{301}" {
        var changed = format
        changed.replaceSubrange(index...index, with: String(character))
        _ = try? FetchPredicate(format: changed, 1)
      }
    }
  }
}
