import Foundation

/// A key composed from columns: `{code|^([A-Z]{2})}-{parent}`.
///
/// `{column}` stands for the column's text, `{column|regex}` for what the first group of the regular expression matches in
/// it. Braces inside the expression must be balanced, or escaped with a backslash. Text outside braces stands for itself.
package struct KeyTemplate: Sendable {
  private enum Part: Sendable {
    case literal(String)
    case column(String)
    case match(String, NSRegularExpression)
  }

  private let parts: [Part]
  /// The columns that it needs, each once, in the order in which they first appear.
  package let columns: [String]

  /// Reads a template.
  /// - Throws: `KeyTemplateError`.
  package init(_ text: String) throws {
    var parts: [Part] = []
    var columns: [String] = []
    var rest = text[...]
    while let brace = rest.firstIndex(where: { $0 == "{" || $0 == "}" }) {
      guard rest[brace] == "{", let end = Self.closingBrace(in: rest, of: brace) else {
        throw KeyTemplateError.unbalancedBrace(
          template: text, position: text.distance(from: text.startIndex, to: brace) + 1)
      }
      if brace > rest.startIndex { parts.append(.literal(String(rest[..<brace]))) }
      let part = try Self.part(rest[rest.index(after: brace)..<end], of: text)
      switch part {
      case .column(let name), .match(let name, _): if !columns.contains(name) { columns.append(name) }
      case .literal: break
      }
      parts.append(part)
      rest = rest[rest.index(after: end)...]
    }
    if !rest.isEmpty { parts.append(.literal(String(rest))) }
    guard !columns.isEmpty else { throw KeyTemplateError.noColumn(template: text) }
    self.parts = parts
    self.columns = columns
  }

  /// The key of one record; nil if the text of a part is missing or empty, or its expression doesn't match.
  /// - Parameter lookup: the text of a column in the record.
  package func render(_ lookup: (String) -> String?) -> String? {
    var key = ""
    for part in parts {
      switch part {
      case .literal(let text): key += text
      case .column(let name):
        guard let text = lookup(name), !text.isEmpty else { return nil }
        key += text
      case .match(let name, let expression):
        guard let text = lookup(name), !text.isEmpty,
          let match = expression.firstMatch(in: text, range: NSRange(text.startIndex..., in: text)),
          let range = Range(match.range(at: 1), in: text), !range.isEmpty
        else { return nil }
        key += text[range]
      }
    }
    return key
  }

  private static func closingBrace(in text: Substring, of opening: String.Index) -> String.Index? {
    var depth = 0
    var index = opening
    while index < text.endIndex {
      switch text[index] {
      case "{": depth += 1
      case "}":
        depth -= 1
        if depth == 0 { return index }
      case "\\":
        index = text.index(after: index)
        guard index < text.endIndex else { return nil }
      default: break
      }
      index = text.index(after: index)
    }
    return nil
  }

  private static func part(_ text: Substring, of template: String) throws -> Part {
    let name = String(text.prefix { $0 != "|" })
    guard !name.isEmpty else { throw KeyTemplateError.noName(template: template) }
    guard name.count < text.count else { return .column(name) }
    let pattern = String(text.dropFirst(name.count + 1))
    let expression: NSRegularExpression
    do {
      expression = try NSRegularExpression(pattern: pattern)
    } catch {
      throw KeyTemplateError.badExpression(template: template, expression: pattern)
    }
    guard expression.numberOfCaptureGroups >= 1 else {
      throw KeyTemplateError.noGroup(template: template, expression: pattern)
    }
    return .match(name, expression)
  }
}

/// Why a key template can't be used.
package enum KeyTemplateError: Error, Sendable, Hashable, CustomStringConvertible {
  /// An unbalanced brace; the position counts characters from 1.
  case unbalancedBrace(template: String, position: Int)
  /// Braces without a column's name.
  case noName(template: String)
  /// No column: every record would have the same key.
  case noColumn(template: String)
  case badExpression(template: String, expression: String)
  /// A regular expression without a group in parentheses.
  case noGroup(template: String, expression: String)

  package var description: String {
    switch self {
    case .unbalancedBrace(let template, let position):
      return "the key “\(template)” has a brace at character \(position) that has no other half"
    case .noName(let template): return "the key “\(template)” has braces without a column's name"
    case .noColumn(let template):
      return "the key “\(template)” names no column; write {column} where its text is to stand"
    case .badExpression(let template, let expression):
      return "the key “\(template)” has the regular expression “\(expression)”, which is malformed"
    case .noGroup(let template, let expression):
      return "the key “\(template)” has the regular expression “\(expression)” without a group: "
        + "put parentheses around the part that is wanted"
    }
  }
}
