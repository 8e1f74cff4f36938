import Foundation
import ManagedObjects
import TestSupport
import Testing

struct PredicateVariableTests {
  private let city = PredicateFixture.entity("City")

  @Test("variables take values of every type, wherever they stand, and those not given stay")
  func substitution() throws {
    let template = try FetchPredicate(
      format:
        "name == $name AND population + $n IN $list AND NOT SUBQUERY(tags, $t, $t.label == $name).@count == $other")
    let filled = try template.withSubstitutionVariables(["name": "x", "n": 1, "list": [1, 2]])
    #expect(
      try filled
        == FetchPredicate(
          format:
            "name == 'x' AND population + 1 IN {1, 2} AND NOT SUBQUERY(tags, $t, $t.label == 'x').@count == $other"))
    #expect(try FetchPredicate(format: template.description) == template)
    #expect(filled.variables == ["other"])
  }

  @Test("a variable stands for the two ends of BETWEEN, and for a place")
  func ends() throws {
    let template = try FetchPredicate(format: "population BETWEEN $ends AND {1, 2, 3}[$place] == rate")
    #expect(try FetchPredicate(format: template.description) == template && template.variables == ["ends", "place"])
    let filled = try template.withSubstitutionVariables(["ends": [1, 5], "place": 2])
    #expect(try filled == FetchPredicate(format: "population BETWEEN {1, 5} AND {1, 2, 3}[2] == rate"))
    #expect(throws: FetchPredicateError.unboundVariable("ends")) { try template.resolved(in: city) }
    for ends: Any in [[1], 3, [1, 2, 3]] {
      #expect(throws: FetchPredicateError.self) {
        try template.withSubstitutionVariables(["ends": ends, "place": 2]).resolved(in: city)
      }
    }
  }

  @Test("a subquery's own variable isn't replaced")
  func shadowing() throws {
    let predicate = try FetchPredicate(format: "SUBQUERY(tags, $t, $t.label == 'x').@count > $t")
    let filled = try predicate.withSubstitutionVariables(["t": 3])
    #expect(filled == (try FetchPredicate(format: "SUBQUERY(tags, $t, $t.label == 'x').@count > 3")))
  }

  @Test("a variable without a value is refused by name")
  func unbound() throws {
    let predicate = try FetchPredicate(format: "name == $name")
    #expect(throws: FetchPredicateError.unboundVariable("name")) { try predicate.resolved(in: city) }
    #expect(throws: FetchPredicateError.self) { try predicate.withSubstitutionVariables(["name": Locale.current]) }
    let path = try FetchPredicate(format: "$city.name == name")
    #expect(throws: FetchPredicateError.self) {
      try path.withSubstitutionVariables(["city": PredicateFixture.id("City", 1)]).resolved(in: city)
    }
  }
}
