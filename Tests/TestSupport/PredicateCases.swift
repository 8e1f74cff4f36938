package import ManagedObjects

/// A predicate and the rows of ``PredicateFixture`` that it holds for. Every evaluator must find exactly these, and with
/// NOT exactly the others.
package struct PredicateCase: Sendable, CustomStringConvertible {
  package let entity: String
  package let format: String
  package let arguments: [PredicateArgument]
  /// Numbers of the rows, in their order.
  package let expected: [Int64]

  init(_ format: String, _ arguments: [(any Sendable)?] = [], of entity: String = "City", finds expected: [Int64]) {
    self.entity = entity
    self.format = format
    self.arguments = arguments.map { argument in
      guard let converted = PredicateArgument(argument) else { preconditionFailure("no argument: \(argument as Any)") }
      return converted
    }
    self.expected = expected
  }

  package var description: String { arguments.isEmpty ? format : "\(format) \(arguments)" }

  package func predicate() throws -> FetchPredicate { try FetchPredicate(format: format, arguments: arguments) }
}

/// The cases that all evaluators answer alike.
package enum PredicateCases {
  package static let all: [PredicateCase] = [
    constants, equality, ordering, lists, strings, folding, patterns, numbers, decimals, dates, identities, paths,
    logic, entities, quantified, aggregates, subqueries, arithmetic, functions, dateArithmetic, conditionals, elements,
    composites, localized,
  ].flatMap { $0 }

  static let everyCity: [Int64] = Array(1...12)
  static let fixture = PredicateFixture.self

  private static let constants: [PredicateCase] = [
    .init("TRUEPREDICATE", finds: everyCity),
    .init("FALSEPREDICATE", finds: []),
    .init("1 == 1", finds: everyCity),
    .init("1 > 2", finds: []),
    .init("nil == nil", finds: everyCity),
    .init("nil < 1", finds: []),
    .init("'abc' CONTAINS 'b'", finds: everyCity),
    .init("'B' ==[c] 'b'", finds: everyCity),
    .init("3 IN {1, 2, 3}", finds: everyCity),
    .init("4 BETWEEN {1, 3}", finds: []),
  ]

  private static let equality: [PredicateCase] = [
    .init("name == 'Bern'", finds: [1]),
    .init("name = \"Bern\"", finds: [1]),
    .init("'Bern' == name", finds: [1]),
    .init("name != 'Bern'", finds: [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]),
    .init("name <> 'Bern'", finds: [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]),
    .init("name == nil", finds: [6]),
    .init("name != nil", finds: [1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12]),
    .init("nil == name", finds: [6]),
    .init("name == ''", finds: [5]),
    .init("name == %@", [nil], finds: [6]),
    .init("name == #in", finds: [1, 6]),
    .init("name != #in", finds: [2, 3, 4, 5, 7, 8, 9, 10, 11, 12]),
    .init("name < #in", finds: []),
    .init("name >= #in", finds: [1]),
    .init("%K == %@", ["name", "Bern"], finds: [1]),
    .init("name == 'Z\u{FC}rich'", finds: [2]),
    .init("name == 'Zu\u{308}rich'", finds: [3]),
    .init("name == 'Z\\u00FCrich'", finds: [2]),
    .init("note == 'O\\'Neil \"q\"'", finds: [9]),
    .init("note == 'line\\nbreak'", finds: [8]),
    .init("note == %@", ["a*b?c\\d"], finds: [7]),
    .init("note == '100%'", finds: [5]),
    .init("isCapital == TRUE", finds: [1, 10, 12]),
    .init("isCapital == YES", finds: [1, 10, 12]),
    .init("isCapital == 1", finds: [1, 10, 12]),
    .init("isCapital == 1.0", finds: [1, 10, 12]),
    .init("isCapital == NO", finds: [2, 5]),
    .init("isCapital != TRUE", finds: [2, 3, 4, 5, 6, 7, 8, 9, 11]),
    .init("isCapital == %@", [false], finds: [2, 5]),
    .init("isCapital == NIL", finds: [3, 4, 6, 7, 8, 9, 11]),
  ]

  private static let ordering: [PredicateCase] = [
    .init("name < 'Berlin'", finds: [5]),
    .init("name <= 'Berlin'", finds: [5, 12]),
    .init("name > 'bern'", finds: [8, 9, 10]),
    .init("name >= 'bern'", finds: [4, 8, 9, 10]),
    .init("name => 'bern' && name =< 'bern'", finds: [4]),
    .init("'bern' < name", finds: [8, 9, 10]),
    .init("name > nil", finds: []),
    .init("population > 134000", finds: [2, 10, 12]),
    .init("population >= 134000", finds: [1, 2, 10, 12]),
    .init("population < 0", finds: [7]),
    .init("population <= 0", finds: [5, 7]),
    .init("population < 0.5", finds: [5, 7]),
    .init("NOT population < 0.5", finds: [1, 2, 3, 4, 6, 8, 9, 10, 11, 12]),
    .init("name <[c] 'BERN'", finds: [5, 12]),
    .init("isCapital > FALSE", finds: [1, 10, 12]),
  ]

  private static let lists: [PredicateCase] = [
    .init("name IN {'Bern', 'Berlin', 'x'}", finds: [1, 12]),
    .init("name IN ('Bern', 'Berlin')", finds: [1, 12]),
    .init("name IN %@", [["Bern", "bern"]], finds: [1, 4]),
    .init("name IN {%@, %@}", ["Bern", "bern"], finds: [1, 4]),
    .init("name IN {'Bern', nil}", finds: [1, 6]),
    .init("name IN {nil}", finds: [6]),
    .init("name IN {}", finds: []),
    .init("NOT name IN {'Bern', nil}", finds: [2, 3, 4, 5, 7, 8, 9, 10, 11, 12]),
    .init("NOT (name IN {'Bern'})", finds: [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]),
    .init("name IN {'Zu\u{308}rich'}", finds: [3]),
    .init("name IN[c] {'BERN', '\u{C9}cole'}", finds: [1, 4, 8, 9]),
    .init("name IN[cd] {'zurich'}", finds: [2, 3]),
    .init("population IN {1, 0, 434000.0}", finds: [2, 3, 5]),
    .init("population IN %@", [[1, 134_000]], finds: [1, 3]),
    .init("price IN {5, 0.1, 7}", finds: [2, 8]),
    .init("price IN %@", [[fixture.decimal("7.1234567890123456789"), fixture.decimal("10.1")]], finds: [1, 3]),
    .init("uid IN %@", [[fixture.uuid(1), fixture.uuid(0xFF)]], finds: [1, 10]),
    .init("founded IN {'1191-01-01', '2024-05-31T12:00:00Z'}", finds: [1, 12]),
    .init("country IN %@", [[fixture.id("Country", 1), fixture.id("Country", 3)]], finds: [1, 2, 5]),
    .init("country.code IN {'CH', 'FR'}", finds: [1, 2, 5]),
    .init("SELF IN %@", [[fixture.id("City", 4), fixture.id("City", 9)]], finds: [4, 9]),
    .init(
      "name IN %@", [(0..<1_000).map { "city \($0)" } + ["Bern", "\u{6771}\u{4EAC}", "Stra\u{DF}e"]], finds: [1, 7, 10]),
    .init(
      "note IN %@", [(0..<1_000).map { "\($0)" } + ["O'Neil \"q\"", "line\nbreak", "a*b?c\\d"]], finds: [7, 8, 9]),
    .init("population IN %@", [Array(0..<1_000)], finds: [3, 5]),
    .init("area IN %@", [(0..<1_000).map { Double($0) + 0.3 } + [51.6, 0.1 + 0.2, .infinity]], finds: [1, 9, 12]),
    .init("flag IN %@", [(0..<600).map { PredicateCases.data($0) }], finds: [1]),
    .init("population BETWEEN {0, 134000}", finds: [1, 3, 5]),
    .init("population BETWEEN %@", [[0, 134_000]], finds: [1, 3, 5]),
    .init("NOT population BETWEEN {0, 134000}", finds: [2, 4, 6, 7, 8, 9, 10, 11, 12]),
    .init("population BETWEEN {134000, 0}", finds: []),
    .init("name BETWEEN {'Berlin', 'Bern'}", finds: [1, 12]),
    .init("founded BETWEEN {'1191-01-01', '1218-12-31'}", finds: [1, 2]),
  ]

  private static let strings: [PredicateCase] = [
    .init("name BEGINSWITH 'Ber'", finds: [1, 11, 12]),
    .init("name beginswith 'Bern'", finds: [1, 11]),
    .init("name BEGINSWITH ''", finds: [1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12]),
    .init("NOT name BEGINSWITH 'Ber'", finds: [2, 3, 4, 5, 6, 7, 8, 9, 10]),
    .init("name BEGINSWITH '\u{6771}'", finds: [10]),
    .init("note BEGINSWITH '\u{1F680}'", finds: [12]),
    .init("note BEGINSWITH '100%'", finds: [5]),
    .init("name BEGINSWITH %@", ["\u{10FFFF}"], finds: []),
    .init("name ENDSWITH 'n'", finds: [1, 4, 12]),
    .init("name ENDSWITH 'ern'", finds: [1, 4]),
    .init("name ENDSWITH '\u{4EAC}'", finds: [10]),
    .init("name ENDSWITH ''", finds: [1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12]),
    .init("name ENDSWITH 'much longer than any name'", finds: []),
    .init("NOT name ENDSWITH 'n'", finds: [2, 3, 5, 6, 7, 8, 9, 10, 11]),
    .init("name CONTAINS 'er'", finds: [1, 4, 11, 12]),
    .init("name CONTAINS ''", finds: [1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12]),
    .init("note CONTAINS '\u{30BF}'", finds: [10]),
    .init("note CONTAINS '*b?'", finds: [7]),
    .init("note CONTAINS '\\\\'", finds: [7]),
    .init("note CONTAINS \"'\"", finds: [9]),
    .init("name CONTAINS nil", finds: []),
    .init("name CONTAINS #in", finds: [1]),
    .init("'Bern is a city' CONTAINS name", finds: [1, 5]),
    .init("'Bernau' BEGINSWITH name", finds: [1, 5, 11]),
    .init("'Zweibern' ENDSWITH name", finds: [4, 5]),
    .init("name ENDSWITH twin.name", finds: []),
    .init("name BEGINSWITH[c] twin.name", finds: [9]),
    .init("name ENDSWITH[c] twin.name", finds: [9]),
  ]

  private static let folding: [PredicateCase] = [
    .init("name ==[c] 'BERN'", finds: [1, 4]),
    .init("name !=[c] 'BERN'", finds: [2, 3, 5, 6, 7, 8, 9, 10, 11, 12]),
    .init("name ==[c] '\u{C9}Cole'", finds: [8, 9]),
    .init("name ==[d] 'Zurich'", finds: [2, 3]),
    .init("name ==[cd] 'ZURICH'", finds: [2, 3]),
    .init("name ==[cd] 'ECOLE'", finds: [8, 9]),
    .init("name ==[d] 'ECOLE'", finds: [8]),
    .init("name BEGINSWITH[c] 'BER'", finds: [1, 4, 11, 12]),
    .init("name BEGINSWITH[cd] 'eco'", finds: [8, 9]),
    .init("name BEGINSWITH[c] ''", finds: [1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12]),
    .init("name ENDSWITH[c] 'RN'", finds: [1, 4]),
    .init("name ENDSWITH[cd] 'COLE'", finds: [8, 9]),
    .init("name CONTAINS[c] 'ERN'", finds: [1, 4, 11]),
    .init("name CONTAINS[cd] 'URI'", finds: [2, 3]),
    .init("name CONTAINS[d] 'uri'", finds: [2, 3]),
    .init("name ==[c] twin.name", finds: [6, 9]),
    .init("note ==[c] 'CAPITAL'", finds: [4]),
  ]

  private static let patterns: [PredicateCase] = [
    .init("name LIKE 'Bern'", finds: [1]),
    .init("name LIKE 'Ber*'", finds: [1, 11, 12]),
    .init("name LIKE '*ern'", finds: [1, 4]),
    .init("name LIKE '*er*'", finds: [1, 4, 11, 12]),
    .init("name LIKE '*'", finds: [1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12]),
    .init("name LIKE ''", finds: [5]),
    .init("name LIKE '?ern'", finds: [1, 4]),
    .init("name LIKE 'B*n'", finds: [1, 12]),
    .init("name LIKE '??'", finds: [10]),
    .init("name LIKE '?*?'", finds: [1, 2, 3, 4, 7, 8, 9, 10, 11, 12]),
    .init("NOT name LIKE 'B*'", finds: [2, 3, 4, 5, 6, 7, 8, 9, 10]),
    .init("name LIKE[c] 'b?rn*'", finds: [1, 4, 11]),
    .init("name LIKE[cd] 'E*e'", finds: [8, 9]),
    .init("note LIKE 'a\\\\*b\\\\?c*'", finds: [7]),
    .init("note LIKE '*\\\\\\\\d'", finds: [7]),
    .init("note LIKE '[abc]'", finds: [11]),
    .init("note LIKE '*%'", finds: [5]),
    .init("name MATCHES 'Ber.*'", finds: [1, 11, 12]),
    .init("name MATCHES 'er'", finds: []),
    .init("name MATCHES 'Bern|Berlin'", finds: [1, 12]),
    .init("name MATCHES[c] 'b[a-z]+n'", finds: [1, 4, 12]),
    .init("name MATCHES[cd] 'ecole'", finds: [8, 9]),
    .init("name MATCHES ''", finds: [5]),
    .init("note MATCHES '\\\\d+%'", finds: [5]),
    .init("NOT name MATCHES '.*'", finds: [6]),
  ]

  private static let numbers: [PredicateCase] = [
    .init("population == 434000", finds: [2]),
    .init("population == 434000.0", finds: [2]),
    .init("population == 4.34e5", finds: [2]),
    .init("population == 0x69f50", finds: [2]),
    .init("population == -5", finds: [7]),
    .init("population == %d", [134_000], finds: [1]),
    .init("population == %ld", [Int64(134_000)], finds: [1]),
    .init("population == %@", [fixture.decimal("134000")], finds: [1]),
    .init("population < 1.5", finds: [3, 5, 7]),
    .init("population < %@", [fixture.decimal("1.00000000000000000001")], finds: [3, 5, 7]),
    .init("population == %@", [fixture.decimal("1.00000000000000000001")], finds: []),
    .init("population IN %@", [[fixture.decimal("1.00000000000000000001"), fixture.decimal("0")]], finds: [5]),
    .init("population == TRUE", finds: [3]),
    .init("population == nil", finds: [4, 6, 8, 9, 11]),
    .init("area == 51.6", finds: [1]),
    .init("area == 0", finds: [5]),
    .init("area > 50", finds: [1, 2, 10, 12]),
    .init("area > %f", [87.0], finds: [2, 10, 12]),
    .init("area == 9007199254740993", finds: []),
    .init("area < 9007199254740993 AND area > 9007199254740991", finds: [10]),
    .init("area == nil", finds: [3, 4, 6, 7, 11]),
    .init("area == %@", [Double.infinity], finds: [12]),
    .init("area == %@", [Double.nan], finds: [3, 4, 6, 7, 11]),
    .init("rate == 0.1", finds: [1]),
    .init("rate > 0.1", finds: []),
    .init("area > population", finds: [10, 12]),
    .init("area == population", finds: [4, 5, 6, 11]),
  ]

  private static let decimals: [PredicateCase] = [
    .init("price == 10.1", finds: [1]),
    .init("price == 10.10", finds: [1]),
    .init("price == 5", finds: [2]),
    .init("price == 7.1234567890123456789", finds: [3]),
    .init("price == 7.123456789012346", finds: []),
    .init("price != 7.1234567890123456789", finds: [1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12]),
    .init("price == -3.1234567890123456789", finds: [4]),
    .init("price < 0", finds: [4]),
    .init("price <= 0", finds: [4, 5]),
    .init("price > 7", finds: [1, 3, 7, 10]),
    .init("price > 7.1234567890123456788", finds: [1, 3, 7, 10]),
    .init("price > 7.1234567890123456789", finds: [1, 7, 10]),
    .init("price < 7.2", finds: [2, 3, 4, 5, 8, 9]),
    .init("price BETWEEN {-4, 0.1}", finds: [4, 5, 8]),
    .init("price == 9007199254740993", finds: [10]),
    .init("price == 9007199254740992", finds: []),
    .init("price == 1e20", finds: [7]),
    .init("price == %@", [fixture.decimal("0.1")], finds: [8]),
    .init("price == 0.3", finds: []),
    .init("price == 0.30000000000000004", finds: [9]),
    .init("price == area", finds: [5, 6, 8, 9, 11]),
    .init("price > area", finds: [10]),
    .init("price < area", finds: [1, 2]),
    .init("price == nil", finds: [6, 11, 12]),
  ]

  private static let dates: [PredicateCase] = [
    .init("founded == '1191-01-01'", finds: [1]),
    .init("founded == '1191-01-01T00:00:00Z'", finds: [1]),
    .init("founded == '1191-01-01T02:00:00+02:00'", finds: [1]),
    .init("founded == %@", [fixture.date("1191-01-01")], finds: [1]),
    .init("founded < '1200-01-01'", finds: [1]),
    .init("founded > '1218-06-15 08:00:00.4999'", finds: [2, 11, 12]),
    .init("founded > '1218-06-15 08:00:00.5'", finds: [11, 12]),
    .init("founded == '1969-12-31 23:59:59.999999'", finds: [11]),
    .init("founded < '1970-01-01' AND founded > '1969-12-31 23:59:59.99'", finds: [11]),
    .init("founded == CAST(-31536000.000001, 'NSDate')", finds: []),
    .init("founded < %@", [PredicateCases.farAway(20_000)], finds: [1, 2, 11, 12]),
    .init("founded > %@", [PredicateCases.farAway(-20_000)], finds: [1, 2, 11, 12]),
    .init("visited == '2024-05-31 14:30:00'", finds: [1]),
    .init("visited == '2024-05-31 14:30:00.25'", finds: [2]),
    .init("visited > '2024-05-31 12:00'", finds: [1, 2]),
    .init("visited >= '2024-05-31T12:00'", finds: [1, 2, 12]),
    .init("visited < '1970-01-01'", finds: [10]),
    .init("visited == '1969-12-31 23:59:59.75'", finds: [10]),
    .init("visited == founded", finds: [3, 4, 5, 6, 7, 8, 9, 12]),
    .init("visited > founded", finds: [1, 2]),
    .init("visited == nil", finds: [3, 4, 5, 6, 7, 8, 9, 11]),
  ]

  private static let identities: [PredicateCase] = [
    .init("uid == %@", [fixture.uuid(2)], finds: [2]),
    .init("uid == 'AB000000-0000-4000-8000-000000000002'", finds: [2]),
    .init("uid == 'ab000000-0000-4000-8000-000000000002'", finds: [2]),
    .init("uid > %@", [fixture.uuid(1)], finds: [2, 10]),
    .init("uid == nil", finds: [3, 4, 5, 6, 7, 8, 9, 11, 12]),
    .init("site == 'https://bern.ch/a'", finds: [1]),
    .init("site != nil", finds: [1]),
    .init("flag == %@", [PredicateCases.bytes([1, 2, 3])], finds: [1]),
    .init("flag == %@", [PredicateCases.bytes([])], finds: [7]),
    .init("flag != %@", [PredicateCases.bytes([1, 2, 3])], finds: [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]),
    .init("SELF == %@", [fixture.id("City", 3)], finds: [3]),
    .init("self != %@", [fixture.id("City", 3)], finds: [1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12]),
    .init("objectID == %@", [fixture.id("City", 3)], finds: [3]),
    .init("SELF == %@", [fixture.id("City", -7)], finds: []),
    .init("SELF != %@", [fixture.id("City", -7)], finds: everyCity),
    .init("SELF == nil", finds: []),
    .init("country == %@", [fixture.id("Country", 1)], finds: [1, 2]),
    .init("country != %@", [fixture.id("Country", 2)], finds: [1, 2, 3, 5, 6, 8, 9, 10]),
    .init("country == nil", finds: [3, 6, 8, 9, 10]),
    .init("country != nil", finds: [1, 2, 4, 5, 7, 11, 12]),
    .init("country.objectID == %@", [fixture.id("Country", 3)], finds: [5]),
    .init("twin == SELF", finds: []),
    .init("country.capital == SELF", finds: [1, 12]),
  ]

  private static let paths: [PredicateCase] = [
    .init("country.code == 'DE'", finds: [4, 7, 11, 12]),
    .init("country.code != 'DE'", finds: [1, 2, 3, 5, 6, 8, 9, 10]),
    .init("NOT country.code == 'DE'", finds: [1, 2, 3, 5, 6, 8, 9, 10]),
    .init("country.name == nil", finds: [3, 5, 6, 8, 9, 10]),
    .init("country.name BEGINSWITH 'S'", finds: [1, 2]),
    .init("NOT country.name BEGINSWITH 'S'", finds: [3, 4, 5, 6, 7, 8, 9, 10, 11, 12]),
    .init("country.population > 70000000", finds: [4, 7, 11, 12]),
    .init("twin.twin.name == 'Bern'", finds: [2]),
    .init("twin.twin.country.code == 'CH'", finds: [2]),
    .init("twin.country.code == nil", finds: [1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12]),
    .init("country.capital.name == name", finds: [1, 6, 12]),
    .init("country.capital.country.code == country.code", finds: [1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12]),
    .init("country.founded < '1950-01-01'", finds: [4, 7, 11, 12]),
    .init("station.number == 10", finds: [1]),
    .init("station.number > 10", finds: [2]),
    .init("station.number == nil", finds: [3, 4, 5, 6, 7, 8, 9, 10, 11, 12]),
    .init("station.label == 'Bahnhof'", finds: [1]),
    .init("station == %@", [fixture.id("Station", 20)], finds: [2]),
    .init("SELF.country.code == 'FR'", finds: [5]),
    .init("%K == 'FR'", ["country.code"], finds: [5]),
    .init("capital.name == 'Berlin'", of: "Country", finds: [2]),
  ]

  private static let logic: [PredicateCase] = [
    .init("name == 'Bern' OR name == 'Berlin'", finds: [1, 12]),
    .init("name == 'Bern' || name == 'Berlin'", finds: [1, 12]),
    .init("isCapital == YES AND population > 1000000", finds: [10, 12]),
    .init("isCapital == YES && population > 1000000 and country != nil", finds: [12]),
    .init("name == 'Bern' OR name == 'Berlin' AND population == 1", finds: [1]),
    .init("(name == 'Bern' OR name == 'Berlin') AND population > 1000000", finds: [12]),
    .init("NOT (name == 'Bern')", finds: [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]),
    .init("NOT name == 'Bern' AND isCapital == YES", finds: [10, 12]),
    .init("! (name == 'Bern' OR population > 0)", finds: [4, 5, 6, 7, 8, 9, 11]),
    .init("NOT NOT name == 'Bern'", finds: [1]),
    .init("NOT (NOT (population > 0) AND NOT (name == 'bern'))", finds: [1, 2, 3, 4, 10, 12]),
    .init("NOT (population > 0 OR NOT isCapital == YES)", finds: []),
    .init("NOT (population < 0 AND name CONTAINS 'a')", finds: [1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12]),
    .init("NOT (NOT name CONTAINS 'er')", finds: [1, 4, 11, 12]),
    .init("((((name)) == (('Bern'))))", finds: [1]),
    .init("NOT TRUEPREDICATE", finds: []),
    .init("NOT FALSEPREDICATE AND name == 'Bern'", finds: [1]),
    .init("(1 == 1) AND name IN {'Bern'} AND NOT country.code == 'DE'", finds: [1]),
  ]

  private static let entities: [PredicateCase] = [
    .init("TRUEPREDICATE", of: "Vehicle", finds: [1, 2, 3, 4]),
    .init("TRUEPREDICATE", of: "Car", finds: [1, 2, 4]),
    .init("TRUEPREDICATE", of: "Taxi", finds: [2, 4]),
    .init("plate == nil", of: "Vehicle", finds: [4]),
    .init("seats > 4", of: "Car", finds: [2, 4]),
    .init("home.country.code == 'CH'", of: "Car", finds: [1, 2]),
    .init("NOT home.name == 'Bern'", of: "Taxi", finds: [2, 4]),
    .init("load > 7 OR plate BEGINSWITH 'B'", of: "Truck", finds: [3]),
    .init("SELF == %@", [fixture.id("Car", 2)], of: "Vehicle", finds: [2]),
    .init("number == 20", of: "Station", finds: [20]),
    .init("SELF == %@", [fixture.id("Station", 10)], of: "Station", finds: [10]),
  ]
}
