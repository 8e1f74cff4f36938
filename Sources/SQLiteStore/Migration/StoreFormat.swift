import GRDB
import ManagedObjects

/// The version of the table layout, a number in the file. A version of Lade that writes something which an earlier one would
/// misread raises it. The model has versions of its own.
enum StoreFormat {
  static let current = 1
  private static let key = "format"

  /// Refuses a file of a later format, and numbers a new file.
  /// - Throws: `ManagedObjectError.incompatibleStore`.
  static func check(_ db: Database, path: String) throws {
    guard let text = try KeptVersion.text(key, db) else { return try KeptVersion.set(key, "\(current)", db) }
    guard let format = Int(text), format <= current else {
      throw ManagedObjectError.incompatibleStore(
        path: path,
        reason:
          "a later version of Lade made it (format \(text), and this one reads formats up to \(current)): "
          + "install that version, or restore a backup from before")
    }
  }
}
