// SQLite puts the whole of a view, and of what WITH names, wherever the name stands, before it plans a statement, where
// nothing stops it. Twenty views, each of which names the one before twice, are a million SELECTs, and twenty
// thousand, each of which names the one before, end the stack. So they are counted first:
//
// 1. A word that may be a name of a view, or of a WITH around it, counts for it, whatever it is: never less than SQLite
//    puts in.
// 2. Each is counted once, from its own words; of the views, those alone that are named.
// 3. Names that go round in a circle are refused, except one that names itself, which is how WITH RECURSIVE goes on.

/// Counts the SELECTs that a query becomes.
final class SQLExpansion {
  /// What is put in for a name.
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
  /// Tokens that may still be looked at: those of a query as long as it may be, and of many views.
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

  /// What the token may name; nil if it is an alias, a function, or has a table or a column beside it.
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
    // What stands before the first AS is its name, and those of its columns.
    let start = tokens.firstIndex { $0.isKey("as") } ?? tokens.startIndex
    let found = Named(tokens[start...], base)
    base.names[name] = found
    return found
  }

  /// The scope that a WITH makes, and where its definitions end; nil if these aren't any. What begins like some and doesn't
  /// go on so is refused, or it would be looked at again from every place in it.
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

  /// Behind the closing parenthesis of a group.
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
