import Foundation
import GRDB
import ManagedObjects
import SQLSchema

extension QueryBuilder {
  /// One term of `ORDER BY`.
  mutating func orderTerm(_ sort: ResolvedSort) throws(SQLCompilerError) -> String {
    var expression = try column(sort.path)
    if let collation = sort.comparison.collation {
      expression = "lade_sort_key(\(expression), \(collation.rawValue))"
    } else if sort.comparison == .caseInsensitive {
      expression = "lade_fold(\(expression), \(FetchPredicate.Options.caseInsensitive.rawValue))"
    } else if sort.path.isDecimal, !numbers.contains(where: { $0 === sort.path.attribute }) {
      expression = "lade_decimal_key(\(expression))"
    }
    return expression + (sort.ascending ? "" : " DESC")
  }
}

extension ResolvedPath {
  var isDecimal: Bool { attribute?.type == .decimal }
}

/// Expressions as SQL. A computed value has one form for each kind, whatever columns it comes from:
/// - number: as it is stored, decimals included (see ``ValueCodec``); boolean 0 or 1;
/// - date: whole microseconds since 1970;
/// - string, URI, UUID, data, object: as stored.
extension QueryBuilder {
  /// The expression in that form.
  mutating func computed(_ expression: ResolvedExpression) throws(SQLCompilerError) -> String {
    switch expression {
    case .constant(let value): return bind(computedValue(of: value))
    case .path(let path):
      let column = try column(path)
      return schema.forms.computedTerm(column, path.kind)
    case .call(let function, let arguments): return try call(function, arguments, expression)
    case .cast(let inner, let type):
      let kind = ComputedValue.letter(of: inner)
      return "lade_cast(\(SQLText.literal(type.rawValue)), '\(kind)', \(try self.expression(inner)))"
    case .aggregate(let function, let collection, let value): return try aggregate(function, collection, value)
    case .element(let collection, let index, let value): return try element(collection, index, value)
    case .conditional(let predicate, let first, let second):
      let condition = try condition(predicate)
      let text = try self.expression(first)
      return "CASE WHEN \(condition) THEN \(text) ELSE \(try self.expression(second)) END"
    }
  }

  private mutating func call(
    _ function: FetchPredicate.Function, _ arguments: [ResolvedExpression], _ whole: ResolvedExpression
  ) throws(SQLCompilerError) -> String {
    var texts: [String] = []
    // SQLite's own arithmetic is that of this library, decimals and dates aside.
    let isNative = !whole.isDecimal && whole.kind == .number && arguments.allSatisfy { $0.kind == .number }
    for argument in arguments { texts.append(try expression(argument)) }
    switch function {
    case .add, .subtract, .multiply, .divide:
      if isNative { return "(\(texts.joined(separator: " \(function.sqlOperator) ")))" }
    case .negate: if isNative { return "(- \(texts[0]))" }
    default: break
    }
    let kinds = arguments.map(ComputedValue.letter).joined()
    let list = ([SQLText.literal(function.rawValue), "'\(kinds)'"] + texts).joined(separator: ", ")
    return "lade_call(\(list))"
  }

  /// A constant in the form of computed values. An ID that is temporary or another store's becomes a text, which equals no
  /// row's number.
  func computedValue(of value: Value) -> DatabaseValue {
    if case .object(let id) = value {
      let isElsewhere = id.isTemporaryID || (storeIdentifier != nil && id.storeIdentifier != storeIdentifier)
      return isElsewhere ? "elsewhere".databaseValue : id.number.databaseValue
    }
    return ComputedValue.databaseValue(of: value)
  }
}

extension FetchPredicate.Function {
  fileprivate var sqlOperator: String {
    switch self {
    case .add: return "+"
    case .subtract: return "-"
    case .multiply: return "*"
    default: return "/"
    }
  }
}

extension QueryBuilder {
  /// The call of SQLite's aggregate function, or of our own where SQLite's depends on the order of rows, doesn't support
  /// decimals, or fails for large sums.
  static func aggregateCall(_ function: FetchPredicate.Function, of value: ResolvedExpression, _ text: String) -> String
  {
    let name =
      switch function {
      case .count: "COUNT"
      case .minimum: value.isDecimal ? "lade_min_decimal" : "MIN"
      case .maximum: value.isDecimal ? "lade_max_decimal" : "MAX"
      case .average: value.isDecimal ? "lade_avg_decimal" : "lade_avg"
      default: value.isDecimal ? "lade_sum_decimal" : "lade_sum"
      }
    return "\(name)(\(text))"
  }
}
