import Importing
import Spool

extension SpoolDirectories {
  /// Copies a submitted file to `active/`; a database with what is in the write-ahead log beside it, which isn't copied.
  /// - Parameter made: as for `adopt(_:as:forJobMade:complete:)`.
  /// - Throws: also `SubmissionRefusal.cannotOpen`, if there is a log that can't be read.
  func adoptWithLog(_ file: SubmittedFile, as activeName: String, forJobMade made: Double? = nil) throws {
    try adopt(file, as: activeName, forJobMade: made) { copy in
      guard let path = file.realPath else { return }
      do throws(ReaderError) {
        try SQLiteLog.complete(copy: copy, of: file.descriptor, at: path)
      } catch {
        throw SubmissionRefusal.cannotOpen(path: path, reason: "\(error)")
      }
    }
  }
}
