package import FoundationEssentials

/// A daemon that works on the queue.
package struct DaemonStatus: Codable, Sendable, Hashable {
  /// Names its start, and no other one; nil where the queue is one daemon's.
  package var incarnation: String?
  package var host: String
  package var pid: Int64
  package var version: String
  package var startedAt: Date
  /// When it counts as gone unless it gives a sign of life before; nil where the queue is one daemon's, and for one that is gone
  /// and whose jobs are being put back.
  package var leaseUntil: Date?
  /// How many jobs it runs.
  package var running: Int
  /// Whether it is the one that answers.
  package var isThis: Bool

  package init(
    incarnation: String? = nil, host: String, pid: Int64, version: String, startedAt: Date, leaseUntil: Date? = nil,
    running: Int, isThis: Bool
  ) {
    self.incarnation = incarnation
    self.host = host
    self.pid = pid
    self.version = version
    self.startedAt = startedAt
    self.leaseUntil = leaseUntil
    self.running = running
    self.isThis = isThis
  }

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case incarnation, host, pid, version
    case startedAt = "started_at"
    case leaseUntil = "lease_until"
    case running
    case isThis = "this"
  }
}

/// The daemons that work on the queue, those first that started first: what `GET /v1/daemons` answers.
package struct DaemonList: Codable, Sendable, Hashable {
  package var daemons: [DaemonStatus]

  package init(daemons: [DaemonStatus]) { self.daemons = daemons }

  package enum CodingKeys: String, CodingKey, CaseIterable { case daemons }
}
