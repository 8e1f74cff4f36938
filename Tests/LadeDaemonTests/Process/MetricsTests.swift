import ControlAPI
import Foundation
import Glibc
import TestSupport
import Testing

@Suite("Metrics, health and readiness of a daemon", .startsDaemons)
struct MetricsTests {
  private static let recipes = "  members: { store: main, entity: Member, mode: insert, batch_size: 500 }"
  /// One batch is the whole file: a stop has to wait for it.
  private static let oneBatch = "  members: { store: main, entity: Member, mode: insert, batch_size: 1000000 }"
  private static let families = [
    "lade_build_info", "lade_config_last_reload_successful", "lade_config_last_reload_success_timestamp_seconds",
    "lade_spool_kept_bytes", "lade_spool_kept_files", "lade_spool_kept_measured_timestamp_seconds",
    "lade_metrics_readable", "lade_connections", "lade_lane_paused", "lade_lane_rate_limited", "lade_jobs",
    "lade_jobs_ended_total", "lade_job_retries_total",
    "lade_job_duration_seconds",
    "lade_records_total", "lade_records_skipped_total", "lade_rejects_total", "lade_rows_total",
    "lade_main_queue_wait_seconds", "lade_main_queue_busy_seconds_total", "lade_merge_lag_seconds",
    "lade_saves_merged_total", "lade_main_context_objects", "lade_spool_entries_total", "lade_spool_failures_total",
    "lade_spool_overflows_total", "lade_spool_entries_waiting", "lade_spool_sets_waiting", "lade_spool_sets_overdue",
    "lade_spool_last_look_timestamp_seconds",
    "lade_store_size_bytes", "lade_store_wal_size_bytes", "lade_request_duration_seconds", "lade_listeners",
    "lade_connections_refused_total",
    "process_cpu_seconds_total", "process_start_time_seconds", "process_resident_memory_bytes",
    "process_virtual_memory_bytes", "process_open_fds", "process_max_fds",
  ]

  private func metrics(_ folder: DaemonFolder) async throws -> PrometheusText {
    let answer = try await folder.http("GET", "/metrics")
    try #require(answer.status == 200)
    return try PrometheusText(answer.text)
  }

  private func health(_ folder: DaemonFolder, _ uri: String) async throws -> (status: Int, health: Health) {
    let answer = try await folder.http("GET", uri)
    return (answer.status, try answer.decoded())
  }

  @Test("after an import they have its job, records, rows and rejects")
  func afterImport() async throws {
    let members = Members(rows: 1200, faults: 21)
    let folder = try DaemonFolder(model: Members.model, recipes: Self.recipes)
    let began = Date()
    let daemon = try await folder.start()
    let before = try await metrics(folder)
    #expect(before.value("lade_jobs_ended_total", ["kind": "import", "state": "completed"]) == 0)
    #expect(before.value("lade_records_total", ["kind": "import"]) == 0)
    // Somebody follows the store.
    let watching = try folder.events("/v1/watch?entity=Member&limit=5")
    var events = watching.makeAsyncIterator()
    _ = await events.next()
    let job = try await folder.imported(members.csv, as: "a.csv", into: "members")
    _ = try await folder.imported("", as: "empty.csv", into: "members")
    _ = await events.next()

    var text = try await metrics(folder)
    // These are counted in the background.
    while text.families["lade_spool_kept_files"] == nil || text.families["lade_store_size_bytes"] == nil {
      text = try await metrics(folder)
    }
    for name in Self.families { #expect(text.families[name] != nil, "\(name)") }
    #expect(Set(text.families.keys).subtracting(Self.families).isEmpty)
    for state in JobState.allCases {
      let number: Double = [.completed, .discarded].contains(state) ? 1 : 0
      #expect(text.value("lade_jobs", ["lane": "import", "state": state.rawValue]) == number, "\(state)")
      #expect(text.value("lade_jobs", ["lane": "maintenance", "state": state.rawValue]) == 0, "\(state)")
    }
    #expect(text.value("lade_build_info", ["version": LadeVersion.current]) == 1)
    for source in ["jobs", "lanes", "kept_files", "store_sizes"] {
      #expect(text.value("lade_metrics_readable", ["source": source]) == 1, "\(source)")
    }
    #expect(text.value("lade_jobs_ended_total", ["kind": "import", "state": "completed"]) == 1)
    #expect(text.value("lade_jobs_ended_total", ["kind": "import", "state": "discarded"]) == 1)
    #expect(text.value("lade_job_duration_seconds_count", ["kind": "import"]) == 2)
    #expect(text.value("lade_job_retries_total", ["kind": "import"]) == 0)
    #expect(text.value("lade_records_total", ["kind": "import"]) == Double(job.progress.records))
    #expect(job.progress.records == 1200)
    #expect(text.value("lade_rejects_total", ["kind": "import"]) == Double(members.rejects.count))
    #expect(text.value("lade_rows_total", ["kind": "import", "change": "inserted"]) == Double(members.good))
    for change in ["updated", "unchanged", "deleted"] {
      #expect(text.value("lade_rows_total", ["kind": "import", "change": change]) == 0, "\(change)")
    }
    for name in ["lade_main_queue_wait_seconds_count", "lade_request_duration_seconds_count", "lade_listeners"] {
      #expect(try #require(text.value(name)) > 0, "\(name)")
    }
    for (store, context) in [("queue.sqlite", "main"), ("main", "main"), ("main", "watch")] {
      let labels = ["store": store, "context": context]
      #expect(try #require(text.value("lade_merge_lag_seconds_count", labels)) > 0, "\(store), \(context)")
    }
    for store in ["queue.sqlite", "main"] {
      #expect(try #require(text.value("lade_saves_merged_total", ["store": store])) > 0, "\(store)")
    }
    #expect(text.value("lade_main_context_objects", ["store": "main"]) == 0)
    for store in ["main", "queue.sqlite"] {
      #expect(try #require(text.value("lade_store_size_bytes", ["store": store])) > 0, "\(store)")
      #expect(text.value("lade_store_wal_size_bytes", ["store": store]) != nil, "\(store)")
    }
    #expect(text.value("lade_spool_entries_total", ["outcome": "taken"]) == 2)
    #expect(text.value("lade_spool_entries_total", ["outcome": "refused"]) == 0)
    let started = try #require(text.value("process_start_time_seconds"))
    #expect(abs(started - began.timeIntervalSince1970) < 60)
    for name in ["process_cpu_seconds_total", "process_resident_memory_bytes", "process_virtual_memory_bytes"] {
      #expect(try #require(text.value(name)) > 0, "\(name)")
    }
    let descriptors = try #require(text.value("process_open_fds"))
    #expect(try descriptors > 5 && descriptors < #require(text.value("process_max_fds")))
    try await daemon.stop()
    while await events.next() != nil {}

    // A daemon counts what it does itself.
    let next = try await folder.start()
    let anew = try await metrics(folder)
    #expect(anew.value("lade_jobs", ["lane": "import", "state": "completed"]) == 1)
    #expect(anew.value("lade_jobs_ended_total", ["kind": "import", "state": "completed"]) == 0)
    #expect(anew.value("lade_records_total", ["kind": "import"]) == 0)
    try await next.stop()
  }

  @Test("all are answered while an import runs, and a stop makes it unready, but not unwell")
  func whileImporting() async throws {
    let members = Members(rows: 100, faults: 21)
    let folder = try DaemonFolder(model: Members.model, recipes: Self.oneBatch, more: "drain_timeout: 600s")
    // The import runs until it is let go: it is held up where it writes its first reject.
    let point = try KillPoint(in: folder, watch: "/rejects/", waits: true)
    let daemon = try folder.launch(point.environment)
    try await daemon.ready()
    try point.arm(1)
    let idle = try await health(folder, "/v1/ready")
    #expect(idle.status == 200 && idle.health.status == .pass, "\(idle)")
    try folder.drop(members.csv, as: "members.csv", into: "members")
    let job = try #require(try await folder.jobs().first)
    try await point.reached(1)
    _ = try await JobEvents(of: job.id, socket: folder.file("s")).first { $0.state == .running }
    let well = try await health(folder, "/v1/health")
    #expect(well.status == 200 && well.health.status == .pass, "\(well)")
    #expect(
      Set(well.health.checks.keys)
        == ["queue_store", "lane:import", "lane:maintenance", "main_queue"])
    #expect(try await health(folder, "/v1/ready").status == 200)
    #expect(try await metrics(folder).value("lade_jobs", ["lane": "import", "state": "running"]) == 1)
    daemon.terminate()
    try await daemon.tells("STOPPING=1")
    let stopping = try await health(folder, "/v1/ready")
    #expect(stopping.status == 503 && stopping.health.status == .fail)
    #expect(stopping.health.output?.hasPrefix("laded: it is stopping") == true, "\(stopping)")
    #expect(try await health(folder, "/v1/health").status == 200)
    _ = try await metrics(folder)
    try point.letGo()
    #expect(try await daemon.ended() == .exit(0))
  }

  /// The port that a daemon says it listens on.
  private func port(of daemon: DaemonProcess) throws -> UInt16 {
    let log = try daemon.log
    let found = try #require(log.firstMatch(of: /127\.0\.0\.1:([1-9][0-9]*)/), "\(log)")
    return try #require(UInt16(found.1))
  }

  @Test("on TCP they are for clients with the token, which is shown nowhere")
  func token() async throws {
    let folder = try DaemonFolder(
      model: Members.model, recipes: Self.recipes,
      more: "log_level: trace\nmetrics: { address: 127.0.0.1:0, token: { credential: metrics-token } }")
    try folder.write("s3cret-token\n", to: "metrics-token")
    // A person who checks it sees no credentials.
    let check = try await ProgramOutput.of(
      Products.laded, ["--config", folder.file("lade.yaml"), "--check-config"], environment: Products.environment([:]),
      files: folder.file("check"))
    #expect(check.status == 0, "\(check.error)")
    let daemon = try folder.launch(["CREDENTIALS_DIRECTORY": folder.path])
    try await daemon.ready()
    try await daemon.logs("127.0.0.1:")
    let port = try port(of: daemon)
    #expect(try await tcp("/metrics", port: port).status == 401)
    #expect(try await tcp("/metrics", port: port, headers: ["Authorization": "Bearer s3cret"]).status == 401)
    let right = ["Authorization": "Bearer s3cret-token"]
    let answer = try await tcp("/metrics", port: port, headers: right)
    #expect(answer.status == 200)
    #expect(try PrometheusText(answer.text).value("lade_build_info") == 1)
    #expect(try await tcp("/v1/health", port: port, headers: right).status == 200)
    #expect(try await tcp("/v1/ready", port: port, headers: right).status == 200)
    #expect(try await tcp("/v1/status", port: port, headers: right).status == 404)
    #expect(try await tcp("POST", "/v1/jobs", port: port, headers: right).status == 404)
    // Without one on the control socket.
    _ = try await metrics(folder)

    try folder.write("another-token", to: "metrics-token")
    let reload: Reload = try await folder.got("POST", .reload)
    #expect(reload == Reload(needsRestart: ["metrics"]))
    #expect(try await tcp("/metrics", port: port, headers: right).status == 200)
    daemon.send(SIGUSR1)
    try await daemon.logs("state: memory")
    for text in [try daemon.log, try await folder.http("GET", "/v1/log?limit=2000").text] {
      #expect(!text.contains("s3cret") && !text.contains("another-token"))
      #expect(!text.contains("DaemonConfiguration("), "the configuration is no line of the log")
    }
    try await daemon.stop()
  }

  @Test("without a token every local client gets them, and without an address none")
  func plain() async throws {
    let folder = try DaemonFolder(
      model: Members.model, recipes: Self.recipes, more: "metrics: { address: localhost:0 }")
    let daemon = try await folder.start()
    try await daemon.logs("127.0.0.1:")
    let port = try port(of: daemon)
    #expect(try await tcp("/metrics", port: port).status == 200)
    #expect(try await tcp("/v1/ready", port: port).status == 200)
    #expect(try await tcp("DELETE", "/metrics", port: port).status == 405)
    #expect(try await tcp("/v1/stores", port: port).status == 404)
    try await daemon.stop()
    await #expect(throws: POSIXError.self) { try await tcp("/metrics", port: port) }

    let text = try folder.text("lade.yaml").replacingOccurrences(of: "metrics: { address: localhost:0 }", with: "")
    try folder.write(text, to: "lade.yaml")
    let quiet = try await folder.start()
    #expect(try !quiet.log.contains("127.0.0.1"))
    try await quiet.stop()
  }

  @Test("a port that is taken, and one that others reach, end the start with what to do")
  func refused() async throws {
    let first = try DaemonFolder(model: Members.model, recipes: Self.recipes, more: "metrics: { address: 127.0.0.1:0 }")
    let daemon = try await first.start()
    try await daemon.logs("127.0.0.1:")
    let port = try port(of: daemon)
    let second = try DaemonFolder(
      model: Members.model, recipes: Self.recipes, more: "metrics: { address: \"127.0.0.1:\(port)\" }")
    let late = try second.launch()
    #expect(try await late.ended() == .exit(75))
    let log = try late.log
    #expect(log.contains("metrics can't be served: another program listens on 127.0.0.1:\(port)"), "\(log)")
    #expect(log.contains("give metrics.address another port"), "\(log)")
    #expect(try await tcp("/metrics", port: port).status == 200)
    try await daemon.stop()

    let open = try DaemonFolder(model: Members.model, more: "metrics: { address: 0.0.0.0:9464 }")
    let refused = try open.launch()
    #expect(try await refused.ended() == .exit(78))
    #expect(try refused.log.contains("other machines could connect"))
  }

  @Test(
    "a port that its service manager listens on is served, beside a control socket of its own",
    .enabled("it takes systemd-socket-activate") { Products.system("systemd-socket-activate") != nil })
  func activation() async throws {
    let folder = try DaemonFolder(model: Members.model, recipes: Self.recipes, more: "metrics: { token: abc }")
    // It says no port that it has chosen, so one is tried that was free just now.
    let port = try freePort()
    let daemon = try folder.launch(by: Products.activating(on: "127.0.0.1:\(port)", as: "metrics"))
    try await daemon.logs("Listening on")
    #expect(try await tcp("/metrics", port: port).status == 401)
    let answer = try await tcp("/metrics", port: port, headers: ["Authorization": "Bearer abc"])
    #expect(try PrometheusText(answer.text).value("lade_build_info") == 1)
    #expect(try await folder.asked(Status.self, "status").spool == folder.file("spool"))
    #expect(FileManager.default.fileExists(atPath: folder.file("s.lock")))
    try await daemon.stop()
  }

  private func freePort() throws -> UInt16 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let code = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) == 0 ? getsockname(descriptor, $0, &length) : -1
      }
    }
    try #require(code == 0)
    return UInt16(bigEndian: address.sin_port)
  }
}
