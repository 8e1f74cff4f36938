import Foundation

/// The validation rules of an entity, compiled once so that checking a row touches only the slots that can fail.
package final class ValidationRules: @unchecked Sendable {
  // Sendable: constant after init; NSRegularExpression is immutable and safe from any thread.

  private struct Bounds {
    let attribute: AttributeDescription
    let pattern: NSRegularExpression?
  }

  package let entity: EntityDescription
  private let attributes: [AttributeDescription]
  private let required: [PropertyDescription]
  /// Their slots, which is all that is needed of them for a row that has them.
  private let requiredSlots: [Int]
  private let bounded: [Bounds]
  private let predicates: [PredicateRule]
  private let sets: [RelationshipDescription]
  /// Composites with mandatory parts: the composite as a whole, or elements that are mandatory once another has a value.
  private let composites: [Composite]

  private struct Composite {
    let name: String
    let isOptional: Bool
    let slots: [Int]
    let required: [AttributeDescription]

    init?(_ composite: CompositeAttributeDescription) {
      name = composite.name
      isOptional = composite.isOptional || composite.definition.isTransient
      slots = composite.attributes.map(\.slot)
      let names = Set(composite.definition.compositeElements.filter { !$0.isOptional }.map(\.name))
      required = composite.elements.compactMap { name, element in
        guard names.contains(name), case .attribute(let attribute) = element, attribute.isOptional,
          !attribute.isTransient
        else { return nil }
        return attribute
      }
      if isOptional, required.isEmpty { return nil }
    }
  }
  /// Whether there are no rules for to-many relationships.
  package var hasNoSets: Bool { sets.isEmpty }
  /// Whether only attributes have rules, so that a row can be checked before its relationships are set.
  package let concernsAttributesOnly: Bool

  package init(_ entity: EntityDescription) {
    self.entity = entity
    attributes = entity.attributes.filter { !$0.isTransient && $0.type != .undefined }
    required =
      entity.attributes.filter { !$0.isOptional && $0.definition.derivationExpression == nil && !$0.isTransient }
      + entity.relationships.filter { !$0.isOptional && !$0.isToMany }
    requiredSlots = required.map(\.slot)
    bounded = entity.attributes.compactMap { attribute in
      let definition = attribute.definition
      let pattern = definition.regularExpression.flatMap { try? NSRegularExpression(pattern: "^(?:\($0))$") }
      if definition.minimumValue.isNull, definition.maximumValue.isNull, pattern == nil { return nil }
      return Bounds(attribute: attribute, pattern: pattern)
    }
    // The model's check has found those that don't fit.
    predicates = entity.attributes.flatMap { attribute in
      attribute.definition.validationPredicates.compactMap { try? PredicateRule($0, of: attribute) }
    }
    composites = entity.compositeAttributesByName.values.sorted { $0.name < $1.name }.compactMap(Composite.init)
    sets = entity.relationships.filter { $0.isToMany && $0.hasMemberRule }
    concernsAttributesOnly = sets.isEmpty && entity.relationships.allSatisfy { $0.isOptional || $0.isToMany }
  }

  /// The rules of an entity.
  static func of(_ entity: EntityDescription) -> ValidationRules { entity.validationRules }

  /// Appends each failure of a new row, for an entity without rules for to-many relationships. The values must have their
  /// attributes' types.
  package func check(rowBegunIn rows: NewRows, into failures: inout [ValidationFailure]) {
    let row = rows.count
    checkPresence(of: nil, into: &failures) { rows.cell(row, $0).kind == .null }
    checkBounds(of: nil, into: &failures) { rows.value(row, $0) }
  }

  /// Appends each failure of a row.
  /// - Parameter members: the number of objects in a set that hasn't been read; nil when it needn't be checked.
  package func check(
    _ values: ContiguousArray<Value>, of id: @autoclosure () -> ManagedObjectID?,
    into failures: inout [ValidationFailure], members: (RelationshipDescription) -> Int? = { _ in nil }
  ) {
    for attribute in attributes where !values[attribute.slot].fits(attribute.type) {
      failures.append(
        .init(
          entity: entity, objectID: id(), property: attribute.name, reason: .wrongType(values[attribute.slot].typeName))
      )
    }
    checkPresence(of: id(), into: &failures) { values[$0].isNull }
    checkBounds(of: id(), into: &failures) { values[$0] }
    for relationship in sets {
      guard let count = values[relationship.slot].objectCount ?? members(relationship) else { continue }
      let least = max(relationship.definition.minimumCount, relationship.isOptional ? 0 : 1)
      if count < least, !(relationship.isOptional && count == 0) {
        failures.append(
          .init(entity: entity, objectID: id(), property: relationship.name, reason: .tooFewObjects(least)))
      }
      let most = relationship.definition.maximumCount
      if most > 0, count > most {
        failures.append(
          .init(entity: entity, objectID: id(), property: relationship.name, reason: .tooManyObjects(most)))
      }
    }
  }

  /// Appends missing mandatory values.
  @inline(__always)
  private func checkPresence(
    of id: @autoclosure () -> ManagedObjectID?, into failures: inout [ValidationFailure], isNull: (Int) -> Bool
  ) {
    for (place, slot) in requiredSlots.enumerated() where isNull(slot) {
      failures.append(.init(entity: entity, objectID: id(), property: required[place].name, reason: .missing))
    }
    for composite in composites {
      let isEmpty = composite.slots.allSatisfy(isNull)
      if isEmpty, !composite.isOptional {
        failures.append(.init(entity: entity, objectID: id(), property: composite.name, reason: .missing))
      }
      for attribute in composite.required where !isEmpty && isNull(attribute.slot) {
        failures.append(.init(entity: entity, objectID: id(), property: attribute.name, reason: .missing))
      }
    }
  }

  /// Appends values out of bounds.
  @inline(__always)
  private func checkBounds(
    of id: @autoclosure () -> ManagedObjectID?, into failures: inout [ValidationFailure], value: (Int) -> Value
  ) {
    for rule in bounded {
      guard let reason = failure(of: value(rule.attribute.slot), rule) else { continue }
      failures.append(.init(entity: entity, objectID: id(), property: rule.attribute.name, reason: reason))
    }
    for rule in predicates where !rule.permits(value(rule.attribute.slot)) {
      failures.append(
        .init(
          entity: entity, objectID: id(), property: rule.attribute.name, reason: .failsPredicate(rule.definition)))
    }
  }

  private func failure(of value: Value, _ rule: Bounds) -> ValidationFailure.Reason? {
    if value.isNull { return nil }
    let definition = rule.attribute.definition
    if case .string(let text) = value {
      if case .int(let least) = definition.minimumValue, text.count < least { return .tooShort(Int(least)) }
      if case .int(let most) = definition.maximumValue, text.count > most { return .tooLong(Int(most)) }
      if let pattern = rule.pattern {
        let whole = NSRange(text.startIndex..., in: text)
        if pattern.firstMatch(in: text, range: whole) == nil {
          return .doesNotMatch(definition.regularExpression ?? "")
        }
      }
      return nil
    }
    if value.isLess(than: definition.minimumValue) { return .belowMinimum(definition.minimumValue) }
    if definition.maximumValue.isLess(than: value) { return .aboveMaximum(definition.maximumValue) }
    return nil
  }
}

extension Value {
  /// Whether both are values of an ordered kind, and this one comes first.
  func isLess(than other: Value) -> Bool {
    switch (self, other) {
    case (.int(let a), .int(let b)): return a < b
    case (.double(let a), .double(let b)): return a < b
    case (.decimal(let a), .decimal(let b)): return a < b
    case (.date(let a), .date(let b)): return a < b
    case (.int(let a), .double(let b)): return Double(a) < b
    case (.double(let a), .int(let b)): return a < Double(b)
    case (.int(let a), .decimal(let b)): return Decimal(a) < b
    case (.decimal(let a), .int(let b)): return a < Decimal(b)
    default: return false
    }
  }
}

extension RelationshipDescription {
  /// Whether there is a rule for the number of objects in a to-many relationship.
  final var hasMemberRule: Bool { definition.minimumCount > 0 || definition.maximumCount > 0 || !isOptional }
}
