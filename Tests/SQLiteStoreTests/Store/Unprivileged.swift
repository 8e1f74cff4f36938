import Glibc

/// A part of a test that doesn't have root's permission to write everywhere.
enum Unprivileged {
  /// Runs `body` without that permission. The kernel keeps it for each thread.
  static func run<T>(_ body: () throws -> T) rethrows -> T {
    guard geteuid() == 0 else { return try body() }
    _ = setFileSystemUser(65534)
    defer { _ = setFileSystemUser(0) }
    return try body()
  }
}

/// Glibc's `setfsuid`, which Swift's module of it lacks.
@_silgen_name("setfsuid")
private func setFileSystemUser(_ user: uid_t) -> Int32
