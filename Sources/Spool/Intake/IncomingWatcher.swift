import Dispatch
import Glibc

/// What inotify(7) says of one entry of a watched directory.
struct IncomingEvent: Sendable {
  let watch: Int32
  let mask: UInt32
  let name: FileName?

  func says(_ bits: Int32) -> Bool { mask & UInt32(bitPattern: bits) != 0 }
}

/// An inotify instance whose events arrive on a queue. To be used on that queue only.
final class IncomingWatcher {
  private let number: Int32
  private let source: any DispatchSourceRead

  /// Throws EMFILE when the user has too many inotify instances.
  init(queue: DispatchQueue, handler: @escaping @Sendable ([IncomingEvent]) -> Void) throws {
    let number = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
    guard number >= 0 else { throw SpoolError.system(call: "inotify_init", path: "incoming", code: errno) }
    self.number = number
    source = DispatchSource.makeReadSource(fileDescriptor: number, queue: queue)
    source.setEventHandler { handler(IncomingWatcher.read(number)) }
    source.setCancelHandler { close(number) }
    source.activate()
  }

  deinit {
    source.cancel()
  }

  /// Watches a directory that is held open; the one that it is, wherever its name leads to by now.
  /// - Parameter isRoot: whether it matters what leaves it. From `incoming/` the daemon itself moves everything that it
  ///   takes, and only wants to hear that a hot folder was removed.
  func watch(_ directory: DirectoryHandle, isRoot: Bool) throws -> Int32 {
    let bits =
      IN_MOVED_TO | IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF
      | Int32(bitPattern: UInt32(IN_ONLYDIR)) | (isRoot ? IN_MOVED_FROM : 0)
    let watch = inotify_add_watch(
      number, "/proc/self/fd/\(directory.descriptor.number)", UInt32(bitPattern: bits))
    guard watch >= 0 else {
      throw SpoolError.system(call: "inotify_add_watch", path: directory.path, code: errno)
    }
    return watch
  }

  /// Ends a watch. That it is gone already, with its directory, is no error.
  func unwatch(_ watch: Int32) {
    inotify_rm_watch(number, watch)
  }

  /// The events that the kernel holds now, without waiting for the queue's turn.
  func readNow() -> [IncomingEvent] {
    var events = [IncomingEvent]()
    while true {
      let more = IncomingWatcher.read(number)
      if more.isEmpty { return events }
      events += more
      // A flood is for a rescan to find; what is left makes the handler run.
      if events.count > PendingEntries.limit { return events }
    }
  }

  /// One read: what is left makes the handler run again.
  private static func read(_ number: Int32) -> [IncomingEvent] {
    var events = [IncomingEvent]()
    withUnsafeTemporaryAllocation(byteCount: 64 * 1024, alignment: 8) { buffer in
      let count = Glibc.read(number, buffer.baseAddress, buffer.count)
      var offset = 0
      let header = MemoryLayout<inotify_event>.size
      while offset + header <= count {
        let event = UnsafeRawBufferPointer(buffer).loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
        var name: FileName?
        if event.len > 0, let base = buffer.baseAddress {
          name = FileName(cString: UnsafeRawPointer(base + offset + header).assumingMemoryBound(to: CChar.self))
        }
        events.append(IncomingEvent(watch: event.wd, mask: event.mask, name: name))
        offset += header + Int(event.len)
      }
    }
    return events
  }
}
