import ManagedObjects

extension EntityWriter {
  /// The accessors of a relationship.
  mutating func accessor(of relationship: RelationshipDescription) -> [String] {
    let slot = relationship.slot
    let other = generator.className(of: relationship.destinationEntity)
    let access = access(to: relationship.destinationEntity)
    guard relationship.isToMany else {
      return property(
        relationship.name, other + "?", access: access, get: "object(\(slot))", set: "setObject(newValue, \(slot))")
    }
    let isOrdered = relationship.isOrdered
    let set = isOrdered ? "OrderedSet<\(other)>" : "\(type("Set"))<\(other)>"
    let lines =
      isOrdered
      ? property(
        relationship.name, set, access: access, get: "orderedObjects(\(slot))",
        set: "setOrderedObjects(newValue, \(slot))")
      : property(relationship.name, set, access: access, get: "objects(\(slot))", set: "setObjects(newValue, \(slot))")
    let stem = SwiftText.capitalized(relationship.name)
    guard stems.insert(stem).inserted else {
      warnings.append("\(entity.name).\(relationship.name) gets no addTo\(stem): another relationship has it already")
      return lines
    }
    let name = SwiftText.name(relationship.name)
    let change = SetMethods(stem: stem, name: name, access: access, slot: slot, member: other, set: set)
    return lines + change.lines + (isOrdered ? change.orderedLines(generator) : [])
  }
}

/// The methods that change a to-many relationship, under the names that Xcode gives them.
private struct SetMethods {
  let stem: String
  let name: String
  let access: String
  let slot: Int
  let member: String
  let set: String

  private func method(_ head: String, _ body: String...) -> [String] {
    ["", "  \(access)func \(head) {"] + body.map { "    " + $0 } + ["  }"]
  }

  var lines: [String] {
    method("addTo\(stem)(_ value: \(member))", "add(value, to: \(slot))")
      + method("removeFrom\(stem)(_ value: \(member))", "remove(value, from: \(slot))")
      + method("addTo\(stem)(_ values: \(set))", "for value in values { add(value, to: \(slot)) }")
      + method("removeFrom\(stem)(_ values: \(set))", "for value in values { remove(value, from: \(slot)) }")
  }

  func orderedLines(_ generator: ClassGenerator) -> [String] {
    let (int, indexes) = (generator.type("Int", of: "Swift"), generator.type("IndexSet", of: "Foundation"))
    return method("insertInto\(stem)(_ value: \(member), at idx: \(int))", "insert(value, at: idx, in: \(slot))")
      + method("removeFrom\(stem)(at idx: \(int))", "removeObject(at: idx, in: \(slot))")
      + method(
        "replace\(stem)(at idx: \(int), with value: \(member))", "replaceObject(at: idx, with: value, in: \(slot))")
      + method(
        "insertInto\(stem)(_ values: [\(member)], at indexes: \(indexes))",
        "for (idx, value) in zip(indexes, values) { insert(value, at: idx, in: \(slot)) }")
      + method(
        "removeFrom\(stem)(at indexes: \(indexes))",
        "for idx in indexes.reversed() { removeObject(at: idx, in: \(slot)) }")
      + method(
        "replace\(stem)(at indexes: \(indexes), with values: [\(member)])",
        "for (idx, value) in zip(indexes, values) { replaceObject(at: idx, with: value, in: \(slot)) }")
  }
}
