package import Foundation
package import ManagedObjects

/// What somebody has set of a lane while the daemon ran: it outlives the daemon, and goes before the configuration.
package final class LaneRecord: ManagedObject {
  package override class var propertyNames: [String]? { LaneSettingSlot.allCases.map(\.name) }
  package override class var validatesValues: Bool { false }

  /// The lane's name.
  package var lane: String {
    get { self[.lane] ?? "" }
    set { self[.lane] = newValue }
  }
  package var isPaused: Bool {
    get { self[.isPaused] ?? false }
    set { self[.isPaused] = newValue }
  }
  package var pausedBy: String? {
    get { self[.pausedBy] }
    set { self[.pausedBy] = newValue }
  }
  package var pausedAt: Date? {
    get { self[.pausedAt] }
    set { self[.pausedAt] = newValue }
  }
  /// nil for that of the configuration.
  package var concurrency: Int? {
    get { self[.concurrency] }
    set { self[.concurrency] = newValue }
  }

  private subscript<T: AttributeValue>(slot: LaneSettingSlot) -> T? {
    get { self[slot.rawValue] }
    set { self[slot.rawValue] = newValue }
  }
}
