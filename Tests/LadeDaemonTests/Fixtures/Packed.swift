import CArchive
import Foundation
import TestSupport

/// Files as they come packed, made by libarchive.
enum Packed {
  static func gzip(_ data: Data) throws -> Data {
    try made([("data", data)], archive_write_add_filter_gzip, archive_write_set_format_raw)
  }

  static func xz(_ data: Data) throws -> Data {
    try made([("data", data)], archive_write_add_filter_xz, archive_write_set_format_raw)
  }

  static func tar(_ members: [(String, Data)]) throws -> Data {
    try made(members, archive_write_set_format_pax_restricted)
  }

  static func zip(_ members: [(String, Data)]) throws -> Data {
    try made(members, archive_write_set_format_zip)
  }

  private typealias Step = (OpaquePointer?) -> Int32

  private static func made(_ members: [(String, Data)], _ configuration: Step...) throws -> Data {
    let archive = archive_write_new()
    defer { archive_write_free(archive) }
    func check(_ result: Int32) throws {
      guard result < ARCHIVE_WARN else { return }
      let reason = archive_error_string(archive).map { String(cString: $0) } ?? "no memory"
      throw ProgramFailure(program: "libarchive", arguments: [], what: reason, error: "")
    }
    for step in configuration { try check(step(archive)) }
    archive_write_set_bytes_in_last_block(archive, 1)
    var memory = [UInt8](repeating: 0, count: members.reduce(1 << 16) { $0 + $1.1.count * 2 + 4_096 })
    var used = 0
    return try memory.withUnsafeMutableBytes { memory in
      try check(archive_write_open_memory(archive, memory.baseAddress, memory.count, &used))
      for (name, data) in members {
        let entry = archive_entry_new()
        defer { archive_entry_free(entry) }
        archive_entry_set_pathname(entry, name)
        archive_entry_set_filetype(entry, 0o100000)
        archive_entry_set_perm(entry, 0o644)
        archive_entry_set_size(entry, Int64(data.count))
        try check(archive_write_header(archive, entry))
        let written = data.withUnsafeBytes { archive_write_data(archive, $0.baseAddress, $0.count) }
        if written < 0 { try check(ARCHIVE_FATAL) }
      }
      try check(archive_write_close(archive))
      return Data(memory[..<used])
    }
  }
}
