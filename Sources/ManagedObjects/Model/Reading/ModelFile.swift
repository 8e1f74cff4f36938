import Foundation

/// Reads the small files of a model.
enum ModelFile {
  /// The bytes of a regular file of at most `limit` bytes.
  /// - Throws: ``ModelError/unreadable(path:reason:)``.
  static func read(_ url: URL, limit: Int) throws -> Data {
    do {
      // Opening a FIFO or device could block, so check the file's type first.
      let facts = try FileManager.default.attributesOfItem(atPath: url.resolvingSymlinksInPath().path)
      guard facts[.type] as? FileAttributeType == .typeRegular else {
        throw ModelError.unreadable(path: url.path, reason: "it isn't a regular file")
      }
      let handle = try FileHandle(forReadingFrom: url)
      defer { handle.closeFile() }
      let data = try handle.read(upToCount: limit + 1) ?? Data()
      guard data.count <= limit else {
        throw ModelError.unreadable(
          path: url.path, reason: "it is larger than \(limit >> 20) MiB, the most that is read")
      }
      return data
    } catch let error as ModelError {
      throw error
    } catch {
      throw ModelError.unreadable(path: url.path, reason: error.localizedDescription)
    }
  }
}
