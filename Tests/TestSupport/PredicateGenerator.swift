import Foundation
package import ManagedObjects

/// A generated predicate over the cities of ``PredicateFixture``, with what it selects in memory.
package struct GeneratedPredicate: CustomStringConvertible {
  package let predicate: FetchPredicate
  package let resolved: ResolvedPredicate
  /// The numbers of the cities that fulfil it, in order.
  package let expected: [Int64]
  private let seed: UInt64

  package var description: String { "seed \(seed): \(predicate)" }

  /// Those of 600 seeds, without comparisons of two kinds of values, which all evaluators are spared.
  package static func all() -> [GeneratedPredicate] {
    let city = PredicateFixture.entity("City")
    let subjects = PredicateFixture.Subject.all(city)
    return (1...600 as ClosedRange<UInt64>).compactMap { seed in
      var generator = PredicateGenerator(seed: seed)
      let predicate = generator.predicate()
      guard case .success(let resolved) = Result(catching: { try predicate.resolved(in: city) }) else { return nil }
      let expected = subjects.filter { resolved.evaluate(on: $0) }.map(\.row.id.number)
      return GeneratedPredicate(predicate: predicate, resolved: resolved, expected: expected, seed: seed)
    }
  }
}

/// Random predicates over cities of ``PredicateFixture``, the same for the same seed.
package struct PredicateGenerator {
  private var state: UInt64

  package init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

  private mutating func next(_ bound: Int) -> Int {
    // xorshift64*
    state ^= state >> 12
    state ^= state << 25
    state ^= state >> 27
    return Int((state &* 0x2545_F491_4F6C_DD1D) >> 33) % bound
  }

  private mutating func one<T>(of choices: [T]) -> T { choices[next(choices.count)] }

  private typealias Expression = FetchPredicate.Expression

  /// What expressions are generated for: a city, or a variable that stands for a tag.
  private enum Subject { case city, tag }

  package mutating func predicate() -> FetchPredicate { predicate(depth: 3, .city) }

  private mutating func predicate(depth: Int, _ subject: Subject) -> FetchPredicate {
    switch next(depth > 0 ? 10 : 5) {
    case 0, 1: return numbers(depth: depth, subject)
    case 2: return strings(depth: depth, subject)
    case 3: return dates(depth: depth, subject)
    case 4: return .comparison(number(depth: depth, subject), .isIn, .constants([constant(), constant(), .null]))
    case 5: return .not(predicate(depth: depth - 1, subject))
    case 6: return .and([predicate(depth: depth - 1, subject), predicate(depth: depth - 1, subject)])
    case 7: return .or([predicate(depth: depth - 1, subject), predicate(depth: depth - 1, subject)])
    default: return subject == .city ? quantified() : strings(depth: depth, subject)
    }
  }

  private static let relations: [FetchPredicate.Operator] = [
    .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual,
  ]

  private mutating func numbers(depth: Int, _ subject: Subject) -> FetchPredicate {
    .comparison(number(depth: depth, subject), one(of: Self.relations), number(depth: depth, subject))
  }

  private mutating func strings(depth: Int, _ subject: Subject) -> FetchPredicate {
    let operation = one(of: Self.relations + [.beginsWith, .endsWith, .contains])
    let options = one(
      of: [
        [], [], .caseInsensitive, [.caseInsensitive, .diacriticInsensitive], .localeSensitive,
        [.caseInsensitive, .localeSensitive],
      ] as [FetchPredicate.Options])
    return .comparison(string(depth: depth, subject), operation, string(depth: 0, subject), options: options)
  }

  private mutating func dates(depth: Int, _ subject: Subject) -> FetchPredicate {
    .comparison(date(depth: depth, subject), one(of: Self.relations), date(depth: depth, subject))
  }

  private mutating func quantified() -> FetchPredicate {
    let collection = one(of: ["tags", "country.cities.tags", "twin.tags"])
    switch next(3) {
    case 0:
      let predicate = predicate(depth: 1, .tag)
      return .comparison(
        .member(of: .subquery(collection, "t", predicate), ["@count"]), one(of: Self.relations),
        .constant(.int(Int64(next(3)))))
    case 1:
      return .comparison(
        .init(
          .path("\(collection).weight"), one(of: Self.relations), number(depth: 1, .city),
          modifier: one(of: [.any, .all])))
    default:
      return .comparison(string(depth: 1, .city), .isIn, .path("\(collection).label"))
    }
  }

  private mutating func constant() -> Value {
    one(of: [
      .int(0), .int(1), .int(-5), .int(3), .int(134_000), .int(.max), .double(0.5), .double(-2.25), .double(51.6),
      .double(1e20), .null, .decimal(PredicateFixture.decimal("0.1")),
      .decimal(PredicateFixture.decimal("7.1234567890123456789")), .bool(true),
    ])
  }

  private mutating func number(depth: Int, _ subject: Subject) -> Expression {
    let leaf = depth <= 0 || next(3) == 0
    if leaf {
      if next(3) == 0 { return .constant(constant()) }
      if subject == .city, next(6) == 0 { return stop(one(of: ["population", "price", "area"])) }
      return .path(
        one(
          of: subject == .city
            ? [
              "population", "area", "rate", "price", "isCapital", "country.population", "station.number", "tags.@count",
              "tags.@sum.weight", "tags.@avg.cost", "country.cities.@max.population", "country.cities.@sum.area",
            ]
            : ["$t.weight", "$t.cost", "population", "$t.cities.@count", "price"]))
    }
    let inner = depth - 1
    switch next(6) {
    case 0, 1, 2:
      return .function(
        one(of: [.add, .subtract, .multiply, .divide, .modulus, .power, .bitwiseAnd, .leftShift]),
        [number(depth: inner, subject), number(depth: inner, subject)])
    case 3:
      return .function(
        one(of: [.negate, .absolute, .ceiling, .floor, .truncate, .squareRoot, .naturalLogarithm, .onesComplement]),
        [number(depth: inner, subject)])
    case 4:
      return .conditional(
        predicate(depth: 0, subject), then: number(depth: inner, subject), otherwise: number(depth: inner, subject))
    default:
      return .function(
        one(of: [.sum, .minimum, .maximum, .average, .count]),
        [.list([number(depth: inner, subject), number(depth: inner, subject)])])
    }
  }

  /// What a path leads to from a stop of the city's country's route.
  private mutating func stop(_ path: String) -> Expression {
    .member(
      of: .element(of: .path("country.route"), at: one(of: [.first, .last, .at(.constant(.int(1)))])),
      path.split(separator: ".").map(String.init))
  }

  private mutating func string(depth: Int, _ subject: Subject) -> Expression {
    if depth > 0, next(2) == 0 {
      return .function(one(of: [.lowercase, .uppercase, .canonical]), [string(depth: depth - 1, subject)])
    }
    if subject == .city, next(6) == 0 { return stop(one(of: ["name", "country.code"])) }
    if next(3) == 0 { return .constant(one(of: [.string("Bern"), .string("e"), .string(""), .null])) }
    return .path(
      one(of: subject == .city ? ["name", "note", "in", "twin.name", "country.name", "tags.@max.label"] : ["$t.label"]))
  }

  private mutating func date(depth: Int, _ subject: Subject) -> Expression {
    if depth > 0, next(2) == 0 {
      let seconds = one(of: [0.25, -86_400, 1e9])
      return .function(one(of: [.add, .subtract]), [date(depth: depth - 1, subject), .constant(.double(seconds))])
    }
    return .path(
      one(of: subject == .city ? ["founded", "visited", "country.founded", "tags.@min.since"] : ["$t.since"]))
  }
}
