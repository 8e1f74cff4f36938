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
}
