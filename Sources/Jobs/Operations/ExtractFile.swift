import CLinux
package import Foundation
import Glibc

/// The files with the rows that jobs have read of incremental sources. A job's is there until the job has ended.
package enum ExtractFile {
  private static let ending = ".sqlite"

  static func of(_ job: Int64, in folder: URL) -> URL { folder.appendingPathComponent("\(job)\(ending)") }

  /// Makes the folder, for the daemon alone: what is masked in the store is in clear there.
  static func makeFolder(_ folder: URL) throws {
    let answer = lade_make_folders(folder.path, 0o700)
    guard answer == 0 else { throw JobFailure(errno: -answer, folder.path) }
  }

  /// Removes the file of a job that has ended, if it has one. Blocks.
  package static func remove(of job: Int64, in folder: URL) throws {
    for name in ["\(job)\(ending)", partial(job)] {
      let path = folder.appendingPathComponent(name).path
      guard unlink(path) != 0, errno != ENOENT, errno != ENOTDIR else { continue }
      throw JobFailure(errno: errno, path)
    }
  }

  /// The jobs that have a file in a folder. Blocks.
  package static func jobs(in folder: URL) throws -> [Int64] {
    do {
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      return Set(names.compactMap { Int64($0.drop { $0 == "." }.prefix { $0.isNumber }) }).sorted()
    } catch CocoaError.fileReadNoSuchFile {
      return []
    }
  }

  /// As the extraction calls the file until it is complete.
  private static func partial(_ job: Int64) -> String { ".\(job)\(ending).partial" }
}
