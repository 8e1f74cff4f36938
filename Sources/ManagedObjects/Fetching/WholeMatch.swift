import Foundation

/// The regular expression of `MATCHES`, which must match the whole string. `[c]` becomes the expression's own option; `[d]`
/// strips diacritics from pattern and text.
package struct WholeMatch: Sendable {
  /// The pattern as written.
  package let source: String
  /// Whether case and diacritics count.
  package let options: FetchPredicate.Options
  private let expression: NSRegularExpression

  /// Compiles `source`.
  /// - Throws: ``FetchPredicateError/badPattern(_:)``.
  package init(_ source: String, options: FetchPredicate.Options) throws(FetchPredicateError) {
    self.source = source
    self.options = options
    let pattern = options.intersection(.diacriticInsensitive).folded(source)
    do {
      // Compiling it alone first refuses an unbalanced parenthesis that would pair with the ones added below.
      // The empty pattern doesn't compile, but matches the empty string.
      if !pattern.isEmpty { _ = try NSRegularExpression(pattern: pattern) }
      expression = try NSRegularExpression(
        pattern: "\\A(?:\(pattern))\\z",
        options: options.contains(.caseInsensitive) ? .caseInsensitive : [])
    } catch {
      throw .badPattern(source)
    }
  }

  /// Whether the expression matches the whole of `text`. It may take without end on the right text; an ``Interruption`` ends
  /// it.
  package func matches(_ text: String) -> Bool {
    let text = options.intersection(.diacriticInsensitive).folded(text)
    let range = NSRange(location: 0, length: text.utf16.count)
    var isFound = false
    expression.enumerateMatches(in: text, options: .reportProgress, range: range) { match, _, stop in
      isFound = isFound || match != nil
      // Called every few steps of the search, too.
      if isFound || Interruption.isRequested { stop.pointee = true }
    }
    return isFound
  }
}
