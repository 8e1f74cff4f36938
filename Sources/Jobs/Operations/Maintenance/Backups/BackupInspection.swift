import Foundation
import ManagedObjects
import Synchronization

/// What an inspection of a backup has found.
struct BackupInspection {
  /// The first few damages of the file.
  let damage: [String]
  /// How many rows refer to rows that don't exist.
  let references: Int
  /// What the copy says about itself; nil only for a damaged one.
  let metadata: PersistentStoreMetadata?

  /// Inspects a copy of a store.
  /// - Throws: ``ManagedObjectError/incompatibleStore(path:reason:)`` when the file isn't a store.
  init(_ copy: URL, _ maintenance: any StoreMaintenance, _ depth: CheckDepth, _ watch: MaintenanceWatch) throws {
    var damage: [String] = []
    var references = 0
    var metadata: PersistentStoreMetadata?
    do {
      metadata = try maintenance.checkCopy(at: copy, depth, watch) { problem in
        if problem.kind == .reference {
          references += 1
        } else if damage.count < 5 {
          damage.append(problem.description)
        }
      }
    } catch let error as ManagedObjectError {
      // A damaged file may not even be recognised as a store.
      guard case .incompatibleStore = error, !damage.isEmpty else { throw error }
    }
    (self.damage, self.references, self.metadata) = (damage, references, metadata)
  }
}

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
