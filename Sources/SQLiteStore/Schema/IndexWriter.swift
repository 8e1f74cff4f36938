// Every program that changes a row must be able to maintain its indexes, also sqlite3. So an index's condition and columns
// consist of columns, literals and functions that are built into SQLite, never of functions that only this library registers.

import Foundation
import GRDB
import ManagedObjects

/// Writes index terms that are more than a column exactly as the fetch compiler does, so that SQLite recognises a fetch's
/// condition in the index's.
struct IndexWriter {
  let schema: SchemaMap
  let entity: EntityDescription

  /// Why an index can't be made, in words that follow “isn't made:”.
  struct Obstacle: Error, CustomStringConvertible {
    let description: String
  }

  /// The condition of a partial index.
  func condition(_ format: String) throws -> String {
    try standing("its predicate “\(format)”") {
      let predicate = try FetchPredicate(format: format)
      guard predicate.variables.isEmpty else { throw Obstacle(description: "it has variables") }
      let resolved: ResolvedPredicate = try predicate.resolved(in: entity)
      return { builder throws(SQLCompilerError) in try builder.condition(resolved) }
    }
  }

  /// A column of an index.
  func column(_ element: FetchIndexDefinition.Element, of table: TableMap) throws -> IndexMap.Column {
    guard element.collation != "RTree" else {
      throw Obstacle(
        description: "it is an R-tree, which SQLite keeps as a table of its own beside the rows; use binary elements")
    }
    if let format = element.expression {
      let text = try standing("its expression “\(format)”") {
        let resolved: ResolvedExpression = try FetchPredicate.Expression(format: format).resolved(in: entity)
        return { builder throws(SQLCompilerError) in try builder.expression(resolved) }
      }
      return .init(name: text, isAscending: element.isAscending, isExpression: true)
    }
    let name = element.property ?? ""
    guard let property = entity.propertiesByName[name], let column = table.columnsByProperty[property] else {
      throw Obstacle(description: "it names \(name), which has no column")
    }
    return .init(name: column, isAscending: element.isAscending)
  }

  /// The compiler's SQL without parameters and table names.
  private func standing(
    _ what: String, _ prepare: () throws -> ((inout QueryBuilder) throws(SQLCompilerError) -> String)
  ) throws -> String {
    var builder = QueryBuilder(schema: schema, entity: entity, storeIdentifier: nil)
    let text: String
    do {
      text = try prepare()(&builder)
    } catch {
      throw Obstacle(description: "\(what) can't become SQL: \(error)")
    }
    guard builder.joins.isEmpty, !text.contains("SELECT ") else {
      throw Obstacle(description: "\(what) looks at other rows, and an index knows its own row only")
    }
    guard !text.contains("lade_") else {
      throw Obstacle(
        description: "\(what) needs a function that isn't built into SQLite, so that sqlite3 and other programs "
          + "couldn't change the table any more; derive an attribute instead, and index that")
    }
    return StandingText.literals(in: text, builder.arguments)
  }
}

/// SQL with literals in place of parameters, and unqualified columns.
private enum StandingText {
  static func literals(in text: String, _ arguments: [DatabaseValue]) -> String {
    var result = ""
    var arguments = arguments[...]
    var quote: Character?
    var rest = text[...]
    while let character = rest.first {
      if quote == nil, rest.hasPrefix(QueryBuilder.root + ".") {
        rest.removeFirst(QueryBuilder.root.count + 1)
        continue
      }
      rest.removeFirst()
      if quote != nil {
        if character == quote { quote = nil }
      } else if character == "'" || character == "\"" {
        quote = character
      } else if character == "?", let value = arguments.popFirst() {
        result += literal(value)
        continue
      }
      result.append(character)
    }
    return result
  }

  private static func literal(_ value: DatabaseValue) -> String {
    switch value.storage {
    case .null: return "NULL"
    case .int64(let integer): return String(integer)
    case .double(let double): return String(double)
    case .string(let text): return SQLText.literal(text)
    case .blob(let data):
      return "x'" + data.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() + "'"
    }
  }
}
