import ControlAPI
import Foundation

extension DaemonBackend {
  func history(_ query: HistorySpanQuery) async -> History { meters.history.history(query, at: Date()) }

  func disks() async throws -> DiskList { try await meters.disks.use() }
}
