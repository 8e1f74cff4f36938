import Foundation
import Glibc

/// Waits for something to appear in a folder, by inotify(7).
final class FolderWatch {
  private let path: String
  private let changes: AsyncStream<Void>
  private let source: any DispatchSourceRead

  init(_ path: String) throws {
    self.path = path
    let descriptor = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
    guard descriptor >= 0, inotify_add_watch(descriptor, path, UInt32(IN_CREATE | IN_MOVED_TO)) >= 0 else {
      let code = errno
      close(descriptor)
      throw POSIXError(.init(rawValue: code) ?? .EIO)
    }
    let (changes, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    self.changes = changes
    source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: .global())
    source.setEventHandler {
      var bytes = [UInt8](repeating: 0, count: 4096)
      while read(descriptor, &bytes, bytes.count) > 0 {}
      continuation.yield()
    }
    source.setCancelHandler { close(descriptor) }
    source.activate()
    // What is there already may have come before the watch.
    continuation.yield()
  }

  deinit { source.cancel() }

  /// Returns when the folder has something of this name.
  func appearance(of name: String) async throws {
    for await _ in changes where FileManager.default.fileExists(atPath: path + "/" + name) { return }
    throw CancellationError()
  }
}
