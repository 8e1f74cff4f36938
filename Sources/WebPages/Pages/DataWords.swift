import ControlAPI

/// The words by which objects of an entity are asked for: its properties with an example of each.
struct DataWords {
  let entity: DataEntity

  /// A predicate with properties that the entity has.
  var example: String {
    let attributes = entity.entity.attributes
    let text = attributes.first { $0.type == "String" }.map { example(of: DataPredicate.keyPath($0.name), $0) }
    let number = attributes.first { $0.isNumber }.map { example(of: DataPredicate.keyPath($0.name), $0) }
    let parts = [text, number].compactMap { $0 }
    return parts.isEmpty ? "\(entity.numberName) > 30" : parts.joined(separator: " AND ")
  }

  /// What a field of a predicate offers: the beginning of it.
  var list: HTML {
    HTML.element("datalist", .id("where-words")) {
      for line in lines { HTML.element("option", .value(line.example)) { line.what } }
    }
  }

  /// The names that a predicate may have, with what they are.
  var properties: HTML {
    HTML.element("div") {
      HTML.element("ul") {
        for line in lines {
          HTML.element("li") {
            HTML.command(line.name)
            HTML.element("span", .style("note")) {
              " "
              HTML.name(line.what)
              ", as "
            }
            HTML.command(line.example)
          }
        }
      }
      HTML.element("p", .style("note")) {
        "Operators: "
        HTML.command("== != < <= > >= BEGINSWITH ENDSWITH CONTAINS LIKE IN BETWEEN AND OR NOT")
        "; "
        HTML.command("[c]")
        " after one ignores case, "
        HTML.command("[d]")
        " accents. "
        HTML.command("NIL")
        " is no value."
      }
    }
  }

  private struct Line {
    let name: String
    let what: String
    let example: String
  }

  /// The entity's own properties, and what its to-one relationships lead to.
  private var lines: [Line] {
    let number = Line(
      name: entity.numberName, what: "the object's number", example: "\(entity.numberName) > 30")
    let attributes = entity.entity.attributes.map { line(of: $0, under: "") }
    let relationships = entity.entity.relationships.flatMap { relationship -> [Line] in
      let path = DataPredicate.keyPath(relationship.name)
      let own = Line(
        name: path, what: "\(relationship.isToMany ? "to many" : "to one") \(relationship.entity)",
        example: relationship.isToMany ? "\(path).@count > 0" : "\(path) != NIL")
      guard !relationship.isToMany, let other = DataEntity(relationship.entity, in: entity.store) else { return [own] }
      return [own] + other.entity.attributes.map { line(of: $0, under: path + ".") }
    }
    return attributes + relationships + [number]
  }

  private func line(of attribute: Store.Attribute, under path: String) -> Line {
    let name = path + DataPredicate.keyPath(attribute.name)
    return Line(name: name, what: attribute.type, example: example(of: name, attribute))
  }

  private func example(of name: String, _ attribute: Store.Attribute) -> String {
    switch attribute.type {
    case "String": "\(name) BEGINSWITH[c] 'a'"
    case "Boolean": "\(name) == TRUE"
    default: attribute.isNumber ? "\(name) > 30" : "\(name) != NIL"
    }
  }
}
