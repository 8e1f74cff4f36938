import CLinux
import Glibc

/// Opening a file some way under a directory without following any link: first its place, which does nothing to what is
/// there, then the file.
enum AllowedFolder {
  /// O_PATH of open(2), which Swift doesn't show: a place in the file system, not opened for anything.
  static let pathOnly: Int32 = 0o10000000

  /// A descriptor of the place. Throws ELOOP (or ENOTDIR) where there is a link on the way.
  static func place(_ path: String, beneath folder: DirectoryHandle) throws -> OwnedDescriptor {
    let answer = lade_open_place_beneath(folder.descriptor.number, path)
    if answer >= 0 {
      let place = OwnedDescriptor(answer)
      // A link at the end is a place, too.
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

  /// The same where the kernel or a system call filter has no openat2: one component at a time, `..` refused.
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

  /// Opens the file at a place for reading. It is the one that was looked at: no name is resolved any more.
  static func open(_ place: OwnedDescriptor, path: String) throws -> OwnedDescriptor {
    let number = Glibc.open("/proc/self/fd/\(place.number)", O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
    guard number >= 0 else { throw SpoolError.system(call: "open", path: path, code: errno) }
    return OwnedDescriptor(number)
  }
}
