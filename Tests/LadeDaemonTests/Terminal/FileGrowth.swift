import Foundation
import Glibc

/// Tells whenever a file has grown, by inotify(7).
final class FileGrowth {
  /// A value when something was written; several writes may be reported as one.
  let changes: AsyncStream<Void>
  private let source: any DispatchSourceRead

  init(of path: String) throws {
    let descriptor = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
    guard descriptor >= 0, inotify_add_watch(descriptor, path, UInt32(IN_MODIFY)) >= 0 else {
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
  }

  deinit { source.cancel() }
}
