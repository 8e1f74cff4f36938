package import Foundation
package import ManagedObjects

/// A lane's run-time settings. They outlive the daemon and take precedence over the configuration.
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

/// The slots of ``LaneRecord``.
enum LaneSettingSlot: Int, CaseIterable {
  case lane, isPaused, pausedBy, pausedAt, concurrency

  var name: String { "\(self)" }
}

extension QueueModel {
  static var laneEntity: EntityDefinition {
    EntityDefinition(
      lane,
      attributes: [
        AttributeDefinition(LaneSettingSlot.lane.name, .string, isOptional: false),
        AttributeDefinition(LaneSettingSlot.isPaused.name, .boolean, isOptional: false, defaultValue: .bool(false)),
        AttributeDefinition(LaneSettingSlot.pausedBy.name, .string),
        AttributeDefinition(LaneSettingSlot.pausedAt.name, .date),
        AttributeDefinition(LaneSettingSlot.concurrency.name, .integer32),
      ],
      uniquenessConstraints: [[LaneSettingSlot.lane.name]])
  }
}
