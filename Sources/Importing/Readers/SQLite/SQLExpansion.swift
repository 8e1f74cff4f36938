// SQLite inlines views and WITH definitions wherever their names stand, before it plans a statement, and
// nothing limits that. Twenty views, each of which names the previous one twice, are a million SELECTs, and twenty
// thousand, each of which names the previous one, overflow the stack. So they are counted first:
//
// 1. A word that may name a view, or a WITH around it, is counted as one, whatever it is: never less than SQLite
//    inlines.
// 2. Each definition is counted once, from its own words; of the views, only those that are named.
// 3. Circular names are refused, except one that names itself, which is how WITH RECURSIVE works.

/// Counts the SELECTs that a query becomes.
final class SQLExpansion {
  /// The definition inlined for a name.
  private final class Named {
    let sql: ArraySlice<SQLToken>
    let scope: Scope
    var count: Int?
    var isOpen = false

    init(_ sql: ArraySlice<SQLToken>, _ scope: Scope) { (self.sql, self.scope) = (sql, scope) }
  }

  /// The names of one WITH, inside those around it.
  private final class Scope {
    var names: [String: Named] = [:]
    let outer: Scope?

    init(in outer: Scope?) { self.outer = outer }
  }

  private struct TooMuch: Error {}

  private static let maximumSelects = 1_000
  private static let maximumDepth = 100
  private let views: [String: [UInt8]]
  private let base = Scope(in: nil)
  /// Tokens that may still be examined: enough for a query of the greatest length, and for many views.
  private var tokens = 1 << 20

  /// - Parameter views: the statements that make the views, by their folded names.
  init(views: [String: [UInt8]]) { self.views = views }

  /// Whether the query stays within bounds.
  func allows(_ query: String) -> Bool {
    do {
      _ = try count(take(Array(query.utf8))[...], base, depth: 0, of: nil)
      return true
    } catch {
      return false
    }
  }

  private func take(_ sql: [UInt8]) throws(TooMuch) -> [SQLToken] {
    guard let found = SQLToken.tokens(of: sql, limit: tokens) else { throw TooMuch() }
    tokens -= found.count
    return found
  }

  private func count(
    _ sql: ArraySlice<SQLToken>, _ scope: Scope, depth: Int, of named: Named?
  ) throws(TooMuch) -> Int {
    guard depth <= Self.maximumDepth else { throw TooMuch() }
    var (scope, outer) = (scope, [Scope]())
    var selects = 0
    var at = sql.startIndex
    while at < sql.endIndex {
      let token = sql[at]
      if token.isKey("(") {
        outer.append(scope)
      } else if token.isKey(")") {
        scope = outer.popLast() ?? scope
      } else if token.isKey("with"), let (inner, end) = try Self.definitions(in: sql, at: at + 1, scope) {
        (scope, at) = (inner, end)
        continue
      } else if token.isKey("select") || token.isKey("values") {
        selects += 1
      } else if let found = try self.named(at: at, in: sql, scope) {
        selects += try found === named ? 1 : count(found, depth: depth + 1)
      }
      guard selects <= Self.maximumSelects else { throw TooMuch() }
      at += 1
    }
    return selects
  }

  private func count(_ named: Named, depth: Int) throws(TooMuch) -> Int {
    if let count = named.count { return count }
    guard !named.isOpen else { throw TooMuch() }
    named.isOpen = true
    let found = try count(named.sql, named.scope, depth: depth, of: named)
    named.count = found
    return found
  }

  /// The definition that the token may name; nil if it is an alias, a function, or qualified by a table or column.
  private func named(at: Int, in sql: ArraySlice<SQLToken>, _ scope: Scope) throws(TooMuch) -> Named? {
    let before = at > sql.startIndex ? sql[at - 1] : nil
    if before?.isKey("as") ?? false { return nil }
    if at + 1 < sql.endIndex, sql[at + 1].isKey("(") || sql[at + 1].isKey(".") { return nil }
    var current: Scope? = scope
    if before?.isKey(".") ?? false {
      let schema = at - 1 > sql.startIndex ? sql[at - 2].text : ""
      guard schema == "main" || schema == "temp" else { return nil }
      current = base
    }
    let name = sql[at].text
    while let here = current {
      if let found = here.names[name] { return found }
      current = here.outer
    }
    guard let view = views[name] else { return nil }
    let tokens = try take(view)
    // Before the first AS stand its name, and those of its columns.
    let start = tokens.firstIndex { $0.isKey("as") } ?? tokens.startIndex
    let found = Named(tokens[start...], base)
    base.names[name] = found
    return found
  }

  /// The scope of a WITH, and where its definitions end; nil if there aren't any. A text that begins like definitions but
  /// doesn't continue so is refused, or it would be examined again from every place in it.
  private static func definitions(
    in sql: ArraySlice<SQLToken>, at start: Int, _ outer: Scope
  ) throws(TooMuch) -> (Scope, end: Int)? {
    let scope = Scope(in: outer)
    var at = start
    if at < sql.endIndex, sql[at].isKey("recursive") { at += 1 }
    while at < sql.endIndex {
      let name = sql[at].text
      at += 1
      let hasGroup = at < sql.endIndex && sql[at].isKey("(")
      if hasGroup { at = end(ofGroupAt: at, in: sql) }
      guard at < sql.endIndex, sql[at].isKey("as") else {
        if hasGroup || !scope.names.isEmpty { throw TooMuch() }
        return nil
      }
      at += 1
      while at < sql.endIndex, sql[at].isKey("not") || sql[at].isKey("materialized") { at += 1 }
      guard at < sql.endIndex, sql[at].isKey("(") else { throw TooMuch() }
      let end = Self.end(ofGroupAt: at, in: sql)
      scope.names[name] = Named(sql[at..<end], scope)
      at = end
      guard at < sql.endIndex, sql[at].isKey(",") else { return (scope, at) }
      at += 1
    }
    if !scope.names.isEmpty { throw TooMuch() }
    return nil
  }

  /// The place after the closing parenthesis of a group.
  private static func end(ofGroupAt start: Int, in sql: ArraySlice<SQLToken>) -> Int {
    var depth = 0
    for at in start..<sql.endIndex {
      if sql[at].isKey("(") { depth += 1 }
      if sql[at].isKey(")") { depth -= 1 }
      if depth == 0 { return at + 1 }
    }
    return sql.endIndex
  }
}

/// A word or a sign of SQL: enough to tell which names a statement may refer to.
struct SQLToken: Equatable {
  /// Folded, without its quotes; a sign is one byte.
  let text: String
  /// A name in quotes, or a text, which may stand for a name as well.
  let isQuoted: Bool

  /// Whether it is this keyword or sign.
  func isKey(_ key: String) -> Bool { !isQuoted && text == key }

  /// As SQLite compares names: byte by byte, but for the case of A to Z. Each byte becomes a character, so that no
  /// two names are equal in Swift that differ in SQLite.
  static func folded(_ bytes: some Sequence<UInt8>) -> String {
    var text = String.UnicodeScalarView()
    for byte in bytes {
      text.append(UnicodeScalar((UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte))
    }
    return String(text)
  }

  /// The tokens of a text; nil if there are more than the limit.
  static func tokens(of bytes: [UInt8], limit: Int) -> [SQLToken]? {
    var tokens: [SQLToken] = []
    var at = 0
    while at < bytes.count {
      let start = at
      let byte = bytes[at]
      at += 1
      switch byte {
      case 0x20, 0x09, 0x0A, 0x0C, 0x0D: continue
      // A byte order mark is a space to SQLite.
      case 0xEF where bytes[at...].starts(with: [0xBB, 0xBF]): at += 2
      case UInt8(ascii: "-") where at < bytes.count && bytes[at] == byte:
        at = bytes[at...].firstIndex(of: 0x0A) ?? bytes.count
        continue
      case UInt8(ascii: "/") where at < bytes.count && bytes[at] == UInt8(ascii: "*"):
        at = end(ofCommentAt: start, in: bytes)
        continue
      case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"):
        at = end(ofQuotesAt: start, in: bytes)
        let inner = folded(bytes[(start + 1)..<max(start + 1, at - 1)])
        let quote = String(UnicodeScalar(byte))
        tokens.append(SQLToken(text: inner.replacing(quote + quote, with: quote), isQuoted: true))
      case UInt8(ascii: "["):
        let end = bytes[at...].firstIndex(of: UInt8(ascii: "]")) ?? bytes.count
        tokens.append(SQLToken(text: folded(bytes[at..<end]), isQuoted: true))
        at = min(end + 1, bytes.count)
      default:
        if isInWord(byte) { at = bytes[at...].firstIndex { !isInWord($0) } ?? bytes.count }
        tokens.append(SQLToken(text: folded(bytes[start..<at]), isQuoted: false))
      }
      if tokens.count > limit { return nil }
    }
    return tokens
  }

  private static func isInWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
      true
    default: false
    }
  }

  private static func end(ofCommentAt start: Int, in bytes: [UInt8]) -> Int {
    var at = start + 2
    while at + 1 < bytes.count {
      if bytes[at] == UInt8(ascii: "*"), bytes[at + 1] == UInt8(ascii: "/") { return at + 2 }
      at += 1
    }
    return bytes.count
  }

  /// The place after the closing quote; a doubled quote is part of the text.
  private static func end(ofQuotesAt start: Int, in bytes: [UInt8]) -> Int {
    var at = start + 1
    while at < bytes.count {
      if bytes[at] == bytes[start] {
        guard at + 1 < bytes.count, bytes[at + 1] == bytes[start] else { return at + 1 }
        at += 1
      }
      at += 1
    }
    return bytes.count
  }
}
