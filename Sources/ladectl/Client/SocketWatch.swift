import Dispatch
import Glibc

/// Tells when something appears where a socket should be, by inotify(7) on its directory; while the directory doesn't
/// exist, on the nearest one above that does.
final class SocketWatch {
  /// A value whenever something was created, moved or changed there; several at once may be told as one.
  let changes: AsyncStream<Void>

  private let source: any DispatchSourceRead

  /// Watches from now on; nil when the system has no watch left.
  init?(for path: String) {
    let descriptor = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
    guard descriptor >= 0 else { return nil }
    guard Self.watchNearest(above: path, descriptor) else {
      close(descriptor)
      return nil
    }
    let (changes, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    self.changes = changes
    source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: .global())
    source.setEventHandler {
      // What exactly happened doesn't matter: the caller looks for itself.
      var events = [UInt8](repeating: 0, count: 4096)
      while read(descriptor, &events, events.count) > 0 {}
      continuation.yield()
    }
    source.setCancelHandler {
      close(descriptor)
      continuation.finish()
    }
    source.activate()
  }

  deinit { source.cancel() }

  private static func watchNearest(above path: String, _ descriptor: Int32) -> Bool {
    let mask = UInt32(IN_CREATE | IN_MOVED_TO | IN_ATTRIB)
    var directory = path[...]
    while let slash = directory.lastIndex(of: "/") {
      directory = directory[..<slash]
      if inotify_add_watch(descriptor, directory.isEmpty ? "/" : String(directory), mask) >= 0 { return true }
    }
    return path.hasPrefix("/") ? false : inotify_add_watch(descriptor, ".", mask) >= 0
  }
}
