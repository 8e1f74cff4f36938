import Foundation
import ManagedObjects

extension JobLedger {
  /// What was set of lanes, on the ledger's queue, where the caller is.
  func laneSettings() throws -> [String: LaneControl.Setting] {
    let rows = try context.fetch(FetchRequest<LaneSetting>(entityName: QueueModel.lane))
    return Dictionary(rows.map { ($0.lane, $0.setting) }) { first, _ in first }
  }

  /// Sets something of a lane, durably.
  func set(_ lane: String, _ change: @escaping @Sendable (LaneSetting, Date) -> Void) async throws
    -> LaneControl.Setting
  {
    try await write { turn in
      let request = FetchRequest<LaneSetting>(
        entityName: QueueModel.lane, predicate: .equal(LaneSettingSlot.lane.name, .string(lane)), fetchLimit: 1)
      let row: LaneSetting
      if let known = try turn.context.fetch(request).first {
        row = known
      } else {
        row = try turn.context.insert(LaneSetting.self)
        row.lane = lane
      }
      change(row, turn.now)
      return { row.setting }
    }
  }

  /// When the latest jobs of a lane began, oldest first, on the ledger's queue, where the caller is.
  func latestStarts(lane: String, since: Date, limit: Int) throws -> [Date] {
    let since = FetchPredicate.comparison(.path(JobSlot.startedAt.name), .greater, .constant(.date(since)))
    let request = FetchRequest<Job>(
      entityName: QueueModel.job, predicate: .equal(JobSlot.lane.name, .string(lane)) && since,
      sortDescriptors: [FetchSortDescriptor(JobSlot.startedAt.name, ascending: false)], fetchLimit: limit)
    return try context.fetch(request).compactMap(\.startedAt).reversed()
  }
}

extension LaneSetting {
  fileprivate var setting: LaneControl.Setting {
    LaneControl.Setting(isPaused: isPaused, pausedBy: pausedBy, pausedAt: pausedAt, concurrency: concurrency)
  }
}
