import Glibc

/// Files and folders that are the daemon's own: whatever folders the configuration allows, nothing of these is imported.
struct OwnPlaces: Sendable {
  /// Without links, as bytes.
  private let places: [[UInt8]]

  private static let besideDatabases: Set<[UInt8]> = Set(["-wal", "-shm", "-journal"].map { Array($0.utf8) })

  /// - Parameter paths: what isn't there yet counts by its folder, if that is.
  init(_ paths: [String]) {
    places = paths.map { Array((OwnPlaces.real($0) ?? $0).utf8) }
  }

  /// Whether a path without links is one of them, lies in one, or beside a database that is (`-wal`, `-shm`, `-journal`).
  func contain(_ path: [UInt8]) -> Bool {
    places.contains { place in
      guard path.starts(with: place) else { return false }
      let rest = path.dropFirst(place.count)
      return rest.isEmpty || rest.first == UInt8(ascii: "/") || OwnPlaces.besideDatabases.contains(Array(rest))
    }
  }

  /// Whether an open file is one of them.
  func contain(_ file: OwnedDescriptor, path: String) throws -> Bool {
    contain(try OwnPlaces.path(of: file.number, path))
  }

  /// Where an open file is, whatever links led to it.
  static func path(of descriptor: Int32, _ path: String) throws -> [UInt8] {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/fd/\(descriptor)", &buffer, buffer.count - 1)
    guard count > 0 else { throw SpoolError.system(call: "readlink", path: path, code: errno) }
    return buffer.prefix(count).map(UInt8.init(bitPattern:))
  }

  private static func real(_ path: String) -> String? {
    if let found = realpath(path, nil) {
      defer { free(found) }
      return String(cString: found)
    }
    guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return nil }
    return real(String(path[..<slash])).map { $0 + path[slash...] }
  }
}
