// A dump is a file of pg_dump's custom format. pg_restore would write it into the schema from which it came; so it is asked for the
// rows alone, and only for their text:
//
//     COPY lade_main."City" (id, name) FROM stdin;
//     1⇥Bergen
//     \.
//
// The lines go into tables that are made as the dump's own model says.

import Foundation
import ManagedObjects
import PostgreSQL
import SQLSchema

/// A file that pg_dump has made of a store's schema.
struct PostgresDump {
  /// Passes rows on: lines with their ends, in parts.
  typealias Rows = (_ take: (ArraySlice<UInt8>) throws -> Void) throws -> Void

  static let form = StoreCopyForm(
    title: "a dump of PostgreSQL's", nameEnding: ".pgdump", firstBytes: Array("PGDMP".utf8))

  let url: URL

  /// Writes the tables of a schema, as they are at one moment.
  static func make(
    _ url: URL, of namespace: String, _ access: PostgresAccess, expecting size: Int64, _ watch: MaintenanceWatch
  ) throws {
    let program = try PostgresProgram(
      "pg_dump",
      // It is packed afterwards, as the job wants it.
      [
        "--format=custom", "--compress=0", "--no-password", "--lock-wait-timeout=30s",
        "--schema=\(SQLText.name(namespace))", "--file=\(url.path)",
      ], environment: PostgresAddress.environment(of: access.string, password: access.password), readsOutput: false,
      watch)
    try program.finish {
      let attributes = try? FileManager.default.attributesOfItem(atPath: url.path)
      let written = (attributes?[.size] as? NSNumber)?.int64Value ?? 0
      watch.report(MaintenanceProgress(bytesDone: min(written, size), bytesTotal: size))
    }
  }

  /// Reads the rows.
  /// - Parameters:
  ///   - only: the table whose rows are read; nil for all.
  ///   - table: called with each table, its columns, and what passes its rows on, which it has to call once.
  func read(
    only: String? = nil, _ watch: MaintenanceWatch,
    _ table: (_ name: String, _ columns: [String], _ rows: Rows) throws -> Void
  ) throws {
    let arguments = ["--data-only", "--file=-"] + (only.map { ["--table=\($0)"] } ?? []) + [url.path]
    let program = try PostgresProgram("pg_restore", arguments, readsOutput: true, watch)
    let lines = PostgresDumpLines(program)
    while let line = try lines.next() {
      guard line.hasPrefix("COPY ") else { continue }
      guard let (name, columns) = Self.copied(line) else {
        throw MaintenanceError.programFailed(name: "pg_restore", reason: "this isn't understood: \(line)")
      }
      try table(name, columns) { take in try lines.rows(take) }
    }
    try program.finish()
  }

  /// The table and the columns of a line that begins its rows.
  private static func copied(_ line: String) -> (name: String, columns: [String])? {
    var rest = line.dropFirst("COPY ".count)
    guard identifier(&rest) != nil, rest.popFirst() == ".", let name = identifier(&rest), rest.hasPrefix(" (") else {
      return nil
    }
    rest = rest.dropFirst(" (".count)
    var columns: [String] = []
    while let column = identifier(&rest) {
      columns.append(column)
      if rest == ") FROM stdin;" { return (name, columns) }
      guard rest.hasPrefix(", ") else { return nil }
      rest = rest.dropFirst(", ".count)
    }
    return nil
  }

  /// Takes a name off the front of a text.
  private static func identifier(_ text: inout Substring) -> String? {
    guard text.first == "\"" else {
      let name = text.prefix { !". ,)".contains($0) }
      text = text.dropFirst(name.count)
      return name.isEmpty ? nil : String(name)
    }
    text.removeFirst()
    var name = ""
    while let character = text.popFirst() {
      if character == "\"" {
        guard text.first == "\"" else { return name }
        text.removeFirst()
      }
      name.append(character)
    }
    return nil
  }

  /// What the store said of itself.
  /// - Throws: ``ManagedObjectError/incompatibleStore(path:reason:)`` when it is no store.
  func metadata(_ watch: MaintenanceWatch) throws -> [String: String] {
    var found: [String: String]?
    do {
      try read(only: "lade_metadata", watch) { _, names, rows in
        var bytes: [UInt8] = []
        try rows { bytes += $0 }
        var metadata: [String: String] = [:]
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
          let values = line.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false).map(Self.text)
          let row = Dictionary(zip(names, values)) { first, _ in first }
          if let key = row["key"], let value = row["value"] { metadata[key] = value }
        }
        found = metadata
      }
    } catch MaintenanceError.programFailed(_, let reason) {
      throw ManagedObjectError.incompatibleStore(path: url.path, reason: reason)
    }
    guard let found, found["identifier"] != nil else {
      throw ManagedObjectError.incompatibleStore(path: url.path, reason: "it has no table lade_metadata")
    }
    return found
  }

  /// A value in COPY's text form.
  private static func text(_ field: ArraySlice<UInt8>) -> String {
    var bytes: [UInt8] = []
    var rest = field
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "\\"), let code = rest.popFirst() else {
        bytes.append(byte)
        continue
      }
      switch code {
      case UInt8(ascii: "n"): bytes.append(10)
      case UInt8(ascii: "t"): bytes.append(9)
      case UInt8(ascii: "r"): bytes.append(13)
      case UInt8(ascii: "b"): bytes.append(8)
      case UInt8(ascii: "f"): bytes.append(12)
      case UInt8(ascii: "v"): bytes.append(11)
      default: bytes.append(code)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// The lines that pg_restore writes. Rows are passed on in the parts in which they come.
private final class PostgresDumpLines {
  private let program: PostgresProgram
  private var buffer: ArraySlice<UInt8> = []
  private let newline = UInt8(ascii: "\n")

  init(_ program: PostgresProgram) { self.program = program }

  /// Reads more. Returns whether there was any.
  private func fill() throws -> Bool {
    guard let block = try program.nextBlock() else { return false }
    buffer = buffer.isEmpty ? block : ArraySlice(Array(buffer) + block)
    return true
  }

  /// The next line, without its end.
  func next() throws -> String? {
    while true {
      if let end = buffer.firstIndex(of: newline) {
        let line = String(decoding: buffer[..<end], as: UTF8.self)
        buffer = buffer[(end + 1)...]
        return line
      }
      guard try fill() else { return nil }
    }
  }

  /// Passes the rows on, up to the line `\.`, which no row can be: a backslash in one is written twice.
  func rows(_ take: (ArraySlice<UInt8>) throws -> Void) throws {
    let end: [UInt8] = Array("\\.\n".utf8)
    // Whether the buffer begins with a line.
    var isStart = true
    while true {
      while let line = buffer.firstIndex(of: newline) {
        if isStart, buffer[...line].elementsEqual(end) {
          buffer = buffer[(line + 1)...]
          return
        }
        // All lines that are there, but for one that may be the end.
        var last = line
        var place = line + 1
        while let next = buffer[place...].firstIndex(of: newline), !buffer[place...next].elementsEqual(end) {
          last = next
          place = next + 1
        }
        try take(buffer[...last])
        buffer = buffer[(last + 1)...]
        isStart = true
      }
      // A long row comes in parts.
      if buffer.count > 1 << 16 {
        try take(buffer)
        buffer = []
        isStart = false
      }
      guard try fill() else {
        throw MaintenanceError.programFailed(name: "pg_restore", reason: "the rows of a table have no end")
      }
    }
  }
}
