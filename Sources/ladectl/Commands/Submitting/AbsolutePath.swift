import Glibc

/// Paths for the daemon, which has another working directory.
enum AbsolutePath {
  /// The absolute path without `.` and empty components. Links and `..` are left to the system that opens it.
  static func of(_ path: String, workingDirectory: String? = nil) -> String {
    let start = path.hasPrefix("/") ? "" : (workingDirectory ?? currentDirectory) + "/"
    return "/" + (start + path).split(separator: "/").filter { $0 != "." }.joined(separator: "/")
  }

  private static var currentDirectory: String {
    guard let buffer = getcwd(nil, 0) else { return "" }
    defer { free(buffer) }
    return String(cString: buffer)
  }
}
