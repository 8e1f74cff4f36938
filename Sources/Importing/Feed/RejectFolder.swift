import Foundation
import Glibc

/// The folder of a feed's reject files. Each has the name of the file that its records came from, so that it goes into the
/// same entity when it is corrected and submitted again.
struct RejectFolder {
  let url: URL
  private static let longestName = 200

  /// A file in it.
  func file(_ name: String) -> URL { url.appendingPathComponent(name) }

  /// Creates the folder, unless an earlier run has, and waits until its name is durable.
  func make() throws {
    guard mkdir(url.path, 0o750) == 0 else {
      guard errno == EEXIST else { throw failure("make") }
      var status = stat()
      guard lstat(url.path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
        throw MappingError.fileFailed(path: url.path, operation: "make", reason: "there is something else of that name")
      }
      return
    }
    let parent = open(url.deletingLastPathComponent().path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard parent >= 0 else { throw failure("open the directory of") }
    defer { close(parent) }
    guard fsync(parent) == 0 else { throw failure("sync the directory of") }
  }

  /// Deletes the files, which no commit counts.
  func clear(_ names: [String]) throws {
    for name in names where unlink(file(name).path) != 0 && errno != ENOENT { throw failure("clear") }
    try removeIfEmpty()
  }

  /// Deletes the folder if nothing was rejected.
  func removeIfEmpty() throws {
    guard rmdir(url.path) != 0, ![ENOENT, ENOTEMPTY, EEXIST].contains(errno) else { return }
    throw failure("remove")
  }

  /// The name for the rejects of a file or member: its own, without folders and without the endings of compression.
  static func name(for source: String, _ options: ReaderOptions) -> String {
    var options = options
    options.member = nil
    let packed = FileNames.last(of: source)
    var name = SourceCompression.ofName(packed)?.inner ?? packed
    let ending = RejectFileName.ending(of: packed, options)
    if !name.lowercased().hasSuffix(ending) { name = FileNames.base(of: name) + ending }
    var scalars = String.UnicodeScalarView()
    for scalar in name.unicodeScalars {
      scalars.append(scalar.value < 0x20 || scalar.value == 0x7F || scalar == "/" ? "_" : scalar)
    }
    name = String(scalars)
    // Keep its end, which tells the format. By scalars, since a character may be of any length.
    if name.utf8.count > longestName {
      var kept = name.unicodeScalars.suffix(longestName)
      while kept.reduce(0, { $0 + UTF8.width($1) }) > longestName { kept.removeFirst() }
      name = String(kept)
    }
    return name.isEmpty || name.hasPrefix(".") ? "_" + name : name
  }

  private func failure(_ operation: String) -> MappingError {
    .file(url.path, operation, code: errno)
  }
}
