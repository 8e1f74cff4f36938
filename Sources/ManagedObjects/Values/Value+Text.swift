import Foundation

extension Value {
  /// The value as text for messages and tables, without type or quotes.
  public var plainText: String {
    switch self {
    case .null: return ""
    case .bool(let value): return value ? "true" : "false"
    case .int(let value): return String(value)
    case .double(let value): return value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : String(value)
    case .decimal(let value): return value.description
    case .string(let value): return value
    case .date(let value): return ISODate.text(of: value) ?? value.description
    case .data(let value): return value.base64EncodedString()
    case .uuid(let value): return value.uuidString.lowercased()
    case .uri(let value): return value.absoluteString
    case .object(let id): return id.description
    case .objects, .orderedObjects: return "\(objectCount ?? 0) object(s)"
    case .composite(let values):
      return "{" + values.sorted { $0.key < $1.key }.map { "\($0): \($1.plainText)" }.joined(separator: ", ") + "}"
    case .unresolved: return "(not read)"
    }
  }
}
