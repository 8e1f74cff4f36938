import ArgumentParser
import ControlAPI

extension Ladectl {
  /// `ladectl schedule`: commands for schedules.
  struct ScheduleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "schedule", abstract: "Show the schedules, run one now, pause and resume them.",
      subcommands: [List.self, Run.self, Pause.self, Resume.self], defaultSubcommand: List.self)

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
      verb is refused while the schedule's last job hasn't. A paused schedule runs, too. Operators only.
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

extension Ladectl.ScheduleCommand {
  /// `ladectl schedule pause`.
  struct Pause: ControlCommand {
    static let configuration = Ladectl.verb(
      "pause", "Pause a schedule: leave out what passes of its calendar.",
      """
      Lasts until 'ladectl schedule resume', even across a restart of the daemon. Jobs that it has made continue. Operators \
      only. A schedule is switched off for good by 'enabled: false' in the configuration.
      """, json: .document("a Schedule"))

    @Argument(help: ArgumentHelp("The schedule.", valueName: "schedule"), completion: .schedules)
    var name: String

    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    func run(_ session: Session) async throws {
      let schedule = try await session.client.pause(schedule: name)
      try session.report(schedule) { "schedule \(schedule.name.printable): \(schedule.standing)\n" }
    }
  }

  /// `ladectl schedule resume`.
  struct Resume: ControlCommand {
    static let configuration = Ladectl.verb(
      "resume", "Resume a paused schedule.",
      "No job is made for the times that it missed. Operators only.", json: .document("a Schedule"))

    @Argument(help: ArgumentHelp("The schedule.", valueName: "schedule"), completion: .schedules)
    var name: String

    @OptionGroup var output: OutputOptions
    @OptionGroup var connection: ConnectionOptions

    func run(_ session: Session) async throws {
      let schedule = try await session.client.resume(schedule: name)
      try session.report(schedule) { "schedule \(schedule.name.printable): next \(schedule.standing)\n" }
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
        [
          .init(schedule.name), .init(schedule.when), .init(schedule.kind), .init(schedule.standing),
          .init(schedule.lastAt.map(Quantity.time) ?? ""), .init(schedule.lastJob.map { String($0) } ?? ""),
          .init(schedule.lastState?.rawValue ?? "", schedule.lastState.flatMap { Style.ink(of: $0) }),
          .init((schedule.lastOutcome ?? "").namingUsers),
        ]
      })
  }
}

extension Schedule {
  /// The time of the next job, or why there is none.
  fileprivate var standing: String {
    if !isEnabled { return "switched off" }
    if let pausedBy { return LaneStanding.paused(by: pausedBy, at: pausedAt) }
    return nextAt.map(Quantity.time) ?? "never"
  }

  /// Its calendar expressions, each with its time zone if it has one.
  fileprivate var when: String {
    let zones = timeZones.count == calendar.count ? timeZones : Array(repeating: "", count: calendar.count)
    return zip(calendar, zones).map { expression, zone in
      zone.isEmpty || expression.hasSuffix(zone) ? expression : "\(expression) \(zone)"
    }.joined(separator: "; ")
  }
}
