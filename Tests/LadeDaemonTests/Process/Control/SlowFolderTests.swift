import ControlAPI
import Foundation
import TestSupport
import Testing

@Suite("Control: a folder that doesn't answer", .startsDaemons)
struct SlowFolderTests {
  @Test("of backups keeps only those waiting who ask for it")
  func backups() async throws {
    let folder = try DaemonFolder.withMembers()
    let point = try KillPoint(in: folder, watch: "/nothing", holding: "/backups/main")
    let daemon = try folder.launch(point.environment)
    try await daemon.ready()
    let uri = Endpoint.backups(store: "main").path
    let restore = #"{"kind": "restore", "store": "main", "options": {"backup": "latest"}}"#
    // More than there are threads for tasks.
    let count = 2 * ProcessInfo.processInfo.activeProcessorCount
    async let answers = withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<count {
        group.addTask { try await folder.http("GET", uri).status }
        group.addTask { try await folder.http("POST", Endpoint.jobs.path, restore).status }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    try await point.reached(1)
    // One is in the folder; all the others, and this one, have a connection.
    var connections = 0.0
    while connections <= Double(2 * count) {
      let metrics = try PrometheusText(try await folder.http("GET", Endpoint.metrics.path).text)
      connections = try #require(metrics.value("lade_connections"))
    }
    for _ in 0..<3 { #expect(try await folder.http("GET", Endpoint.status.path).status == 200) }
    try point.letGo()
    let statuses = try await answers
    #expect(statuses.count { $0 == 200 } == count)
    // There is no backup.
    #expect(statuses.count { $0 == 422 } == count)
    try await daemon.stop()
  }
}
