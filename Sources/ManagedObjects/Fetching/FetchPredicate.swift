/// A condition on objects, as a tree: what a fetch request asks for.
///
/// Written in Core Data's format language, or put together from values:
///
/// ```swift
/// try FetchPredicate(format: "country.code == %@ AND population > %d", "CH", 10_000)
/// FetchPredicate.and([.equal("country.code", .string("CH")), .comparison(.path("population"), .greater, .constant(.int(10_000)))])
/// ```
///
/// One tree is answered by two evaluators, SQL and memory, and both give the same answer:
/// - A condition is true or false, never unknown. `nil == nil` is true and `nil != x` is true for every `x` that isn't
///   nil; every other comparison with nil (`<`, `BETWEEN`, `BEGINSWITH`, …) is false, and `NOT` of it true.
/// - A key path through a relationship that points nowhere is nil; a to-many one is an empty collection then.
/// - Of a collection each object counts once, whatever the number of ways that lead to it. `ANY` holds for none of an
///   empty collection, `ALL` and `NONE` hold. What is nil in a collection is compared as nil is.
/// - Aggregates leave nil out. Of nothing `@count` and `@sum` are 0, and `@avg`, `@min` and `@max` nil.
/// - Arithmetic with nil is nil, and so are division by zero, a square root of a negative number, and what else isn't a
///   number. Integers divided are an integer, cut towards zero, as with `NSExpression` and in SQL; an integer that
///   doesn't fit 64 bits becomes a double. A decimal on either side makes decimal arithmetic, otherwise a double on
///   either side that of doubles. A date plus or minus a number of seconds is a date, a date minus a date the seconds.
/// - Numbers compare by value, whatever their types; a boolean is 0 or 1. NaN counts as nil.
/// - Strings compare by their UTF-8 bytes, `[c]` and `[d]` by the bytes of the folded strings, with `[l]` by the order of the
///   user's language. The empty string is the beginning, the end and a part of every string.
/// - One of an ordered relationship or a list, `tracks[FIRST]`, is nil where there is none at that place.
/// - A composite attribute is nil when all of its elements are; nothing else can be asked of it as a whole.
/// - Dates compare by the microsecond.
///
/// Source: Core Data's `NSPredicate`; named apart from Foundation's `Predicate`.
public indirect enum FetchPredicate: Sendable, Hashable {
  /// Holds for every object, or for none.
  case constant(Bool)
  /// Compares two expressions.
  case comparison(Comparison)
  /// Holds when all of them do; holds when there are none.
  case and([FetchPredicate])
  /// Holds when one of them does; doesn't hold when there are none.
  case or([FetchPredicate])
  /// Holds when the other doesn't.
  case not(FetchPredicate)

  /// Two expressions and how they compare.
  public struct Comparison: Sendable, Hashable {
    /// What stands left of the operator.
    public var left: Expression
    /// The operator.
    public var `operator`: Operator
    /// What stands right of it.
    public var right: Expression
    /// How strings are compared.
    public var options: Options
    /// Whether the left side is one value, or a collection of which any or all must compare so.
    public var modifier: Modifier

    /// A comparison of `left` with `right`.
    public init(
      _ left: Expression, _ operator: Operator, _ right: Expression, options: Options = [],
      modifier: Modifier = .direct
    ) {
      self.left = left
      self.operator = `operator`
      self.right = right
      self.options = options
      self.modifier = modifier
    }
  }

  /// How many of a collection must compare as the operator says: Core Data's `NSComparisonPredicate.Modifier`.
  public enum Modifier: String, Sendable, Hashable, CaseIterable {
    /// The left side is one value.
    case direct = ""
    /// `ANY` (or `SOME`): one of the collection at least. `NONE` is `NOT ANY`.
    case any = "ANY"
    /// `ALL`: every one of the collection. Holds for an empty one.
    case all = "ALL"
  }

  /// How two expressions compare.
  public enum Operator: String, Sendable, Hashable, CaseIterable {
    /// The same value; nil is the same as nil.
    case equal = "=="
    /// Another value.
    case notEqual = "!="
    /// Before the other in their order.
    case less = "<"
    /// Before the other, or the same.
    case lessOrEqual = "<="
    /// After the other in their order.
    case greater = ">"
    /// After the other, or the same.
    case greaterOrEqual = ">="
    /// Equal to one of a list or collection.
    case isIn = "IN"
    /// Not less than the first of two and not greater than the second.
    case between = "BETWEEN"
    /// A string that begins with the other.
    case beginsWith = "BEGINSWITH"
    /// A string that ends with the other.
    case endsWith = "ENDSWITH"
    /// A part of a string, or one of a collection.
    case contains = "CONTAINS"
    /// Like a pattern in which `*` stands for any characters and `?` for one; a backslash takes their meaning away.
    case like = "LIKE"
    /// Matched as a whole by a regular expression of `NSRegularExpression`.
    case matches = "MATCHES"
  }

  /// How strings are compared. Ignored where no strings are.
  public struct Options: OptionSet, Sendable, Hashable {
    /// Bit 0 for `[c]`, bit 1 for `[d]`, bit 2 for `[n]`, bit 3 for `[l]`.
    public let rawValue: Int
    /// Options with the bits of `rawValue`.
    public init(rawValue: Int) { self.rawValue = rawValue }
    /// Upper and lower case are the same: `[c]`.
    public static let caseInsensitive = Options(rawValue: 1)
    /// Letters with and without marks are the same: `[d]`.
    public static let diacriticInsensitive = Options(rawValue: 2)
    /// The strings are folded already and are compared as they are, whatever else the options say: `[n]`.
    public static let normalized = Options(rawValue: 4)
    /// As the user's language has it, `Locale.current`: `[l]`. `==`, `<` and their like, `IN` and `BETWEEN` go by its order
    /// of strings, the others fold `[c]` and `[d]` by its rules. No index helps, and a comparison takes microseconds.
    public static let localeSensitive = Options(rawValue: 8)
  }
}
