import ArgumentParser
import ControlAPI

extension Ladectl {
  /// `ladectl daemons`: lists the daemons that work on the queue.
  struct DaemonsCommand: ControlCommand {
    static let configuration = verb(
      "daemons", "Show the daemons that work on the queue.",
      """
      Several can work on a queue in PostgreSQL, and each of them shows all. One whose lease has passed is gone: the others \
      put its jobs back. The one that answers is marked with a star.
      """, json: .document("a DaemonList"))

    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    func run(_ session: Session) async throws {
      let list = try await session.client.daemons()
      try session.report(list) {
        list.table.rendered(width: session.terminal.width, style: session.terminal.style)
      }
    }
  }
}

extension DaemonList {
  /// The daemons as `ladectl daemons` prints them.
  fileprivate var table: TextTable {
    TextTable(
      columns: [
        .init(""), .init("HOST"), .init("PID", .right), .init("VERSION"), .init("STARTED"), .init("LEASE UNTIL"),
        .init("RUNNING", .right), .init("INCARNATION", rank: 0),
      ],
      rows: daemons.map { daemon in
        [
          .init(daemon.isThis ? "*" : ""), .init(daemon.host), .init("\(daemon.pid)"), .init(daemon.version),
          .init(Quantity.time(daemon.startedAt)),
          daemon.leaseUntil.map { .init(Quantity.time($0)) }
            ?? (daemon.incarnation == nil ? "" : .init("gone", .yellow)),
          .init(Quantity.count(daemon.running)), .init(daemon.incarnation ?? ""),
        ]
      })
  }
}
