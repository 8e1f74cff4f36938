/// The part of JSON Schema that an OpenAPI 3.1 document here is written in, to hold answers against it.
package struct OpenAPISchemas: Sendable {
  package let document: DocumentValue

  package init(_ document: DocumentValue) { self.document = document }

  /// What a reference of the form `#/components/…` leads to.
  package func resolved(_ value: DocumentValue) -> DocumentValue {
    guard let reference = value["$ref"].text else { return value }
    return resolved(reference.split(separator: "/").dropFirst().reduce(document) { $0[String($1)] })
  }

  /// The schema of an operation's answer.
  package func schema(_ method: String, _ path: String, status: String, type: String = "application/json")
    -> DocumentValue
  {
    let responses = document["paths"][path][method]["responses"]
    let response = resolved(responses.members[status] ?? responses["default"])
    return response["content"][type]["schema"]
  }

  /// What of a value isn't as its schema has it, with places; empty when all is.
  package func mistakes(of value: DocumentValue, _ schema: DocumentValue, at place: String = "$") -> [String] {
    let schema = resolved(schema)
    if schema == .null { return ["\(place): there is no such schema"] }
    var mistakes: [String] = []
    if case .array(let words) = schema["enum"], !words.contains(value) {
      mistakes.append("\(place): \(value) isn't one of \(words)")
    }
    let types = schema["type"].text.map { [$0] } ?? schema["type"].elements.compactMap(\.text)
    if !types.isEmpty, !types.contains(where: { Self.isOf($0, value) }) {
      mistakes.append("\(place): \(value) isn't \(types.joined(separator: " or "))")
    }
    for (index, element) in value.elements.enumerated() where schema["items"] != .null {
      mistakes += self.mistakes(of: element, schema["items"], at: "\(place)[\(index)]")
    }
    let properties = schema["properties"].members
    for (name, member) in value.members {
      if let property = properties[name] {
        mistakes += self.mistakes(of: member, property, at: "\(place).\(name)")
      } else if schema["additionalProperties"] == .bool(false) {
        mistakes.append("\(place): \(name) isn't declared")
      } else if case .object = schema["additionalProperties"] {
        mistakes += self.mistakes(of: member, schema["additionalProperties"], at: "\(place).\(name)")
      }
    }
    if case .object(let members) = value {
      for name in schema["required"].elements.compactMap(\.text) where members[name] == nil {
        mistakes.append("\(place): \(name) is missing")
      }
    }
    return mistakes
  }

  private static func isOf(_ type: String, _ value: DocumentValue) -> Bool {
    switch (type, value) {
    case ("null", .null), ("boolean", .bool), ("integer", .int), ("number", .int), ("number", .double),
      ("string", .string), ("array", .array), ("object", .object):
      true
    default: false
    }
  }
}
