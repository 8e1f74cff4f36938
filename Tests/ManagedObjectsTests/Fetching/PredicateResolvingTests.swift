import Foundation
import ManagedObjects
import TestSupport
import Testing

struct PredicateResolvingTests {
  private func error(_ format: String, _ arguments: PredicateArgument..., of entity: String = "City") throws -> String {
    let predicate = try FetchPredicate(format: format, arguments: arguments)
    return try #require(throws: FetchPredicateError.self) {
      _ = try predicate.resolved(in: PredicateFixture.entity(entity))
    }.description
  }

  @Test("an unknown name is answered with the nearest one")
  func nearest() throws {
    #expect(try error("nmae == 'x'") == "City has no property nmae; did you mean name?")
    #expect(try error("country.cod == 'x'") == "Country has no property cod; did you mean code?")
    #expect(try error("Population == 1") == "City has no property Population; did you mean population?")
    #expect(
      try error("xyzzyxyzzy == 1", of: "Tag")
        == "Tag has no property xyzzyxyzzy; it has label, weight, cost, since, cities, favourites")
  }

  @Test("a path through anything but a to-one relationship is refused")
  func untraversable() throws {
    #expect(
      try error("tags.label == 'x'")
        == "the key path tags.label leads over City.tags, a to-many relationship, which can't be compared: "
        + "use ANY, ALL, IN, SUBQUERY or @count")
    #expect(
      try error("name.length == 1") == "the key path name.length goes on behind City.name, which isn't a relationship")
  }

  @Test("a constant of the wrong type is refused, naming attribute and type")
  func mismatches() throws {
    #expect(
      try error("population == '5'")
        == "City.population is Integer 32: compare it with a number, not with a string, \"5\"")
    #expect(try error("name == 5") == "City.name is String: compare it with a string, not with a number, 5")
    #expect(try error("name IN {'a', 5}").hasPrefix("City.name is String: compare it with a string"))
    #expect(try error("founded == 'yesterday'").contains("or a string with one such as '2024-05-31'"))
    #expect(try error("founded == 5").hasPrefix("City.founded is Date"))
    #expect(try error("uid == 'abc'").hasPrefix("City.uid is UUID"))
    #expect(try error("country == 'CH'").contains("an object ID or nil"))
    #expect(
      try error("country == %@", .value(.object(PredicateFixture.id("City", 1)))).contains("an object ID of Country"))
    #expect(try error("name == population") == "City.name, String, can't be compared with City.population, Integer 32")
  }

  @Test("an operator that doesn't fit the type is refused")
  func operators() throws {
    #expect(try error("population CONTAINS '5'") == "City.population is Integer 32, which CONTAINS can't be used with")
    #expect(try error("founded LIKE '2024*'") == "City.founded is Date, which LIKE can't be used with")
    #expect(try error("country < %@", .value(.object(PredicateFixture.id("Country", 1)))).contains("which < can't"))
    #expect(try error("name MATCHES '('") == "\"(\" isn't a regular expression")
    #expect(try error("name MATCHES 'a)|(b'") == "\"a)|(b\" isn't a regular expression")
    #expect(try error("name LIKE name") == "LIKE needs a string as its pattern, not name")
    #expect(try error("name CONTAINS 5") == "CONTAINS needs strings, not 5")
    #expect(try error("1 == 'a'") == "a number can't be compared with a string")
  }

  @Test("a predicate made in code is checked as one that was read")
  func programmatic() throws {
    let city = PredicateFixture.entity("City")
    #expect(throws: FetchPredicateError.self) {
      _ = try FetchPredicate.comparison(.path("name"), .isIn, .constant(.int(1))).resolved(in: city)
    }
    #expect(throws: FetchPredicateError.self) {
      _ = try FetchPredicate.comparison(.path("name"), .equal, .constants([])).resolved(in: city)
    }
    #expect(throws: FetchPredicateError.self) {
      _ = try FetchPredicate.comparison(.path("population"), .between, .constants([.int(1)])).resolved(in: city)
    }
    #expect(throws: Never.self) { _ = try FetchPredicate.and([]).resolved(in: city) }
  }

  @Test("sorting by what has no order is refused")
  func sorts() {
    let city = PredicateFixture.entity("City")
    #expect(throws: FetchPredicateError.self) { _ = try FetchSortDescriptor("flag").resolved(in: city) }
    #expect(throws: FetchPredicateError.self) { _ = try FetchSortDescriptor("tags").resolved(in: city) }
    #expect(throws: FetchPredicateError.self) { _ = try FetchSortDescriptor("nmae").resolved(in: city) }
    #expect(throws: FetchPredicateError.self) {
      _ = try FetchSortDescriptor("population", comparison: .caseInsensitive).resolved(in: city)
    }
  }

  @Test("what can't be asked of a collection is refused with the part named")
  func collections() throws {
    #expect(try error("ANY name == 'x'") == "ANY needs a to-many relationship on the left, not name")
    #expect(try error("tags BEGINSWITH 'x'").contains("leads over City.tags, a to-many relationship"))
    #expect(try error("name.@count == 1") == "@count needs a to-many relationship before it, not City.name")
    #expect(try error("tags.@median.weight == 1").hasPrefix("the collection operator @median isn't supported"))
    #expect(
      try error("tags.@count.label == 1") == "label behind @count isn't supported: it counts what stands before it")
    #expect(try error("tags.@sum.label == 1") == "Tag.label is String, which sum: can't be used with")
    #expect(try error("population IN name") == "IN needs a list or a to-many relationship on its right, not name")
    #expect(try error("twin == country").hasSuffix("can't be compared with City.country, a relationship to Country"))
    #expect(try error("name + 1 == 2") == "+ needs a number, not City.name, String")
    #expect(try error("founded + founded == 2").hasPrefix("+ needs a number, not City.founded"))
    #expect(try error("lowercase(population) == 'x'") == "lowercase: needs a string, not City.population, Integer 32")
    #expect(try error("TERNARY(TRUEPREDICATE, name, 1) == 'x'").contains("not with a number, 1"))
    #expect(try error("sum(population) == 1") == "sum: needs a to-many relationship or a list, not population")
    #expect(try error("SUBQUERY(tags.label, $t, TRUEPREDICATE).@count == 1") == "SUBQUERY needs objects, not Tag.label")
  }

  @Test("a predicate is encoded as its format, unless it names objects")
  func coding() throws {
    let predicate = try FetchPredicate(format: "ANY tags.label ==[c] 'x' AND -(population + 1) ** 2 IN {1, area}")
    let data = try JSONEncoder().encode([predicate])
    #expect(try JSONDecoder().decode([FetchPredicate].self, from: data) == [predicate])
    let object = try FetchPredicate(format: "SELF == %@", PredicateFixture.id("City", 1))
    #expect(throws: EncodingError.self) { try JSONEncoder().encode([object]) }
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode([FetchPredicate].self, from: Data("[\"name ==\"]".utf8))
    }
  }
}
