import Glibc

/// Paths as the daemon, whose working directory is another, understands them.
enum AbsolutePath {
  /// The path from the root on, without `.` and empty parts. Links and `..` are left for the system that opens it.
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
