import CLinux
import Glibc

/// Opens a file at any depth below a directory without following a link: first its place (O_PATH), which doesn't affect what is
/// there, then the file.
enum AllowedFolder {
  /// O_PATH of open(2), which Swift doesn't import: a location in the file system, not opened for reading or writing.
  static let pathOnly: Int32 = 0o10000000

  /// A descriptor of the place. Throws ELOOP (or ENOTDIR) if the path contains a link.
  static func place(_ path: String, beneath folder: DirectoryHandle) throws -> OwnedDescriptor {
    let answer = lade_open_place_beneath(folder.descriptor.number, path)
    if answer >= 0 {
      let place = OwnedDescriptor(answer)
      // O_PATH opens a link at the end.
      if try DirectoryHandle.status(of: place, path: path).kind == .symbolicLink {
        throw SpoolError.system(call: "openat2", path: folder.path + "/" + path, code: ELOOP)
      }
      return place
    }
    guard answer == -ENOSYS else {
      throw SpoolError.system(call: "openat2", path: folder.path + "/" + path, code: -answer)
    }
    return try placeByComponent(path, beneath: folder)
  }

  /// The same if the kernel or a system call filter doesn't support openat2: one component at a time, `..` refused.
  static func placeByComponent(_ path: String, beneath folder: DirectoryHandle) throws -> OwnedDescriptor {
    var held = folder.descriptor
    for component in path.split(separator: "/").map(String.init) {
      if component == ".." || component == "." {
        throw SpoolError.system(call: "open", path: folder.path + "/" + path, code: EXDEV)
      }
      let number = openat(held.number, component, pathOnly | O_NOFOLLOW | O_CLOEXEC)
      guard number >= 0 else {
        throw SpoolError.system(call: "open", path: folder.path + "/" + path, code: errno)
      }
      held = OwnedDescriptor(number)
      if try DirectoryHandle.status(of: held, path: path).kind == .symbolicLink {
        throw SpoolError.system(call: "open", path: folder.path + "/" + path, code: ELOOP)
      }
    }
    return held
  }

  /// Opens the file at a place for reading. It is the file that was examined: no name is resolved again.
  static func open(_ place: OwnedDescriptor, path: String) throws -> OwnedDescriptor {
    let number = Glibc.open("/proc/self/fd/\(place.number)", O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
    guard number >= 0 else { throw SpoolError.system(call: "open", path: path, code: errno) }
    return OwnedDescriptor(number)
  }
}

/// The daemon's own files and folders. They are never imported, whatever folders the configuration allows.
struct ProtectedPaths: Sendable {
  /// With links resolved, as bytes.
  private let roots: [[UInt8]]
  private let companionEndings: Set<[UInt8]>

  /// - Parameters:
  ///   - paths: a path that doesn't exist yet is resolved by its folder, if that exists.
  ///   - companionEndings: what is appended to a path for files that belong to it.
  init(_ paths: [String], companionEndings: [String] = []) {
    self.companionEndings = Set(companionEndings.map { Array($0.utf8) })
    roots = paths.map { Array((ProtectedPaths.real($0) ?? $0).utf8) }
  }

  /// Whether a path without links is one of them, lies in one, or is a companion file of one.
  func contain(_ path: [UInt8]) -> Bool {
    roots.contains { root in
      guard path.starts(with: root) else { return false }
      let rest = path.dropFirst(root.count)
      return rest.isEmpty || rest.first == UInt8(ascii: "/") || companionEndings.contains(Array(rest))
    }
  }

  /// The same for an open file.
  func contain(_ file: OwnedDescriptor, path: String) throws -> Bool {
    contain(try ProtectedPaths.path(of: file.number, path))
  }

  /// The real path of an open file, whatever links led to it.
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
