package import Foundation

/// Folds `string` as `[c]` and `[d]` require. The only place where strings are folded: the in-memory evaluator, the SQL
/// functions and the constants of both use it.
package func folded(
  _ string: String, caseInsensitive: Bool, diacriticInsensitive: Bool, locale: Locale? = nil
) -> String {
  guard caseInsensitive || diacriticInsensitive else { return string }
  // ASCII has no diacritics, and case differs in one bit.
  if locale == nil, string.utf8.allSatisfy({ $0 < 0x80 }) {
    guard caseInsensitive, string.utf8.contains(where: { $0 &- 0x41 < 26 }) else { return string }
    return String(unsafeUninitializedCapacity: string.utf8.count) { buffer in
      var count = 0
      for byte in string.utf8 {
        buffer[count] = byte &- 0x41 < 26 ? byte | 0x20 : byte
        count += 1
      }
      return count
    }
  }
  var options: String.CompareOptions = []
  if caseInsensitive { options.insert(.caseInsensitive) }
  if diacriticInsensitive { options.insert(.diacriticInsensitive) }
  return string.folding(options: options, locale: locale)
}

extension FetchPredicate.Options {
  /// `string` folded by the options.
  package func folded(_ string: String) -> String {
    isEmpty || contains(.normalized)
      ? string
      : ManagedObjects.folded(
        string, caseInsensitive: contains(.caseInsensitive), diacriticInsensitive: contains(.diacriticInsensitive),
        locale: contains(.localeSensitive) ? .current : nil)
  }

  /// Less than, equal to or greater than 0 as `a` sorts before, with or after `b` in the current locale.
  package func localizedOrder(_ a: String, _ b: String) -> Int {
    var options: String.CompareOptions = []
    if contains(.caseInsensitive) { options.insert(.caseInsensitive) }
    if contains(.diacriticInsensitive) { options.insert(.diacriticInsensitive) }
    return a.compare(b, options: options, range: nil, locale: .current).rawValue
  }
}
