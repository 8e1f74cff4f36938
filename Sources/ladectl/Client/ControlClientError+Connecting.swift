import Glibc

extension ControlClientError {
  /// What it means that connecting to a socket failed with this error number.
  init(connecting path: String, errno code: Int32) {
    switch code {
    case ENOENT, ENOTDIR: self = .noSocket(path: path)
    case ECONNREFUSED: self = Self.isSocket(path) ? .nobodyListens(path: path) : .notASocket(path: path)
    case EACCES, EPERM: self = .noPermission(path: path, group: Self.groupName(of: path))
    case ENOTSOCK: self = .notASocket(path: path)
    default: self = .cantConnect(path: path, errno: code)
    }
  }

  private static func isSocket(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
  }

  /// The name, or the number, of the group whose members may connect; nil when it can't be seen, when the mode lets no
  /// group in, and when it is root's, which nobody should join for this. Where the directory is closed to us, its group
  /// is the one that matters.
  private static func groupName(of path: String) -> String? {
    let directory = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    var status = stat()
    var needed = S_IWGRP
    if stat(path, &status) != 0 {
      guard stat(directory, &status) == 0 else { return nil }
      needed = S_IXGRP
    }
    guard status.st_mode & needed != 0, status.st_gid != 0 else { return nil }
    var record = Glibc.group()
    var found: UnsafeMutablePointer<Glibc.group>?
    var names = [CChar](repeating: 0, count: 16 << 10)
    guard getgrgid_r(status.st_gid, &record, &names, names.count, &found) == 0, let found else {
      return String(status.st_gid)
    }
    return String(cString: found.pointee.gr_name)
  }
}
