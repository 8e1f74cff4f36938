import ManagedObjects
import Synchronization

/// One bar of progress for several passes over as many bytes. For one thread.
final class Passes {
  private let count: Int64
  private let watch: MaintenanceWatch
  private var begun: Int64 = 0
  /// Bytes of a pass, as the first one said.
  private let size = Size()

  private final class Size: Sendable {
    private let value = Mutex<Int64>(0)
    func agreed(_ bytes: Int64) -> Int64 {
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
      let whole = size.agreed(progress.bytesTotal)
      let share =
        progress.bytesTotal == 0 ? 0 : Double(whole) * Double(progress.bytesDone) / Double(progress.bytesTotal)
      progress.bytesDone = before * whole + min(whole, Int64(share))
      progress.bytesTotal = count * whole
      progress.phase = phase
    }
  }
}
