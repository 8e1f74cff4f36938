import Glibc

/// Why an import can't go on, whatever a single record holds.
package enum MappingError: Error, Sendable, Equatable {
  /// A column that nothing takes, and the one that was probably meant.
  package struct NewColumn: Sendable, Equatable {
    package let name: String
    package let nearest: String?
  }

  case unknownEntity(name: String, known: [String])
  case abstractEntity(String)
  /// None of the columns belongs to the entity.
  case nothingToMap(entity: String, columns: [String], expected: [String])
  /// The mode needs a uniqueness constraint, and a column for each of its attributes.
  case noKey(entity: String, constraints: [[String]], columns: [String], mode: ImportMode = .upsert)
  /// The recipe's key leads to far more objects than there are keys in a batch.
  case unselectiveKey(entity: String, key: [String], keys: Int)
  /// Objects that the source doesn't have can't be deleted, and the mode can't leave them.
  case cannotReplace(entity: String, count: Int64, examples: [String])
  /// Objects of rejected records can't stay as they were, because other records have their unique values.
  case cannotKeep(entity: String, count: Int64, examples: [String])
  /// The source has nothing to keep, and the mode deletes what the source doesn't have.
  case wouldDeleteAll(entity: String, count: Int, mode: ImportMode, records: Int64)
  case badRelationship(entity: String, relationship: String, reason: String)
  case badAttribute(entity: String, reason: String)
  /// The recipe's rules don't fit the entity, or are impossible.
  case badRules(entity: String, problems: [String])
  /// The recipe's filter isn't a predicate that records of the entity can answer.
  case badFilter(entity: String, filter: String, reason: String)
  /// The source has columns that nothing takes, and the recipe freezes them.
  case newColumns(entity: String, columns: [NewColumn])
  /// A value doesn't fit the type of its attribute, and the recipe freezes types.
  case changedType(entity: String, line: Int64, message: String)
  /// The source has files that belong to no entity, and the recipe freezes entities.
  case newEntities(names: [String])
  /// The recipe has the model evolve, and no version takes the source.
  case cannotEvolve(reason: String)
  /// The source isn't the file that the import began with.
  case sourceChanged(was: String, is: String)
  /// The file can't be imported as a feed.
  case badFeed(reason: String)
  /// More records were rejected than the limit allows.
  case tooManyRejects(count: Int64, limit: Int, first: String)
  /// More than the allowed share of the records was rejected, from 0 to 1.
  case tooLargeShareRejected(count: Int64, records: Int64, share: Double, first: String)
  /// Records were rejected, and none was taken in.
  case nothingImported(records: Int64, rejected: Int64, first: String)
  /// A retry has a record that another has resolved.
  case rejectResolved(number: Int64, by: Int64)
  case fileFailed(path: String, operation: String, reason: String)
  /// The disk is full.
  case diskFull(path: String, operation: String)

  /// The error without the record that it gives as an example, for those who may not see values of the source.
  package var withoutExample: MappingError {
    switch self {
    case .tooManyRejects(let count, let limit, _): .tooManyRejects(count: count, limit: limit, first: "")
    case .tooLargeShareRejected(let count, let records, let share, _):
      .tooLargeShareRejected(count: count, records: records, share: share, first: "")
    case .nothingImported(let records, let rejected, _):
      .nothingImported(records: records, rejected: rejected, first: "")
    default: self
    }
  }

  /// The error for a system call that failed with `code`.
  static func file(_ path: String, _ operation: String, code: Int32) -> MappingError {
    if code == ENOSPC || code == EDQUOT { return .diskFull(path: path, operation: operation) }
    return .fileFailed(path: path, operation: operation, reason: String(cString: strerror(code)))
  }
}

extension MappingError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .unknownEntity(let name, let known):
      return "the model has no entity \(name); it has \(known.sorted().joined(separator: ", "))"
    case .abstractEntity(let name): return "\(name) is abstract: import into an entity that inherits from it"
    case .nothingToMap(let entity, let columns, let expected):
      return
        "none of the columns \(list(columns)) is one of \(entity)'s; expected some of \(list(expected)). "
        + "Name the source's columns under properties in the recipe or options, or by mappedKeyName in the model"
        + Self.spellings(columns, of: expected)
    case .noKey(let entity, let constraints, let columns, let mode):
      if constraints.isEmpty {
        return
          "\(entity) has no uniqueness constraint, which \(mode.rawValue) needs: add one to the model, name "
          + "the attributes that identify an object as the recipe's key, or use mode insert"
      }
      return
        "\(mode.rawValue) needs a column for each attribute of a key of \(entity) "
        + "(\(constraints.map { $0.joined(separator: "+") }.joined(separator: " or "))); the columns are \(list(columns)). "
        + "If one of them is it, name it under properties in the recipe or options"
        + Self.spellings(columns, of: Array(constraints.joined()))
    case .unselectiveKey(let entity, let key, let keys):
      return
        "the recipe's key (\(list(key))) doesn't identify objects: \(keys) key(s) of the file's records lead to at least "
        + "\(keys + ExistingObjects.surplus + 1) \(entity). Nothing was deleted. Name all the attributes that together "
        + "identify an object as the key, or use mode insert"
    case .cannotReplace(let entity, let count, let examples):
      return
        "\(count) \(entity) that the file doesn't have can't be deleted, since others need them, such as "
        + "\(examples.joined(separator: ", ")): nothing was changed. Import what needs them before, or use mode "
        + "synchronise, which leaves them"
    case .cannotKeep(let entity, let count, let examples):
      return
        "\(count) \(entity) whose records were rejected can't stay as they were, since other records of the file have their "
        + "unique values, such as \(examples.joined(separator: ", ")): nothing was changed. Correct the rejected records "
        + "and import the file again"
    case .wouldDeleteAll(let entity, let count, let mode, let records):
      let why = records == 0 ? "the file has no records" : "none of the file's \(records) record(s) was taken in"
      return
        "\(why), and \(mode.rawValue) would have deleted \(count) \(entity): nothing was changed. If they are to go, set "
        + "allow_empty"
    case .badRelationship(let entity, let relationship, let reason): return "\(entity).\(relationship): \(reason)"
    case .badAttribute(let entity, let reason): return "\(entity): \(reason)"
    case .badRules(let entity, let problems):
      return "the mapping of \(entity) can't be used: \(problems.joined(separator: "; "))"
    case .badFilter(let entity, let filter, let reason):
      return "the filter “\(filter)” of \(entity) can't be used: \(reason)"
    case .newColumns(let entity, let columns):
      let names = columns.map { column in
        (column.name.isEmpty ? "“”" : column.name) + (column.nearest.map { " (is it \($0)?)" } ?? "")
      }
      return "\(entity) has nothing for the column(s) \(list(names)), and the recipe's schema freezes columns: "
        + "map them, add attributes to the model, or name them in ignored_columns"
    case .changedType(let entity, let line, let message):
      return "line \(line): \(message), and the recipe's schema freezes the types of \(entity): correct the file, or "
        + "change the attribute's type in the model"
    case .newEntities(let names):
      return
        "no entity has a file for \(list(names)), and the recipe's schema freezes entities: add them to the model, "
        + "or leave these files out by member"
    case .cannotEvolve(let reason): return "the model can't evolve: \(reason)"
    case .sourceChanged(let was, let now):
      return "the file changed since the import began (it was \(was), it is \(now)): submit it again as a new job"
    case .badFeed(let reason): return reason
    case .tooManyRejects(let count, let limit, let first):
      return
        "\(count) records were rejected, more than the limit of \(limit)"
        + (first.isEmpty ? "" : ". The first: \(first)")
    case .tooLargeShareRejected(let count, let records, let share, let first):
      return
        "\(count) of \(records) records were rejected, more than the allowed share of \(Self.percent(share))"
        + (first.isEmpty ? "" : ". The first: \(first)")
    case .nothingImported(let records, let rejected, let first):
      let count = records == rejected ? "all \(records) were rejected" : "\(rejected) of \(records) were rejected"
      return
        "none of the file's records was imported: \(count). The first: \(first.isEmpty ? "see the reject file" : first). "
        + "With reject_share: 100% such a file is accepted"
    case .rejectResolved(let number, let job):
      return
        "job \(job) has resolved reject \(number) already, and nothing resolves it twice: retry those that are open"
    case .fileFailed(let path, let operation, let reason): return "can't \(operation) \(path): \(reason)"
    case .diskFull(let path, let operation):
      return "can't \(operation) \(path): its disk is full. Free some space; the job is tried again"
    }
  }

  private func list(_ names: [String]) -> String { Self.list(names) }

  /// A share in the notation of recipes: `2.5%`.
  private static func percent(_ share: Double) -> String {
    let percent = (share * 1_000_000).rounded() / 10_000
    return (Int64(exactly: percent).map { String($0) } ?? String(percent)) + "%"
  }

  /// What to add to a message about columns that weren't found: those that differ from an expected name in case or spaces only.
  static func spellings(_ columns: [String], of expected: [String]) -> String {
    func plain(_ name: String) -> String { name.lowercased().filter { $0.isLetter || $0.isNumber } }
    let known = Dictionary(expected.map { (plain($0), $0) }) { first, _ in first }
    let pairs = columns.compactMap { column in
      known[plain(column)].flatMap { $0 == column ? nil : "“\(SourceError.shown(column))” isn't \($0)" }
    }
    if pairs.isEmpty { return "" }
    return ". Names are compared letter by letter: " + pairs.prefix(4).joined(separator: ", ")
      + (pairs.count > 4 ? ", …" : "")
  }

  /// A bounded list of column names. A file may have many, and long ones.
  static func list(_ names: [String]) -> String {
    names.prefix(12).map { $0.isEmpty ? "“”" : SourceError.shown($0) }.joined(separator: ", ")
      + (names.count > 12 ? ", …" : "")
  }
}
