import Glibc

extension ControlClientError {
  /// The error for a failed connection to a socket, by error number.
  init(connecting path: String, errno code: Int32) {
    switch code {
    case ENOENT, ENOTDIR: self = .noSocket(path: path)
    case ECONNREFUSED: self = Self.isSocket(path) ? .notListening(path: path) : .notASocket(path: path)
    case EACCES, EPERM: self = .noPermission(path: path, group: Self.groupName(of: path))
    case ENOTSOCK: self = .notASocket(path: path)
    default: self = .cantConnect(path: path, errno: code)
    }
  }

  private static func isSocket(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
  }

  /// The name or number of the group whose members may connect; nil if it is unknown, if the mode excludes the group, or if it is
  /// root's, which no user should join for this. If the directory is closed to this user, its group is the relevant one.
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
