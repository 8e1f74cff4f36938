// Every program that changes a row must be able to maintain its indexes, also sqlite3. So an index's condition and columns
// consist of columns, literals and functions that are built into the database, never of functions that only this library
// registers.

import ManagedObjects

/// Writes index terms that are more than a column exactly as the fetch compiler does, so that the database recognises a fetch's
/// condition in the index's.
struct IndexWriter<Dialect: SQLDialect> {
  let schema: SchemaMap
  let entity: EntityDescription

  /// The condition of a partial index.
  func condition(_ format: String) throws -> String {
    try standing("its predicate “\(format)”") {
      let predicate = try FetchPredicate(format: format)
      guard predicate.variables.isEmpty else { throw IndexObstacle(description: "it has variables") }
      let resolved: ResolvedPredicate = try predicate.resolved(in: entity)
      return { builder throws(SQLCompilerError) in try builder.condition(resolved) }
    }
  }

  /// A column of an index.
  func column(_ element: FetchIndexDefinition.Element, of table: TableMap) throws -> IndexMap.Column {
    guard element.collation != "RTree" else {
      throw IndexObstacle(
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
      throw IndexObstacle(description: "it names \(name), which has no column")
    }
    return .init(name: column, isAscending: element.isAscending)
  }

  /// The compiler's SQL without parameters and table names.
  private func standing(
    _ what: String, _ prepare: () throws -> ((inout SQLQueryBuilder<Dialect>) throws(SQLCompilerError) -> String)
  ) throws -> String {
    var builder = SQLQueryBuilder<Dialect>(schema: schema, entity: entity, storeIdentifier: nil)
    let text: String
    do {
      text = try prepare()(&builder)
    } catch {
      throw IndexObstacle(description: "\(what) can't become SQL: \(error)")
    }
    guard builder.joins.isEmpty, !text.contains("SELECT ") else {
      throw IndexObstacle(description: "\(what) looks at other rows, and an index knows its own row only")
    }
    if let obstacle = Dialect.obstacle(inTerm: text) { throw IndexObstacle(description: "\(what) \(obstacle)") }
    return literals(in: text, builder.arguments)
  }

  /// SQL with literals in place of parameters, and unqualified columns.
  private func literals(in text: String, _ arguments: [Dialect.Parameter]) -> String {
    var result = ""
    var arguments = arguments[...]
    var quote: Character?
    var rest = text[...]
    while let character = rest.first {
      if quote == nil, rest.hasPrefix(SQLQueryRoot.name + ".") {
        rest.removeFirst(SQLQueryRoot.name.count + 1)
        continue
      }
      rest.removeFirst()
      if quote != nil {
        if character == quote { quote = nil }
      } else if character == "'" || character == "\"" {
        quote = character
      } else if character == "?", let value = arguments.popFirst() {
        result += Dialect.literal(value)
        continue
      }
      result.append(character)
    }
    return result
  }
}

/// Why an index can't be made, in words that follow “isn't made:”.
struct IndexObstacle: Error, CustomStringConvertible {
  let description: String
}
