/// Why a fetch can't be answered by SQL.
public enum SQLCompilerError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The property has no column: it is transient.
  case notStored(entity: String, property: String)
  /// The database can't compute something exactly as the other stores do. Rows are then selected in memory.
  case notInSQL(String)

  /// What can't be answered, and what to do.
  public var description: String {
    switch self {
    case .notStored(let entity, let property):
      return
        "\(entity).\(property) is transient, so that a store can't fetch or sort by it: do so with the fetched objects"
    case .notInSQL(let what): return "\(what) has no equal in the database's SQL"
    }
  }
}
