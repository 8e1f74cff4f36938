import Importing
import ManagedObjects
import PostgreSQL
import PostgresStore
import SQLiteStore

/// Where a store's rows are.
package enum StorePlace: Sendable, Equatable {
  /// An SQLite file, made if it isn't there.
  case file(path: String)
  /// A schema of a PostgreSQL database.
  case postgres(PostgresPlace)

  /// The SQLite file; nil for a store in a database.
  var path: String? {
    if case .file(let path) = self { path } else { nil }
  }

  /// What copies of the store are.
  var copyForm: StoreCopyForm {
    switch self {
    case .file: SQLiteStore.copyForm
    case .postgres: PostgresStore.copyForm
    }
  }

  /// The place in a line, for people. No connection string is in it.
  var shown: String {
    switch self {
    case .file(let path): path
    case .postgres(let place): "PostgreSQL, schema \(place.schema)"
    }
  }
}

/// A schema of a PostgreSQL database, and how to connect to it.
package struct PostgresPlace: Sendable, Equatable {
  /// As libpq takes it. No password is in it.
  package var connection: String
  /// The credential with the password; nil where the server needs none, or the string names a file with it.
  package var credential: String?
  /// A way past the pooler that the connection goes through; nil where none is needed, or there is none.
  package var direct: String?
  /// The PostgreSQL schema with the tables.
  package var schema: String

  package init(connection: String, credential: String? = nil, direct: String? = nil, schema: String) {
    self.connection = connection
    self.direct = direct
    self.credential = credential
    self.schema = schema
  }

  /// The password; nil where there is no credential.
  func password() throws -> String? {
    try credential.map { String(decoding: try MaskCredentials.ofProcess.secret($0), as: UTF8.self) }
  }
}

extension YAMLValue {
  /// A connection string without a password; nil with a problem reported.
  func connectionString() -> String? {
    guard let string = scalar("a connection string such as service=shop") else { return nil }
    guard let problem = PostgresAddress.problem(of: string) else { return string }
    conflict(problem)
    return nil
  }

  /// The name of a credential; nil with a problem reported.
  func credentialName() -> String? {
    guard let name = text() else { return nil }
    if MaskCredentials.isName(name) { return name }
    wrong("a credential's name consists of letters, digits, `-`, `_` and `.`")
    return nil
  }

  /// The name of a PostgreSQL schema; nil with a problem reported.
  func schemaName() -> String? {
    guard let name = anyText() else { return nil }
    if !name.isEmpty, name.utf8.count <= 63, !name.hasPrefix("pg_"), !name.utf8.contains(0) { return name }
    wrong("a schema's name has at most 63 bytes, and doesn't begin with pg_")
    return nil
  }
}
