import Foundation
import ManagedObjects
import PostgreSQL
import SQLSchema

/// What SQL compares: only values of one such form have the same order here and in the other stores.
private enum Form {
  case integer, real, numeric, boolean, text, instant, uuid, bytes, object
}

extension PostgresBuilder {
  /// A condition that is neither composed of others nor about a collection.
  mutating func leaf(_ predicate: ResolvedPredicate) throws(SQLCompilerError) -> String {
    switch predicate {
    case .constant, .and, .or, .not, .exists: return try condition(predicate)
    case .compare(let left, let relation, .constant(let value), let options):
      try refuse(options)
      return try comparison(left, relation, value)
    case .compare(let left, let relation, let right, let options):
      try refuse(options)
      return try comparison(left, relation, right)
    case .isIn(let left, let list, let options):
      try refuse(options)
      return try membership(left, list)
    case .text(let left, let operation, let right, let options):
      try refuse(options)
      return try text(left, operation, right)
    case .like: throw .notInSQL("LIKE")
    case .matches: throw .notInSQL("MATCHES")
    }
  }

  private func refuse(_ options: FetchPredicate.Options) throws(SQLCompilerError) {
    if !options.isEmpty { throw .notInSQL("a comparison of strings by other rules than their characters' codes") }
  }

  private func form(of expression: ResolvedExpression) throws(SQLCompilerError) -> Form {
    switch expression {
    case .aggregate(.count, _, nil): return .integer
    case .path(let path):
      guard case .attribute(let attribute) = path.end else {
        switch path.kind {
        case .object: return .object
        case .string: return .text
        default: throw .notInSQL("a composite value")
        }
      }
      switch attribute.type {
      case .integer16, .integer32, .integer64: return .integer
      case .double, .float: return .real
      case .decimal: return .numeric
      case .boolean: return .boolean
      case .string, .uri, .objectID: return .text
      case .date: return .instant
      case .uuid: return .uuid
      case .binaryData, .transformable: return .bytes
      case .composite, .undefined: throw .notInSQL("a value of no simple type")
      }
    default: throw .notInSQL("an expression")
    }
  }

  /// A number of a boolean, or the column itself.
  private func term(_ column: String, _ form: Form) -> String {
    form == .boolean ? "\(column)::integer::bigint" : column
  }

  // MARK: Comparisons with a constant

  private mutating func comparison(
    _ left: ResolvedExpression, _ relation: ResolvedPredicate.Relation, _ value: Value
  ) throws(SQLCompilerError) -> String {
    let form = try form(of: left)
    let column = try expression(left)
    if case .null = value {
      switch relation {
      case .equal: return "\(column) IS NULL"
      case .notEqual: return "\(column) IS NOT NULL"
      default: return "FALSE"
      }
    }
    switch (form, value) {
    case (.boolean, .bool(let flag)) where relation == .equal: return "\(column) = \(bind(.bool(flag)))"
    case (.boolean, .int(let number)) where relation == .equal && (0...1).contains(number):
      return "\(column) = \(bind(.bool(number == 1)))"
    case (.integer, .double(let double)), (.boolean, .double(let double)):
      return try comparison(term(column, form), relation, double)
    case (.object, .object(let id)):
      guard !isElsewhere(id) else {
        switch relation {
        case .equal: return "FALSE"
        case .notEqual: return "TRUE"
        default: throw .notInSQL("the order of objects of several stores")
        }
      }
      return compare(column, relation, .int(id.number))
    default: return compare(term(column, form), relation, try parameter(value, form))
    }
  }

  private mutating func compare(
    _ column: String, _ relation: ResolvedPredicate.Relation, _ value: PostgresValue
  ) -> String {
    let word = relation == .notEqual ? "IS DISTINCT FROM" : relation.operator
    return "\(column) \(word) \(placeholder(value))"
  }

  /// Strings are compared by their bytes, whatever the database's collation.
  private mutating func placeholder(_ value: PostgresValue) -> String {
    if case .text = value { return bind(value) + " COLLATE \"C\"" }
    return bind(value)
  }

  /// An integer and a double compare by their exact values. The server would round the integer.
  private mutating func comparison(
    _ column: String, _ relation: ResolvedPredicate.Relation, _ double: Double
  ) throws(SQLCompilerError) -> String {
    if double.isNaN { throw .notInSQL("NaN") }
    if let whole = Int64(exactly: double) { return compare(column, relation, .int(whole)) }
    switch relation {
    case .equal: return "FALSE"
    case .notEqual: return "TRUE"
    case .less, .lessOrEqual:
      if double < -0x1p63 { return "FALSE" }
      guard let below = Int64(exactly: double.rounded(.down)) else { return "\(column) IS NOT NULL" }
      return compare(column, .lessOrEqual, .int(below))
    case .greater, .greaterOrEqual:
      if double >= 0x1p63 { return "FALSE" }
      guard let above = Int64(exactly: double.rounded(.up)) else { return "\(column) IS NOT NULL" }
      return compare(column, .greaterOrEqual, .int(above))
    }
  }

  private func isElsewhere(_ id: ManagedObjectID) -> Bool {
    id.isTemporaryID || (storeIdentifier != nil && id.storeIdentifier != storeIdentifier)
  }

  /// A constant as it is compared with a form.
  private func parameter(_ value: Value, _ form: Form) throws(SQLCompilerError) -> PostgresValue {
    switch (form, value) {
    case (.integer, .int(let number)), (.boolean, .int(let number)): return .int(number)
    case (.integer, .bool(let flag)), (.boolean, .bool(let flag)): return .int(flag ? 1 : 0)
    case (.real, .double(let number)) where !number.isNaN: return .double(number)
    case (.numeric, .int(let number)): return .numeric(String(number))
    case (.numeric, .decimal(let number)) where !number.isNaN: return .numeric(number.description)
    // No text of the database has a zero.
    case (.text, .string(let text)) where !text.utf8.contains(0): return .text(text)
    case (.text, .uri(let url)): return .text(url.absoluteString)
    case (.uuid, .uuid(let uuid)): return .uuid(uuid)
    case (.bytes, .data(let data)): return .bytes(data)
    case (.instant, .date(let date)):
      if let microseconds = PostgresColumnKind.instant(date) { return .instant(microseconds) }
    default: break
    }
    throw .notInSQL("a comparison with such a value")
  }

  // MARK: Comparisons of two values

  private mutating func comparison(
    _ left: ResolvedExpression, _ relation: ResolvedPredicate.Relation, _ right: ResolvedExpression
  ) throws(SQLCompilerError) -> String {
    let (first, second) = (try form(of: left), try form(of: right))
    switch (first, second) {
    case _ where first == second: break
    case (.integer, .boolean), (.boolean, .integer), (.integer, .numeric), (.numeric, .integer), (.boolean, .numeric),
      (.numeric, .boolean):
      break
    default: throw .notInSQL("a comparison of numbers of different types")
    }
    let a = term(try expression(left), first)
    let b = term(try expression(right), second)
    let end = first == .text ? " COLLATE \"C\"" : ""
    switch relation {
    case .equal: return "\(a) IS NOT DISTINCT FROM \(b)\(end)"
    case .notEqual: return "\(a) IS DISTINCT FROM \(b)\(end)"
    default: return "\(a) \(relation.operator) \(b)\(end)"
    }
  }

  // MARK: Lists

  private mutating func membership(
    _ left: ResolvedExpression, _ list: ResolvedList
  ) throws(SQLCompilerError) -> String {
    let form = try form(of: left)
    var values: [PostgresValue] = []
    var type = PostgresOID.int8
    for value in list.values {
      switch (form, value) {
      case (.integer, .double(let double)), (.boolean, .double(let double)):
        if let whole = Int64(exactly: double) { values.append(.int(whole)) }
      // A decimal with more digits than a double has, or an integer that no double is, equals no number of these types.
      case (.integer, .decimal), (.boolean, .decimal), (.real, .decimal), (.real, .int): continue
      case (.object, .object(let id)): if !isElsewhere(id) { values.append(.int(id.number)) }
      case (.text, .string(let text)) where text.utf8.contains(0): continue
      case (.instant, .date(let date)) where PostgresColumnKind.instant(date) == nil: continue
      default: values.append(try parameter(value, form))
      }
    }
    if let first = values.first { type = first.type }
    var parts: [String] = []
    if !values.isEmpty {
      let column = term(try expression(left), form)
      parts.append("\(column) = ANY (\(bind(.array(type, values))))")
    }
    if list.containsNull { parts.append("\(try expression(left)) IS NULL") }
    switch parts.count {
    case 0: return "FALSE"
    case 1: return parts[0]
    default: return "(\(parts.joined(separator: " OR ")))"
    }
  }

  // MARK: Strings

  private mutating func text(
    _ left: ResolvedExpression, _ operation: ResolvedPredicate.TextOperator, _ right: ResolvedExpression
  ) throws(SQLCompilerError) -> String {
    guard left.kind == .string, try form(of: left) == .text else {
      throw .notInSQL("a part of what isn't a string")
    }
    if case .constant(let value) = right {
      guard case .string(let part) = value, !part.utf8.contains(0) else { throw .notInSQL("such a part of a string") }
      return try text(left, operation, part)
    }
    guard right.kind == .string, try form(of: right) == .text else {
      throw .notInSQL("a part of what isn't a string")
    }
    let (a, b) = (try expression(left), try expression(right))
    switch operation {
    case .contains: return "strpos(\(a), \(b)) > 0"
    case .beginsWith: return "starts_with(\(a), \(b))"
    case .endsWith: return "right(\(a), length(\(b))) = \(b) COLLATE \"C\""
    }
  }

  private mutating func text(
    _ left: ResolvedExpression, _ operation: ResolvedPredicate.TextOperator, _ part: String
  ) throws(SQLCompilerError) -> String {
    let column = try expression(left)
    if part.isEmpty { return "\(column) IS NOT NULL" }
    switch operation {
    case .contains: return "strpos(\(column), \(bind(.text(part)))) > 0"
    case .endsWith:
      return "right(\(column), \(part.unicodeScalars.count)) = \(placeholder(.text(part)))"
    case .beginsWith:
      // A range, which can use an index on the column.
      guard let end = PrefixRange.end(of: part) else { return "\(column) >= \(placeholder(.text(part)))" }
      return "(\(column) >= \(placeholder(.text(part))) AND \(column) < \(placeholder(.text(end))))"
    }
  }
}
