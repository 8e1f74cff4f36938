import Foundation
import GRDB
import ManagedObjects

/// Expressions as SQL. A computed value has one form for each kind, whatever columns it comes from:
/// - number: as it is stored, decimals included (see ``ValueCodec``); boolean 0 or 1;
/// - date: whole microseconds since 1970;
/// - string, URI, UUID, data, object: as stored.
extension QueryBuilder {
  /// The expression in that form.
  mutating func expression(_ expression: ResolvedExpression) throws(SQLCompilerError) -> String {
    switch expression {
    case .constant(let value): return bind(computedValue(of: value))
    case .path(let path):
      let column = try column(path)
      return path.kind == .date ? "lade_microseconds(\(column))" : column
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
