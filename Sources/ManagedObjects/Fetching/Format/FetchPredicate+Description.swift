import Foundation

extension FetchPredicate: CustomStringConvertible {
  /// The predicate in the format language. Parsing it gives the same tree, except for object IDs, which have no literal.
  public var description: String { format(isPart: false) }

  /// - Parameter isPart: whether it is a part of another predicate. A compound is in parentheses then, as in Foundation.
  private func format(isPart: Bool) -> String {
    switch self {
    case .constant(let holds): return holds ? "TRUEPREDICATE" : "FALSEPREDICATE"
    case .comparison(let comparison):
      let options =
        comparison.options.isEmpty
        ? ""
        : "[" + (comparison.options.contains(.caseInsensitive) ? "c" : "")
          + (comparison.options.contains(.diacriticInsensitive) ? "d" : "")
          + (comparison.options.contains(.normalized) ? "n" : "")
          + (comparison.options.contains(.localeSensitive) ? "l" : "") + "]"
      let modifier = comparison.modifier == .direct ? "" : comparison.modifier.rawValue + " "
      return "\(modifier)\(comparison.left) \(comparison.operator.rawValue)\(options) \(comparison.right)"
    case .not(let inner): return "NOT " + inner.format(isPart: true)
    case .and(let parts):
      // The language can't express a group of fewer than two; write its meaning.
      if parts.isEmpty { return "TRUEPREDICATE" }
      if parts.count == 1 { return parts[0].format(isPart: isPart) }
      let text = parts.map { $0.format(isPart: true) }.joined(separator: " AND ")
      return isPart ? "(\(text))" : text
    case .or(let parts):
      if parts.isEmpty { return "FALSEPREDICATE" }
      if parts.count == 1 { return parts[0].format(isPart: isPart) }
      let text = parts.map { $0.format(isPart: true) }.joined(separator: " OR ")
      return isPart ? "(\(text))" : text
    }
  }
}

extension FetchPredicate.Expression: CustomStringConvertible {
  /// The expression in the format language.
  public var description: String {
    switch self {
    case .evaluatedObject: return "SELF"
    case .keyPath(let names):
      // A key path can't begin with a collection operator.
      guard let first = names.first else { return "SELF" }
      return (first.hasPrefix("@") ? "SELF." : "") + Self.joined(names)
    case .constants(let values): return "{" + values.map(Self.literal).joined(separator: ", ") + "}"
    case .constant(let value): return Self.literal(value)
    case .variable(let name): return "$" + name
    case .member(let base, let names): return "\(base.enclosed).\(Self.joined(names))"
    case .element(let base, let index):
      switch index {
      case .first: return "\(base.enclosed)[FIRST]"
      case .last: return "\(base.enclosed)[LAST]"
      case .at(let place): return "\(base.enclosed)[\(place)]"
      }
    case .list(let elements): return "{" + elements.map(\.description).joined(separator: ", ") + "}"
    case .cast(let inner, let type): return "CAST(\(inner), \"\(type.rawValue)\")"
    case .subquery(let subquery):
      return "SUBQUERY(\(subquery.collection), $\(subquery.variable), \(subquery.predicate))"
    case .conditional(let predicate, let first, let second): return "TERNARY(\(predicate), \(first), \(second))"
    case .function(.negate, let arguments) where arguments.count == 1:
      // Directly before a number the sign would become part of the literal.
      if case .constant = arguments[0] { return "-(\(arguments[0]))" }
      return "-\(arguments[0].enclosed)"
    case .function(let function, let arguments):
      if let symbol = function.symbol, arguments.count == 2 {
        return "\(arguments[0].enclosed) \(symbol) \(arguments[1].enclosed)"
      }
      return "\(function.rawValue)(\(arguments.map(\.description).joined(separator: ", ")))"
    }
  }

  /// The expression, in parentheses where the surrounding arithmetic binds tighter.
  private var enclosed: String {
    if case .function(let function, _) = self, function.symbol != nil || function == .negate { return "(\(self))" }
    return description
  }

  private static func joined(_ names: [String]) -> String {
    names.map { keywords.contains($0.uppercased()) ? "#" + $0 : $0 }.joined(separator: ".")
  }

  private static let keywords: Set<String> = [
    "AND", "OR", "NOT", "IN", "BETWEEN", "BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE", "MATCHES", "ANY", "SOME", "ALL",
    "NONE", "TRUEPREDICATE", "FALSEPREDICATE", "TRUE", "YES", "FALSE", "NO", "NIL", "NULL", "SELF", "CAST", "SUBQUERY",
    "TERNARY", "FUNCTION",
  ]

  private static func literal(_ value: Value) -> String {
    switch value {
    case .null, .unresolved: return "NIL"
    case .bool(let bool): return bool ? "TRUE" : "FALSE"
    case .int(let integer): return "\(integer)"
    case .double(let double): return double.isFinite ? "\(double)" : "CAST(\"\(double)\", \"NSNumber\")"
    case .decimal(let decimal): return "CAST(\"\(decimal)\", \"NSDecimalNumber\")"
    case .string(let string): return quoted(string)
    case .date(let date): return "CAST(\(date.timeIntervalSinceReferenceDate), \"NSDate\")"
    case .data(let data): return "CAST(\"\(data.base64EncodedString())\", \"NSData\")"
    case .uuid(let uuid): return "CAST(\"\(uuid.uuidString)\", \"NSUUID\")"
    case .uri(let url): return "CAST(\(quoted(url.absoluteString)), \"NSURL\")"
    case .object(let id): return "CAST(\(quoted(id.description)), \"NSManagedObjectID\")"
    case .composite: return quoted(value.plainText)
    case .orderedObjects(let ids): return "{" + ids.map { literal(.object($0)) }.joined(separator: ", ") + "}"
    case .objects(let ids): return "{" + ids.map { literal(.object($0)) }.sorted().joined(separator: ", ") + "}"
    }
  }

  private static func quoted(_ string: String) -> String {
    var text = "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      case "\0": text += "\\0"
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text + "\""
  }
}
