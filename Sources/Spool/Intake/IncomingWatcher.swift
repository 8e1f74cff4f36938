import CLinux
import Dispatch
import Glibc

/// An event of inotify(7) about one entry of a watched directory.
struct IncomingEvent: Sendable {
  let watch: Int32
  let mask: UInt32
  let name: FileName?

  /// Whether the event has one of these bits.
  func has(_ bits: Int32) -> Bool { mask & UInt32(bitPattern: bits) != 0 }

  /// Whether the kernel's queue was full, so that events are missing.
  var isOverflow: Bool { has(Int32(bitPattern: UInt32(IN_Q_OVERFLOW))) }
}

extension IncomingEvent {
  /// What stands for events that couldn't be read: a scan makes up for them.
  static var overflow: IncomingEvent { IncomingEvent(watch: -1, mask: UInt32(IN_Q_OVERFLOW), name: nil) }
}

/// An inotify instance with a thread that waits for its events and then does on the executor what follows from them: a
/// dispatch source would wake up two threads for each event. Confined to the executor's queue.
final class IncomingWatcher {
  /// How long events are left alone that couldn't be read. Milliseconds.
  private static let pause: Int32 = 1000

  private let number: Int32
  /// The thread ends when this is closed.
  private let end: OwnedDescriptor

  /// What the thread has.
  private final class Work: Sendable {
    let (number, end): (Int32, Int32)
    let executor: SpoolExecutor
    let handler: @Sendable ([IncomingEvent]) -> Void

    init(
      _ number: Int32, until end: Int32, on executor: SpoolExecutor,
      _ handler: @escaping @Sendable ([IncomingEvent]) -> Void
    ) {
      (self.number, self.end) = (number, end)
      self.executor = executor
      self.handler = handler
    }

    deinit {
      close(number)
      close(end)
    }

    func run() {
      var awaited = [
        pollfd(fd: number, events: Int16(POLLIN), revents: 0), pollfd(fd: end, events: Int16(POLLIN), revents: 0),
      ]
      while true {
        // Interrupted, or without memory for a moment.
        guard poll(&awaited, 2, -1) > 0 else { continue }
        if awaited[1].revents != 0 { return }
        var isFailing = false
        executor.run {
          do throws(SpoolError) {
            handler(try IncomingWatcher.read(number))
          } catch {
            isFailing = true
            handler([.overflow])
          }
        }
        // The events are still there, and would be asked for again at once and without end.
        if isFailing, poll(&awaited[1], 1, IncomingWatcher.pause) > 0 { return }
      }
    }
  }

  /// Throws EMFILE when the user has too many inotify instances.
  init(on executor: SpoolExecutor, handler: @escaping @Sendable ([IncomingEvent]) -> Void) throws {
    number = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
    guard number >= 0 else { throw SpoolError.system(call: "inotify_init", path: "incoming", code: errno) }
    var ends: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
      let code = errno
      close(number)
      throw SpoolError.system(call: "socketpair", path: "incoming", code: code)
    }
    end = OwnedDescriptor(ends[0])
    let work = Unmanaged.passRetained(Work(number, until: ends[1], on: executor, handler))
    var thread = pthread_t()
    let code = pthread_create(
      &thread, nil,
      { work in
        if let work { Unmanaged<Work>.fromOpaque(work).takeRetainedValue().run() }
        return nil
      }, work.toOpaque())
    guard code == 0 else {
      // It closes both.
      work.release()
      throw SpoolError.system(call: "pthread_create", path: "incoming", code: code)
    }
    pthread_detach(thread)
  }

  /// Watches the directory behind the handle, wherever its name leads by now.
  /// - Parameter isRoot: whether entries that leave matter, too. The daemon itself moves everything out of `incoming/` that it
  ///   takes, and there only needs to know that a hot folder was removed.
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

  /// Ends a watch. It is no error if the watch has already gone, with its directory.
  func unwatch(_ watch: Int32) {
    inotify_rm_watch(number, watch)
  }

  /// The events that the kernel holds now, without waiting for the queue's turn.
  func readNow() -> [IncomingEvent] {
    var events = [IncomingEvent]()
    while true {
      do throws(SpoolError) {
        let more = try IncomingWatcher.read(number)
        if more.isEmpty { return events }
        events += more
      } catch {
        // They are still there: the thread that waits for them reports it.
        return events
      }
      // A scan finds what a flood of events names; the remaining events call the handler.
      if events.count > PendingEntries.limit { return events }
    }
  }

  /// One read: remaining events call the handler again.
  private static func read(_ number: Int32) throws(SpoolError) -> [IncomingEvent] {
    var events = [IncomingEvent]()
    var code: Int32 = 0
    withUnsafeTemporaryAllocation(byteCount: 64 * 1024, alignment: 8) { buffer in
      let count = Glibc.read(number, buffer.baseAddress, buffer.count)
      if count < 0, errno != EAGAIN, errno != EINTR { code = errno }
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
    guard code == 0 else { throw SpoolError.system(call: "read", path: "inotify", code: code) }
    return events
  }
}

/// Reports every mount and unmount. inotify doesn't: a file system mounted over `incoming/` hides it without an event, and a
/// detached one that the daemon holds open continues to work.
final class MountWatcher {
  private let source: any DispatchSourceRead

  /// Throws `SpoolError` where there is no /proc.
  init(queue: DispatchQueue, handler: @escaping @Sendable () -> Void) throws {
    var mounts: Int32 = -1
    let watch = lade_watch_mounts(&mounts)
    guard watch >= 0 else { throw SpoolError.system(call: "watch", path: "/proc/self/mountinfo", code: -watch) }
    let held = [OwnedDescriptor(watch), OwnedDescriptor(mounts)]
    source = DispatchSource.makeReadSource(fileDescriptor: watch, queue: queue)
    source.setEventHandler {
      lade_mounts_were_seen(watch)
      handler()
    }
    source.setCancelHandler { withExtendedLifetime(held) {} }
    source.activate()
  }

  deinit {
    source.cancel()
  }
}
