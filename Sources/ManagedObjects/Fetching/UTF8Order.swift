import Foundation

/// Comparisons of strings by their UTF-8 bytes, as SQLite's BINARY collation compares them. Swift's own operators
/// treat canonically equivalent strings as equal, which no SQLite index does.
enum UTF8Order {
  static func areEqual(_ a: String, _ b: String) -> Bool {
    a.utf8.count == b.utf8.count && a == b && withBytes(a, b) { memcmp($0, $1, $0.count) } == 0
  }

  /// Less than, equal to or greater than 0 as `a` comes before, is or comes after `b`.
  static func compare(_ a: String, _ b: String) -> Int {
    withBytes(a, b) { first, second in
      let difference = memcmp(first, second, min(first.count, second.count))
      return difference != 0 ? Int(difference) : first.count - second.count
    }
  }

  static func hasPrefix(_ text: String, _ prefix: String) -> Bool {
    withBytes(text, prefix) { $0.count >= $1.count && memcmp($0, $1, $1.count) == 0 }
  }

  static func hasSuffix(_ text: String, _ suffix: String) -> Bool {
    withBytes(text, suffix) { text, suffix in
      text.count >= suffix.count
        && UnsafeRawBufferPointer(rebasing: text.suffix(suffix.count)).elementsEqual(suffix)
    }
  }

  static func contains(_ text: String, _ part: String) -> Bool {
    withBytes(text, part) { text, part in
      text.withMemoryRebound(to: UInt8.self) { text in
        part.withMemoryRebound(to: UInt8.self) { ByteSearch.find($0, in: text, from: 0) != nil }
      }
    }
  }

  private static func withBytes<Result>(
    _ a: String, _ b: String, _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Result
  ) -> Result {
    var a = a
    var b = b
    return a.withUTF8 { first in b.withUTF8 { second in body(.init(first), .init(second)) } }
  }

  private static func memcmp(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer, _ count: Int) -> Int32 {
    guard count > 0, let first = a.baseAddress, let second = b.baseAddress else { return 0 }
    return Foundation.memcmp(first, second, count)
  }
}
