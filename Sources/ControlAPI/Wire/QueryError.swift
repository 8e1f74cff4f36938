/// What is wrong with a request's query.
package enum QueryError: Error, Sendable, Hashable, CustomStringConvertible {
  case unknown(name: String, known: [String])
  case repeated(name: String)
  case missing(name: String)
  case invalid(name: String, value: String, expected: String)
  /// Percent escapes that aren't UTF-8.
  case malformed(String)

  package var description: String {
    switch self {
    case .unknown(let name, let known):
      "there is no parameter '\(name)' here; there are \(known.joined(separator: ", "))"
    case .repeated(let name): "the parameter '\(name)' is given twice"
    case .missing(let name): "the parameter '\(name)' is missing"
    case .invalid(let name, let value, let expected): "the parameter '\(name)' is '\(value)', but must be \(expected)"
    case .malformed(let text): "'\(text)' isn't percent-encoded UTF-8"
    }
  }
}
