package import Foundation
import _FoundationICU

/// The orders of text in natural language: "apple", "Äpfel", "Zebra", where bytes would order Zebra, apple, Äpfel.
///
/// They are those of the Unicode Collation Algorithm with CLDR's root tailoring, whatever the locale of the process, so that
/// every store, every context and every process of a machine agree. A text becomes a key whose bytes compare as the texts
/// do; stores and memory alike sort by these keys, so that there is one implementation. A key costs less than a
/// microsecond, a comparison of two a few nanoseconds. Keys aren't kept in files: another version of Unicode may order
/// differently.
package enum TextCollation: Int, Sendable, Hashable {
  /// Differences of case count, after those of letters and accents: "role", "Role", "rôle".
  case localized = 1
  /// Differences of case don't count.
  case localizedCaseInsensitive = 2
  /// As ``localized``, and digits sort as the numbers they write: "file 2", "file 10".
  case localizedStandard = 3

  /// Whether ICU has the rules. Foundation is never built without them, but it could be.
  package var isAvailable: Bool { collator.pointer != nil }

  /// The key of `text`: of two texts, the one with the lesser bytes comes first. Safe from any thread.
  package func key(of text: String) -> Data {
    guard let collator = collator.pointer else { return Data(text.utf8) }
    // A UTF-8 text has at least as many bytes as UTF-16 units.
    return withUnsafeTemporaryAllocation(of: UInt16.self, capacity: text.utf8.count) { units in
      var count = 0
      for unit in text.utf16 {
        units[count] = unit
        count += 1
      }
      let length = Int32(clamping: count)
      func key(_ capacity: Int) -> (key: Data, length: Int) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: capacity) { bytes in
          let needed = Int(
            swift_ucol_getSortKey(collator, units.baseAddress, length, bytes.baseAddress, Int32(clamping: capacity)))
          // The last byte is a zero.
          return (needed > capacity ? Data() : Data(bytes[..<max(0, needed - 1)]), needed)
        }
      }
      let first = key(3 * count + 64)
      return first.length > 3 * count + 64 ? key(first.length).key : first.key
    }
  }

  private var collator: Collator {
    switch self {
    case .localized: return Self.localizedCollator
    case .localizedCaseInsensitive: return Self.caseInsensitiveCollator
    case .localizedStandard: return Self.standardCollator
    }
  }

  /// An ICU collator. Sendable: nothing changes it once it is made, and ICU's reading functions are safe from any thread.
  private struct Collator: @unchecked Sendable {
    let pointer: OpaquePointer?

    init(_ attributes: [(UColAttribute, UColAttributeValue)]) {
      var status = U_ZERO_ERROR
      let collator = swift_ucol_open("root", &status)
      // Text that isn't normalized sorts with its normalized equivalent.
      for (attribute, value) in [(UCOL_NORMALIZATION_MODE, UCOL_ON)] + attributes where status.rawValue <= 0 {
        swift_ucol_setAttribute(collator, attribute, value, &status)
      }
      pointer = status.rawValue <= 0 ? collator : nil
    }
  }

  private static let localizedCollator = Collator([])
  private static let caseInsensitiveCollator = Collator([(UCOL_STRENGTH, UCOL_SECONDARY)])
  private static let standardCollator = Collator([(UCOL_NUMERIC_COLLATION, UCOL_ON)])
}
