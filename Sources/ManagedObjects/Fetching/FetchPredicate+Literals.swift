// Literals stand for constants, so that a predicate built from values reads like one in the format language:
//
//     .comparison(.path("population"), .greaterOrEqual, 10_000)
//     .comparison(.path("price") * 2, .less, 9.5) && .equal("name", "Bern")
//
// A string is a text, never a key path: those are `.path("name")`.

extension FetchPredicate: ExpressibleByBooleanLiteral {
  /// True for every object, or for none. Source: `init(value:)` of Core Data's `NSPredicate`.
  public init(booleanLiteral value: Bool) { self = .constant(value) }
}

extension FetchPredicate.Expression: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByStringInterpolation
{
  /// Nil.
  public init(nilLiteral: ()) { self = .constant(.null) }
  /// A boolean.
  public init(booleanLiteral value: Bool) { self = .constant(.bool(value)) }
  /// An integer.
  public init(integerLiteral value: Int64) { self = .constant(.int(value)) }
  /// A double.
  public init(floatLiteral value: Double) { self = .constant(.double(value)) }
  /// A text.
  public init(stringLiteral value: String) { self = .constant(.string(value)) }
}
