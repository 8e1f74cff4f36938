package import Foundation
package import ManagedObjects

/// What a new store takes over from a store that an app wrote, or from the app's compiled model: everything but the rows.
///
/// A store is the better template: its tables and triggers are copied as they are. From a compiled model they are computed,
/// where that is possible; see ``CoreDataLayout/init(of:)``.
package struct CoreDataTemplate: Sendable, Codable {
  package var schema: CoreDataSchema
  package var metadata: CoreDataMetadata
  /// `Z_MODELCACHE.Z_CONTENT`: the compiled model, compressed. Nil for stores from before 2016.
  package var modelCache: Data?
  package var pageSize: Int
  /// The numbers of the entities whose rows have values in a column whose name could be that of several properties, by table
  /// and column.
  private var users: [String: [String: Set<Int64>]] = [:]

  /// A template from its parts.
  package init(schema: CoreDataSchema, metadata: CoreDataMetadata, modelCache: Data? = nil, pageSize: Int = 4096) {
    (self.schema, self.metadata, self.modelCache, self.pageSize) = (schema, metadata, modelCache, pageSize)
  }

  /// Computes everything from a model, which doesn't become the store's cache.
  /// - Parameter hashes: the version hashes, by the names of the entities.
  /// - Throws: ``CoreDataFileError``.
  package init(model: ManagedObjectModel, hashes: [String: Data]) throws {
    self.init(
      schema: try CoreDataLayout(of: model).schema, metadata: try CoreDataMetadata(for: model, hashes: hashes))
  }

  /// Takes everything but the rows from a store.
  /// - Throws: what the connection throws, and ``CoreDataFileError``.
  package init(_ connection: some CoreDataConnection, pageSize: Int) throws {
    schema = try CoreDataSchema(connection)
    metadata = try CoreDataMetadata(connection)
    self.pageSize = pageSize
    if schema.tables.contains("Z_MODELCACHE"),
      case .data(let cache)? = try connection.rows("SELECT Z_CONTENT FROM Z_MODELCACHE LIMIT 1").first?.first
    {
      modelCache = cache
    }
    for (table, columns) in schema.columns where table.hasPrefix("Z") && !table.hasPrefix("Z_") {
      let names = columns.map(\.name)
      let bases = Dictionary(grouping: names) { name in String(name.reversed().drop { $0.isNumber }.reversed()) }
      for name in bases.values.filter({ $0.count > 1 }).flatMap({ $0 }) {
        users[table, default: [:]][name] = try Self.users(connection, table, name)
      }
    }
  }

  private static func users(_ connection: some CoreDataConnection, _ table: String, _ column: String) throws -> Set<
    Int64
  > {
    let rows = try connection.rows(
      "SELECT DISTINCT Z_ENT FROM \(CoreDataName.quoted(table)) WHERE \(CoreDataName.quoted(column)) IS NOT NULL")
    return Set(rows.compactMap { $0.first?.storedInteger })
  }

  /// Computes everything from a compiled model.
  /// - Parameter url: the `.momd` from an app's bundle, whose current version is taken, or a `.mom` in it.
  /// - Throws: ``ModelError`` and ``CoreDataFileError``.
  package init(compiledModel url: URL) throws {
    let hashes = try CoreDataMetadata.hashes(ofCompiledModel: url)
    let file = try ManagedObjectModel.compiledFile(of: url)
    let archive = try Data(contentsOf: file)
    let model = try ManagedObjectModel(compiled: archive, file: file.path)
    schema = try CoreDataLayout(of: model).schema
    metadata = try CoreDataMetadata(for: model, hashes: hashes)
    modelCache = Self.deflated(archive)
    pageSize = 4096
  }

  /// The layout of a store made from it, by its own model, which the layout holds: it is freed with it.
  /// - Parameter model: the model for a template that has none.
  /// - Throws: ``ModelError``, and ``CoreDataFileError/noHashes(entity:)`` if it has no hash for an entity.
  package func layout(otherwise model: ManagedObjectModel) throws -> CoreDataLayout {
    let hashes = try metadata.hashes()
    let own = try modelCache.map { try ManagedObjectModel(modelCache: $0, file: "the template", isKept: false) }
    let layout = try CoreDataLayout(own ?? model, schema) { users[$0]?[$1] ?? [] }
    for name in schema.modelEntities.map(\.name) where own == nil && hashes[name] == nil {
      throw CoreDataFileError.noHashes(entity: name)
    }
    for entity in own?.entities ?? [] where hashes[entity.name] == nil {
      throw CoreDataFileError.noHashes(entity: entity.name)
    }
    return layout
  }

  // MARK: A new file

  /// What has to be set before the first statement.
  package var pragmas: [String] {
    ["page_size = \(pageSize)", "auto_vacuum = INCREMENTAL", "encoding = 'UTF-8'"]
  }

  /// The statements that make an empty store, with their arguments. Tables of history are made, and are empty.
  package var statements: [(sql: String, arguments: [Value])] {
    var all: [(sql: String, arguments: [Value])] = schema.items.map { ($0.sql, []) }
    for entity in schema.entities {
      all.append(
        (
          "INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (?, ?, ?, ?)",
          [.int(entity.number), .string(entity.name), .int(entity.parent), .int(entity.maximum)]
        ))
    }
    all.append(
      (
        "INSERT INTO Z_METADATA (Z_VERSION, Z_UUID, Z_PLIST) VALUES (?, ?, ?)",
        [.int(metadata.version), .string(metadata.uuid), .data(metadata.propertyList)]
      ))
    if let modelCache { all.append(("INSERT INTO Z_MODELCACHE (Z_CONTENT) VALUES (?)", [.data(modelCache)])) }
    return all
  }

  /// DEFLATE without compression: stored blocks (RFC 1951, 3.2.4).
  static func deflated(_ data: Data) -> Data {
    var out = Data()
    var rest = data[...]
    repeat {
      let block = rest.prefix(0xFFFF)
      rest = rest.dropFirst(block.count)
      let count = UInt16(block.count)
      out.append(rest.isEmpty ? 1 : 0)
      for word in [count, ~count] { out += [UInt8(truncatingIfNeeded: word), UInt8(word >> 8)] }
      out += block
    } while !rest.isEmpty
    return out
  }
}
