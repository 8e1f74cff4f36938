import Dispatch
import Glibc

/// Watches for a socket to appear, with inotify(7) on its directory or, while that doesn't exist, on the nearest existing parent.
final class SocketWatch {
  /// A value whenever something is created, moved or changed there; several changes may yield one.
  let changes: AsyncStream<Void>

  private let source: any DispatchSourceRead

  /// Starts watching; nil if the system has no watch left.
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
      // The details don't matter: the caller checks for itself.
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
