// Rules 3 and 4 (ARCHITECTURE.md) for incremental sources: how far a recipe has read is an object of the data store, changed by the
// save that ends the job. Whatever kills a job leaves either the old cursor, from which its rows are read again and met by upsert, or
// the new one with all of them.

package import Foundation
package import ManagedObjects

/// How far a recipe has read its source: the greatest value of the cursor whose rows are all in the store, as objects or rejects.
package struct RecipeCursor: Sendable, Hashable {
  /// The column. A value of another one means nothing.
  package let column: String
  /// What tells the source from others, whose values mean something else.
  package let source: String
  package let value: CursorValue
  /// When it got there.
  package let movedAt: Date
  /// The number of the job that brought it there; 0 if an operator did.
  package let job: Int64

  /// The cursor of a recipe; nil if it has never read. The context is reset.
  package static func read(_ recipe: String, in context: ManagedObjectContext) throws -> RecipeCursor? {
    defer { context.reset() }
    return try find(recipe, in: context).flatMap { RecipeCursor($0) }
  }

  /// Moves a cursor by hand, or forgets it: then the next job reads every row. Saves, and resets the context.
  package static func set(
    _ recipe: String, _ source: IncrementalSource, to value: CursorValue?, in context: ManagedObjectContext
  ) throws {
    defer { context.reset() }
    let object = try find(recipe, in: context)
    if let value {
      try write(
        recipe, column: source.cursor, source.identity, value, job: 0,
        to: object ?? context.insert(ImportModel.cursorEntity))
    } else if let object {
      context.delete(object)
    } else {
      return
    }
    try context.save()
  }

  fileprivate static func find(_ recipe: String, in context: ManagedObjectContext) throws -> ManagedObject? {
    try context.fetch(
      FetchRequest<ManagedObject>(
        entityName: ImportModel.cursorEntity, predicate: .equal("recipe", .string(recipe)), fetchLimit: 1)
    ).first
  }

  fileprivate static func write(
    _ recipe: String, column: String, _ source: String, _ value: CursorValue, job: Int64, to object: ManagedObject
  ) throws {
    try object.setValue(.string(recipe), forKey: "recipe")
    try object.setValue(.string(column), forKey: "column")
    try object.setValue(.string(source), forKey: "source")
    try object.setValue(.string(value.stored), forKey: "value")
    try object.setValue(.int(job), forKey: "job")
    try object.setValue(.date(Date()), forKey: "moved")
  }

}

extension RecipeCursor {
  fileprivate init?(_ object: ManagedObject) {
    guard let value = CursorValue(stored: object.text("value")), let moved = object.date("moved") else { return nil }
    self.init(
      column: object.text("column"), source: object.text("source"), value: value, movedAt: moved,
      job: object.number("job"))
  }
}

/// What an import does to its recipe's cursor when all of its rows are in the store.
package struct CursorMove: Sendable, Hashable {
  let recipe: String
  let column: String
  let source: String
  let job: Int64
  /// Where the cursor was when the rows were read.
  let since: CursorValue?
  let until: CursorValue

  /// - Returns: nil if nothing was read by which the cursor could be moved.
  package init?(_ recipe: String, _ source: IncrementalSource, _ window: ExtractWindow, job: Int64) {
    guard let until = window.until else { return nil }
    self.recipe = recipe
    self.source = source.identity
    self.column = window.column
    self.job = job
    since = window.since
    self.until = until
  }

  /// Moves the cursor with the context's next save, unless an operator has moved it since the rows were read.
  func write(in context: ManagedObjectContext) throws {
    let object = try RecipeCursor.find(recipe, in: context)
    guard object.flatMap({ RecipeCursor($0) })?.value == since, until != since || object == nil else { return }
    try RecipeCursor.write(
      recipe, column: column, source, until, job: job, to: object ?? context.insert(ImportModel.cursorEntity))
  }
}
