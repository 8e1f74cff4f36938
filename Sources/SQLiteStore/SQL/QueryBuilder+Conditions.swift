import Foundation
import GRDB
import ManagedObjects
import SQLSchema

extension QueryBuilder {
  /// A condition that is neither composed of others nor about a collection.
  mutating func leaf(_ predicate: ResolvedPredicate) throws(SQLCompilerError) -> String {
    switch predicate {
    case .constant, .and, .or, .not, .exists: return try condition(predicate)
    case .compare(let left, let relation, let right, let options) where options.contains(.localeSensitive):
      return try localized(left, relation, right, options)
    case .compare(.path(let path), let relation, .constant(let value), let options):
      return try comparison(path, relation, value, options)
    case .compare(.path(let left), let relation, .path(let right), let options):
      return try comparison(left, relation, right, options)
    case .compare(let left, let relation, .constant(let value), let options):
      return try comparison(left, relation, value, options)
    case .compare(let left, let relation, let right, let options):
      return try comparison(left, relation, right, options)
    case .isIn(let left, let list, let options): return try membership(left, list, options)
    case .text(let left, let operation, let right, let options): return try text(left, operation, right, options)
    case .like(let left, let pattern, let options):
      return "lade_like(\(try expression(left)), \(bind(pattern.source.databaseValue)), \(options.rawValue))"
    case .matches(let left, let regular):
      let pattern = regular.source.databaseValue
      return "lade_matches(\(try expression(left)), \(bind(pattern)), \(regular.options.rawValue))"
    }
  }

  private mutating func operand(
    _ path: ResolvedPath, _ options: FetchPredicate.Options
  ) throws(SQLCompilerError) -> String {
    let column = try column(path)
    return options.isEmpty ? column : "lade_fold(\(column), \(options.rawValue))"
  }

  /// A computed value in the form in which it is compared.
  private mutating func operand(
    _ value: ResolvedExpression, _ options: FetchPredicate.Options
  ) throws(SQLCompilerError) -> String {
    let text = try expression(value)
    return options.isEmpty ? text : "lade_fold(\(text), \(options.rawValue))"
  }

  // MARK: Comparisons

  private mutating func comparison(
    _ path: ResolvedPath, _ relation: ResolvedPredicate.Relation, _ value: Value, _ options: FetchPredicate.Options
  ) throws(SQLCompilerError) -> String {
    if case .null = value {
      // Whether there is a value is seen without reading its file.
      readsContent = false
      defer { readsContent = true }
      return "\(try operand(path, options)) IS \(relation == .equal ? "" : "NOT ")NULL"
    }
    let left = try operand(path, options)
    let stored = databaseValue(of: value, for: path)
    let isEquality = relation == .equal || relation == .notEqual
    if path.isDecimal, !isEquality {
      let key = PredicateFunctions.decimalKey(stored)?.databaseValue ?? .null
      let byKey = "lade_decimal_key(\(left)) \(relation.operator) "
      if case .blob = stored.storage { return byKey + bind(key) }
      // Most rows are compared as numbers; only those that are stored as digits need the function.
      return
        "CASE typeof(\(left)) WHEN 'blob' THEN \(byKey)\(bind(key)) ELSE \(left) \(relation.operator) \(bind(stored)) END"
    }
    if case .decimal = value, !path.isDecimal {
      // More digits than a double has, against an integer or a double.
      let key = PredicateFunctions.decimalKey(stored)?.databaseValue ?? .null
      return "lade_decimal_key(\(left)) \(relation == .notEqual ? "IS NOT" : relation.operator) \(bind(key))"
    }
    return "\(left) \(relation == .notEqual ? "IS NOT" : relation.operator) \(bind(stored))"
  }

  private mutating func comparison(
    _ left: ResolvedPath, _ relation: ResolvedPredicate.Relation, _ right: ResolvedPath,
    _ options: FetchPredicate.Options
  ) throws(SQLCompilerError) -> String {
    var a = try operand(left, options)
    var b = try operand(right, options)
    if left.isDecimal || right.isDecimal {
      (a, b) = ("lade_decimal_key(\(a))", "lade_decimal_key(\(b))")
    } else if let first = left.attribute, let second = right.attribute, left.kind == .date,
      !schema.forms.holdAlike(first, second)
    {
      (a, b) = ("lade_microseconds(\(a))", "lade_microseconds(\(b))")
    }
    return "\(a) \(relation.nullSafeOperator) \(b)"
  }

  private mutating func comparison(
    _ left: ResolvedExpression, _ relation: ResolvedPredicate.Relation, _ value: Value,
    _ options: FetchPredicate.Options
  ) throws(SQLCompilerError) -> String {
    let text = try operand(left, options)
    if case .null = value { return relation == .equal ? "\(text) IS NULL" : "\(text) IS NOT NULL" }
    let word = relation == .notEqual ? "IS NOT" : relation.operator
    var isDecimal = left.isDecimal
    if case .decimal = value { isDecimal = true }
    guard isDecimal else { return "\(text) \(word) \(bind(computedValue(of: value)))" }
    let key = PredicateFunctions.decimalKey(computedValue(of: value))?.databaseValue ?? .null
    return "lade_decimal_key(\(text)) \(word) \(bind(key))"
  }

  private mutating func comparison(
    _ left: ResolvedExpression, _ relation: ResolvedPredicate.Relation, _ right: ResolvedExpression,
    _ options: FetchPredicate.Options
  ) throws(SQLCompilerError) -> String {
    var (a, b) = (try operand(left, options), try operand(right, options))
    if left.isDecimal || right.isDecimal { (a, b) = ("lade_decimal_key(\(a))", "lade_decimal_key(\(b))") }
    return "\(a) \(relation.nullSafeOperator) \(b)"
  }

  /// Compares strings by the order of the user's language; other values are NULL.
  private mutating func localized(
    _ left: ResolvedExpression, _ relation: ResolvedPredicate.Relation, _ right: ResolvedExpression,
    _ options: FetchPredicate.Options
  ) throws(SQLCompilerError) -> String {
    let a = try expression(left)
    if case .constant(.null) = right { return relation == .equal ? "\(a) IS NULL" : "\(a) IS NOT NULL" }
    let arguments = "(\(a), \(try expression(right)), \(options.rawValue))"
    switch relation {
    case .equal: return "lade_alike\(arguments)"
    case .notEqual: return "NOT lade_alike\(arguments)"
    default: return "lade_order\(arguments) \(relation.operator) 0"
    }
  }

  private func databaseValue(of value: Value, for path: ResolvedPath) -> DatabaseValue {
    if let attribute = path.attribute { return schema.forms.databaseValue(of: value, for: attribute) }
    return computedValue(of: value)
  }

  // MARK: Lists

  private mutating func membership(
    _ left: ResolvedExpression, _ list: ResolvedList, _ options: FetchPredicate.Options
  ) throws(SQLCompilerError) -> String {
    // A decimal with more digits than a double has equals no integer and no double.
    let values = list.values.filter { value in
      if case .decimal = value { return left.isDecimal }
      return true
    }.map { value in
      if case .path(let path) = left { return databaseValue(of: value, for: path) }
      return computedValue(of: value)
    }
    var parts: [String] = []
    if values.count > Self.longestList {
      let (json, rows) = ListLiteral.array(of: values)
      parts.append("\(try listed(left, options)) IN (\(rows))")
      bind(json.databaseValue)
    } else if !values.isEmpty {
      let text = try listed(left, options)
      parts.append("\(text) IN (\(values.map { bind($0) }.joined(separator: ", ")))")
    }
    if list.containsNull { parts.append("\(try listed(left, options)) IS NULL") }
    switch parts.count {
    case 0: return "0"
    case 1: return parts[0]
    default: return "(\(parts.joined(separator: " OR ")))"
    }
  }

  /// A stored column, or a computed value.
  private mutating func listed(
    _ value: ResolvedExpression, _ options: FetchPredicate.Options
  ) throws(SQLCompilerError) -> String {
    if case .path(let path) = value { return try operand(path, options) }
    return try operand(value, options)
  }

  /// The greatest number of values that are separate parameters; a longer list is one parameter.
  static var longestList: Int { 500 }

  // MARK: Strings

  private mutating func text(
    _ left: ResolvedExpression, _ operation: ResolvedPredicate.TextOperator, _ right: ResolvedExpression,
    _ options: FetchPredicate.Options
  ) throws(SQLCompilerError) -> String {
    if case .constant(.string(let part)) = right { return try text(left, operation, part, options) }
    // An operand that occurs twice is generated twice, because each placeholder has its own value.
    let text = try textOperand(left, options)
    switch operation {
    case .contains: return "instr(\(text), \(try textOperand(right, options))) > 0"
    case .beginsWith: return "instr(\(text), \(try textOperand(right, options))) = 1"
    case .endsWith:
      let again = try textOperand(left, options)
      let length = try textOperand(right, options)
      return "substr(\(text), length(\(again)) - length(\(length)) + 1) = \(try textOperand(right, options))"
    }
  }

  private mutating func textOperand(
    _ operand: ResolvedExpression, _ options: FetchPredicate.Options
  ) throws(SQLCompilerError) -> String {
    guard case .constant(let value) = operand else { return try self.operand(operand, options) }
    if case .string(let text) = value { return bind(text.databaseValue) }
    return "NULL"
  }

  private mutating func text(
    _ left: ResolvedExpression, _ operation: ResolvedPredicate.TextOperator, _ part: String,
    _ options: FetchPredicate.Options
  ) throws(SQLCompilerError) -> String {
    let column = try operand(left, options)
    if part.isEmpty { return "\(column) IS NOT NULL" }
    switch operation {
    case .contains: return "instr(\(column), \(bind(part.databaseValue))) > 0"
    case .endsWith:
      return "substr(\(column), -\(part.unicodeScalars.count)) = \(bind(part.databaseValue))"
    case .beginsWith:
      // A range, which can use an index on the column.
      guard options.isEmpty, case .path = left else { return "instr(\(column), \(bind(part.databaseValue))) = 1" }
      guard let end = PrefixRange.end(of: part) else { return "\(column) >= \(bind(part.databaseValue))" }
      return "(\(column) >= \(bind(part.databaseValue)) AND \(column) < \(bind(end.databaseValue)))"
    }
  }
}

extension ResolvedPredicate.Relation {
  /// The operator by which NULL equals NULL.
  fileprivate var nullSafeOperator: String {
    switch self {
    case .equal: return "IS"
    case .notEqual: return "IS NOT"
    default: return self.operator
    }
  }
}
