import ControlAPI
import Foundation

extension DaemonBackend {
  func history(_ query: HistorySpanQuery) async -> History { meters.history.history(query, at: Date()) }

  func disks() async throws -> DiskList { try await meters.disks.use() }

  var sharesQueue: Bool { queue.host != nil }

  func daemons() async throws -> DaemonList {
    guard sharesQueue else {
      return DaemonList(daemons: [
        DaemonStatus(
          host: QueueConfiguration.hostName, pid: Int64(ProcessInfo.processInfo.processIdentifier),
          version: LadeVersion.current, startedAt: startedAt, running: queue.runningJobs.count, isThis: true)
      ])
    }
    return DaemonList(
      daemons: try await queue.daemons().map {
        DaemonStatus(
          incarnation: $0.incarnation, host: $0.host, pid: $0.process, version: $0.version, startedAt: $0.startedAt,
          leaseUntil: $0.leaseUntil, running: $0.running, isThis: $0.isThis)
      })
  }
}
