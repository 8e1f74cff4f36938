package import FoundationEssentials
import LadeTypes

/// What the daemon has done in the last hours: what `GET /v1/history` answers. It is kept in memory, so it begins with the
/// daemon.
package struct History: Codable, Sendable, Hashable {
  /// Some minutes.
  package struct Span: Codable, Sendable, Hashable {
    /// When it begins.
    package var start: Date
    /// Jobs that ended in it.
    package var completed: Int
    package var cancelled: Int
    package var discarded: Int
    /// Records that jobs read in it.
    package var records: Int64
    /// Seconds that jobs took which completed in it: half of them no longer, and 95 of a hundred; nil if none did.
    package var median: Double?
    package var p95: Double?
    /// Jobs that waited for a slot of each lane near its end.
    package var waiting: [String: Int]

    package init(
      start: Date, completed: Int = 0, cancelled: Int = 0, discarded: Int = 0, records: Int64 = 0,
      median: Double? = nil, p95: Double? = nil, waiting: [String: Int] = [:]
    ) {
      self.start = start
      self.completed = completed
      self.cancelled = cancelled
      self.discarded = discarded
      self.records = records
      self.median = median
      self.p95 = p95
      self.waiting = waiting
    }

    package enum CodingKeys: String, CodingKey, CaseIterable {
      case start, completed, cancelled, discarded, records
      case median = "median_seconds"
      case p95 = "p95_seconds"
      case waiting
    }
  }

  /// Minutes of a span.
  package var grain: Int
  /// The oldest first, without gaps; the last one goes on.
  package var spans: [Span]

  package init(grain: Int, spans: [Span]) {
    self.grain = grain
    self.spans = spans
  }

  package enum CodingKeys: String, CodingKey, CaseIterable { case grain, spans }
}

/// The parameter of `GET /v1/history`.
package struct HistorySpanQuery: Sendable, Hashable {
  /// Minutes of a span, from 1 to 60.
  package var grain: Int

  package init(grain: Int = 1) { self.grain = grain }

  /// - Throws: ``QueryError``.
  package init(_ query: QueryString) throws {
    try query.refuseNames(otherThan: ["grain"])
    self.init(grain: try query.integer("grain", in: 1...60).map(Int.init) ?? 1)
  }
}

/// A file system that the daemon writes to.
package struct DiskUse: Codable, Sendable, Hashable {
  /// What is on it: `spool`, `state`, and stores as `store main`.
  package var parts: [String]
  /// The directory of the first of them.
  package var path: String
  /// Bytes altogether, and bytes that the daemon can still write.
  package var size: Int64
  package var free: Int64
  /// Files that it can have, and can still make; 0 where the file system doesn't count them.
  package var inodes: Int64
  package var freeInodes: Int64
  /// What is short, or why it can't be asked; nil if nothing is wrong.
  package var problem: String?
  /// How many seconds old the figures are, where the file systems don't answer; what is short can't be told from them.
  package private(set) var age: Double?

  /// The directory of a part of which nothing is known, and why.
  package init(part: String, path: String, problem: String) {
    self.init(parts: [part], path: path, size: 0, free: 0, inodes: 0, freeInodes: 0)
    self.problem = problem
  }

  /// - Parameters: as the properties.
  package init(parts: [String], path: String, size: Int64, free: Int64, inodes: Int64, freeInodes: Int64) {
    self.parts = parts
    self.path = path
    self.size = size
    self.free = free
    self.inodes = inodes
    self.freeInodes = freeInodes
    let (space, files) = (Self.isShort(free, of: size), Self.isShort(freeInodes, of: inodes))
    let words = [
      space ? "\(Quantity.bytes(Double(free))) of \(Quantity.bytes(Double(size))) are free" : nil,
      files ? "\(Quantity.count(freeInodes)) of \(Quantity.count(inodes)) files can still be made" : nil,
    ].compactMap(\.self)
    problem = words.isEmpty ? nil : words.joined(separator: ", and ")
  }

  /// The same figures, once they are old.
  /// - Parameter reason: why there are no newer ones.
  package func aged(_ seconds: Double, because reason: String) -> DiskUse {
    var old = self
    old.age = seconds
    old.problem = "the figures are \(Quantity.span(seconds)) old: \(reason)"
    return old
  }

  /// Less than a twentieth.
  private static func isShort(_ free: Int64, of all: Int64) -> Bool { all > 0 && free < all / 20 }

  package enum CodingKeys: String, CodingKey, CaseIterable {
    case parts, path, size, free, inodes
    case freeInodes = "free_inodes"
    case problem, age
  }
}

/// The file systems that the daemon writes to: what `GET /v1/disks` answers.
package struct DiskList: Codable, Sendable, Hashable {
  package var disks: [DiskUse]

  package init(disks: [DiskUse]) { self.disks = disks }

  package enum CodingKeys: String, CodingKey, CaseIterable { case disks }
}
