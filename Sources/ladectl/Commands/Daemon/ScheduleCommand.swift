import ArgumentParser
import ControlAPI

extension Ladectl {
  /// `ladectl schedule`: commands for schedules.
  struct ScheduleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "schedule", abstract: "Show the schedules, and run one now.", subcommands: [List.self, Run.self],
      defaultSubcommand: List.self)

    /// `ladectl schedule list`.
    struct List: ControlCommand {
      static let configuration = verb(
        "list", "Show the schedules, with the time of the next job and the result of the last.",
        json: .document("a ScheduleList"))

      @OptionGroup var output: OutputOptions
      @OptionGroup var connection: ConnectionOptions

      func run(_ session: Session) async throws {
        let list = try await session.client.schedules()
        try session.report(list) {
          guard !list.schedules.isEmpty else { return "No schedules: the configuration's 'schedules' makes them.\n" }
          return list.table.rendered(width: session.terminal.width, style: session.terminal.style)
        }
      }
    }
  }
}

extension Ladectl.ScheduleCommand {
  /// `ladectl schedule run`.
  struct Run: ControlCommand {
    static let configuration = Ladectl.verb(
      "run", "Make a schedule's job now.",
      """
      The job counts as the schedule's last one: the next run by the calendar is left out while it hasn't ended, and this \
      verb is refused while the schedule's last job hasn't. Operators only. A schedule is switched off by 'enabled: false' in \
      the configuration.
      """, json: .submission)

    @Argument(help: ArgumentHelp("The schedule.", valueName: "schedule"), completion: .schedules)
    var name: String

    @Flag(help: "Wait until the job has ended, as 'ladectl wait' does.")
    var wait = false

    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    func run(_ session: Session) async throws {
      let job = try await session.client.run(schedule: name)
      if wait { return try await Waiter(session, for: .jobs([job.id])).run(timeout: nil) }
      try session.report(job) { "job \(job.id) \(job.state.rawValue)\n" }
    }
  }
}

extension ScheduleList {
  fileprivate var table: TextTable {
    TextTable(
      columns: [
        .init("SCHEDULE", cut: .nothing), .init("CALENDAR", rank: 4), .init("DOES", cut: .nothing, rank: 2),
        .init("NEXT", cut: .nothing), .init("LAST", cut: .nothing, rank: 3), .init("JOB", .right, rank: 5),
        .init("STATE", cut: .nothing, rank: 6), .init("OUTCOME", rank: 1),
      ],
      rows: schedules.map { schedule in
        let next = schedule.isEnabled ? schedule.nextAt.map(Quantity.time) ?? "never" : "switched off"
        return [
          .init(schedule.name), .init(schedule.when), .init(schedule.kind), .init(next),
          .init(schedule.lastAt.map(Quantity.time) ?? ""), .init(schedule.lastJob.map { String($0) } ?? ""),
          .init(schedule.lastState?.rawValue ?? "", schedule.lastState.flatMap { Style.ink(of: $0) }),
          .init((schedule.lastOutcome ?? "").namingUsers),
        ]
      })
  }
}

extension Schedule {
  /// Its calendar expressions, each with its time zone if it has one.
  fileprivate var when: String {
    let zones = timeZones.count == calendar.count ? timeZones : Array(repeating: "", count: calendar.count)
    return zip(calendar, zones).map { expression, zone in
      zone.isEmpty || expression.hasSuffix(zone) ? expression : "\(expression) \(zone)"
    }.joined(separator: "; ")
  }
}
