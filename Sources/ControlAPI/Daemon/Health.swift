/// Whether the daemon is well, or ready, in the manner of the draft “Health Check Response Format for HTTP APIs”: the answer
/// of `GET /v1/health` and `GET /v1/ready`. Its HTTP status is 503 where ``status`` is `fail`, else 200.
package struct Health: Codable, Sendable, Hashable {
  /// The content type that it is sent as.
  package static let contentType = "application/health+json"

  package enum Status: String, Codable, Sendable, Hashable, CaseIterable {
    case pass
    /// It works, though not as it should.
    case warn
    case fail
  }

  /// One part of the daemon, looked at.
  package struct Check: Codable, Sendable, Hashable {
    package var status: Status
    /// What is wrong with it, in words; nil where nothing is.
    package var output: String?

    package init(_ status: Status, _ output: String? = nil) {
      self.status = status
      self.output = output
    }

    package enum CodingKeys: String, CodingKey, CaseIterable { case status, output }
  }

  /// The worst of the checks.
  package var status: Status
  /// The daemon's version.
  package var version: String
  /// What is wrong, in words; nil where nothing is.
  package var output: String?
  /// What was looked at, by name: `the main queue`, `the lane import`. The draft has a list for each, here of one.
  package var checks: [String: [Check]]

  /// What follows from the checks.
  package init(version: String, checks: [String: Check]) {
    let troubles = checks.filter { $0.value.status != .pass }.sorted { $0.key < $1.key }
    status = troubles.contains { $0.value.status == .fail } ? .fail : troubles.isEmpty ? .pass : .warn
    self.version = version
    output =
      troubles.isEmpty
      ? nil : troubles.map { name, check in check.output.map { "\(name): \($0)" } ?? name }.joined(separator: "; ")
    self.checks = checks.mapValues { [$0] }
  }

  package enum CodingKeys: String, CodingKey, CaseIterable { case status, version, output, checks }
}
