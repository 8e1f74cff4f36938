import Foundation
import GRDB
import ManagedObjects

extension QueryBuilder {
  /// The condition as SQL, in parentheses where it needs them beside AND and OR.
  mutating func condition(_ predicate: ResolvedPredicate) throws(SQLCompilerError) -> String {
    switch predicate {
    case .constant(let holds): return holds ? "1" : "0"
    case .and(let parts): return parts.isEmpty ? "1" : try joined(parts, " AND ")
    case .or(let parts): return parts.isEmpty ? "0" : try joined(parts, " OR ")
    case .not(let inner): return "(\(try condition(inner))) IS NOT TRUE"
    case .compare(let path, let relation, .constant(let value), let options):
      return try comparison(path, relation, value, options)
    case .compare(let left, let relation, .path(let right), let options):
      return try comparison(left, relation, right, options)
    case .isIn(let path, let list, let options): return try membership(path, list, options)
    case .text(let left, let operation, let right, let options): return try text(left, operation, right, options)
    case .like(let path, let pattern, let options):
      return "lade_like(\(try column(path)), \(bind(pattern.source.databaseValue)), \(options.rawValue))"
    case .matches(let path, let expression):
      let pattern = expression.source.databaseValue
      return "lade_matches(\(try column(path)), \(bind(pattern)), \(expression.options.rawValue))"
    }
  }

  /// SQLite allows expressions 1,000 deep, and `a AND b AND c …` is as deep as it is long: halves are half as deep.
  private mutating func joined(
    _ parts: some RandomAccessCollection<ResolvedPredicate>, _ word: String
  ) throws(SQLCompilerError) -> String {
    if parts.count > 200 {
      let middle = parts.index(parts.startIndex, offsetBy: parts.count / 2)
      let first = try joined(Array(parts[..<middle]), word)
      return "(\(first)\(word)\(try joined(Array(parts[middle...]), word)))"
    }
    var conditions: [String] = []
    for part in parts { conditions.append(try condition(part)) }
    return conditions.count == 1 ? conditions[0] : "(\(conditions.joined(separator: word)))"
  }

  private mutating func operand(
    _ path: ResolvedPath, _ options: FetchPredicate.Options
  ) throws(SQLCompilerError) -> String {
    let column = try column(path)
    return options.isEmpty ? column : "lade_fold(\(column), \(options.rawValue))"
  }

  // MARK: Comparisons

  private mutating func comparison(
    _ path: ResolvedPath, _ relation: ResolvedPredicate.Relation, _ value: Value, _ options: FetchPredicate.Options
  ) throws(SQLCompilerError) -> String {
    let left = try operand(path, options)
    if case .null = value { return relation == .equal ? "\(left) IS NULL" : "\(left) IS NOT NULL" }
    let stored = databaseValue(of: value, for: path)
    let isEquality = relation == .equal || relation == .notEqual
    if path.isDecimal, !isEquality {
      let key = PredicateFunctions.decimalKey(stored)?.databaseValue ?? .null
      let byKey = "lade_decimal_key(\(left)) \(relation.operator) "
      if case .blob = stored.storage { return byKey + bind(key) }
      // Nearly every row is compared as a number; only those that are stored as digits need the function.
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
      DateStorage(first) != DateStorage(second)
    {
      (a, b) = ("lade_microseconds(\(a))", "lade_microseconds(\(b))")
    }
    let word =
      switch relation {
      case .equal: "IS"
      case .notEqual: "IS NOT"
      default: relation.operator
      }
    return "\(a) \(word) \(b)"
  }

  /// An ID that is temporary or another store's becomes a text, which no row's number equals.
  private func databaseValue(of value: Value, for path: ResolvedPath) -> DatabaseValue {
    if let attribute = path.attribute { return ValueCodec.databaseValue(of: value, for: attribute) }
    guard case .object(let id) = value else { return .null }
    let isElsewhere = id.isTemporaryID || (storeIdentifier != nil && id.storeIdentifier != storeIdentifier)
    return isElsewhere ? "elsewhere".databaseValue : id.number.databaseValue
  }

  // MARK: Lists

  private mutating func membership(
    _ path: ResolvedPath, _ list: ResolvedList, _ options: FetchPredicate.Options
  ) throws(SQLCompilerError) -> String {
    let left = try operand(path, options)
    // A decimal of more digits than a double has is no integer's and no double's value.
    let values = list.values.filter { value in
      if case .decimal = value { return path.isDecimal }
      return true
    }.map { databaseValue(of: $0, for: path) }
    var parts: [String] = []
    if values.count > Self.longestList {
      let (json, rows) = ListLiteral.array(of: values)
      parts.append("\(left) IN (\(rows))")
      bind(json.databaseValue)
    } else if !values.isEmpty {
      parts.append("\(left) IN (\(values.map { bind($0) }.joined(separator: ", ")))")
    }
    if list.containsNull { parts.append("\(left) IS NULL") }
    switch parts.count {
    case 0: return "0"
    case 1: return parts[0]
    default: return "(\(parts.joined(separator: " OR ")))"
    }
  }

  /// Values that are parameters of their own; longer lists are one.
  static var longestList: Int { 500 }

  // MARK: Strings

  private mutating func text(
    _ left: ResolvedOperand, _ operation: ResolvedPredicate.TextOperator, _ right: ResolvedOperand,
    _ options: FetchPredicate.Options
  ) throws(SQLCompilerError) -> String {
    if case .path(let path) = left, case .constant(.string(let part)) = right {
      return try text(try operand(path, options), operation, part, isFolded: !options.isEmpty)
    }
    // An operand that stands twice is written twice, for each mark has its own value.
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
    _ operand: ResolvedOperand, _ options: FetchPredicate.Options
  ) throws(SQLCompilerError) -> String {
    switch operand {
    case .path(let path): return try self.operand(path, options)
    case .constant(let value):
      if case .string(let text) = value { return bind(text.databaseValue) }
      return "NULL"
    }
  }

  private mutating func text(
    _ column: String, _ operation: ResolvedPredicate.TextOperator, _ part: String, isFolded: Bool
  ) throws(SQLCompilerError) -> String {
    if part.isEmpty { return "\(column) IS NOT NULL" }
    switch operation {
    case .contains: return "instr(\(column), \(bind(part.databaseValue))) > 0"
    case .endsWith:
      return "substr(\(column), -\(part.unicodeScalars.count)) = \(bind(part.databaseValue))"
    case .beginsWith:
      if isFolded { return "instr(\(column), \(bind(part.databaseValue))) = 1" }
      // A range, so that an index on the column serves.
      guard let end = PrefixRange.end(of: part) else { return "\(column) >= \(bind(part.databaseValue))" }
      return "(\(column) >= \(bind(part.databaseValue)) AND \(column) < \(bind(end.databaseValue)))"
    }
  }
}

extension ResolvedPredicate.Relation {
  fileprivate var `operator`: String {
    switch self {
    case .equal: return "="
    case .notEqual: return "<>"
    case .less: return "<"
    case .lessOrEqual: return "<="
    case .greater: return ">"
    case .greaterOrEqual: return ">="
    }
  }
}
