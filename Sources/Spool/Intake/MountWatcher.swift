import CLinux
import Dispatch
import Glibc

/// Tells when something is mounted or unmounted. No event of inotify does: a file system over `incoming/` hides it without a
/// word, and one that is detached while the daemon holds it open goes on.
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
