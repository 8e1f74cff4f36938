import Foundation
import GRDB
import ManagedObjects

/// Functions that bring a date from one of its stored forms into the other, see ``DateStorage``.
enum DateForms {
  /// Text to seconds since 1970.
  static let unix = function("lade_unix_date", .unix)
  /// Seconds since 1970 to text.
  static let iso = function("lade_iso_date", .iso)

  private static func function(_ name: String, _ storage: DateStorage) -> DatabaseFunction {
    DatabaseFunction(name, argumentCount: 1, pure: true) { values in
      switch values[0].storage {
      case .int64(let seconds):
        return ValueCodec.databaseValue(of: Date(timeIntervalSince1970: Double(seconds)), storage)
      case .double(let seconds): return ValueCodec.databaseValue(of: Date(timeIntervalSince1970: seconds), storage)
      case .string(var text):
        return text.withUTF8 { ISODate.date(parsing: $0) }.map { ValueCodec.databaseValue(of: $0, storage) }
      case .null, .blob: return nil
      }
    }
  }

  static func register(on db: Database) {
    db.add(function: unix)
    db.add(function: iso)
  }
}
