import Foundation

/// The regular expression of `MATCHES`, which must match all of a string. `[c]` is the expression's own option; with `[d]`
/// the marks of letters are dropped from pattern and text.
package struct WholeMatch: Sendable {
  /// The pattern as it was written.
  package let source: String
  /// How case and marks count.
  package let options: FetchPredicate.Options
  private let expression: NSRegularExpression

  /// Compiles `source`.
  /// - Throws: ``FetchPredicateError/badPattern(_:)``.
  package init(_ source: String, options: FetchPredicate.Options) throws(FetchPredicateError) {
    self.source = source
    self.options = options
    let pattern = options.intersection(.diacriticInsensitive).folded(source)
    do {
      // Compiled alone first, so that an unbalanced parenthesis can't pair up with those that are put around it.
      // The empty pattern matches the empty string, but not by itself.
      if !pattern.isEmpty { _ = try NSRegularExpression(pattern: pattern) }
      expression = try NSRegularExpression(
        pattern: "\\A(?:\(pattern))\\z",
        options: options.contains(.caseInsensitive) ? .caseInsensitive : [])
    } catch {
      throw .badPattern(source)
    }
  }

  /// Whether the expression matches all of `text`.
  package func matches(_ text: String) -> Bool {
    let text = options.intersection(.diacriticInsensitive).folded(text)
    return expression.firstMatch(in: text, range: NSRange(location: 0, length: text.utf16.count)) != nil
  }
}
