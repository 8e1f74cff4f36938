extension ModelReader {
  /// Reads `uniquenessConstraints`: each constraint's attributes.
  mutating func readConstraints(_ element: ModelElement) throws -> [[String]] {
    try readLists(element, list: "uniquenessConstraint", item: "constraint")
  }

  /// Reads one `fetchIndex`.
  mutating func readIndex(_ element: ModelElement) throws -> FetchIndexDefinition {
    var attributes = ElementAttributes(element, file: file)
    var index = FetchIndexDefinition(try attributes.required("name"), elements: [])
    index.partialPredicateFormat =
      attributes.nonEmpty("partialIndexPredicate") ?? attributes.nonEmpty("predicateString")
    finish(attributes)
    for child in element.children {
      guard child.name == "fetchIndexElement" else {
        warnUnknown(child, in: element)
        continue
      }
      index.elements.append(try readIndexElement(child))
    }
    guard !index.elements.isEmpty else { throw attributes.malformed("the index \(index.name) has no elements") }
    return index
  }

  private mutating func readIndexElement(_ element: ModelElement) throws -> FetchIndexDefinition.Element {
    var attributes = ElementAttributes(element, file: file)
    var result = FetchIndexDefinition.Element(
      property: attributes.nonEmpty("property"), expression: attributes.nonEmpty("expression"))
    guard result.property != nil || result.expression != nil else {
      throw attributes.malformed("<fetchIndexElement> names neither a property nor an expression")
    }
    if let type = attributes.text("type") {
      guard ["binary", "rtree"].contains(type.lowercased()) else {
        throw attributes.malformed("<fetchIndexElement>'s type is “\(type)”; it can be Binary or RTree")
      }
      result.collation = type.lowercased() == "rtree" ? "RTree" : "Binary"
    }
    switch attributes.text("order") {
    case nil, "ascending": break
    case "descending": result.isAscending = false
    case let order?:
      throw attributes.malformed("<fetchIndexElement>'s order is “\(order)”; it can be ascending or descending")
    }
    attributes.ignore("expressionType")
    finish(attributes)
    return result
  }

  /// Reads `compoundIndexes`, as Xcode wrote them until version 8.
  mutating func readCompoundIndexes(_ element: ModelElement) throws -> [FetchIndexDefinition] {
    try readLists(element, list: "compoundIndex", item: "index").map { index(over: $0) }
  }

  /// The index for an old file's flag or list, named as Xcode does on conversion.
  func index(over properties: [String]) -> FetchIndexDefinition {
    let name = properties.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    return FetchIndexDefinition("by\(name)Index", elements: properties.map { .init(property: $0) })
  }

  private mutating func readLists(_ element: ModelElement, list: String, item: String) throws -> [[String]] {
    finish(ElementAttributes(element, file: file))
    var lists: [[String]] = []
    for child in element.children {
      guard child.name == list else {
        warnUnknown(child, in: element)
        continue
      }
      let attributes = ElementAttributes(child, file: file)
      finish(attributes)
      var names: [String] = []
      for entry in child.children {
        guard entry.name == item else {
          warnUnknown(entry, in: child)
          continue
        }
        var inner = ElementAttributes(entry, file: file)
        names.append(try inner.required("value"))
        finish(inner)
      }
      guard !names.isEmpty else { throw attributes.malformed("<\(list)> names nothing") }
      lists.append(names)
    }
    return lists
  }
}
