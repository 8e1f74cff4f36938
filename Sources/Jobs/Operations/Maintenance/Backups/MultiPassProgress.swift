import ManagedObjects
import Synchronization

/// One progress bar for several passes over the same bytes. For one thread.
final class MultiPassProgress {
  private let count: Int64
  private let watch: MaintenanceWatch
  private var begun: Int64 = 0
  private let size = PassSize()

  /// The bytes of a pass, as the first pass reports them.
  private final class PassSize: Sendable {
    private let value = Mutex<Int64>(0)

    func settled(by bytes: Int64) -> Int64 {
      value.withLock { value in
        if value == 0 { value = bytes }
        return value
      }
    }
  }

  init(_ count: Int, _ watch: MaintenanceWatch) {
    self.count = Int64(count)
    self.watch = watch
  }

  /// The watch of the next pass.
  func next(_ phase: String) -> MaintenanceWatch {
    let (before, count, size) = (begun, count, size)
    begun += 1
    return watch.part { progress in
      let whole = size.settled(by: progress.bytesTotal)
      let share =
        progress.bytesTotal == 0 ? 0 : Double(whole) * Double(progress.bytesDone) / Double(progress.bytesTotal)
      progress.bytesDone = before * whole + min(whole, Int64(share))
      progress.bytesTotal = count * whole
      progress.phase = phase
    }
  }
}
