import Foundation

/// The expression of a derived attribute, bound to the model's properties.
///
/// - `now()`: the time of the save that wrote the row;
/// - `name`, `category.name`: another attribute's value, of the row itself or over to-one relationships;
/// - `canonical:(name)`, `lowercase:(name)`, `uppercase:(name)`: such a value as text without case and diacritics, in
///   lower case or in upper case;
/// - `articles.@count`: the number of objects of a to-many relationship;
/// - `articles.@sum.views`, also written `articles.views.@sum`: the sum of an attribute over them, ignoring
///   nil.
///
/// Source: Core Data's `NSDerivedAttributeDescription`.
package struct Derivation: Sendable {
  /// The source of the value.
  enum Source: Sendable {
    case now
    case path([RelationshipDescription], AttributeDescription)
    case count(RelationshipDescription)
    case sum(RelationshipDescription, AttributeDescription)
  }

  /// The transformation of a string.
  enum Transform: String, Sendable, CaseIterable {
    case canonical, lowercase, uppercase

    func apply(to text: String) -> String {
      switch self {
      case .canonical: return folded(text, caseInsensitive: true, diacriticInsensitive: true)
      case .lowercase: return text.lowercased()
      case .uppercase: return text.uppercased()
      }
    }
  }

  let attribute: AttributeDescription
  let source: Source
  let transform: Transform?

  /// The slot of the derived attribute.
  package var slot: Int { attribute.slot }

  /// Whether the value depends only on the row's own attributes, so that it is known before the row is written.
  package var isOwnRow: Bool {
    switch source {
    case .now: return true
    case .path(let steps, _): return steps.isEmpty
    case .count, .sum: return false
    }
  }

  /// The value while its sources are unknown.
  var emptyValue: Value {
    switch source {
    case .now, .path: return .null
    case .count, .sum: return settled(.int(0))
    }
  }

  /// The value derived from the row's own values.
  func value(in values: ContiguousArray<Value>, now: Date) -> Value {
    switch source {
    case .now: return .date(now)
    case .path(_, let attribute): return settled(values[attribute.slot])
    case .count, .sum: return emptyValue
    }
  }

  /// A value as the attribute holds it: transformed, and a number of the right type.
  func settled(_ value: Value) -> Value {
    if let transform {
      guard case .string(let text) = value else { return .null }
      return .string(transform.apply(to: text))
    }
    return value.converted(to: attribute.type)
  }
}

/// A dependency: derived values, elsewhere or in the row itself, that a change to a row invalidates.
enum DerivationTrigger: Sendable {
  /// The row belongs to a one-to-many relationship through its to-one reference; one of its values may be summed.
  case member(Derivation, reference: RelationshipDescription, summed: AttributeDescription?)
  /// The row belongs to a many-to-many relationship; one of its values may be summed.
  case pair(Derivation, RelationshipDescription, summed: AttributeDescription?)
  /// The row is reached over to-one relationships, and one of its values is used.
  case step(Derivation, over: [RelationshipDescription], PropertyDescription)
}

extension Value {
  /// The sum of numbers, ignoring nil: an integer while all are whole and it fits, otherwise a decimal if any is, otherwise
  /// a double.
  static func sum(_ values: some Sequence<Value>) -> Value {
    var whole: Int64 = 0
    var exact = Decimal(0)
    var real = 0.0
    var (hasDecimals, hasReals) = (false, false)
    for value in values {
      switch value {
      case .int(let value):
        let (sum, overflows) = whole.addingReportingOverflow(value)
        if overflows {
          exact += Decimal(value)
          hasDecimals = true
        } else {
          whole = sum
        }
      case .bool(let value): whole += value ? 1 : 0
      case .decimal(let value):
        exact += value
        hasDecimals = true
      case .double(let value):
        real += value
        hasReals = true
      default: break
      }
    }
    if hasReals { return .double(real + Double(whole) + (Double(exact.description) ?? 0)) }
    return hasDecimals ? .decimal(exact + Decimal(whole)) : .int(whole)
  }
}
