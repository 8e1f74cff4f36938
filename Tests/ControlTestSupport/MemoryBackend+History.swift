package import ControlAPI
import Foundation

extension MemoryBackend {
  package static let someHistory = History(
    grain: 5,
    spans: (0..<72).map { number in
      History.Span(
        start: Date(timeIntervalSince1970: 1_790_000_000 + Double(number) * 300), completed: number,
        cancelled: number % 3, discarded: number % 2, records: Int64(number) * 1000,
        median: number < 9 ? nil : Double(number) / 10, p95: number < 9 ? nil : Double(number),
        waiting: ["import": number * 2, "<img src=x>": 1])
    })

  package func history(_ query: HistorySpanQuery) async -> History { Self.someHistory }

  package func disks() async throws -> DiskList {
    DiskList(disks: [
      DiskUse(
        parts: ["spool", "state"], path: "/var/spool/lade", size: 1 << 40, free: 1 << 39, inodes: 1000, freeInodes: 900),
      DiskUse(
        parts: ["store main"], path: "/srv/<b>lade", size: 1000 << 20, free: 500 << 20, inodes: 0, freeInodes: 0),
    ])
  }

  package func daemons() async throws -> DaemonList {
    DaemonList(daemons: [
      DaemonStatus(
        incarnation: "6f9619ff-8b86-4d01-b42d-00cf4fc964ff", host: "one", pid: 42, version: "1.0",
        startedAt: Date(timeIntervalSince1970: 1_790_000_000), leaseUntil: Date(timeIntervalSince1970: 1_790_000_900),
        running: 2, isThis: true),
      DaemonStatus(
        incarnation: "7c9e6679-7425-40de-944b-e07fc1f90ae7", host: "two", pid: 43, version: "1.0",
        startedAt: Date(timeIntervalSince1970: 1_790_000_100), running: 1, isThis: false),
    ])
  }
}
