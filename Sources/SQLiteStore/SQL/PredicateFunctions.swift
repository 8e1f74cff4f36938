import Foundation
package import GRDB
import ManagedObjects
import Synchronization

/// The SQL functions that compiled predicates call. Every connection that runs one needs them.
///
/// - `lade_fold(text, options)`: the text folded by `[c]` (1) and `[d]` (2).
/// - `lade_sort_key(text, collation)`: bytes in the order of ``TextCollation``, of the raw value given. SQLite computes it
///   once for each row, where it would call a collation for each comparison.
/// - `lade_order(text, text, options)`: less than, equal to or greater than 0 as one comes before, with or after the other in
///   the user's language, as `[l]` (8) says; `lade_alike(text, text, options)`: whether it is 0, or both are NULL.
/// - `lade_like(text, pattern, options)`: whether the text, folded, is like the pattern, which is folded already.
/// - `lade_matches(text, pattern, options)`: whether the regular expression matches all of the text.
/// - `lade_decimal_key(number)`: bytes in the order of decimals, of all of their stored forms.
/// - `lade_microseconds(date)`: a date of either stored form as a number.
/// - `lade_stored_date(number)`: the other way round, as text.
/// - `lade_literal(text)`: a value of a long `IN` list; see ``ListLiteral``.
/// - `lade_call(function, kinds, argument, …)`, `lade_cast(type, kind, value)`: a function of the format language; see
///   ``ComputedValue`` for the letters of the kinds.
/// - the aggregates of ``PredicateAggregates``.
///
/// All except the aggregates and `lade_alike` return NULL for NULL.
package enum PredicateFunctions {
  /// Adds the functions to a connection.
  package static func register(on db: Database) {
    for function in all + PredicateAggregates.all { db.add(function: function) }
  }

  private static let all: [DatabaseFunction] = [
    DatabaseFunction("lade_fold", argumentCount: 2, pure: true) { arguments in
      text(arguments[0]).map { options(arguments[1]).folded($0) }
    },
    DatabaseFunction("lade_sort_key", argumentCount: 2, pure: true) { arguments in
      guard case .int64(let number) = arguments[1].storage, let collation = TextCollation(rawValue: Int(number)) else {
        return nil
      }
      return text(arguments[0]).map(collation.key)
    },
    DatabaseFunction("lade_order", argumentCount: 3) { arguments in
      guard let first = text(arguments[0]), let second = text(arguments[1]) else { return nil }
      return options(arguments[2]).localizedOrder(first, second)
    },
    DatabaseFunction("lade_alike", argumentCount: 3) { arguments in
      guard let first = text(arguments[0]), let second = text(arguments[1]) else {
        return arguments[0].isNull && arguments[1].isNull
      }
      return options(arguments[2]).localizedOrder(first, second) == 0
    },
    DatabaseFunction("lade_like", argumentCount: 3, pure: true) { arguments in
      guard let subject = text(arguments[0]), let pattern = text(arguments[1]) else { return nil }
      return likePatterns.value(for: pattern) { LikePattern(pattern) }.matches(options(arguments[2]).folded(subject))
    },
    DatabaseFunction("lade_matches", argumentCount: 3, pure: true) { arguments in
      guard let subject = text(arguments[0]), let pattern = text(arguments[1]) else { return nil }
      let options = options(arguments[2])
      return try expressions.value(for: "\(options.rawValue)\(pattern)") {
        try WholeMatch(pattern, options: options)
      }.matches(subject)
    },
    DatabaseFunction("lade_decimal_key", argumentCount: 1, pure: true) { arguments in
      decimalKey(arguments[0])
    },
    DatabaseFunction("lade_microseconds", argumentCount: 1, pure: true) { arguments in
      switch arguments[0].storage {
      case .string(let text): return ISODate.date(parsing: text).flatMap(ISODate.microseconds(of:))
      case .int64(let seconds): return ISODate.microseconds(of: Date(timeIntervalSince1970: Double(seconds)))
      case .double(let seconds): return ISODate.microseconds(of: Date(timeIntervalSince1970: seconds))
      case .blob, .null: return nil
      }
    },
    DatabaseFunction("lade_stored_date", argumentCount: 1, pure: true) { arguments in
      switch ComputedValue.value(of: arguments[0], "t") {
      case .date(let date): return ValueCodec.databaseValue(of: date, .iso)
      default: return nil
      }
    },
    DatabaseFunction("lade_literal", argumentCount: 1, pure: true) { arguments in
      text(arguments[0]).flatMap(ListLiteral.value(of:))
    },
    DatabaseFunction("lade_call", pure: true) { arguments in
      guard arguments.count >= 2, let name = text(arguments[0]), let kinds = text(arguments[1]),
        let function = FetchPredicate.Function(rawValue: name)
      else { return nil }
      let values = zip(arguments.dropFirst(2), kinds).map { ComputedValue.value(of: $0, $1) }
      return ComputedValue.databaseValue(of: function.value(of: values))
    },
    DatabaseFunction("lade_cast", argumentCount: 3, pure: true) { arguments in
      guard let type = text(arguments[0]).flatMap(FetchPredicate.CastType.init), let kind = text(arguments[1])?.first
      else { return nil }
      return ComputedValue.databaseValue(of: type.value(of: ComputedValue.value(of: arguments[2], kind)))
    },
  ]

  /// The sort key of a stored number; nil for any other value.
  static func decimalKey(_ value: DatabaseValue) -> Data? {
    switch value.storage {
    case .int64(let integer): return DecimalKey.bytes(of: String(integer))
    case .double(let double): return DecimalKey.bytes(of: "\(double)")
    case .blob(let digits): return DecimalKey.bytes(of: String(decoding: digits, as: UTF8.self))
    case .string(let text): return DecimalKey.bytes(of: text)
    case .null: return nil
    }
  }

  private static func text(_ value: DatabaseValue) -> String? {
    if case .string(let text) = value.storage { return text }
    return nil
  }

  private static func options(_ value: DatabaseValue) -> FetchPredicate.Options {
    if case .int64(let bits) = value.storage { return FetchPredicate.Options(rawValue: Int(bits)) }
    return []
  }

  private static let likePatterns = PatternCache<LikePattern>()
  private static let expressions = PatternCache<WholeMatch>()
}

/// A cache of compiled patterns: a query calls a function for each row with the same pattern.
private final class PatternCache<Pattern: Sendable>: Sendable {
  private static var capacity: Int { 64 }
  private let patterns = Mutex<[String: Pattern]>([:])

  func value(for text: String, _ compile: () throws -> Pattern) rethrows -> Pattern {
    if let known = patterns.withLock({ $0[text] }) { return known }
    let pattern = try compile()
    patterns.withLock { patterns in
      if patterns.count >= Self.capacity { patterns.removeAll() }
      patterns[text] = pattern
    }
    return pattern
  }
}
